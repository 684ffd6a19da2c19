"""R.tvmq.softmax(x): softmax in our own float definition, numerics.softmax, equal on every CPU.

e = exp(x - max(x)), polynomial; sum in 16 strided lanes, halved three more times; e / sum
every product and sum is rounded to float32 by itself

R.tvmq.log_softmax(x): numerics.log_softmax, equal on every CPU.

d - log(sum(exp(d))), d = x - max(x); polynomials for exp and log; every product and sum is rounded to float32 by itself

Tests: tests/graph/test_ops.py
"""

from __future__ import annotations

import tvm
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.float_sums import f32, lane_sum
from tvmq.graph.ops.registry import CUDA_EXP, current_kind, fence, register
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


@py_class("tvmq.attrs.Softmax", frozen=True)
class SoftmaxAttrs(tvm.ir.Attrs):
    """axis along which the values sum to 1."""

    axis: int = -1


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


def _infer_softmax(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return call.args[0].ty


def _legalize_softmax(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    axis = call.attrs.axis % len(call.args[0].ty.shape)

    def compute(x: te.Tensor) -> te.Tensor:
        return softmax_compute(x, axis)

    return bb.call_te(compute, call.args[0], primfunc_name_hint="softmax")


def softmax_compute(x: te.Tensor, axis: int) -> te.Tensor:
    """The stages of the definition as te.compute."""
    _, powers, total = stages(x, axis)
    return te.compute(x.shape, lambda *i: powers(*i) / total(*i[:axis], *i[axis + 1 :]), name="softmax")


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


softmax = register("softmax", ("x",), SoftmaxAttrs, _infer_softmax, _legalize_softmax)


@py_class("tvmq.attrs.LogSoftmax", frozen=True)
class LogSoftmaxAttrs(tvm.ir.Attrs):
    """axis along which the powers of the values sum to 1."""

    axis: int = -1


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


def _infer_log_softmax(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return call.args[0].ty


def _legalize_log_softmax(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    axis = call.attrs.axis % len(call.args[0].ty.shape)

    def compute(x: te.Tensor) -> te.Tensor:
        d, _, total = stages(x, axis)
        log = te.compute(total.shape, lambda *i: log_from_one(total(*i)), name="log")
        return te.compute(x.shape, lambda *i: d(*i) - log(*i[:axis], *i[axis + 1 :]), name="log_softmax")

    return bb.call_te(compute, call.args[0], primfunc_name_hint="log_softmax")


log_softmax = register("log_softmax", ("x",), LogSoftmaxAttrs, _infer_log_softmax, _legalize_log_softmax)
