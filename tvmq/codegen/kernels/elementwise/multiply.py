"""multiply: product of two tensors of codes in integers, requantized; the second may broadcast (a factor a channel).

Computes   numerics.multiply, then numerics.requantize, bit for bit
Layouts    any; both inputs and the output have the same axes
Loops      parallel chunks of rows; vectors. A row is the longest run in which b keeps step or stands still
x86        where b keeps step or repeats itself, whole vectors of codes whatever the length of a row: see _Products
Dynamic    sizes that only a run tells: runs shorter than a vector go one by one
Fallback   plain TIR for every instruction set: LLVM makes vectors of the CPU's width
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import lcm, prod
from typing import Any

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.isa.x86 import X86
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    FunctionBuilder,
    Shape,
    bind,
    bind_size,
    branch,
    ceildiv,
    flatten_buffer,
    load,
    shape_of_sizes,
    spread,
    store,
    vector_type,
    workspace,
)
from tvmq.codegen.kernels.parts.epilogue import Parameters, plan_epilogue
from tvmq.codegen.kernels.parts.kernel_types import FixedRequantize, Isa, Kernel, Requantize
from tvmq.codegen.kernels.parts.loops import (
    broadcast_strides,
    collapse,
    copy_lanes,
    make_opaque,
    offset_of,
    over_lanes,
    over_rows,
    plain_vectors,
)
from tvmq.codegen.kernels.parts.work import KernelWork
from tvmq.errors import BuildError
from tvmq.numerics.code_type import CODES_8

GRAIN = 80_000  # elements in about 10 us
VECTOR_GRAIN = 150_000  # the same where whole vectors are multiplied
MOST_BLOCKS = 64  # of factors in a table, 16 KB
LARGEST_PRODUCT = 255 * 255


def multiply(
    shape: Sequence[int | str],
    b_shape: Sequence[int | str],
    requantize: Requantize | FixedRequantize,
    isa: Isa,
    *,
    a_zero: int,
    b_zero: int,
    a_dtype: str = "uint8",
    b_dtype: str = "uint8",
) -> Kernel:
    """Kernel (a, b) -> y; a and y have `shape`, b broadcasts to it; names are sizes that only a run tells.

    requantize  one multiplier for all elements
    raises      BuildError for types that are no 8-bit codes, more multipliers, shapes that do not broadcast
    """
    shape, b_shape = shape_of_sizes(shape), shape_of_sizes(b_shape)
    multiplier = np.unique(np.asarray(requantize.multiplier, np.float32))
    _check(shape, b_shape, a_dtype, b_dtype, multiplier)
    lanes = instructions(isa).vector_bytes
    plan = plan_epilogue((requantize,), LARGEST_PRODUCT)
    parameters: Parameters = {"a": (shape, a_dtype), "b": (b_shape, b_dtype)}
    parameters |= plan.constant_parameters(lanes) | {"y": (shape, requantize.dtype)}
    name = f"multiply_{isa.name}"
    with FunctionBuilder(name, parameters) as function:
        a, b, *constants, y = (flatten_buffer(buffer) for buffer in function.buffers)
        sizes, b_strides = _walk(function, shape, b_shape)
        inner, inner_stride = sizes[-1], b_strides[-1]
        products = _Products(instructions(isa), (a, b, y), plan.requantizer, constants, (a_zero, b_zero))

        def row(number: Expr) -> None:
            begin = make_opaque(number * inner)
            b_begin = make_opaque(offset_of(number, sizes[:-1], b_strides[:-1]))

            def piece(offset: Expr, size: int) -> None:
                left = _centred_codes(a, begin + offset, size, a_zero)
                if inner_stride:
                    right = _centred_codes(b, b_begin + offset, size, b_zero)
                else:
                    right = spread(_centred_codes(b, b_begin, 1, b_zero), size)
                loaded = plan.requantizer.load(constants, 0, size)
                store(y, begin + offset, plan.requantizer.codes(plain_vectors(size), [left * right], [loaded]), size)

            over_lanes(inner, lanes, piece)

        if not products.emit(sizes, b_strides, row):
            over_rows(bind_size(prod(sizes[:-1])), inner, GRAIN, lambda: row)
    key = ("multiply", shape, b_shape, a_dtype, b_dtype, a_zero, b_zero, plan.key, isa.name)
    return Kernel(
        name,
        function.prim_func,
        plan.constants(lambda values: np.resize(values, lanes)),
        key,
        work=KernelWork("multiply", 16.0),
    )


def _walk(function: FunctionBuilder, shape: Shape, b_shape: Shape) -> tuple[list[Any], list[Any]]:
    """Sizes of as few axes as walk through a, and the steps of b along them."""
    if all(isinstance(size, int) for size in shape):
        known, other = [int(size) for size in shape], [int(size) for size in b_shape]
        sizes, (strides,) = collapse(known, broadcast_strides(known, other))
        return sizes, strides
    groups: list[tuple[bool, list[Any]]] = []  # of neighbouring axes: does b move, their sizes
    for size, factor in zip(shape, b_shape, strict=True):
        if size == 1:
            continue
        if not groups or groups[-1][0] != (factor == size):
            groups.append((factor == size, []))
        groups[-1][1].append(size)
    walk: list[tuple[Any, Any]] = []
    step: Any = 1
    for moves, axes in reversed(groups):
        count = function.count(tuple(axes))
        walk.insert(0, (count, step if moves else 0))
        step = bind_size(step * count) if moves else step
    return [count for count, _ in walk], [stride for _, stride in walk]


class _Products:
    """Products of whole vectors of codes, on x86.

    A row of b that serves many rows of a is repeated until it fills whole vectors: these factors are centred once
    and kept in a table, so that rows of any length run through memory without tails. Products are sums of pairs of
    int16 of which the second is 0.
    """

    def __init__(
        self, ins: Any, buffers: tuple[Buffer, Buffer, Buffer], requantizer: Any, constants: list[Buffer],
        zeros: tuple[int, int],
    ) -> None:  # fmt: skip
        self.ins, self.size, (self.a, self.b, self.y) = ins, ins.vector_bytes, buffers
        self.requantizer, self.constants, self.zeros = requantizer, constants, zeros

    def emit(self, sizes: list[Any], strides: list[Any], row: Callable[[Expr], None]) -> bool:
        """All loops; False, and nothing is emitted, where b has another pattern, or too few repetitions.

        row  emits a row in another way
        """
        if not isinstance(self.ins, X86) or not _is_number(strides[-1], 1):
            return False
        repeats = len(sizes) > 1 and _is_number(strides[-2], 0) and isinstance(sizes[-1], int)
        self.run = bind_size(prod(sizes[-2:])) if repeats else sizes[-1]
        is_known = isinstance(self.run, int)
        self.period = lcm(sizes[-1], self.size) // self.size if repeats else 0
        vectors = self.run // self.size if is_known else 2 * MOST_BLOCKS
        if vectors == 0 or self.period > min(MOST_BLOCKS, vectors // 2):
            return False
        outer, outer_strides = (sizes[:-2], strides[:-2]) if self.period else (sizes[:-1], strides[:-1])
        loaded = self.requantizer.load(self.constants, 0, self.ins.lanes)

        def run(number: Expr) -> None:
            begins = make_opaque(number * self.run), make_opaque(offset_of(number, outer, outer_strides))
            self._run(*begins, sizes[-1], loaded)

        def run_or_rows(number: Expr) -> None:
            rows = sizes[-2] if self.period else 1

            def by_rows() -> None:
                with T.serial(0, rows) as index:
                    row(make_opaque(number * rows + index))

            branch(self.run >= self.size, lambda: run(number), by_rows)

        blocks = -(-vectors // (self.period or 1))
        if not is_known or (outer and min(blocks, blocks * (self.period or 1) * self.size // VECTOR_GRAIN) > 1):
            with T.serial(0, bind_size(prod(outer))) as number:  # what is parallel is inside
                (run if is_known else run_or_rows)(make_opaque(number))
        elif outer:
            over_rows(bind_size(prod(outer)), self.run, VECTOR_GRAIN, lambda: run)
        else:
            self._run(0, 0, sizes[-1], loaded)
        return True

    def _run(self, begin: Expr, b_begin: Expr, row: int, loaded: tuple[Expr, ...]) -> None:
        """The products of `run` neighbours in a, whole vectors of them."""
        size, is_known = self.size, isinstance(self.run, int)
        vectors = self.run // size if is_known else bind(T.floordiv(self.run, size))
        blocks = self.period or 1
        repeated, table = self._table(b_begin, row) if self.period else (self.b, None)

        def block(number: Expr) -> None:
            first = make_opaque(number * blocks)
            with T.serial(0, T.min(vectors - first, blocks)) as index:
                offset = make_opaque((first + index) * size)
                if table is None:
                    factors = self._centred_codes(self.b, b_begin + offset, self.zeros[1], 0xFFFF)
                else:
                    kind = vector_type("int32", self.ins.lanes)
                    factors = [load(table, index * size + part * self.ins.lanes, kind) for part in range(4)]
                self._multiply(begin + offset, factors, loaded)

        over_rows(ceildiv(vectors, blocks), blocks * size, VECTOR_GRAIN, lambda: block)

        def tail() -> None:
            # a run is a multiple of the row that repeats itself
            place = b_begin + self.run - size if table is None else -size % row
            factors = self._centred_codes(repeated, place, self.zeros[1], 0xFFFF)
            self._multiply(begin + (self.run - size), factors, loaded)

        if is_known:
            if self.run % size:
                tail()
        else:
            with T.If(vectors * size < self.run), T.Then():
                tail()

    def _table(self, b_begin: Expr, row: int) -> tuple[Buffer, Buffer]:
        """The row of b repeated, and its factors for each vector of a period."""
        copies = -(-(row + self.size) // row)
        repeated = workspace(copies * row, str(self.b.dtype))
        with T.serial(0, copies) as number:
            copy_lanes(repeated, number * row, self.b, b_begin, row, self.size)
        table = workspace(self.period * self.size, "int32")
        with T.serial(0, self.period) as number:
            first = make_opaque(T.floormod(number * self.size, row))
            for part, factors in enumerate(self._centred_codes(repeated, first, self.zeros[1], 0xFFFF)):
                store(table, number * self.size + part * self.ins.lanes, factors, self.ins.lanes)
        return repeated, table

    def _multiply(self, offset: Expr, factors: list[Expr], loaded: tuple[Expr, ...]) -> None:
        kind = vector_type("int16", 2 * self.ins.lanes)
        sums = [
            bind(self.ins.multiply_pairs(T.reinterpret(kind, left), T.reinterpret(kind, right)))
            for left, right in zip(self._centred_codes(self.a, offset, self.zeros[0]), factors, strict=True)
        ]
        store(self.y, offset, self.requantizer.codes(self.ins, sums, [loaded] * 4), self.size)

    def _centred_codes(self, source: Buffer, offset: Expr, zero_point: int, mask: int | None = None) -> list[Expr]:
        """A vector of codes as four of int32 less their zero point, in the order that packs undo."""
        ins, kind = self.ins, vector_type("int32", self.ins.lanes)
        codes = load(source, offset, vector_type(str(source.dtype), self.size))
        if str(source.dtype) == "int8":  # q as uint8 q + 128
            codes, zero_point = bind(ins.flip_sign(codes, "uint8")), zero_point + 128
        zeros, parts = spread(0, self.size, "uint8"), []
        for high in (0, 1):
            words = ins.unpack(codes, zeros, high, 1)
            for half in (0, 1):
                steps = T.reinterpret(kind, ins.unpack(words, zeros, half, 2))
                steps = steps - spread(zero_point, ins.lanes) if zero_point else steps
                parts.append(bind(steps if mask is None else T.bitwise_and(steps, spread(mask, ins.lanes))))
        return parts


def _is_number(step: Any, number: int) -> bool:
    """True for this very number; an expression compares to another one."""
    return isinstance(step, int) and step == number


def _centred_codes(source: Buffer, offset: Expr, lanes: int, zero_point: int) -> Expr:
    """int32 codes less their zero point; via int16, so that LLVM knows that products of int16 will do."""
    codes = load(source, offset, vector_type(str(source.dtype), lanes))
    narrow = T.Cast(vector_type("int16", lanes), codes) - spread(zero_point, lanes, "int16")
    return bind(T.Cast(vector_type("int32", lanes), narrow))


def _check(shape: Shape, b_shape: Shape, a_dtype: str, b_dtype: str, multiplier: np.ndarray) -> None:
    if a_dtype not in CODES_8 or b_dtype not in CODES_8 or len(multiplier) != 1:
        raise BuildError(
            f"kernels, multiply: takes uint8 or int8 codes and one multiplier. "
            f"Got {a_dtype}, {b_dtype} and {len(multiplier)} multipliers"
        )
    pairs = zip(shape[::-1], b_shape[::-1], strict=False)
    if len(b_shape) > len(shape) or any(other not in (1, size) for size, other in pairs):
        raise BuildError(f"kernels, multiply: {b_shape} does not broadcast to {shape}; swap the operands")


def choose_multiply(
    a: Sequence[int | str],
    b: Sequence[int | str],
    step: Requantize | FixedRequantize,
    zeros: tuple[int, int],
    dtypes: tuple[str, str],
    isa: Isa,
) -> Kernel | None:
    """The kernel of a product; None where b does not broadcast to a of the same rank, several multipliers, 16 bits."""
    if not set(dtypes) <= set(CODES_8) or len(a) != len(b) or any(y not in (1, x) for x, y in zip(a, b, strict=True)):
        return None
    if np.unique(step.multiplier).size != 1:
        return None
    return multiply(a, b, step, isa, a_zero=zeros[0], b_zero=zeros[1], a_dtype=dtypes[0], b_dtype=dtypes[1])
