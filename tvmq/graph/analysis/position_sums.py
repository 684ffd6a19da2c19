"""Positions of a sequence through operators that add or compare along axes (see positions.py).

A sum over positions is one over the sample's own where masked ones add exactly 0. Sums of integers have no order. Those
of floats add in lanes, in the order of places (numerics.lane_sum): zeros behind the last place change nothing, zeros in
front move all others to other lanes.

Tests: tests/graph/test_padding.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from tvm import relax

from tvmq.graph.analysis.position_moves import Rule, broadcast_axes
from tvmq.graph.analysis.positions import Positions, subsets
from tvmq.graph.analysis.value_ranges import WHOLE, Range, range_of_type
from tvmq.graph.view import const_value, dtype_of, is_const, op_name, rank_of, sizes_of
from tvmq.numerics.fixed_point import LARGEST_EXPONENT, exp2_negative
from tvmq.numerics.softmax import LARGEST, LOWEST_ARGUMENT

COUNTED = "it also counts masked positions: multiply what it reads by the mask"
WEIGHTED = "masked positions may have weight: add a lower number, as -10000, to their scores"
UNORDERED = "a float product has no definition that says in which order positions are added"
ROUNDING = 1.01  # of sums in float32, above what any order of up to 10^5 terms can round
LARGEST_SQUARED = 1e15  # squares of more, summed, may overflow


def _is_zero(value: Positions, axis: int, zero: float) -> bool:
    """True if masked positions on an axis hold that number only, whatever the other axes hold."""
    return all(one == (zero, zero) for key, one in value.ranges.items() if axis in key)


def _scale_by(reach: float, dtype: str) -> Range:
    """Range of sums of at most this magnitude; of integers, whose type holds them, that of the type at most."""
    whole = range_of_type(dtype)
    if math.isnan(reach) or math.isinf(reach):
        return whole
    reach *= ROUNDING
    return Range(max(-reach, whole.low), min(reach, whole.high))


# ---- products


def _matmul(call: relax.Call, a: Positions, b: Positions) -> Positions | str:
    """Rows of a by columns of b; the axis that is summed may be positions."""
    rank_a, rank_b, rank = rank_of(call.args[0]), rank_of(call.args[1]), rank_of(call)
    if min(rank_a, rank_b) < 2:
        return "a product with a vector"
    zeros = [float(getattr(call.attrs, name, 0)) for name in ("a_zero", "b_zero")]
    inner = {"a": rank_a - 1, "b": rank_b - 2}
    summed = inner["a"] in a.axes or inner["b"] in b.axes
    if summed and "int" not in dtype_of(call.args[0]):
        return UNORDERED
    if summed and not (
        (inner["a"] in a.axes and _is_zero(a, inner["a"], zeros[0]))
        or (inner["b"] in b.axes and _is_zero(b, inner["b"], zeros[1]))
    ):
        return f"its sum {COUNTED.removeprefix('it ')}"
    target_a, target_b = (broadcast_axes(arg, rank) for arg in call.args[:2])
    axes = {target_a[axis] for axis in a.axes if axis != inner["a"]}
    axes |= {target_b[axis] for axis in b.axes if axis != inner["b"]}
    reach = _product_reach(call, a, b, zeros)
    return Positions(dict.fromkeys(subsets(tuple(sorted(axes))), _scale_by(reach, dtype_of(call))), a.place or b.place)


def _product_reach(call: relax.Call, a: Positions, b: Positions, zeros: Sequence[float]) -> float:
    """Largest magnitude of the sums; infinite where their number is not known."""
    if is_const(call.args[1]):
        weights = np.abs(const_value(call.args[1]).astype(np.float64) - zeros[1]).sum(axis=-2)
        return _reach_around(a.range, zeros[0]) * float(weights.max(initial=0.0))
    count = sizes_of(call.args[0])[-1]
    reach = _reach_around(a.range, zeros[0]) * _reach_around(b.range, zeros[1])
    return reach * (count if isinstance(count, int) else np.inf)


def _reach_around(values: Range, zero: float) -> float:
    return Range(values.low - zero, values.high - zero).reach


# ---- reductions


def _axes_of(call: relax.Call) -> list[int]:
    rank, attrs = rank_of(call.args[0]), call.attrs
    if op_name(call) == "tvmq.dynamic_scale":
        return list(range(attrs.first, attrs.first + attrs.count))
    axes = attrs.axes if hasattr(attrs, "axes") else attrs.axis
    if axes is None:
        return list(range(rank))
    return sorted(int(axis) % rank for axis in (axes if hasattr(axes, "__len__") else [axes]))


def _after(call: relax.Call, axes: Sequence[int]) -> dict[int, int]:
    """Where the other axes are afterwards."""
    rank = rank_of(call.args[0])
    others = [axis for axis in range(rank) if axis not in axes]
    return {axis: axis if rank_of(call) == rank else place for place, axis in enumerate(others)}


def _reduce(call: relax.Call, x: Positions, values: Range, place: str = "") -> Positions:
    """The axes that are not reduced, with one range."""
    target = _after(call, _axes_of(call))
    axes = tuple(sorted(target[axis] for axis in x.axes if axis in target))
    return Positions(dict.fromkeys(subsets(axes), values), x.place or place)


def _sum(call: relax.Call, x: Positions, *_: Any) -> Positions | str:
    """Sum of codes or floats; a mean over positions counts masked ones even if they are 0."""
    axes, attrs, dtype = _axes_of(call), call.attrs, dtype_of(call)
    name, zero = op_name(call), float(getattr(call.attrs, "zero_point", 0))
    summed = [axis for axis in axes if axis in x.axes]
    is_mean = name == "mean" or bool(getattr(attrs, "mean", False))
    if summed and (is_mean or not all(_is_zero(x, axis, zero) for axis in summed)):
        return COUNTED
    is_float = "int" not in dtype
    if summed and is_float and (name != "tvmq.float_sum" or summed[0] != axes[0]):
        return "its float sum adds positions in an order that depends on their number"
    counts = [size if isinstance(size, int) else np.inf for size in (sizes_of(call.args[0])[axis] for axis in axes)]
    reach = _reach_around(x.range, zero) * (1 if is_mean else math.prod(counts))
    return _reduce(call, x, _scale_by(reach, dtype), "lanes" if summed and is_float else "")


def _reduce_by_order(call: relax.Call, x: Positions) -> Positions | str:
    """Largest or smallest value: masked positions must not be larger, or smaller, than the sample's own."""
    axes, sign = _axes_of(call), 1.0 if op_name(call) == "max" else -1.0
    for axis in [axis for axis in axes if axis in x.axes]:
        for key in subsets(tuple(a for a in x.axes if a != axis)):
            own, masked = x.ranges[key], x.ranges[key | {axis}]
            # zeros of both signs are equal, and not the same bits: masked ones must be beyond the others
            if not (masked.high < own.low if sign > 0 else masked.low > own.high) or WHOLE in (own, masked):
                return "masked positions may hold the largest value: give them the lowest one"
    return _reduce(call, x, x.range)


