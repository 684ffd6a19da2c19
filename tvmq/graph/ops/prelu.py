"""R.tvmq.prelu(q, slopes): another factor below zero, one for each channel, numerics.prelu; broadcasting.

clip(((d * (multiplier if d > 0 else slopes) + half) >> shift) + zero_point, qmin, qmax)        d = q - x_zero
"""

from __future__ import annotations

import tvm
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.broadcast import broadcast_all, broadcast_type
from tvmq.graph.ops.registry import register


@py_class("tvmq.attrs.Prelu", frozen=True)
class PreluAttrs(tvm.ir.Attrs):
    """See the head of this file; half is 2^(shift-1), 0 for shift 0."""

    multiplier: int
    shift: int
    x_zero: int
    zero_point: int
    dtype: str = "uint8"
    qmin: int = 0
    qmax: int = 255


def _infer(call: relax.Call, ctx: relax.BlockBuilder) -> relax.TensorType:
    return broadcast_type(call, call.attrs.dtype, ctx)


def _legalize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    attrs = call.attrs

    def element(q: tirx.PrimExpr, slope: tirx.PrimExpr) -> tirx.PrimExpr:
        steps = tirx.Cast("int32", q) - attrs.x_zero
        factor = tirx.Select(steps > 0, tirx.const(attrs.multiplier, "int32"), slope)
        code = ((steps * factor + 2**attrs.shift // 2) >> attrs.shift) + attrs.zero_point
        return tirx.Cast(attrs.dtype, tirx.min(tirx.max(code, attrs.qmin), attrs.qmax))

    def compute(*tensors: te.Tensor) -> te.Tensor:
        return broadcast_all(tensors, element, "prelu")

    return bb.call_te(compute, *call.args, primfunc_name_hint="prelu_codes")


# numerics.prelu_params gives slopes, multiplier and shift
prelu = register("prelu", ("q", "slopes"), PreluAttrs, _infer, _legalize)
