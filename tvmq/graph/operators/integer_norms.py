"""Softmax and layer norm of codes in integers alone, and the fixed-point functions that they stand on.

The functions of numerics/fixed_point.py as TIR: plain int64 arithmetic, the same on every target.

Tests: tests/formats/c/test_export_c.py
"""

from __future__ import annotations

import math
from collections.abc import Callable

from tvm import te, tirx

from tvmq import numerics
from tvmq.graph.operators.declaration import declare
from tvmq.graph.operators.float_sums import unravel_index
from tvmq.graph.operators.loops import as_codes, infer_like
from tvmq.graph.operators.record import NORMALIZATION, SOFTMAX
from tvmq.numerics.fixed_point import (
    EXP2_COEFFICIENTS,
    EXPONENT_BITS,
    INVERSE_SQRT_START,
    INVERSE_SQRT_STEPS,
    LARGEST_EXPONENT,
    ONE,
    RECIPROCAL_START,
    RECIPROCAL_STEPS,
)
from tvmq.numerics.integer_layer_norm import spare_bits
from tvmq.numerics.integer_softmax import SUM_SHIFTS


def i64(value: int) -> tirx.PrimExpr:
    """A constant of int64."""
    return tirx.const(int(value), "int64")


def as_int64(value: tirx.PrimExpr) -> tirx.PrimExpr:
    """The value as int64."""
    return tirx.Cast("int64", value)


def one_at(bit: tirx.PrimExpr) -> tirx.PrimExpr:
    """2^bit."""
    return i64(1) << bit


def exp2_negative(t: tirx.PrimExpr) -> tirx.PrimExpr:
    """2^-t, Q20 to Q30: numerics.fixed_point.exp2_negative; `t` is read several times."""
    n, r = t >> i64(EXPONENT_BITS), t & i64((1 << EXPONENT_BITS) - 1)
    p = i64(EXP2_COEFFICIENTS[-1])
    for coefficient in EXP2_COEFFICIENTS[-2::-1]:
        p = ((p * r) >> i64(EXPONENT_BITS)) + i64(coefficient)
    return (p + (one_at(n) >> i64(1))) >> n


def reciprocal(a: te.Tensor) -> te.Tensor:
    """1 / a, Q31 to Q30: numerics.fixed_point.reciprocal; one stage a step, since each reads the last one twice."""
    y = _line(a, RECIPROCAL_START, "reciprocal")
    for _ in range(RECIPROCAL_STEPS):
        y = _step(a, y, lambda a, y: y * (i64(2 * ONE) - ((a * y) >> i64(31))), "reciprocal")
    return y


def inverse_sqrt(a: te.Tensor) -> te.Tensor:
    """1 / sqrt(a), Q31 to Q30: numerics.fixed_point.inverse_sqrt."""
    y = _line(a, INVERSE_SQRT_START, "inverse_sqrt")
    for _ in range(INVERSE_SQRT_STEPS):
        y = _step(
            a, y, lambda a, y: y * (i64(3 * (ONE >> 1)) - ((a * ((y * y) >> i64(31))) >> i64(31))), "inverse_sqrt"
        )
    return y


def _line(a: te.Tensor, start: tuple[int, int], name: str) -> te.Tensor:
    constant, slope = map(i64, start)
    return te.compute(a.shape, lambda *i: constant - ((slope * a(*i)) >> i64(31)), name=f"{name}_start")


def _step(a: te.Tensor, y: te.Tensor, product: Callable[..., tirx.PrimExpr], name: str) -> te.Tensor:
    return te.compute(a.shape, lambda *i: product(a(*i), y(*i)) >> i64(30), name=f"{name}_step")


@declare(SOFTMAX, numerics.integer_softmax, infer=infer_like(), batch="along", integer=True)
def integer_softmax(
    x: te.Tensor,
    *,
    multiplier: int,
    shift: int,
    out_multiplier: int,
    out_shift: int,
    zero_point: int,
    dtype: str = "uint8",
    qmin: int = 0,
    qmax: int = 255,
    axis: int = -1,
) -> te.Tensor:
    """Softmax of codes or accumulators along an axis; numerics.integer_softmax_params gives multipliers and shifts.

    e = 2^-(multiplier * (max(x) - x) >> shift), polynomial in Q30; reciprocal of the sum by Newton's iteration;
    clip(round(e * reciprocal) + zero_point, qmin, qmax)
    """
    axis %= len(x.shape)
    powers, factor, n = _stages(x, multiplier, shift, out_multiplier, out_shift, axis)

    def element(*i: tirx.Var) -> tirx.PrimExpr:
        outer = (*i[:axis], *i[axis + 1 :])
        h = (as_int64(powers(*i)) * factor(*outer)) >> i64(31)
        code = ((h + one_at(n(*outer) - i64(1))) >> n(*outer)) + i64(zero_point)
        return as_codes(code, dtype, qmin, qmax)

    return te.compute(x.shape, element, name="integer_softmax")


