"""R.tvmq.scale_shift(q, multiplier, offset): constants that vary over a tensor, numerics.scale_shift; broadcasting.

clip(((q * multiplier + offset) >> shift) + zero_point, qmin, qmax)
"""

from __future__ import annotations

import tvm
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.broadcast import broadcast_all, broadcast_type
from tvmq.graph.ops.registry import register


@py_class("tvmq.attrs.ScaleShift", frozen=True)
class ScaleShiftAttrs(tvm.ir.Attrs):
    """See the head of this file."""

    shift: int
    zero_point: int
    dtype: str = "uint8"
    qmin: int = 0
    qmax: int = 255


def _infer(call: relax.Call, ctx: relax.BlockBuilder) -> relax.TensorType:
    return broadcast_type(call, call.attrs.dtype, ctx)


def _legalize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    attrs = call.attrs

    def element(q: tirx.PrimExpr, multiplier: tirx.PrimExpr, offset: tirx.PrimExpr) -> tirx.PrimExpr:
        code = ((tirx.Cast("int32", q) * multiplier + offset) >> attrs.shift) + attrs.zero_point
        return tirx.Cast(attrs.dtype, tirx.min(tirx.max(code, attrs.qmin), attrs.qmax))

    def compute(*tensors: te.Tensor) -> te.Tensor:
        return broadcast_all(tensors, element, "scale_shift")

    return bb.call_te(compute, *call.args, primfunc_name_hint="scale_shift")


# numerics.scale_shift_params gives multiplier, offset and shift
scale_shift = register("scale_shift", ("q", "multiplier", "offset"), ScaleShiftAttrs, _infer, _legalize)