def _dynamic_scale(call: relax.Call, x: Positions) -> Positions | str:
    if any(axis in x.axes and not _is_zero(x, axis, 0.0) for axis in _axes_of(call)):
        return "positions share a scale: calibrate the model with data, or keep the layer float"
    reach = x.range.reach / int(call.attrs.largest_code) * ROUNDING
    return _reduce(call, x, Range(0.0, max(reach, 1.0) if math.isfinite(reach) else float(LARGEST)))


def _masked_mean(call: relax.Call, x: Positions, mask: Positions) -> Positions | str:
    axis = int(call.attrs.axis) % rank_of(call.args[0])
    is_masked = axis in mask.axes and all(one.high <= 0 for key, one in mask.ranges.items() if axis in key)
    if axis in x.axes and not is_masked:
        return COUNTED
    return _reduce(call, x, Range(float(call.attrs.qmin), float(call.attrs.qmax)))


def _cumulate(call: relax.Call, x: Positions) -> Positions | str:
    """Sums of all positions up to each: those of own ones, where masked ones add 0 or come behind."""
    axis = int(call.attrs.axis or 0) % rank_of(call.args[0])
    if axis in x.axes and "int" not in dtype_of(call):
        return COUNTED
    place = "summed" if axis in x.axes and not _is_zero(x, axis, 0.0) else ""
    return replace(x.each_range(lambda _: range_of_type(dtype_of(call))), place=x.place or place)


