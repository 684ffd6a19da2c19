"""Exact sums over windows, and weighted sums of neighbours along an axis.

R.tvmq.sum_pool(q): exact int32 sums of centred codes over windows, numerics.sum_pool; padding contributes 0.

q is (batch, channels, one to three spatial axes). Average pooling is this and a requantize by 1 / count.

R.tvmq.adaptive_sum_pool(q): exact int32 sums of centred codes under unequal windows, numerics.adaptive_sum_pool.

q is (batch, channels, one to three spatial axes); window i of m over n elements is
floor(i n / m) .. ceil((i + 1) n / m), the end excluded.

R.tvmq.resample(x, index, weight): numerics.resample, weighted sums of neighbours along one axis.

Tests: tests/graph/test_ops.py
"""

from __future__ import annotations

import tvm
import tvm_ffi
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.registry import fence, known_shape, register
from tvmq.numerics import adaptive_bounds


@py_class("tvmq.attrs.SumPool", frozen=True)
class SumPoolAttrs(tvm.ir.Attrs):
    """kernel and strides for each spatial axis, padding (all befores, then all afters), zero point of the codes."""

    kernel: tvm_ffi.Array
    strides: tvm_ffi.Array
    padding: tvm_ffi.Array
    zero_point: int = 0


def _infer_sum_pool(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    batch, channels, *sizes = known_shape(call)
    kernel, strides, padding = _plain_sum_pool(call.attrs)
    windows = [
        (size + padding[axis] + padding[axis + len(sizes)] - kernel[axis]) // strides[axis] + 1
        for axis, size in enumerate(sizes)
    ]
    return relax.TensorType([batch, channels, *windows], "int32")


def _plain_sum_pool(attrs: SumPoolAttrs) -> tuple[list[int], ...]:
    return tuple([int(value) for value in values] for values in (attrs.kernel, attrs.strides, attrs.padding))


def _legalize_sum_pool(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    shape, zero_point = list(call.ty.shape), call.attrs.zero_point
    kernel, strides, padding = _plain_sum_pool(call.attrs)

    def compute(q: te.Tensor) -> te.Tensor:
        taps = [te.reduce_axis((0, size), name=f"tap{axis}") for axis, size in enumerate(kernel)]

        def element(n: tirx.Var, c: tirx.Var, *window: tirx.Var) -> tirx.PrimExpr:
            at = [w * strides[axis] + taps[axis] - padding[axis] for axis, w in enumerate(window)]
            inside = tirx.all(*(bound for p, size in zip(at, q.shape[2:], strict=True) for bound in (p >= 0, p < size)))
            zero = tirx.const(0, "int32")
            code = tirx.if_then_else(inside, tirx.Cast("int32", q(n, c, *at)) - zero_point, zero)
            return te.sum(code, axis=taps)

        return te.compute(shape, element, name="sum_pool")

    return bb.call_te(compute, call.args[0], primfunc_name_hint="sum_pool")


sum_pool = register("sum_pool", ("q",), SumPoolAttrs, _infer_sum_pool, _legalize_sum_pool)


@py_class("tvmq.attrs.AdaptiveSumPool", frozen=True)
class AdaptiveSumPoolAttrs(tvm.ir.Attrs):
    """Number of windows along each spatial axis, zero point of the codes."""

    out_size: tvm_ffi.Array
    zero_point: int = 0


def _infer_adaptive_sum_pool(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    batch, channels, *_ = known_shape(call)
    return relax.TensorType([batch, channels, *(int(size) for size in call.attrs.out_size)], "int32")


def _legalize_adaptive_sum_pool(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    shape, zero_point = list(call.ty.shape), call.attrs.zero_point

    def compute(q: te.Tensor) -> te.Tensor:
        sizes = [int(size) for size in q.shape[2:]]
        counts = [int(size) for size in shape[2:]]
        longest = [_longest(n, m) for n, m in zip(sizes, counts, strict=True)]
        taps = [te.reduce_axis((0, length), name=f"tap{axis}") for axis, length in enumerate(longest)]

        def element(n: tirx.Var, c: tirx.Var, *window: tirx.Var) -> tirx.PrimExpr:
            begins = [tirx.floordiv(w * size, m) for w, size, m in zip(window, sizes, counts, strict=True)]
            at = [begin + tap for begin, tap in zip(begins, taps, strict=True)]
            # p < ceil((w + 1) n / m)
            inside = tirx.all(*(p * m < (w + 1) * n for p, w, n, m in zip(at, window, sizes, counts, strict=True)))
            zero = tirx.const(0, "int32")
            code = tirx.if_then_else(inside, tirx.Cast("int32", q(n, c, *at)) - zero_point, zero)
            return te.sum(code, axis=taps)

        return te.compute(shape, element, name="adaptive_sum_pool")

    return bb.call_te(compute, call.args[0], primfunc_name_hint="adaptive_sum_pool")


def _longest(size: int, count: int) -> int:
    begin, end = adaptive_bounds(size, count)
    return int((end - begin).max())


adaptive_sum_pool = register(
    "adaptive_sum_pool", ("q",), AdaptiveSumPoolAttrs, _infer_adaptive_sum_pool, _legalize_adaptive_sum_pool
)


@py_class("tvmq.attrs.Resample", frozen=True)
class ResampleAttrs(tvm.ir.Attrs):
    """axis along which the neighbours lie, not negative."""

    axis: int


def _infer_resample(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    shape = known_shape(call)
    shape[call.attrs.axis] = call.args[1].ty.shape[1]
    return relax.TensorType(shape, "float32")


def _legalize_resample(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
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
resample = register("resample", ("x", "index", "weight"), ResampleAttrs, _infer_resample, _legalize_resample)
