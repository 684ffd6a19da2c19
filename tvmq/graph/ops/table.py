"""R.tvmq.table(q, values): 256-entry lookup, numerics.table; uint8 codes index directly, int8 codes by q + 128."""

from __future__ import annotations

import tvm
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.registry import register, tensor_like


@py_class("tvmq.attrs.Table", frozen=True)
class TableAttrs(tvm.ir.Attrs):
    """function = readable name of what the table computes, for people only."""

    function: str = ""


def _infer(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return tensor_like(call.args[0], str(call.args[1].ty.dtype))


def _legalize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    offset = 128 if str(call.args[0].ty.dtype) == "int8" else 0

    def compute(q: te.Tensor, values: te.Tensor) -> te.Tensor:
        return te.compute(q.shape, lambda *i: values(tirx.Cast("int32", q(*i)) + offset), name="table")

    return bb.call_te(compute, *call.args, primfunc_name_hint="table")


# `values` has 256 entries of the result"s type
table = register("table", ("q", "values"), TableAttrs, _infer, _legalize)
