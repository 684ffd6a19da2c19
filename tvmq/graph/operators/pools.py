"""Exact sums over windows, and weighted sums of neighbours along an axis.

Tensors are (batch, channels, one to three spatial axes).

Tests: tests/graph/test_ops.py
"""

from __future__ import annotations

from collections.abc import Sequence

from tvm import relax, te, tirx

from tvmq import numerics
from tvmq.graph.operators.declaration import declare
from tvmq.graph.operators.loops import fence, known_shape
from tvmq.graph.operators.record import POOL, RESIZE
from tvmq.numerics import adaptive_bounds


def _infer_sum_pool(call: relax.Call, _builder: relax.BlockBuilder) -> relax.TensorType:
    batch, channels, *sizes = known_shape(call)
    kernel, strides, padding = (
        [int(value) for value in values] for values in (call.attrs.kernel, call.attrs.strides, call.attrs.padding)
    )
    windows = [
        (size + padding[axis] + padding[axis + len(sizes)] - kernel[axis]) // strides[axis] + 1
        for axis, size in enumerate(sizes)
    ]
    return relax.TensorType([batch, channels, *windows], "int32")


def _center_code(q: te.Tensor, at: Sequence[tirx.PrimExpr], inside: tirx.PrimExpr, zero_point: int) -> tirx.PrimExpr:
    """int32(q[at] - zero_point), 0 outside."""
    return tirx.if_then_else(inside, tirx.Cast("int32", q(*at)) - zero_point, tirx.const(0, "int32"))


@declare(POOL, numerics.sum_pool, infer=_infer_sum_pool, batch="first", integer=True)
def sum_pool(
    q: te.Tensor,
    *,
    kernel: tuple[int, ...],
    strides: tuple[int, ...],
    padding: tuple[int, ...],
    zero_point: int = 0,
    result: relax.TensorType,
) -> te.Tensor:
    """Exact int32 sums of centred codes over windows; padding contributes 0.

    Average pooling is this and a requantize by 1 / count.

    kernel, strides  of each spatial axis
    padding          all befores, then all afters
    """
    taps = [te.reduce_axis((0, size), name=f"tap{axis}") for axis, size in enumerate(kernel)]

    def element(n: tirx.Var, c: tirx.Var, *window: tirx.Var) -> tirx.PrimExpr:
        at = [w * strides[axis] + taps[axis] - padding[axis] for axis, w in enumerate(window)]
        inside = tirx.all(*(bound for p, size in zip(at, q.shape[2:], strict=True) for bound in (p >= 0, p < size)))
        return te.sum(_center_code(q, (n, c, *at), inside, zero_point), axis=taps)

    return te.compute(list(result.shape), element, name="sum_pool")


def _infer_adaptive_sum_pool(call: relax.Call, _builder: relax.BlockBuilder) -> relax.TensorType:
    batch, channels, *_ = known_shape(call)
    return relax.TensorType([batch, channels, *(int(size) for size in call.attrs.out_size)], "int32")


@declare(POOL, numerics.adaptive_sum_pool, infer=_infer_adaptive_sum_pool, batch="first", integer=True)
def adaptive_sum_pool(
    q: te.Tensor, *, out_size: tuple[int, ...], zero_point: int = 0, result: relax.TensorType
) -> te.Tensor:
    """Exact int32 sums of centred codes under unequal windows.

    Window i of m over n elements is floor(i n / m) .. ceil((i + 1) n / m), the end excluded.

    out_size  number of windows along each spatial axis
    """
    sizes = [int(size) for size in q.shape[2:]]
    longest = [_longest(n, m) for n, m in zip(sizes, out_size, strict=True)]
    taps = [te.reduce_axis((0, length), name=f"tap{axis}") for axis, length in enumerate(longest)]

    def element(n: tirx.Var, c: tirx.Var, *window: tirx.Var) -> tirx.PrimExpr:
        begins = [tirx.floordiv(w * size, m) for w, size, m in zip(window, sizes, out_size, strict=True)]
        at = [begin + tap for begin, tap in zip(begins, taps, strict=True)]
        # p < ceil((w + 1) n / m)
        inside = tirx.all(*(p * m < (w + 1) * n for p, w, n, m in zip(at, window, sizes, out_size, strict=True)))
        return te.sum(_center_code(q, (n, c, *at), inside, zero_point), axis=taps)

    return te.compute(list(result.shape), element, name="adaptive_sum_pool")


def _longest(size: int, count: int) -> int:
    begin, end = adaptive_bounds(size, count)
    return int((end - begin).max())


def _infer_resample(call: relax.Call, _builder: relax.BlockBuilder) -> relax.TensorType:
    shape = known_shape(call)
    shape[call.attrs.axis] = call.args[1].ty.shape[1]
    return relax.TensorType(shape, "float32")


@declare(RESIZE, numerics.resample, infer=_infer_resample, batch="along", integer=True)
def resample(x: te.Tensor, index: te.Tensor, weight: te.Tensor, *, axis: int, result: relax.TensorType) -> te.Tensor:
    """Weighted sums of neighbours along one axis, which is not negative.

    index, weight  int32 and float32, both (taps, size of the result)
    """

    def element(*i: tirx.Var) -> tirx.PrimExpr:
        total = None
        for tap in range(int(index.shape[0])):
            value = x(*i[:axis], index(tap, i[axis]), *i[axis + 1 :])
            product = fence(value * weight(tap, i[axis]))
            total = product if total is None else total + product
        return total

    return te.compute(list(result.shape), element, name="resample")
