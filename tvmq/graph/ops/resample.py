"""R.tvmq.resample(x, index, weight): numerics.resample, weighted sums of neighbours along one axis."""

from __future__ import annotations

import tvm
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.registry import fence, known_shape, register


@py_class("tvmq.attrs.Resample", frozen=True)
class ResampleAttrs(tvm.ir.Attrs):
    """axis along which the neighbours lie, not negative."""

    axis: int


def _infer(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    shape = known_shape(call)
    shape[call.attrs.axis] = call.args[1].ty.shape[1]
    return relax.TensorType(shape, "float32")


def _legalize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    axis, taps = call.attrs.axis, int(call.args[1].ty.shape[0])

    def compute(x: te.Tensor, index: te.Tensor, weight: te.Tensor) -> te.Tensor:
        def element(*i: tirx.Var) -> tirx.PrimExpr:
            total = None
            for tap in range(taps):
                value = x(*i[:axis], index(tap, i[axis]), *i[axis + 1 :])
                product = fence(value * weight(tap, i[axis]))
                total = product if total is None else total + product
            return total

        return te.compute(list(call.ty.shape), element, name="resample")

    return bb.call_te(compute, *call.args, primfunc_name_hint="resample")


# index int32 and weight float32, both (taps, size of the result)
resample = register("resample", ("x", "index", "weight"), ResampleAttrs, _infer, _legalize)
