"""R.tvmq.multiply(a, b): exact int32 product of the centred codes, numerics.multiply; a requantize follows.

int32(a - a_zero) * int32(b - b_zero)        broadcasting
"""

from __future__ import annotations

import tvm
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.broadcast import broadcast_compute, broadcast_type
from tvmq.graph.ops.registry import register


@py_class("tvmq.attrs.Multiply", frozen=True)
class MultiplyAttrs(tvm.ir.Attrs):
    """Zero points of the two arguments."""

    a_zero: int
    b_zero: int


def _infer(call: relax.Call, ctx: relax.BlockBuilder) -> relax.TensorType:
    return broadcast_type(call, "int32", ctx)


def _legalize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    attrs = call.attrs

    def element(a: tirx.PrimExpr, b: tirx.PrimExpr) -> tirx.PrimExpr:
        return (tirx.Cast("int32", a) - attrs.a_zero) * (tirx.Cast("int32", b) - attrs.b_zero)

    def compute(a: te.Tensor, b: te.Tensor) -> te.Tensor:
        return broadcast_compute(a, b, element, "multiply")

    return bb.call_te(compute, *call.args, primfunc_name_hint="multiply_codes")


multiply = register("multiply", ("a", "b"), MultiplyAttrs, _infer, _legalize)
