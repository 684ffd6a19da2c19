"""The functions of numerics/fixed_point.py as TIR: plain int64 arithmetic, the same on every target."""

from __future__ import annotations

from tvm import te, tirx

from tvmq.numerics.fixed_point import (
    EXP2_COEFFICIENTS,
    EXPONENT_BITS,
    INVERSE_SQRT_START,
    INVERSE_SQRT_STEPS,
    ONE,
    RECIPROCAL_START,
    RECIPROCAL_STEPS,
)


def i64(value: int) -> tirx.PrimExpr:
    """A constant of int64."""
    return tirx.const(int(value), "int64")


def wide(value: tirx.PrimExpr) -> tirx.PrimExpr:
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


def _step(a: te.Tensor, y: te.Tensor, product: object, name: str) -> te.Tensor:
    assert callable(product)
    return te.compute(a.shape, lambda *i: product(a(*i), y(*i)) >> i64(30), name=f"{name}_step")
