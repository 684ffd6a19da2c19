"""Operators that make one value of many: reductions, pools, norms, softmax, scans, and what sorts; our sums of codes.

Tests: tests/graph/test_ops.py
"""

from __future__ import annotations

from collections.abc import Sequence

from tvm import relax, te, tirx

from tvmq import numerics
from tvmq.graph.operators.declaration import declare
from tvmq.graph.operators.integer_norms import as_int64, i64, one_at, reciprocal
from tvmq.graph.operators.loops import known_shape
from tvmq.graph.operators.record import HIGH, LOW, NORMALIZATION, ORDER, POOL, REDUCTION, SCAN, SOFTMAX, Record
from tvmq.numerics.masked_mean import COUNT_BITS

REDUCTIONS = (
    *(Record(name, REDUCTION, batch="reduces") for name in ("mean", "variance", "std")),
    *(Record(name, REDUCTION, batch="reduces", integer=True) for name in ("sum", "prod")),
    Record("max", ORDER, batch="reduces", commutes_with_quantize=True, integer=True, finite_at=(LOW,)),
    Record("min", ORDER, batch="reduces", commutes_with_quantize=True, integer=True, finite_at=(HIGH,)),
    *(Record(name, ORDER, batch="along", integer=True) for name in ("argmax", "argmin")),
    *(Record(name, ORDER, batch="along") for name in ("sort", "argsort", "topk")),
    *(Record(name, ORDER) for name in ("median", "nonzero", "unique", "vision.non_max_suppression")),
    Record("cumsum", SCAN, batch="along", integer=True),
    Record("cumprod", SCAN, batch="along"),
)
POOLS = (
    *(
        Record(f"nn.max_pool{axes}d", POOL, batch="first", commutes_with_quantize=True, integer=True, homogeneous=True)
        for axes in (1, 2, 3)
    ),
    *(
        Record(f"nn.{kind}_pool{axes}d", POOL, batch="first", homogeneous=True)
        for kind in ("avg", "adaptive_avg")
        for axes in (1, 2, 3)
    ),
)
NORMALIZATIONS = (
    *(Record(name, NORMALIZATION, batch="normalizes") for name in ("nn.layer_norm", "nn.rms_norm")),
    *(Record(name, NORMALIZATION) for name in ("nn.batch_norm", "nn.group_norm", "nn.instance_norm")),
    Record("nn.softmax", SOFTMAX, batch="along", bounded_by_one=True, finite_at=(LOW,)),
    Record("nn.log_softmax", SOFTMAX, batch="along", propagates_infinity=(0,)),
)
REDUCING = (*REDUCTIONS, *POOLS, *NORMALIZATIONS)


def _result_shape(shape: Sequence[tirx.PrimExpr], axes: Sequence[int], keepdims: bool) -> list[tirx.PrimExpr]:
    if keepdims:
        return [tirx.const(1, "int64") if i in axes else dim for i, dim in enumerate(shape)]
    return [dim for i, dim in enumerate(shape) if i not in axes]


def _infer_sum(call: relax.Call, _builder: relax.BlockBuilder) -> relax.TensorType:
    axes = [int(axis) for axis in call.attrs.axes]
    return relax.TensorType(_result_shape(known_shape(call), axes, call.attrs.keepdims), "int32")


@declare(REDUCTION, numerics.sum, infer=_infer_sum, label="sum_codes", batch="reduces", integer=True)
def sum(q: te.Tensor, *, axes: tuple[int, ...], keepdims: bool = False, zero_point: int = 0) -> te.Tensor:  # noqa: A001
    """Exact int32 sum of centred codes over axes; a requantize by 1 / count makes it a mean.

    sum over axes of int32(q - zero_point)

    axes      none negative
    keepdims  they stay with length 1
    """
    reduce = {axis: te.reduce_axis((0, q.shape[axis]), name=f"r{axis}") for axis in axes}

    def element(*i: tirx.Var) -> tirx.PrimExpr:
        is_kept = iter(i)
        index = []
        for axis in range(len(q.shape)):
            if axis in reduce:
                index.append(reduce[axis])
                if keepdims:
                    next(is_kept)
            else:
                index.append(next(is_kept))
        return te.sum(tirx.Cast("int32", q(*index)) - zero_point, axis=list(reduce.values()))

    return te.compute(_result_shape(q.shape, axes, keepdims), element, name="sum")


def _infer_masked_mean(call: relax.Call, _builder: relax.BlockBuilder) -> relax.TensorType:
    shape, axis = list(call.args[0].ty.shape), int(call.attrs.axis)
    return relax.TensorType(shape[:axis] + shape[axis + 1 :], call.attrs.dtype)


@declare(REDUCTION, numerics.masked_mean, infer=_infer_masked_mean, batch="along", integer=True)
def masked_mean(
    x: te.Tensor,
    mask: te.Tensor,
    *,
    axis: int,
    multiplier: int,
    shift: int,
    x_zero: int,
    zero_point: int,
    dtype: str = "int16",
    qmin: int = -32767,
    qmax: int = 32767,
) -> te.Tensor:
    """Mean of the codes that a mask of integers keeps, along one axis.

    s = sum((x - x_zero) * mask), c = sum(mask);
    clip(round(s * multiplier * 2^(shift - 31) / c) + zero_point, qmin, qmax)

    numerics.fixed_point_parameters gives multiplier and shift.
    """
    total, count = _sums_masked_mean(x, mask, x_zero, axis)
    few = list(mask.shape)[:axis] + list(mask.shape)[axis + 1 :]
    width = te.compute(few, lambda *i: _width_masked_mean(count(*i)), name="width")
    inverse = reciprocal(te.compute(few, lambda *i: count(*i) << width(*i), name="normalized"))
    low, high = i64(qmin - zero_point), i64(qmax - zero_point)

    def element(*i: tirx.Var) -> tirx.PrimExpr:
        at = _broadcast_indices(few, i)
        factor = (inverse(*at) * i64(multiplier) + i64(1 << 30)) >> i64(31)
        n = i64(61 - shift) - width(*at)
        code = (total(*i) * factor + one_at(n - i64(1))) >> n
        return tirx.Cast(dtype, tirx.min(tirx.max(code, low), high) + i64(zero_point))

    return te.compute(list(x.shape)[:axis] + list(x.shape)[axis + 1 :], element, name="masked_mean")


def _sums_masked_mean(x: te.Tensor, mask: te.Tensor, x_zero: int, axis: int) -> tuple[te.Tensor, te.Tensor]:
    """Sum of the kept codes, of the shape of the result, and their count, at least 1, of that of the mask."""
    j, k = (te.reduce_axis((0, x.shape[axis]), name=name) for name in "jk")
    shape, few = list(x.shape), list(mask.shape)

    def is_kept(*i: tirx.PrimExpr) -> tirx.PrimExpr:
        return tirx.min(tirx.max(as_int64(mask(*_broadcast_indices(few, i))), i64(0)), i64(1))

    def sum_kept(*i: tirx.Var) -> tirx.PrimExpr:
        at = (*i[:axis], j, *i[axis:])
        return te.sum((as_int64(x(*at)) - i64(x_zero)) * is_kept(*at), axis=j)

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
