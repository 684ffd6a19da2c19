"""Softmax of float32 by tvmq's own definition.

Computes   numerics.softmax, bit for bit: the same products, sums and quotients, each rounded by itself
Layouts    any axis, any of whose sizes only a run may tell; a row along it is copied to scratch memory, so that its elements are neighbours
Loops      parallel chunks of rows; vectors of 16 lanes, as the definition sums, whatever the CPU's width
Rounding   every product that feeds a sum is fenced, or LLVM would round both at once (FMA)

Tests: tests/codegen/kernels/norm/test_norms.py
"""

from __future__ import annotations

from collections.abc import Callable

from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    FunctionBuilder,
    Register,
    Shape,
    bind,
    ceildiv,
    const,
    fence,
    flatten_buffer,
    load,
    spread,
    store,
    vector_type,
    workspace,
)
from tvmq.codegen.kernels.parts.float_vectors import FLOAT, LANES, spread_float, sum_halves
from tvmq.codegen.kernels.parts.kernel_types import Isa, Kernel
from tvmq.codegen.kernels.parts.loops import make_opaque, over_lanes, over_rows
from tvmq.codegen.kernels.parts.work import KernelWork
from tvmq.numerics.softmax import EXP_COEFFICIENTS, LARGEST, LN2_HIGH, LN2_LOW, LOG2_E, LOWEST_ARGUMENT

GRAIN = 20_000  # elements in about 10 us
# Adding 1.5 * 2^23 to a float32 of magnitude below 2^22 rounds it to an integer, half to even
ROUNDER = 1.5 * 2.0**23
INT = vector_type("int32", LANES)


def softmax(shape: Shape, isa: Isa, axis: int = -1) -> Kernel:
    """Kernel x -> softmax of x along an axis, float32, of the same shape; names are sizes that only a run tells."""
    axis %= len(shape)
    name = f"softmax_{isa.name}"
    with FunctionBuilder(name, {"x": (shape, "float32"), "y": (shape, "float32")}) as function:
        x, y = (flatten_buffer(buffer) for buffer in function.buffers)
        outer, length, inner = map(function.count, (shape[:axis], shape[axis : axis + 1], shape[axis + 1 :]))
        vectors = ceildiv(length, LANES)

        def start() -> Callable[[Expr], None]:
            scratch = workspace(vectors * LANES, "float32")

            def row(number: Expr) -> None:
                outer, column = T.floordiv(number, inner), T.floormod(number, inner)
                begin = make_opaque(outer * (length * inner) + column)
                _row(x, y, scratch, begin, (length, vectors), inner)

            return row

        over_rows(outer * inner, length, GRAIN, start)
    return Kernel(name, function.prim_func, (), ("softmax", tuple(shape), axis), work=KernelWork("softmax", 40.0))


def _row(x: Buffer, y: Buffer, scratch: Buffer, begin: Expr, sizes: tuple[Expr, Expr], stride: Expr) -> None:
    """Compute a row: elements begin, begin + stride, ... of x to the same places of y; sizes: elements, vectors."""
    length, vectors = sizes
    has_tail = not isinstance(length, int) or bool(length % LANES)
    _copy_in(x, scratch, begin, length, stride)
    if has_tail:
        with T.serial(0, vectors * LANES - length) as i:
            store(scratch, i + length, const(float(-LARGEST), "float32"), 1)
    largest = Register("float32", LANES)
    largest.set(spread_float(-LARGEST))
    with T.serial(0, vectors) as i:
        largest.set(T.max(largest.get(), load(scratch, i * LANES, FLOAT)))
    highest = bind(spread(sum_halves(largest.get(), T.max), LANES))
    total = Register("float32", LANES)
    total.set(spread_float(0.0))
    with T.serial(0, vectors) as i:
        power = exp_negative(bind(load(scratch, i * LANES, FLOAT) - highest))
        if has_tail:
            lanes = T.ramp(i * LANES, 1, LANES)
            power = bind(T.Select(lanes < spread(length, LANES), power, spread_float(0.0)))
        store(scratch, i * LANES, power, LANES)
        total.set(total.get() + power)
    divisor = bind(sum_halves(total.get(), lambda a, b: a + b))
    _copy_out(scratch, y, begin, length, stride, divisor)


def _copy_in(x: Buffer, scratch: Buffer, begin: Expr, length: Expr, stride: Expr) -> None:
    """A row with infinities and NaN made finite."""

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


def _copy_out(scratch: Buffer, y: Buffer, begin: Expr, length: Expr, stride: Expr, divisor: Expr) -> None:
    def quotient(i: Expr, lanes: int) -> None:
        power = load(scratch, i, vector_type("float32", lanes))
        store(y, begin + i * stride, power / spread(divisor, lanes), lanes)

    _over_row(length, stride, quotient)


def _over_row(length: Expr, stride: Expr, body: Callable[[Expr, int], None]) -> None:
    """body(i, lanes) for all elements of a row: vectors if they are neighbours, and what is left over."""
    if isinstance(stride, int) and stride <= 1:
        over_lanes(length, LANES, body)
        return
    with T.serial(0, length) as i:
        body(i, 1)


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
