"""R.tvmq.log_softmax(x): numerics.log_softmax, equal on every CPU.

d - log(sum(exp(d))), d = x - max(x); polynomials for exp and log; every product and sum is rounded to float32 by itself
"""

from __future__ import annotations

import tvm
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.lane_sum import f32
from tvmq.graph.ops.registry import fence, register
from tvmq.graph.ops.softmax import stages
from tvmq.numerics.softmax import LN2_HIGH, LN2_LOW, LOG_COEFFICIENTS, ROOT_HALF_BITS


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


def _infer(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return call.args[0].ty


def _legalize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    axis = call.attrs.axis % len(call.args[0].ty.shape)

    def compute(x: te.Tensor) -> te.Tensor:
        d, _, total = stages(x, axis)
        log = te.compute(total.shape, lambda *i: log_from_one(total(*i)), name="log")
        return te.compute(x.shape, lambda *i: d(*i) - log(*i[:axis], *i[axis + 1 :]), name="log_softmax")

    return bb.call_te(compute, call.args[0], primfunc_name_hint="log_softmax")


log_softmax = register("log_softmax", ("x",), LogSoftmaxAttrs, _infer, _legalize)
