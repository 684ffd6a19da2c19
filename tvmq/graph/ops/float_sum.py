"""R.tvmq.float_sum(x): numerics.float_sum, sum or mean of float32 over axes, equal on every CPU."""

from __future__ import annotations

import tvm
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.lane_sum import lane_sum
from tvmq.graph.ops.layer_norm import as_float, product, unravelled
from tvmq.graph.ops.registry import known_shape, register


@py_class("tvmq.attrs.FloatSum", frozen=True)
class FloatSumAttrs(tvm.ir.Attrs):
    """axes, ascending and not negative; keepdims leaves them with size 1; mean divides by the count."""

    axes: list[int]
    keepdims: bool = False
    mean: bool = False


def _infer(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    shape = known_shape(call)
    axes, keepdims = [int(axis) for axis in call.attrs.axes], bool(call.attrs.keepdims)
    one = tirx.const(1, "int64")
    sizes = [one if axis in axes else size for axis, size in enumerate(shape) if keepdims or axis not in axes]
    return relax.TensorType(sizes, "float32")


def _legalize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    axes, shape = [int(axis) for axis in call.attrs.axes], list(call.ty.shape)
    keepdims, mean = bool(call.attrs.keepdims), bool(call.attrs.mean)

    def compute(x: te.Tensor) -> te.Tensor:
        kept = [axis for axis in range(len(x.shape)) if axis not in axes]
        row = [x.shape[axis] for axis in axes]
        count = product(row)

        def value(i: tuple[tirx.Var, ...], position: tirx.PrimExpr) -> tirx.PrimExpr:
            place = dict(zip([*kept, *axes], [*i, *unravelled(position, row)], strict=True))
            return x(*[place[axis] for axis in range(len(x.shape))])

        total = lane_sum([x.shape[axis] for axis in kept], count, value)

        def result(*i: tirx.Var) -> tirx.PrimExpr:
            found = total(*[i[axis] for axis in kept] if keepdims else i)
            return found / as_float(count) if mean else found

        return te.compute(shape, result, name="float_sum")

    return bb.call_te(compute, call.args[0], primfunc_name_hint="float_sum")


float_sum = register("float_sum", ("x",), FloatSumAttrs, _infer, _legalize)
