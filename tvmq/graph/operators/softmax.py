"""Softmax and its logarithm in our own float definition, equal on every CPU.

Polynomials for exp and log; sums in 16 strided lanes, halved three more times; every product and sum is rounded to
float32 by itself. axis: the one along which the values, or their powers, sum to 1.

Tests: tests/graph/test_ops.py
"""

from __future__ import annotations

from functools import partial

from tvm import te, tirx

from tvmq import numerics
from tvmq.graph.operators.declaration import declare
from tvmq.graph.operators.float_sums import f32, lane_sum
from tvmq.graph.operators.loops import CUDA_EXP, current_kind, fence, infer_same
from tvmq.graph.operators.record import LOW, SOFTMAX
from tvmq.numerics.softmax import (
    EXP_COEFFICIENTS,
    LARGEST,
    LN2_HIGH,
    LN2_LOW,
    LOG2_E,
    LOG_COEFFICIENTS,
    LOWEST_ARGUMENT,
    ROOT_HALF_BITS,
)

_declare = partial(declare, SOFTMAX, infer=infer_same, batch="along")


@_declare(numerics.softmax, bounded_by_one=True, finite_at=(LOW,))
def softmax(x: te.Tensor, *, axis: int = -1) -> te.Tensor:
    """e = exp(x - max(x)); e / sum(e)."""
    axis %= len(x.shape)
    _, powers, total = stages(x, axis)
    return te.compute(x.shape, lambda *i: powers(*i) / total(*i[:axis], *i[axis + 1 :]), name="softmax")


@_declare(numerics.log_softmax, propagates_infinity=(0,))
def log_softmax(x: te.Tensor, *, axis: int = -1) -> te.Tensor:
    """d - log(sum(exp(d))), d = x - max(x)."""
    axis %= len(x.shape)
    d, _, total = stages(x, axis)
    log = te.compute(total.shape, lambda *i: log_from_one(total(*i)), name="log")
    return te.compute(x.shape, lambda *i: d(*i) - log(*i[:axis], *i[axis + 1 :]), name="log_softmax")


def stages(x: te.Tensor, axis: int) -> tuple[te.Tensor, te.Tensor, te.Tensor]:
    """d = x - max(x), exp(d), and the sum of exp(d) along an axis, which it lacks."""
    shape = list(x.shape)
    length = shape[axis]
    rest = shape[:axis] + shape[axis + 1 :]

    def at(kept: tuple[tirx.Var, ...], k: tirx.PrimExpr) -> list[tirx.PrimExpr]:
        return [*kept[:axis], k, *kept[axis:]]

    def clamp(*i: tirx.Var) -> tirx.PrimExpr:
        return tirx.min(tirx.max(x(*i), f32(-LARGEST)), f32(LARGEST))

    clamped = te.compute(shape, clamp, name="clamped")
    k = te.reduce_axis((0, length), name="k")
    largest = te.compute(rest, lambda *i: te.max(clamped(*at(i, k)), axis=k), name="largest")
    d = te.compute(shape, lambda *i: clamped(*i) - largest(*i[:axis], *i[axis + 1 :]), name="difference")
    powers = te.compute(shape, lambda *i: exp_negative(d(*i)), name="powers")
    return d, powers, lane_sum(rest, length, lambda i, position: powers(*at(i, position)))


def exp_negative(d: tirx.PrimExpr) -> tirx.PrimExpr:
    """exp(d) for d <= 0 as numerics.softmax.exp_negative computes it; on CUDA a function of that name."""
    if current_kind() == "cuda":
        return tirx.call_pure_extern("float32", CUDA_EXP, d)
    t = tirx.max(d, f32(LOWEST_ARGUMENT))
    n = tirx.nearbyint(t * f32(LOG2_E))
    r = t - fence(n * f32(LN2_HIGH)) - fence(n * f32(LN2_LOW))
    q = f32(EXP_COEFFICIENTS[-1])
    for coefficient in EXP_COEFFICIENTS[-2::-1]:
        q = fence(q * r) + f32(coefficient)
    p = fence(q * fence(r * r)) + r + f32(1.0)
    bits = (tirx.Cast("int32", n) + tirx.const(127, "int32")) << tirx.const(23, "int32")
    power = tirx.reinterpret("float32", bits)
    return tirx.Select(d >= f32(LOWEST_ARGUMENT), p * power, f32(0.0))


def log_from_one(s: tirx.PrimExpr) -> tirx.PrimExpr:
    """log(s) for s >= 1 as numerics.log_softmax.log_from_one computes it."""
    bits, shift = tirx.reinterpret("int32", s), tirx.const(23, "int32")
    exponent = (bits - tirx.const(int(ROOT_HALF_BITS), "int32")) >> shift
    f = tirx.reinterpret("float32", bits - (exponent << shift)) - f32(1.0)
    q = f32(LOG_COEFFICIENTS[-1])
    for coefficient in LOG_COEFFICIENTS[-2::-1]:
        q = fence(q * f) + f32(coefficient)
    square, e = fence(f * f), tirx.Cast("float32", exponent)
    low = fence(fence(square * f) * q) - fence(f32(0.5) * square) + fence(e * f32(LN2_LOW)) + f
    return low + fence(e * f32(LN2_HIGH))
