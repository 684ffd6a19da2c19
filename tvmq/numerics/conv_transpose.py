"""Integer transposed convolution over one, two or three spatial axes.

Tests: tests/numerics/test_conv.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tvmq.errors import ConfigError
from tvmq.numerics.codes import Number, largest_code, zero_of
from tvmq.numerics.conv import check_operands, plan_sums
from tvmq.numerics.gemm import Plan, run_plan, to_int32
from tvmq.numerics.windows import Option, Windows, both_sides, one_tap, per_axis, span_of


def conv_transpose(
    x: np.ndarray,
    w: np.ndarray,
    *,
    strides: Option = 1,
    padding: Option = 0,
    output_padding: Option = 0,
    dilation: Option = 1,
    groups: int = 1,
    x_zero: Number = 0,
) -> np.ndarray:
    """Sums of x codes times w codes where each x is spread over a window, exact.

    It is the convolution, with the flipped kernel, of x with strides - 1 gaps between its elements and a
    border around them; gaps and border hold x_zero. So the caller subtracts x_zero * sum(w) of each
    filter, as with `conv`.
    x         integer codes, shape (N, C, spatial...), one to three spatial axes
    w         integer codes, shape (C, F / groups, kernel...)
    padding   cut off the result: one int, one for each axis, or all the befores then all the afters
    x_zero    a code of x, its zero point
    returns   int32, shape (N, F, spatial...), sizes (size - 1) * stride + span + output_padding - padding
    raises    AccumulatorError if a sum leaves int32, ConfigError for shapes and options that do not fit,
              RangeError if x_zero is no code of x
    order     sum of (x - x_zero) * w, then + x_zero * sum(w), all exact

    >>> conv_transpose(np.uint8([[[1, 2]]]), np.int8([[[1, 3]]]), strides=2)
    array([[[1, 3, 2, 6]]], dtype=int32)
    """
    x, w = np.asarray(x), np.asarray(w)
    check_operands(x, w, groups, "conv_transpose")
    if x.shape[1] != w.shape[0] or x.shape[1] % groups:
        raise ConfigError(
            f"conv_transpose: {x.shape[1]} channels in {groups} groups do not fit weights of shape {w.shape}"
        )
    windows, full = _windows(x.shape[2:], w.shape[2:], strides, padding, output_padding, dilation)
    # (C, F / groups, kernel...) to (groups, F / groups, C / groups, kernel...): the axes of a sum are last
    filters = w.reshape(groups, w.shape[0] // groups, *w.shape[1:]).swapaxes(1, 2)
    depth_axes = tuple(range(2, filters.ndim))
    x_zero = zero_of(x, x_zero)
    plan = plan_sums(filters, largest_code(x) + abs(x_zero), depth_axes)
    fill = x_zero * filters.sum(axis=depth_axes, dtype=np.float64).reshape(-1, *[1] * len(full))
    result = np.empty((x.shape[0], w.shape[1] * groups, *windows.sizes), np.int32)
    starts, ones = tuple(before for before, _ in windows.padding), (1,) * len(full)
    for picture, out in zip(x, result, strict=True):
        sums = _scatter(picture, filters, windows, full, x_zero, plan)
        out[...] = to_int32(one_tap(sums, starts, ones, windows.sizes) + fill, "conv_transpose")
    return result


def filters_first(w: np.ndarray, groups: int = 1) -> np.ndarray:
    """The weight of a transposed convolution in the order of that of a convolution.

    w        shape (C, F / groups, kernel...)
    returns  shape (F, C / groups, kernel...); the kernel is not flipped

    >>> filters_first(np.arange(6).reshape(2, 3, 1))[..., 0].tolist()
    [[0, 3], [1, 4], [2, 5]]
    """
    grouped = w.reshape(groups, w.shape[0] // groups, *w.shape[1:]).swapaxes(1, 2)
    return np.ascontiguousarray(grouped.reshape(-1, *grouped.shape[2:]))


def _windows(
    spatial: tuple[int, ...],
    kernel: tuple[int, ...],
    strides: Option,
    padding: Option,
    output_padding: Option,
    dilation: Option,
) -> tuple[Windows, tuple[int, ...]]:
    """The options, with the sizes of the result; and its sizes before padding is cut off."""
    ndim = len(spatial)
    strides, dilation = per_axis(strides, ndim, "strides"), per_axis(dilation, ndim, "dilation")
    extra, sides = per_axis(output_padding, ndim, "output_padding", lowest=0), both_sides(padding, ndim)
    axes = zip(spatial, strides, span_of(kernel, dilation), extra, strict=True)
    full = tuple((size - 1) * stride + span + more for size, stride, span, more in axes)
    sizes = tuple(size - before - after for size, (before, after) in zip(full, sides, strict=True))
    if min(sizes) < 1:
        raise ConfigError(f"conv_transpose: padding {sides} leaves nothing of a result of sizes {full}")
    return Windows(kernel, strides, dilation, sides, sizes), full


def _scatter(
    x: np.ndarray, filters: np.ndarray, windows: Windows, full: tuple[int, ...], x_zero: int, plan: Plan
) -> np.ndarray:
    """Sums of a picture: a product for all taps, then each tap is added where it falls; float64 (F, full...)."""
    groups, per_group, depth = filters.shape[:3]
    rows = np.moveaxis(filters, 2, -1).reshape(groups, -1, depth)
    columns = (x.astype(np.float64) - x_zero).reshape(groups, depth, -1)
    products = run_plan(plan, rows, columns).reshape(groups * per_group, *windows.kernel, *x.shape[1:])
    total = np.zeros((groups * per_group, *full), np.float64)
    for index, tap in windows.taps():
        of_tap: tuple[Any, ...] = (slice(None), *index)
        one_tap(total, tap, windows.strides, x.shape[1:])[...] += products[of_tap]
    return total
