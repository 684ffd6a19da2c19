"""Sums and means of codes along axes.

R.tvmq.sum(q): exact int32 sum of centred codes over axes, numerics.sum; a requantize by 1 / count makes it a mean.

sum over axes of int32(q - zero_point)

R.tvmq.masked_mean(x, mask): mean of the codes that a mask of integers keeps, along one axis, numerics.masked_mean.

s = sum((x - x_zero) * mask), c = sum(mask); clip(round(s * multiplier * 2^(shift - 31) / c) + zero_point, qmin, qmax)

Tests: tests/graph/test_ops.py
"""

from __future__ import annotations

from collections.abc import Sequence

import tvm
import tvm_ffi
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.integer_norms import as_int64, i64, one_at, reciprocal
from tvmq.graph.ops.registry import known_shape, register
from tvmq.numerics.masked_mean import COUNT_BITS


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


def _infer_sum(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return relax.TensorType(_result_shape(known_shape(call), call.attrs), "int32")


def _legalize_sum(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    attrs = call.attrs
    axes = [int(a) for a in attrs.axes]

    def compute(q: te.Tensor) -> te.Tensor:
        reduce = {axis: te.reduce_axis((0, q.shape[axis]), name=f"r{axis}") for axis in axes}

        def element(*i: tirx.Var) -> tirx.PrimExpr:
            is_kept = iter(i)
            index = []
            for axis in range(len(q.shape)):
                if axis in reduce:
                    index.append(reduce[axis])
                    if attrs.keepdims:
                        next(is_kept)
                else:
                    index.append(next(is_kept))
            return te.sum(tirx.Cast("int32", q(*index)) - attrs.zero_point, axis=list(reduce.values()))

        return te.compute(_result_shape(q.shape, attrs), element, name="sum")

    return bb.call_te(compute, call.args[0], primfunc_name_hint="sum_codes")


sum = register("sum", ("q",), SumAttrs, _infer_sum, _legalize_sum)  # noqa: A001


@py_class("tvmq.attrs.MaskedMean", frozen=True)
class MaskedMeanAttrs(tvm.ir.Attrs):
    """Attributes of R.tvmq.masked_mean; see the head of this file."""

    axis: int
    multiplier: int
    shift: int
    x_zero: int
    zero_point: int
    dtype: str = "int16"
    qmin: int = -32767
    qmax: int = 32767


def _infer_masked_mean(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    shape, axis = list(call.args[0].ty.shape), int(call.attrs.axis)
    return relax.TensorType(shape[:axis] + shape[axis + 1 :], call.attrs.dtype)


def _legalize_masked_mean(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    attrs, axis = call.attrs, int(call.attrs.axis)

    def compute(x: te.Tensor, mask: te.Tensor) -> te.Tensor:
        rest = list(x.shape)[:axis] + list(x.shape)[axis + 1 :]
        total, count = _sums_masked_mean(x, mask, attrs, axis)
        few = list(mask.shape)[:axis] + list(mask.shape)[axis + 1 :]
        width = te.compute(few, lambda *i: _width_masked_mean(count(*i)), name="width")
        inverse = reciprocal(te.compute(few, lambda *i: count(*i) << width(*i), name="normalized"))
        low, high = (i64(int(q) - int(attrs.zero_point)) for q in (attrs.qmin, attrs.qmax))

        def element(*i: tirx.Var) -> tirx.PrimExpr:
            at = _broadcast_indices(few, i)
            factor = (inverse(*at) * i64(attrs.multiplier) + i64(1 << 30)) >> i64(31)
            n = i64(61 - int(attrs.shift)) - width(*at)
            code = (total(*i) * factor + one_at(n - i64(1))) >> n
            return tirx.Cast(attrs.dtype, tirx.min(tirx.max(code, low), high) + i64(attrs.zero_point))

        return te.compute(rest, element, name="masked_mean")

    return bb.call_te(compute, *call.args, primfunc_name_hint="masked_mean")


def _sums_masked_mean(x: te.Tensor, mask: te.Tensor, attrs: MaskedMeanAttrs, axis: int) -> tuple[te.Tensor, te.Tensor]:
    """Sum of the kept codes, of the shape of the result, and their count, at least 1, of that of the mask."""
    j, k = (te.reduce_axis((0, x.shape[axis]), name=name) for name in "jk")
    shape, few = list(x.shape), list(mask.shape)

    def is_kept(*i: tirx.PrimExpr) -> tirx.PrimExpr:
        return tirx.min(tirx.max(as_int64(mask(*_broadcast_indices(few, i))), i64(0)), i64(1))

    def sum_kept(*i: tirx.Var) -> tirx.PrimExpr:
        at = (*i[:axis], j, *i[axis:])
        return te.sum((as_int64(x(*at)) - i64(attrs.x_zero)) * is_kept(*at), axis=j)

    total = te.compute(shape[:axis] + shape[axis + 1 :], sum_kept, name="total")
    rest = few[:axis] + few[axis + 1 :]
    count = te.compute(rest, lambda *i: te.sum(is_kept(*i[:axis], k, *i[axis:]), axis=k), name="count")
    return total, te.compute(rest, lambda *i: tirx.max(count(*i), i64(1)), name="count_at_least_1")


def _broadcast_indices(sizes: list[tirx.PrimExpr], i: tuple[tirx.PrimExpr, ...]) -> list[tirx.PrimExpr]:
    """Indices of a tensor that broadcasts."""
    return [
        i64(0) if isinstance(size, tirx.IntImm) and int(size) == 1 else at for size, at in zip(sizes, i, strict=True)
    ]


def _width_masked_mean(count: tirx.PrimExpr) -> tirx.PrimExpr:
    """The largest k with count << k below 2^31."""
    k = i64(30 - COUNT_BITS)
    for bit in range(1, COUNT_BITS + 1):
        k = k + as_int64(count < i64(1 << bit))
    return k


# numerics.fixed_point_parameters gives multiplier and shift
masked_mean = register("masked_mean", ("x", "mask"), MaskedMeanAttrs, _infer_masked_mean, _legalize_masked_mean)
