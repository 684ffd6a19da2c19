"""pad: padding with a constant (the zero point of codes), any axes.

Computes   numpy.pad in mode "constant"
Loops      parallel chunks of the axes before the last padded one; neighbouring elements in vectors

Tests: tests/codegen/kernels/move/test_moves.py
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.parts.builder import (
    Expr,
    FunctionBuilder,
    bind_size,
    const,
    flatten_buffer,
    shape_of_sizes,
)
from tvmq.codegen.kernels.parts.kernel_types import Isa, Kernel
from tvmq.codegen.kernels.parts.loops import copy_lanes, fill_lanes, make_opaque, over_rows
from tvmq.codegen.kernels.parts.work import COPY_CYCLES, KernelWork
from tvmq.errors import BuildError
from tvmq.numerics.code_type import CODES_8

TYPES = (*CODES_8, "float32")  # that are chosen
GRAIN = 200_000  # bytes in about 10 us


def pad(
    shape: Sequence[int | str], width: Sequence[tuple[int, int]], value: float, isa: Isa, dtype: str = "uint8"
) -> Kernel:
    """Kernel x -> x with `value` around it.

    shape    names are sizes that only a run tells; axis i of the result, if it has another, is `padded{i}`
    width    (before, after) for each axis, none negative
    raises   BuildError for other widths, or a value that dtype does not hold
    """
    shape = shape_of_sizes(shape)
    width = tuple((int(before), int(after)) for before, after in width)
    if len(width) != len(shape) or min((min(sides) for sides in width), default=0) < 0:
        raise BuildError(f"kernels, pad: {width} does not pad an array of shape {shape}")
    kind = np.dtype(dtype)
    if kind.kind in "iu" and not np.iinfo(kind).min <= value <= np.iinfo(kind).max:
        raise BuildError(f"kernels, pad: {dtype} does not hold {value}")
    last = max((axis for axis, sides in enumerate(width) if any(sides)), default=0)
    out_shape = tuple(map(_padded_size, shape, width, range(len(shape))))
    lanes = instructions(isa).vector_bytes // kind.itemsize
    name = f"pad_{isa.name}"
    with FunctionBuilder(name, {"x": (shape, dtype), "y": (out_shape, dtype)}) as function:
        x, y = (flatten_buffer(buffer) for buffer in function.buffers)
        inner = function.count(shape[last + 1 :])
        middle = function.count(shape[last : last + 1])
        before, count, after = (part * inner for part in (width[last][0], middle, width[last][1]))
        length, filling = bind_size(before + count + after), const(kind.type(value).item(), dtype)
        sizes, outer = ([function.count((size,)) for size in part[:last]] for part in (shape, out_shape))

        def row(number: Expr) -> None:
            begin = make_opaque(number * length)
            inside, source = _source(number, sizes, outer, width[:last])
            with T.If(inside):
                with T.Then():
                    fill_lanes(y, begin, filling, before, lanes)
                    copy_lanes(y, begin + before, x, make_opaque(source * count), count, lanes)
                    fill_lanes(y, begin + (before + count), filling, after, lanes)
                with T.Else():
                    fill_lanes(y, begin, filling, length, lanes)

        over_rows(bind_size(prod(outer)), length * kind.itemsize, GRAIN, lambda: row)
    return Kernel(
        name, function.prim_func, (), ("pad", shape, width, value, dtype, isa.name), work=KernelWork("pad", COPY_CYCLES)
    )


def _padded_size(size: int | str, sides: tuple[int, int], axis: int) -> int | str:
    """Size of an axis of the result."""
    if isinstance(size, int):
        return size + sum(sides)
    return f"padded{axis}" if any(sides) else size


def _source(
    number: Expr, sizes: Sequence[Expr], outer: Sequence[Expr], width: Sequence[tuple[int, int]]
) -> tuple[Expr, Expr]:
    """True if a row of the output lies inside of the input, and the number of that row there."""
    inside: Expr = const(True, "bool")
    source: Expr = const(0)
    count = prod(outer)
    for size, padded, sides in zip(sizes, outer, width, strict=True):
        count = count // padded if isinstance(count, int) else T.floordiv(count, padded)
        index = make_opaque(T.floormod(T.floordiv(number, count), padded) - sides[0])
        if any(sides):
            inside = T.And(inside, T.And(index >= 0, index < size))
        source = source * size + index
    return inside, source


def choose_pad(
    shape: Sequence[int | str], width: Sequence[tuple[int, int]], value: float, dtype: str, isa: Isa
) -> Kernel | None:
    """The kernel of a border of one value; None for types of two bytes, and borders that cut off."""
    fits = dtype in TYPES and min(min(sides) for sides in width) >= 0
    return pad(shape, width, value, isa, dtype) if fits else None
