"""R.tvmq.softmax(x): softmax in our own float definition, numerics.softmax, equal on every CPU.

e = exp(x - max(x)), polynomial; sum in 16 strided lanes, halved three more times; e / sum
every product and sum is rounded to float32 by itself
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import tvm
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.registry import expose, fence, register
from tvmq.numerics.softmax import EXP_COEFFICIENTS, LANES, LARGEST, LN2_HIGH, LN2_LOW, LOG2_E, LOWEST_ARGUMENT


@py_class("tvmq.attrs.Softmax", frozen=True)
class SoftmaxAttrs(tvm.ir.Attrs):
    """axis along which the values sum to 1."""

    axis: int = -1


def _f32(value: float | np.floating) -> tirx.PrimExpr:
    return tirx.const(float(value), "float32")


def exp_negative(d: tirx.PrimExpr) -> tirx.PrimExpr:
    """exp(d) for d <= 0 as numerics.softmax.exp_negative computes it."""
    t = tirx.max(d, _f32(LOWEST_ARGUMENT))
    n = tirx.nearbyint(t * _f32(LOG2_E))
    r = t - fence(n * _f32(LN2_HIGH)) - fence(n * _f32(LN2_LOW))
    q = _f32(EXP_COEFFICIENTS[-1])
    for coefficient in EXP_COEFFICIENTS[-2::-1]:
        q = fence(q * r) + _f32(coefficient)
    p = fence(q * fence(r * r)) + r + _f32(1.0)
    bits = (tirx.Cast("int32", n) + tirx.const(127, "int32")) << tirx.const(23, "int32")
    power = tirx.reinterpret("float32", bits)
    return tirx.Select(d >= _f32(LOWEST_ARGUMENT), p * power, _f32(0.0))


def _infer(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return call.args[0].ty


def _legalize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    axis = call.attrs.axis % len(call.args[0].ty.shape)

    def compute(x: te.Tensor) -> te.Tensor:
        return softmax_compute(x, axis)

    return bb.call_te(compute, call.args[0], primfunc_name_hint="softmax")


def softmax_compute(x: te.Tensor, axis: int) -> te.Tensor:
    """The stages of the definition as te.compute."""
    shape = list(x.shape)
    length = shape[axis]
    rest = shape[:axis] + shape[axis + 1 :]

    def at(kept: tuple[tirx.Var, ...], k: tirx.PrimExpr) -> list[tirx.PrimExpr]:
        return [*kept[:axis], k, *kept[axis:]]

    def without(i: tuple[tirx.Var, ...]) -> list[tirx.Var]:
        return [*i[:axis], *i[axis + 1 :]]

    def finite(*i: tirx.Var) -> tirx.PrimExpr:
        return tirx.min(tirx.max(x(*i), _f32(-LARGEST)), _f32(LARGEST))

    clamped = te.compute(shape, finite, name="clamped")
    k = te.reduce_axis((0, length), name="k")
    largest = te.compute(rest, lambda *i: te.max(clamped(*at(i, k)), axis=k), name="largest")
    powers = te.compute(shape, lambda *i: exp_negative(clamped(*i) - largest(*without(i))), name="powers")
    total = _lane_sum(rest, length, lambda i, position: powers(*at(i, position)))
    return te.compute(shape, lambda *i: powers(*i) / total(*without(i)), name="softmax")


def _lane_sum(
    rest: list[tirx.PrimExpr],
    length: tirx.PrimExpr,
    value: Callable[[tuple[tirx.Var, ...], tirx.PrimExpr], tirx.PrimExpr],
) -> te.Tensor:
    """Sum along an axis as numerics.softmax.lane_sum orders it."""
    steps = te.reduce_axis((0, (length + LANES - 1) // LANES), name="step")

    def lane(*i: tirx.Var) -> tirx.PrimExpr:
        position = steps * LANES + i[-1]
        return te.sum(tirx.if_then_else(position < length, value(i[:-1], position), _f32(0.0)), axis=steps)

    lanes = te.compute([*rest, LANES], lane, name="lanes")
    width = LANES // 2
    while width:
        lanes = _halved(lanes, rest, width)
        width //= 2
    return te.compute(rest, lambda *i: lanes(*i, tirx.const(0, "int64")), name="total")


def _halved(lanes: te.Tensor, rest: list[tirx.PrimExpr], width: int) -> te.Tensor:
    return te.compute(
        [*rest, width], lambda *i: lanes(*i) + lanes(*i[:-1], i[-1] + width), name=f"lanes{width}"
    )


OP = register("softmax", ("x",), "tvmq.attrs.Softmax", _infer, _legalize)


def softmax(x: relax.Expr, *, axis: int = -1) -> relax.Call:
    """A call of the operator."""
    return relax.Call(OP, [x], SoftmaxAttrs(axis=axis))


expose("softmax", softmax)
