"""R.tvmq.quantize(x, scale, zero_point): numerics.quantize.

q = clip(rint(x / scale) + zero_point, qmin, qmax)      float32 division, half to even, NaN gives qmin
"""

from __future__ import annotations

import tvm
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.registry import register, tensor_like


@py_class("tvmq.attrs.Quantize", frozen=True)
class QuantizeAttrs(tvm.ir.Attrs):
    """axis of the channels (-1: one scale), storage dtype and range of the codes."""

    axis: int = -1
    dtype: str = "uint8"
    qmin: int = 0
    qmax: int = 255


def _infer(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return tensor_like(call.args[0], call.attrs.dtype)


def _legalize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    attrs = call.attrs

    def compute(x: te.Tensor, scale: te.Tensor, zero: te.Tensor) -> te.Tensor:
        def element(*i: tirx.Var) -> tirx.PrimExpr:
            at = (i[attrs.axis],) if attrs.axis >= 0 else ()
            z = zero(*at)
            low = tirx.Cast("float32", tirx.const(attrs.qmin, "int32") - z)
            high = tirx.Cast("float32", tirx.const(attrs.qmax, "int32") - z)
            steps = tirx.nearbyint(x(*i) / scale(*at))
            # max first: comparisons with NaN are false, so NaN becomes the lowest code
            steps = tirx.min(tirx.max(steps, low), high)
            return tirx.Cast(attrs.dtype, tirx.Cast("int32", steps) + z)

        return te.compute(x.shape, element, name="quantize")

    return bb.call_te(compute, *call.args, primfunc_name_hint="quantize")


# scale float32 and zero_point int32, rank 0 or one entry a channel
quantize = register("quantize", ("x", "scale", "zero_point"), QuantizeAttrs, _infer, _legalize)
