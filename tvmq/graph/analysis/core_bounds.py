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
from tvmq.graph.interpret import Function, interpret
from tvmq.graph.operators import where
from tvmq.graph.operators.record import CONVOLUTION, RESHAPE, TRANSPOSE
from tvmq.graph.view import View, const_value, dtype_of, is_const, op_name, sizes_of
from tvmq.numerics.code_type import CODES_16

CODES = (*CODES_16, "bool")


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
    """Intervals of the variables of a module.

    reach   {variable: largest magnitude of the sums that make it}; None where it is not known
    """

    def __init__(self, view: View) -> None:
        self._known: dict[str, Interval | None] = {}
        self.reach: dict[str, int | None] = {}
        for var, _ in interpret(view, self._function_of, self._known, lambda expr, _: self.interval_of(expr)):
            if _dtype(var) == "int32":
                self.reach.setdefault(var.name, None)

    def _function_of(self, var: relax.Var, call: relax.Call) -> Function | None:
        """Function(call, *intervals of its arguments) -> interval; None for floats."""
        dtype, name = _dtype(var), op_name(call)
        if dtype not in ("int32", *CODES):
            return None
        sums = None if name == "tvmq.table" and dtype in CODES else SUMS.get(name)

        def compute(call: relax.Call, *args: Interval | None) -> Interval | None:
            result = sums(call, *args) if sums else None
            if sums:
                self.reach[var.name] = result.reach if result else None
            return _codes(call, dtype, args) if dtype in CODES else result

        return compute

    def interval_of(self, expr: relax.Expr) -> Interval | None:
        """Interval of an argument."""
        if is_const(expr):
            value = const_value(expr)
            return interval(value.min(), value.max()) if value.dtype.kind in "iu" and value.size else None
        if isinstance(expr, relax.Tuple):
            return _union([self.interval_of(field) for field in expr.fields])
        known = self._known.get(expr.name) if isinstance(expr, relax.Var) else None
        return known or (of_type(_dtype(expr)) if _dtype(expr) in CODES else None)


def _codes(call: relax.Call, dtype: str, args: Sequence[Interval | None]) -> Interval:
    """Codes of a result: what its operator clips to, the entries of a table, or the codes that are moved."""
    attrs = call.attrs
    if hasattr(attrs, "qmin"):
        return interval(int(attrs.qmin), int(attrs.qmax))
    if op_name(call) == "tvmq.table":
        return args[1] or of_type(dtype)
    is_moved = [_dtype(arg) == dtype or isinstance(arg, relax.Tuple) for arg in call.args]
    moved = [arg for arg, is_one in zip(args, is_moved, strict=True) if is_one]
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


# ---- sums of one operator: call, intervals of its arguments -> interval of the sums, None if it is not known

Bound = Interval | None


def _products_with_weight(axis: int, transposed: bool = False) -> Function:
    """Products with a constant weight, whose filters lie along `axis`."""

    def sums(call: relax.Call, x: Bound, *_: Bound) -> Bound:
        if x is None or not is_const(call.args[1]):
            return None
        weight = const_value(call.args[1]).astype(np.int64)
        if transposed:
            weight, x = numerics.filters_first(weight, int(call.attrs.groups)), _centre(x, call.attrs.zero_point)
        flat = np.moveaxis(weight, axis, 0).reshape(weight.shape[axis], -1)
        ends = np.stack([flat * x.low, flat * x.high, np.zeros_like(flat)])
        return interval(ends.min(axis=0).sum(axis=1), ends.max(axis=0).sum(axis=1))

    return sums


def _need_all(function: Callable[..., Bound]) -> Callable[..., Bound]:
    """The function of known intervals; nothing is known of the sums if one of them is not."""
    return lambda call, *args: None if any(arg is None for arg in args) else function(call, *args)


def _centre(x: Interval, zero: Any) -> Interval:
    return Interval(x.low - int(zero), x.high - int(zero))


def _times(a: Interval, b: Interval) -> Interval:
    corners = np.stack(np.broadcast_arrays(a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high))
    return interval(corners.min(axis=0), corners.max(axis=0))


