"""Bounds of the integers of a core: an interval for each of its tensors, from constants and bounds of codes.

The interval of a sum holds all its partial sums, in any order: that is what an accumulator has to hold.

Tests: tests/test_device.py
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.graph.operators import where
from tvmq.graph.operators.record import CONVOLUTION, RESHAPE, TRANSPOSE
from tvmq.graph.view import const_value, dtype_of, is_const, op_name, sizes_of

CODES = ("int8", "uint8", "int16", "bool")


class Interval(NamedTuple):
    """Lowest and highest value, int64: shape (), or one for each channel of sums."""

    low: np.ndarray
    high: np.ndarray

    @property
    def reach(self) -> int:
        """Largest magnitude."""
        return int(max(np.max(self.high, initial=0), -np.min(self.low, initial=0)))


def interval(low: Any, high: Any) -> Interval:
    """An interval of whole numbers.

    >>> interval(-3, 2).reach
    3
    """
    return Interval(np.asarray(low, np.int64), np.asarray(high, np.int64))


def of_type(dtype: str) -> Interval:
    """All values of an integer type."""
    limits = np.iinfo(np.uint8 if dtype == "bool" else dtype)
    return interval(limits.min, limits.max)


class Bounds:
    """Intervals of the variables of a core, binding by binding in order.

    reach   {variable: largest magnitude of the sums that make it}; None where it is not known
    """

    def __init__(self) -> None:
        self.known: dict[str, Interval] = {}
        self.reach: dict[str, int | None] = {}

    def add(self, var: relax.Var, value: relax.Expr) -> None:
        """Bound one binding."""
        name, dtype = op_name(value), _dtype(var)
        sums = SUMS.get(name) if dtype in ("int32", *CODES) else None
        interval = sums(value, self.interval_of) if sums else None
        if name == "tvmq.table" and dtype == "int32":  # one side of a sum, see numerics.summand_tables
            interval = self.interval_of(value.args[1])
        if dtype in CODES:
            self.known[var.name] = self._codes(value, dtype)
        elif interval is not None:
            self.known[var.name] = interval
        if sums or dtype == "int32":
            self.reach[var.name] = interval.reach if interval else None

    def interval_of(self, expr: relax.Expr) -> Interval | None:
        """Interval of an argument."""
        if is_const(expr):
            value = const_value(expr)
            return interval(value.min(), value.max()) if value.dtype.kind in "iu" and value.size else None
        if isinstance(expr, relax.Tuple):
            return _union([self.interval_of(field) for field in expr.fields])
        if isinstance(expr, relax.Var) and expr.name in self.known:
            return self.known[expr.name]
        return of_type(_dtype(expr)) if _dtype(expr) in CODES else None

    def _codes(self, value: relax.Expr, dtype: str) -> Interval:
        """Codes of a result: what its operator clips to, the entries of a table, or the codes that are moved."""
        if not isinstance(value, relax.Call):
            return of_type(dtype)
        attrs = value.attrs
        if hasattr(attrs, "qmin"):
            return interval(int(attrs.qmin), int(attrs.qmax))
        if op_name(value) == "tvmq.table":
            return self.interval_of(value.args[1]) or of_type(dtype)
        moved = [self.interval_of(arg) for arg in value.args if _dtype(arg) == dtype or isinstance(arg, relax.Tuple)]
        if hasattr(attrs, "pad_value"):
            moved.append(interval(int(attrs.pad_value), int(attrs.pad_value)))
        return _union(moved) or of_type(dtype)


def _dtype(expr: relax.Expr) -> str:
    return dtype_of(expr) if isinstance(getattr(expr, "ty", None), relax.TensorType) else ""


def _union(parts: list[Interval | None]) -> Interval | None:
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts):
        return None
    return interval(min(int(p.low.min()) for p in known), max(int(p.high.max()) for p in known))


# ---- sums of one operator: value, interval of an argument -> interval of the sums, None if it is not known

Of = Callable[[relax.Expr], Interval | None]


def _products_with_weight(axis: int, transposed: bool = False) -> Callable[[relax.Call, Of], Interval | None]:
    """Products with a constant weight, whose filters lie along `axis`."""

    def sums(value: relax.Call, of: Of) -> Interval | None:
        x = of(value.args[0])
        if x is None or not is_const(value.args[1]):
            return None
        weight = const_value(value.args[1]).astype(np.int64)
        if transposed:
            weight, x = numerics.filters_first(weight, int(value.attrs.groups)), _centre(x, value.attrs.zero_point)
        flat = np.moveaxis(weight, axis, 0).reshape(weight.shape[axis], -1)
        ends = np.stack([flat * x.low, flat * x.high, np.zeros_like(flat)])
        return interval(ends.min(axis=0).sum(axis=1), ends.max(axis=0).sum(axis=1))

    return sums


def _centre(x: Interval, zero: Any) -> Interval:
    return Interval(x.low - int(zero), x.high - int(zero))


def _times(a: Interval, b: Interval) -> Interval:
    corners = np.stack(np.broadcast_arrays(a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high))
    return interval(corners.min(axis=0), corners.max(axis=0))


def _repeat(x: Interval, count: int) -> Interval:
    return interval(np.minimum(x.low, 0) * count, np.maximum(x.high, 0) * count)


def _products(value: relax.Call, of: Of) -> Interval | None:
    a, b = (of(arg) for arg in value.args)
    if a is None or b is None:
        return None
    product = _times(_centre(a, value.attrs.a_zero), _centre(b, value.attrs.b_zero))
    if op_name(value) != "tvmq.matmul":
        return product
    count = _product(sizes_of(value.args[0])[-1:])
    return None if count is None else _repeat(product, count)


def _plus(value: relax.Call, of: Of) -> Interval | None:
    """Sums and a constant, one a channel or one for all; partial sums may lack either."""
    a, b = (_by_channel(arg) or of(arg) for arg in value.args)
    if a is None or b is None:
        return None
    low = np.minimum(a.low, 0) + np.minimum(b.low, 0)
    return interval(low, np.maximum(a.high, 0) + np.maximum(b.high, 0))


def _by_channel(arg: relax.Expr) -> Interval | None:
    """A constant that varies along one axis only, as the biases of channels; None for anything else."""
    if not is_const(arg):
        return None
    array = const_value(arg)
    flat = array.reshape(-1)
    return interval(flat, flat) if array.dtype.kind in "iu" and max(array.shape, default=1) == array.size else None


def _products_of_intervals(value: relax.Call, of: Of) -> Interval | None:
    a, b = (of(arg) for arg in value.args)
    return _times(a, b) if a is not None and b is not None else None


def _sum_of(value: relax.Call, of: Of) -> Interval | None:
    x, attrs = of(value.args[0]), value.attrs
    if x is None:
        return None
    if op_name(value) == "tvmq.sum_pool":
        count = _product([int(k) for k in attrs.kernel])
    elif op_name(value) == "tvmq.sum":
        sizes = sizes_of(value.args[0])
        count = _product([sizes[int(axis)] for axis in attrs.axes])
    else:
        pixels = [size for size in sizes_of(value.args[0])[2:] if isinstance(size, int)]
        is_known = len(pixels) == len(attrs.out_size)
        count = int(numerics.adaptive_counts(pixels, [int(n) for n in attrs.out_size]).max()) if is_known else None
    return None if count is None else _repeat(_centre(x, attrs.zero_point), count)


def _product(sizes: Sequence[int | str]) -> int | None:
    """Number of values of these sizes; None if one of them is dynamic."""
    known = [size for size in sizes if isinstance(size, int)]
    return math.prod(known) if len(known) == len(sizes) else None


def _add_codes(value: relax.Call, of: Of) -> Interval | None:
    a, b, attrs = of(value.args[0]), of(value.args[1]), value.attrs
    if a is None or b is None:
        return None
    parts = [
        _repeat(_times(a, interval(attrs.a_multiplier, attrs.a_multiplier)), 1),
        _repeat(_times(b, interval(attrs.b_multiplier, attrs.b_multiplier)), 1),
        _repeat(interval(attrs.offset, attrs.offset), 1),
    ]
    return interval(sum(p.low for p in parts), sum(p.high for p in parts))


def _scale_shift(value: relax.Call, of: Of) -> Interval | None:
    q, multiplier, offset = (of(arg) for arg in value.args)
    if q is None or multiplier is None or offset is None:
        return None
    product = _repeat(_times(q, multiplier), 1)
    return interval(product.low + np.minimum(offset.low, 0), product.high + np.maximum(offset.high, 0))


def _prelu(value: relax.Call, of: Of) -> Interval | None:
    q, slopes, attrs = of(value.args[0]), of(value.args[1]), value.attrs
    if q is None or slopes is None:
        return None
    multipliers = interval(min(slopes.low.min(), attrs.multiplier), max(slopes.high.max(), attrs.multiplier))
    product = _repeat(_times(_centre(q, attrs.x_zero), multipliers), 1)
    return interval(product.low, product.high + 2 ** int(attrs.shift) // 2)


def _add_mask(value: relax.Call, of: Of) -> Interval | None:
    """Scores and a mask, whose steps end at 2^30 on either side."""
    x = of(value.args[0])
    return interval(np.min(x.low) - 2**30, np.max(x.high) + 2**30) if x is not None else None


def _pass_through(value: relax.Call, of: Of) -> Interval | None:
    return of(value.args[0])


SUMS: Mapping[str, Callable[[relax.Call, Of], Interval | None]] = {
    **dict.fromkeys(where(kind=CONVOLUTION), _products_with_weight(0)),
    "tvmq.conv_transpose": _products_with_weight(0, transposed=True),
    "matmul": _products_with_weight(-1),
    "tvmq.matmul": _products,
    "tvmq.multiply": _products,
    **dict.fromkeys(("tvmq.sum", "tvmq.sum_pool", "tvmq.adaptive_sum_pool"), _sum_of),
    "tvmq.add": _add_codes,
    "tvmq.scale_shift": _scale_shift,
    "tvmq.prelu": _prelu,
    "tvmq.add_mask": _add_mask,
    "add": _plus,
    "multiply": _products_of_intervals,
    **dict.fromkeys(where(form=(RESHAPE, TRANSPOSE)), _pass_through),
}
