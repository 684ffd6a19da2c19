"""prelu: codes multiplied by another factor below zero, one for each channel of NHWC, in integers.

Computes   numerics.prelu, bit for bit
Layouts    channels last; the factors are repeated until they fill whole vectors, in the order that packs undo
Loops      parallel chunks of periods of factors; vectors of codes, and one that reaches back to the end
Needs      x86; every sum within int32, which numerics.prelu asks of its constants
Fallback   none: other CPUs take TVM's own loops
Measured   Zen 4, one core: 80x80x24 12.5 us, TVM's loops 18.7

Tests: tests/codegen/kernels/elementwise/test_table.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm, prod

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.isa.generic import clip_codes
from tvmq.codegen.kernels.isa.x86 import X86
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    FunctionBuilder,
    Shape,
    bind,
    branch,
    ceildiv,
    const,
    flatten_buffer,
    load,
    shape_of_sizes,
    spread,
    store,
    vector_type,
    workspace,
)
from tvmq.codegen.kernels.parts.kernel_types import Isa, Kernel
from tvmq.codegen.kernels.parts.loops import make_opaque, over_rows
from tvmq.codegen.kernels.parts.work import KernelWork
from tvmq.numerics.code_type import CODES_8

GRAIN = 100_000  # elements in about 10 us
MOST_BLOCKS = 64  # vectors of a period


@dataclass(frozen=True)
class PreluStep:
    """The constants of numerics.prelu but for the slopes."""

    multiplier: int
    shift: int
    x_zero: int
    zero_point: int
    qmin: int
    qmax: int
    dtype: str = "uint8"
    x_dtype: str = "uint8"


def prelu(shape: Sequence[int | str], slopes: np.ndarray, step: PreluStep, isa: Isa) -> Kernel | None:
    """Kernel x -> y of this shape; slopes: int32, one for each channel of the last axis. None where it does not fit.

    shape   names are sizes that only a run tells; of fewer codes than a vector has, a copy fills one
    """
    shape, ins = shape_of_sizes(shape), instructions(isa)
    channels, size = int(shape[-1]), ins.vector_bytes
    period = lcm(channels, size) // size
    if not isinstance(ins, X86) or slopes.shape != (channels,) or _is_short(shape, size) or period > MOST_BLOCKS:
        return None
    begins = [*range(0, period * size, size), -size % channels]  # the last: as many before the end
    places = np.array(begins)[:, None] + ins.channel_order(4).ravel()
    factors = np.ascontiguousarray(slopes.astype(np.int32)[places % channels]).ravel()
    name = f"prelu_{ins.name}"
    parameters = {"x": (shape, step.x_dtype), "slopes": ((len(factors),), "int32"), "y": (shape, step.dtype)}
    with FunctionBuilder(name, parameters) as function:
        x, table, y = (flatten_buffer(buffer) for buffer in function.buffers)
        total = function.count(shape)
        vectors = total // size if isinstance(total, int) else bind(T.floordiv(total, size))

        def group(number: Expr) -> None:
            first = make_opaque(number * period)
            with T.serial(0, T.min(vectors - first, period)) as index:
                offset = make_opaque((first + index) * size)
                store(y, offset, _codes(ins, step, x, offset, table, index * size), size)

        def tail() -> None:
            store(y, total - size, _codes(ins, step, x, total - size, table, period * size), size)

        def emit_vectors() -> None:
            over_rows(ceildiv(vectors, period), period * size, GRAIN, lambda: group)
            if not isinstance(total, int):
                with T.If(vectors * size < total), T.Then():
                    tail()
            elif total % size:
                tail()

        def emit_one_vector() -> None:
            copy = workspace(size, step.x_dtype)
            result = workspace(size, step.dtype)
            with T.serial(0, size) as i:
                store(copy, i, const(0, step.x_dtype), 1)
            with T.serial(0, total) as i:
                store(copy, i, load(x, i, step.x_dtype), 1)
            store(result, 0, _codes(ins, step, copy, 0, table, 0), size)
            with T.serial(0, total) as i:
                store(y, i, load(result, i, step.dtype), 1)

        branch(total >= size, emit_vectors, emit_one_vector)
    return Kernel(name, function.prim_func, (factors,), ("prelu", shape, step, ins.name), work=KernelWork("prelu"))


def _is_short(shape: Shape, size: int) -> bool:
    """True for known sizes that do not fill a vector."""
    return prod(extent for extent in shape if isinstance(extent, int)) < size and not any(
        isinstance(extent, str) for extent in shape
    )


def _codes(ins: X86, step: PreluStep, x: Buffer, offset: Expr, table: Buffer, place: Expr) -> Expr:
    """A vector of codes from element `offset`, whose slopes begin at `place`."""
    kind, lanes, size = vector_type("int32", ins.lanes), ins.lanes, ins.vector_bytes
    codes, x_zero = load(x, offset, vector_type(step.x_dtype, size)), step.x_zero
    if step.x_dtype == "int8":  # q as uint8 q + 128
        codes, x_zero = bind(ins.flip_sign(codes, "uint8")), x_zero + 128
    zeros, parts = spread(0, size, "uint8"), list[Expr]()
    for high in (0, 1):
        words = ins.unpack(codes, zeros, high, 1)
        for half in (0, 1):
            steps = bind(T.reinterpret(kind, ins.unpack(words, zeros, half, 2)) - spread(x_zero, lanes))
            slope = load(table, place + len(parts) * lanes, kind)
            factor = T.Select(steps > spread(0, lanes), spread(step.multiplier, lanes), slope)
            total = steps * factor + spread(2**step.shift // 2, lanes)
            parts.append(bind(T.shift_right(total, spread(step.shift, lanes))))
    narrow = ins.narrow_vectors(parts, step.zero_point, step.dtype)
    return clip_codes(narrow, step.dtype, step.qmin, step.qmax, size)


def choose_prelu(shape: Sequence[int | str], slopes: np.ndarray, step: PreluStep, isa: Isa) -> Kernel | None:
    """The kernel of prelu; None for other types than 8-bit codes, and where it does not fit."""
    return prelu(shape, slopes, step, isa) if {step.dtype, step.x_dtype} <= set(CODES_8) else None
