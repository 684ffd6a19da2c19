"""R.tvmq.sum(q): exact int32 sum of centred codes over axes, numerics.sum; a requantize by 1 / count makes it a mean.

sum over axes of int32(q - zero_point)
"""

from __future__ import annotations

from collections.abc import Sequence

import tvm
import tvm_ffi
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.registry import known_shape, register


@py_class("tvmq.attrs.Sum", frozen=True)
class SumAttrs(tvm.ir.Attrs):
    """axes (none negative), whether they stay with length 1, zero point of the codes."""

    axes: tvm_ffi.Array
    keepdims: bool = False
    zero_point: int = 0


def _result_shape(shape: Sequence[tirx.PrimExpr], attrs: SumAttrs) -> list[tirx.PrimExpr]:
    axes = [int(a) for a in attrs.axes]
    if attrs.keepdims:
        return [tirx.const(1, "int64") if i in axes else dim for i, dim in enumerate(shape)]
    return [dim for i, dim in enumerate(shape) if i not in axes]


def _infer(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return relax.TensorType(_result_shape(known_shape(call), call.attrs), "int32")


def _legalize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    attrs = call.attrs
    axes = [int(a) for a in attrs.axes]

    def compute(q: te.Tensor) -> te.Tensor:
        reduce = {axis: te.reduce_axis((0, q.shape[axis]), name=f"r{axis}") for axis in axes}

        def element(*i: tirx.Var) -> tirx.PrimExpr:
            kept = iter(i)
            index = []
            for axis in range(len(q.shape)):
                if axis in reduce:
                    index.append(reduce[axis])
                    if attrs.keepdims:
                        next(kept)
                else:
                    index.append(next(kept))
            return te.sum(tirx.Cast("int32", q(*index)) - attrs.zero_point, axis=list(reduce.values()))

        return te.compute(_result_shape(q.shape, attrs), element, name="sum")

    return bb.call_te(compute, call.args[0], primfunc_name_hint="sum_codes")


sum = register("sum", ("q",), SumAttrs, _infer, _legalize)  # noqa: A001
