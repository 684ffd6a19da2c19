"""R.tvmq.group_dequantize(q, scale): codes with a scale for each group of neighbours, numerics.group_dequantize.

float32(q[..., i, ...]) * scale[..., i // group_size, ...]
"""

from __future__ import annotations

import tvm
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.registry import fence, register, tensor_like


@py_class("tvmq.attrs.GroupDequantize", frozen=True)
class GroupDequantizeAttrs(tvm.ir.Attrs):
    """axis of the groups (not negative) and codes of a group."""

    axis: int
    group_size: int


def _infer(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return tensor_like(call.args[0], "float32")


def _legalize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    axis, size = int(call.attrs.axis), int(call.attrs.group_size)

    def compute(q: te.Tensor, scale: te.Tensor) -> te.Tensor:
        def element(*i: tirx.Var) -> tirx.PrimExpr:
            at = [tirx.floordiv(index, size) if j == axis else index for j, index in enumerate(i)]
            return fence(tirx.Cast("float32", q(*i)) * scale(*at))

        return te.compute(q.shape, element, name="group_dequantize")

    return bb.call_te(compute, *call.args, primfunc_name_hint="group_dequantize")


# scale float32, shape of q with `axis` divided by group_size
group_dequantize = register("group_dequantize", ("q", "scale"), GroupDequantizeAttrs, _infer, _legalize)