def _stages(
    x: te.Tensor, multiplier: int, shift: int, out_multiplier: int, out_shift: int, axis: int
) -> tuple[te.Tensor, te.Tensor, te.Tensor]:
    """e of every element in int32; factor f and shift n of every row, of `rest`, which lacks the axis."""
    shape = list(x.shape)
    rest = shape[:axis] + shape[axis + 1 :]

    def exponent(*i: tirx.Var) -> tirx.PrimExpr:
        d = as_int64(largest(*i[:axis], *i[axis + 1 :])) - as_int64(x(*i))
        t = (d * i64(multiplier) + i64(1 << (shift - 1))) >> i64(shift)
        return tirx.min(t, i64(LARGEST_EXPONENT))

    k = te.reduce_axis((0, shape[axis]), name="k")
    largest = te.compute(rest, lambda *i: te.max(x(*i[:axis], k, *i[axis:]), axis=k), name="largest")
    exponents = te.compute(shape, exponent, name="exponents")
    powers = te.compute(shape, lambda *i: tirx.Cast("int32", exp2_negative(exponents(*i))), name="powers")
    j = te.reduce_axis((0, shape[axis]), name="j")
    total = te.compute(rest, lambda *i: te.sum(as_int64(powers(*i[:axis], j, *i[axis:])), axis=j), name="total")
    width = te.compute(rest, lambda *i: _width_integer_softmax(total(*i)), name="width")
    inverse = reciprocal(te.compute(rest, lambda *i: total(*i) >> width(*i), name="normalized"))
    factor = te.compute(rest, lambda *i: (inverse(*i) * i64(out_multiplier) + i64(1 << 30)) >> i64(31), name="factor")
    return powers, factor, te.compute(rest, lambda *i: width(*i) + i64(30 - out_shift), name="shift")


def _width_integer_softmax(total: tirx.PrimExpr) -> tirx.PrimExpr:
    """Number of powers 2^31, 2^32, ... that are not above the sum."""
    count = i64(0)
    for j in range(SUM_SHIFTS):
        count = count + as_int64(total >= i64(1 << (31 + j)))
    return count


@declare(NORMALIZATION, numerics.integer_layer_norm, infer=infer_like(), batch="normalizes codes", integer=True)
def integer_layer_norm(
    x: te.Tensor,
    multiplier: te.Tensor,
    offset: te.Tensor,
    *,
    epsilon: int,
    shift: int,
    zero_point: int,
    dtype: str = "uint8",
    qmin: int = 0,
    qmax: int = 255,
    centred: bool = True,
    x_zero: int = 0,
) -> te.Tensor:
    """Layer norm of codes; numerics.integer_layer_norm_params gives multiplier, offset, epsilon and shift.

    The last axes that multiplier and offset have make a row.
    d = n * x - sum(x), w = n * sum(x * x) - sum(x)^2 + epsilon, exactly; z = d / sqrt(w) by Newton's iteration, Q22;
    clip(((z * multiplier + offset) >> shift) + zero_point, qmin, qmax). Not centred: d = n * (x - x_zero), rms norm.
    """
    row = [int(size) for size in multiplier.shape]
    step = _steps(x, row, epsilon, centred, x_zero)

    def element(*i: tirx.Var) -> tirx.PrimExpr:
        inner = i[len(i) - len(row) :]
        code = (step(*i) * as_int64(multiplier(*inner)) + offset(*inner)) >> i64(shift)
        clipped = tirx.min(tirx.max(code, i64(qmin - zero_point)), i64(qmax - zero_point))
        return tirx.Cast(dtype, clipped + i64(zero_point))

    return te.compute(x.shape, element, name="integer_layer_norm")


def _steps(x: te.Tensor, row: list[int], epsilon: int, centred: bool, x_zero: int) -> te.Tensor:
    """z of the definition, int64 of the shape of x; a row is flat inside."""
    outer, count = len(x.shape) - len(row), math.prod(row)
    rest, spare, zero = list(x.shape)[:outer], spare_bits(count), i64(0 if centred else x_zero)
    j, k = (te.reduce_axis((0, count), name=name) for name in "jk")

    def at(i: tuple[tirx.Var, ...], position: tirx.PrimExpr) -> tirx.PrimExpr:
        return as_int64(x(*i, *unravel_index(position, [i64(size) for size in row]))) - zero

    total = te.compute(rest, lambda *i: te.sum(at(i, j), axis=j), name="total")
    squares = te.compute(rest, lambda *i: te.sum(at(i, k) * at(i, k), axis=k), name="squares")

    def size(*i: tirx.Var) -> tirx.PrimExpr:
        variance = i64(count) * squares(*i)
        variance = variance - total(*i) * total(*i) if centred else variance
        return tirx.max((variance << i64(2 * spare)) + i64(epsilon), i64(1 << 2 * spare))

    w = te.compute(rest, size, name="size")
    width = te.compute(rest, lambda *i: _width_integer_layer_norm(w(*i)), name="width")
    y = inverse_sqrt(te.compute(rest, lambda *i: (w(*i) << (width(*i) * i64(2))) >> i64(31), name="size_high"))
    m = te.compute(rest, lambda *i: i64(39 - spare) - width(*i), name="step_shift")

    def step(*i: tirx.Var) -> tirx.PrimExpr:
        outer_index, value = i[:outer], as_int64(x(*i)) - zero
        d = i64(count) * value - total(*outer_index) if centred else i64(count) * value
        return (d * y(*outer_index) + one_at(m(*outer_index) - i64(1))) >> m(*outer_index)

    return te.compute(x.shape, step, name="step")


def _width_integer_layer_norm(w: tirx.PrimExpr) -> tirx.PrimExpr:
    """The largest k with w << 2k below 2^62; comparisons of w alone: steps that read each other grow when inlined."""
    k = i64(0)
    for bits in range(1, 31):
        k = k + as_int64(w < i64(1 << (62 - 2 * bits)))
    return k
