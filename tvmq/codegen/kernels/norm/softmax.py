"""Softmax of float32 by tvmq's own definition.

Computes   numerics.softmax, bit for bit: the same products, sums and quotients, each rounded by itself
Layouts    any axis; a row along it is copied to scratch memory, so that its elements are neighbours
           any size may be dynamic, but of the axes behind the softmax
Loops      parallel chunks of rows; vectors of 16 lanes, as the definition sums, whatever the CPU's width
Rounding   every product that feeds a sum is fenced, or LLVM would round both at once (FMA)

Tests: tests/codegen/kernels/norm/test_norms.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    FunctionBuilder,
    Register,
    bind,
    ceildiv,
    const,
    fence,
    flatten_buffer,
    load,
    shape_of_sizes,
    spread,
    store,
    vector_type,
    workspace,
)
from tvmq.codegen.kernels.parts.float_vectors import FLOAT, LANES, spread_float, sum_halves
from tvmq.codegen.kernels.parts.kernel_types import Isa, Kernel
from tvmq.codegen.kernels.parts.loops import make_opaque, over_lanes, over_rows, tail_pieces
from tvmq.codegen.kernels.parts.work import KernelWork
from tvmq.numerics.softmax import EXP_COEFFICIENTS, LARGEST, LN2_HIGH, LN2_LOW, LOG2_E, LOWEST_ARGUMENT

GRAIN = 20_000  # elements in about 10 us
# Adding 1.5 * 2^23 to a float32 of magnitude below 2^22 rounds it to an integer, half to even
ROUNDER = 1.5 * 2.0**23
INT = vector_type("int32", LANES)


def softmax(shape: Sequence[int | str], isa: Isa, axis: int = -1) -> Kernel:
    """Kernel x -> softmax of x along an axis, float32, of its shape: numbers, and names of dynamic sizes."""
    shape = shape_of_sizes(shape)
    axis %= len(shape)
    inner = prod(int(size) for size in shape[axis + 1 :])
    name = f"softmax_{isa.name}"
    with FunctionBuilder(name, {"x": (shape, "float32"), "y": (shape, "float32")}) as function:
        x, y = (flatten_buffer(buffer) for buffer in function.buffers)
        length, rows = function.count(shape[axis : axis + 1]), function.count((*shape[:axis], inner))
        padded = bind(ceildiv(length, LANES) * LANES) if isinstance(shape[axis], str) else -(-length // LANES) * LANES

        def start() -> Callable[[Expr], None]:
            scratch = workspace(padded, "float32")

            def row(number: Expr) -> None:
                outer, column = T.floordiv(number, inner), T.floormod(number, inner)
                begin = make_opaque(outer * (length * inner) + column)
                _row(x, y, scratch, begin, length, inner)

            return row

        over_rows(0 if isinstance(length, int) and not length else rows, length, GRAIN, start)
    return Kernel(name, function.prim_func, (), ("softmax", shape, axis), work=KernelWork("softmax", 40.0))


def _row(x: Buffer, y: Buffer, scratch: Buffer, begin: Expr, length: Expr, stride: int) -> None:
    """Compute a row: elements begin, begin + stride, ... of x to the same places of y."""
    _copy_in(x, scratch, begin, length, stride)
    is_known = isinstance(length, int)
    vectors = ceildiv(length, LANES)
    largest = Register("float32", LANES)
    largest.set(spread_float(-LARGEST))
    with T.serial(0, vectors) as i:
        largest.set(T.max(largest.get(), load(scratch, i * LANES, FLOAT)))
    highest = bind(spread(sum_halves(largest.get(), T.max), LANES))
    total = Register("float32", LANES)
    total.set(spread_float(0.0))
    with T.serial(0, vectors) as i:
        power = exp_negative(bind(load(scratch, i * LANES, FLOAT) - highest))
        if not is_known or length % LANES:
            lanes = T.ramp(i * LANES, 1, LANES)
            power = bind(T.Select(lanes < spread(length, LANES), power, spread_float(0.0)))
        store(scratch, i * LANES, power, LANES)
        total.set(total.get() + power)
    divisor = bind(sum_halves(total.get(), lambda a, b: a + b))
    _copy_out(scratch, y, begin, length, stride, divisor)


def _copy_in(x: Buffer, scratch: Buffer, begin: Expr, length: Expr, stride: int) -> None:
    """A row with infinities and NaN made finite; the lowest number behind its end."""

    def clamp(value: Expr, lanes: int) -> Expr:
        # the order of operands makes NaN the lowest number
        low, high = (spread(float(limit), lanes, "float32") for limit in (-LARGEST, LARGEST))
        return T.min(T.max(value, low), high)

    _over_row(
        length,
        stride,
        lambda i, lanes: store(
            scratch, i, clamp(load(x, begin + i * stride, vector_type("float32", lanes)), lanes), lanes
        ),
    )
    if not isinstance(length, int) or length % LANES:
        with T.serial(0, ceildiv(length, LANES) * LANES - length) as i:
            store(scratch, i + length, const(float(-LARGEST), "float32"), 1)


def _copy_out(scratch: Buffer, y: Buffer, begin: Expr, length: Expr, stride: int, divisor: Expr) -> None:
    def quotient(i: Expr, lanes: int) -> None:
        power = load(scratch, i, vector_type("float32", lanes))
        store(y, begin + i * stride, power / spread(divisor, lanes), lanes)

    _over_row(length, stride, quotient)


def _over_row(length: Expr, stride: int, body: Callable[[Expr, int], None]) -> None:
    """body(i, lanes) for all elements of a row: vectors if they are neighbours, and what is left over."""
    if stride > 1:
        with T.serial(0, length) as i:
            body(i, 1)
        return
    if not isinstance(length, int):
        over_lanes(length, LANES, body)
        return
    if length >= LANES:
        with T.serial(0, length // LANES) as i:
            body(i * LANES, LANES)
    for offset, lanes in tail_pieces(length, LANES):
        body(offset, lanes)


def exp_negative(d: Expr) -> Expr:
    """numerics.exp_negative of a vector of LANES float32 <= 0."""
    t = bind(T.max(d, spread_float(LOWEST_ARGUMENT)))
    # TVM would simplify a + b - b, were it not for the fence
    shifted = bind(fence(fence(t * spread_float(LOG2_E)) + spread_float(ROUNDER)))
    n = bind(shifted - spread_float(ROUNDER))
    r = bind(t - fence(n * spread_float(LN2_HIGH)))
    r = bind(r - fence(n * spread_float(LN2_LOW)))
    q = spread_float(EXP_COEFFICIENTS[-1])
    for coefficient in EXP_COEFFICIENTS[-2::-1]:
        q = bind(fence(q * r) + spread_float(coefficient))
    p = bind(fence(q * fence(r * r)) + r)
    p = bind(p + spread_float(1.0))
    exponent = T.Cast(INT, n) + spread(127, LANES)
    power = T.reinterpret(FLOAT, T.shift_left(exponent, spread(23, LANES)))
    return bind(T.Select(d >= spread_float(LOWEST_ARGUMENT), p * power, spread_float(0.0)))