def _repeat(x: Interval, count: int) -> Interval:
    return interval(np.minimum(x.low, 0) * count, np.maximum(x.high, 0) * count)


@_need_all
def _products(call: relax.Call, a: Interval, b: Interval) -> Bound:
    product = _times(_centre(a, call.attrs.a_zero), _centre(b, call.attrs.b_zero))
    if op_name(call) != "tvmq.matmul":
        return product
    count = _product(sizes_of(call.args[0])[-1:])
    return None if count is None else _repeat(product, count)


def _plus(call: relax.Call, *args: Bound) -> Bound:
    """Sums and a constant, one a channel or one for all; partial sums may lack either."""
    a, b = (_by_channel(arg) or known for arg, known in zip(call.args, args, strict=True))
    if a is None or b is None:
        return None
    low = np.minimum(a.low, 0) + np.minimum(b.low, 0)
    return interval(low, np.maximum(a.high, 0) + np.maximum(b.high, 0))


def _by_channel(arg: relax.Expr) -> Bound:
    """A constant that varies along one axis only, as the biases of channels; None for anything else."""
    if not is_const(arg):
        return None
    array = const_value(arg)
    flat = array.reshape(-1)
    return interval(flat, flat) if array.dtype.kind in "iu" and max(array.shape, default=1) == array.size else None


@_need_all
def _sum_of(call: relax.Call, x: Interval) -> Bound:
    attrs = call.attrs
    if op_name(call) == "tvmq.sum_pool":
        count = _product([int(k) for k in attrs.kernel])
    elif op_name(call) == "tvmq.sum":
        sizes = sizes_of(call.args[0])
        count = _product([sizes[int(axis)] for axis in attrs.axes])
    else:
        pixels = [size for size in sizes_of(call.args[0])[2:] if isinstance(size, int)]
        is_known = len(pixels) == len(attrs.out_size)
        count = int(numerics.adaptive_counts(pixels, [int(n) for n in attrs.out_size]).max()) if is_known else None
    return None if count is None else _repeat(_centre(x, attrs.zero_point), count)


def _product(sizes: Sequence[int | str]) -> int | None:
    """Number of values of these sizes; None if one of them is dynamic."""
    known = [size for size in sizes if isinstance(size, int)]
    return math.prod(known) if len(known) == len(sizes) else None


@_need_all
def _add_codes(call: relax.Call, a: Interval, b: Interval) -> Interval:
    attrs = call.attrs
    parts = [
        _repeat(_times(a, interval(attrs.a_multiplier, attrs.a_multiplier)), 1),
        _repeat(_times(b, interval(attrs.b_multiplier, attrs.b_multiplier)), 1),
        _repeat(interval(attrs.offset, attrs.offset), 1),
    ]
    return interval(sum(p.low for p in parts), sum(p.high for p in parts))


@_need_all
def _scale_shift(_call: relax.Call, q: Interval, multiplier: Interval, offset: Interval) -> Interval:
    product = _repeat(_times(q, multiplier), 1)
    return interval(product.low + np.minimum(offset.low, 0), product.high + np.maximum(offset.high, 0))


@_need_all
def _prelu(call: relax.Call, q: Interval, slopes: Interval) -> Interval:
    attrs = call.attrs
    multipliers = interval(min(slopes.low.min(), attrs.multiplier), max(slopes.high.max(), attrs.multiplier))
    product = _repeat(_times(_centre(q, attrs.x_zero), multipliers), 1)
    return interval(product.low, product.high + 2 ** int(attrs.shift) // 2)


def _add_mask(_call: relax.Call, x: Bound, *_: Bound) -> Bound:
    """Scores and a mask, whose steps end at 2^30 on either side."""
    return interval(np.min(x.low) - 2**30, np.max(x.high) + 2**30) if x is not None else None


SUMS: Mapping[str, Function] = {
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
    "tvmq.table": lambda _call, _codes, values: values,  # one side of a sum, see numerics.summand_tables
    "add": _plus,
    "multiply": _need_all(lambda _call, a, b: _times(a, b)),
    **dict.fromkeys(where(form=(RESHAPE, TRANSPOSE)), lambda _call, x, *_: x),
}
