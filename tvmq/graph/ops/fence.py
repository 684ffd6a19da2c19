"""R.tvmq.fence(x): x, rounded to float32 here: no product before it is contracted with a sum behind it into an FMA.

With a fence behind every float operator that ends in a product, a chain of operators gives the same bits fused or not.
"""

from __future__ import annotations

import tvm
from tvm import relax, te
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.registry import fence as fenced
from tvmq.graph.ops.registry import register


@py_class("tvmq.attrs.Fence", frozen=True)
class FenceAttrs(tvm.ir.Attrs):
    """No options."""


def _infer(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return call.args[0].ty


def _legalize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    def compute(x: te.Tensor) -> te.Tensor:
        return te.compute(x.shape, lambda *i: fenced(x(*i)), name="fence")

    return bb.call_te(compute, call.args[0], primfunc_name_hint="fence")


fence = register("fence", ("x",), FenceAttrs, _infer, _legalize)
