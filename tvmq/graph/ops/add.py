"""R.tvmq.add(a, b): sum of two activations in integers, numerics.add.

clip(((a * a_multiplier + b * b_multiplier + offset) >> shift) + zero_point, qmin, qmax)      broadcasting
"""

from __future__ import annotations

import tvm
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.broadcast import broadcast_compute, broadcast_type
from tvmq.graph.ops.registry import register


@py_class("tvmq.attrs.Add", frozen=True)
class AddAttrs(tvm.ir.Attrs):
    """See the head of this file."""

    a_multiplier: int
    b_multiplier: int
    offset: int
    shift: int
    zero_point: int
    dtype: str = "uint8"
    qmin: int = 0
    qmax: int = 255


def _infer(call: relax.Call, ctx: relax.BlockBuilder) -> relax.TensorType:
    return broadcast_type(call, call.attrs.dtype, ctx)


def _legalize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    attrs = call.attrs

    def element(a: tirx.PrimExpr, b: tirx.PrimExpr) -> tirx.PrimExpr:
        total = tirx.Cast("int32", a) * attrs.a_multiplier + tirx.Cast("int32", b) * attrs.b_multiplier + attrs.offset
        code = (total >> attrs.shift) + attrs.zero_point
        return tirx.Cast(attrs.dtype, tirx.min(tirx.max(code, attrs.qmin), attrs.qmax))

    def compute(a: te.Tensor, b: te.Tensor) -> te.Tensor:
        return broadcast_compute(a, b, element, "add")

    return bb.call_te(compute, *call.args, primfunc_name_hint="add_codes")


# numerics.add_params gives the multipliers, offset and shift
add = register("add", ("a", "b"), AddAttrs, _infer, _legalize)
