"""R.tvmq.dequantize(q, scale, zero_point): numerics.dequantize.

x = float32(q - zero_point) * scale       the difference in int32; q is a code or an int32 accumulator
"""

from __future__ import annotations

import tvm
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.registry import fence, register, tensor_like


@py_class("tvmq.attrs.Dequantize", frozen=True)
class DequantizeAttrs(tvm.ir.Attrs):
    """axis of the channels, -1 for one scale."""

    axis: int = -1


def _infer(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return tensor_like(call.args[0], "float32")


def _legalize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    axis = call.attrs.axis

    def compute(q: te.Tensor, scale: te.Tensor, zero: te.Tensor) -> te.Tensor:
        def element(*i: tirx.Var) -> tirx.PrimExpr:
            at = (i[axis],) if axis >= 0 else ()
            centred = tirx.Cast("int32", q(*i)) - zero(*at)
            return fence(tirx.Cast("float32", centred) * scale(*at))

        return te.compute(q.shape, element, name="dequantize")

    return bb.call_te(compute, *call.args, primfunc_name_hint="dequantize")


# scale float32 and zero_point int32, rank 0 or one entry a channel
dequantize = register("dequantize", ("q", "scale", "zero_point"), DequantizeAttrs, _infer, _legalize)
