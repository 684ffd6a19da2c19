"""Sums and means of float32 over neighbouring axes by tvmq's own definition.

Computes   numerics.float_sum, bit for bit
Layouts    [*outer, *count, inner], summed over count; outer and count may be dynamic; inner is 1 for sums along rows,
           which may be left out, the channels for pictures in NHWC
Loops      parallel chunks of `outer`; rows: vectors of 16 lanes, which are the definition's lanes; else vectors of
           neighbours in `inner`, one for each of the definition's 16 lanes, and its tree between these vectors
Registers  16 sums, all of AVX2 and half of AVX-512

Tests: tests/codegen/kernels/norm/test_norms.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    FunctionBuilder,
    Register,
    Shape,
    bind,
    const,
    flatten_buffer,
    load,
    quotient,
    spread,
    store,
    vector_type,
    workspace,
)
from tvmq.codegen.kernels.parts.float_vectors import FLOAT, LANES, load_tail, spread_float, sum_halves
from tvmq.codegen.kernels.parts.kernel_types import Isa, Kernel
from tvmq.codegen.kernels.parts.loops import make_opaque, over_lanes, over_rows
from tvmq.codegen.kernels.parts.work import KernelWork

GRAIN = 50_000  # elements in about 10 us


@dataclass(frozen=True)
class FloatSum:
    """Static description: the sum of x [*outer, *count, inner] over count; names are sizes that only a run tells.

    mean  divides by the count
    rows  x and y end before `inner`, which is 1
    """

    outer: Shape
    count: Shape
    inner: int = 1
    mean: bool = False
    rows: bool = False


def float_sum(shape: FloatSum, isa: Isa) -> Kernel:
    """Kernel x [*outer, *count, inner] -> y [*outer, inner], float32."""
    has_dynamic_shape = any(isinstance(size, str) for size in (*shape.outer, *shape.count))
    kind = "row_sum" if shape.rows or (shape.inner == 1 and not has_dynamic_shape) else "column_sum"
    name, lanes = f"float_{kind}_{isa.name}", instructions(isa).lanes
    inner = () if shape.rows else (shape.inner,)
    buffers: dict[str, Shape] = {"x": (*shape.outer, *shape.count, *inner), "y": (*shape.outer, *inner)}
    with FunctionBuilder(name, {key: (extents, "float32") for key, extents in buffers.items()}) as function:
        x, y = (flatten_buffer(buffer) for buffer in function.buffers)
        count, outer = function.count(shape.count), function.count(shape.outer)
        count = count if isinstance(count, int) else make_opaque(count)

        def start() -> Callable[[Expr], None]:
            if kind == "row_sum":
                return lambda number: _sum_row(shape, x, y, number, count)
            return lambda number: _sum_columns(shape, x, y, number, count, lanes)

        over_rows(outer, count * shape.inner, GRAIN, start)
    return Kernel(name, function.prim_func, (), ("float_sum", shape, isa.name), work=KernelWork(f"float_{kind}"))


def _sum_row(shape: FloatSum, x: Buffer, y: Buffer, number: Expr, count: Expr) -> None:
    begin, total = make_opaque(number * count), Register("float32", LANES)
    total.set(spread_float(0.0))
    if not isinstance(count, int) or count >= LANES:
        with T.serial(0, quotient(count, LANES)) as i:
            total.set(total.get() + load(x, begin + i * LANES, FLOAT))
    if not isinstance(count, int):
        total.set(total.get() + _load_dynamic_tail(x, begin, count))
    elif count % LANES:
        total.set(total.get() + load_tail(x, begin, count))
    store(y, number, _finish_sum(shape, sum_halves(total.get(), lambda a, b: a + b), count, 1), 1)


def _load_dynamic_tail(x: Buffer, begin: Expr, count: Expr) -> Expr:
    """The elements of a row behind its whole vectors, and zeros."""
    tail, whole = workspace(LANES, "float32"), make_opaque(quotient(count, LANES) * LANES)
    store(tail, 0, spread_float(0.0), LANES)
    with T.serial(0, count - whole) as i:
        store(tail, i, load(x, begin + whole + i, "float32"), 1)
    return load(tail, 0, FLOAT)


def _sum_columns(shape: FloatSum, x: Buffer, y: Buffer, number: Expr, count: Expr, lanes: int) -> None:
    begin, is_known = make_opaque(number * (count * shape.inner)), isinstance(count, int)
    whole = quotient(count, LANES) if is_known else make_opaque(quotient(count, LANES))

    def columns(first: Expr, size: int) -> None:
        kind = vector_type("float32", size)
        totals = [Register("float32", size) for _ in range(min(LANES, count) if is_known else LANES)]
        for total in totals:
            total.set(spread(0.0, size, "float32"))

        def add(row: Expr, lane: int) -> None:
            source = begin + (row + lane) * shape.inner + first
            totals[lane].set(totals[lane].get() + load(x, source, kind))

        if not is_known or count >= LANES:
            with T.serial(0, whole) as i:
                for lane in range(LANES):
                    add(i * LANES, lane)
        for lane in range(count % LANES if is_known else 0):
            add(whole * LANES, lane)
        for lane in range(0 if is_known else LANES - 1):
            with T.If(whole * LANES + lane < count), T.Then():
                add(whole * LANES, lane)
        value = _finish_sum(shape, tree([total.get() for total in totals], size), count, size)
        store(y, number * shape.inner + first, value, size)

    over_lanes(shape.inner, lanes, columns)


def tree(values: list[Expr], lanes: int) -> Expr:
    """The definition's tree; lanes that no element reached are zeros."""
    values += [spread(0.0, lanes, "float32")] * (LANES - len(values))
    while len(values) > 1:
        half = len(values) // 2
        values = [bind(low + high) for low, high in zip(values[:half], values[half:], strict=True)]
    return values[0]


def _finish_sum(shape: FloatSum, total: Expr, count: Expr, lanes: int) -> Expr:
    divisor = const(float(count), "float32") if isinstance(count, int) else T.Cast("float32", count)
    return total / spread(divisor, lanes) if shape.mean else total


def choose_float_sum(shape: FloatSum, isa: Isa) -> Kernel | None:
    """The kernel; None where there are no elements."""
    return None if 0 in (*shape.outer, *shape.count, shape.inner) else float_sum(shape, isa)