# ---- softmax and norms


def _softmax(call: relax.Call, x: Positions) -> Positions | str:
    """Weights of masked positions are 0 where their scores are so much lower that the exponential is 0."""
    axis = int(call.attrs.axis) % rank_of(call)
    is_float = op_name(call) == "tvmq.softmax"
    zero = 0.0 if is_float else float(call.attrs.zero_point)
    every = Range(0.0, 1.0 + 1e-6) if is_float else Range(float(call.attrs.qmin), float(call.attrs.qmax))
    if axis not in x.axes:
        return x.each_range(lambda _: every)
    is_zero = _weight_is_zero if is_float else _integer_weight_is_zero
    ranges = {}
    for key in subsets(tuple(a for a in x.axes if a != axis)):
        without = is_zero(call, x.ranges[key], x.ranges[key | {axis}])
        if not key and not without:
            return WEIGHTED
        ranges[key], ranges[key | {axis}] = every, Range(zero, zero) if without else every
    return Positions(ranges, x.place or ("lanes" if is_float else ""))


def _weight_is_zero(_call: relax.Call, own: Range, masked: Range) -> bool:
    """True if exp(masked - largest) is 0, as numerics.softmax defines it: one own position at least is not lower."""
    if WHOLE in (own, masked):
        return False
    low, high = (np.clip(np.float32(end), -LARGEST, LARGEST) for end in (own.low, masked.high))
    return bool(high - low < LOWEST_ARGUMENT)


def _integer_weight_is_zero(call: relax.Call, own: Range, masked: Range) -> bool:
    """True if the power of a masked score is 0 in numerics.integer_softmax."""
    d, attrs = int(own.low) - int(masked.high), call.attrs
    if d < 0:
        return False
    t = (d * int(attrs.multiplier) + (1 << (int(attrs.shift) - 1))) >> int(attrs.shift)
    return int(exp2_negative(np.array([min(t, LARGEST_EXPONENT)]))[0]) == 0


def _normalize(call: relax.Call, x: Positions, *constants: Positions) -> Positions | str:
    """A value's distance from the mean of n, in standard deviations, is at most sqrt(n)."""
    rank, axes = rank_of(call), int(getattr(call.attrs, "axes", 1))
    if any(axis >= rank - axes for axis in x.axes):
        return "its mean and variance also count masked positions: normalize each position by itself"
    sizes = sizes_of(call)[rank - axes :]
    values = WHOLE
    if all(isinstance(size, int) for size in sizes) and x.range.reach < LARGEST_SQUARED:
        factor, *offset = (one.range.reach for one in constants)
        values = _scale_by(math.sqrt(math.prod(map(int, sizes))) * factor + sum(offset), "float32")
    return x.each_range(lambda _: values)


def _normalize_codes(call: relax.Call, x: Positions, multiplier: Positions, *_: Positions) -> Positions | str:
    rows = rank_of(call) - rank_of(call.args[1])
    if any(axis >= rows for axis in x.axes):
        return "its mean and variance also count masked positions: normalize each position by itself"
    return x.each_range(lambda _: Range(float(call.attrs.qmin), float(call.attrs.qmax)))


SUM_RULES: dict[str, Rule] = {
    **dict.fromkeys(("matmul", "tvmq.matmul"), _matmul),
    **dict.fromkeys(("sum", "mean", "tvmq.sum", "tvmq.float_sum"), _sum),
    **dict.fromkeys(("max", "min"), _reduce_by_order),
    "tvmq.dynamic_scale": _dynamic_scale,
    "tvmq.masked_mean": _masked_mean,
    "cumsum": _cumulate,
    **dict.fromkeys(("tvmq.softmax", "tvmq.integer_softmax"), _softmax),
    **dict.fromkeys(("tvmq.layer_norm", "tvmq.rms_norm"), _normalize),
    "tvmq.integer_layer_norm": _normalize_codes,
}
