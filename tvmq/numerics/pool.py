"""Pooling on codes: maximum, and int32 sums from which averages are requantized."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tvmq.errors import AccumulatorError, ConfigError
from tvmq.numerics.codes import INT32_MAX
from tvmq.numerics.windows import Option, Windows, make_windows, one_tap, span_of


def max_pool(
    q: np.ndarray,
    *,
    kernel: Option,
    strides: Option = 1,
    padding: Option = 0,
    dilation: Option = 1,
    ceil_mode: bool = False,
) -> np.ndarray:
    """Highest code or number under each window.

    q          integer codes or floats, shape (N, C, spatial...)
    padding    one int, one for each axis, or all the befores then all the afters; never the maximum
    ceil_mode  round the number of windows up; a window wholly outside of q gives the lowest value of the type
    returns    type of q, shape (N, C, spatial...)
    order      of equal floats (zeros of two signs) the last one in the order of memory; none is below the lowest
               finite one

    >>> max_pool(np.int8([[[1, 5, -3]]]), kernel=2, padding=(0, 1))
    array([[[ 5,  5, -3]]], dtype=int8)
    >>> max_pool(np.float32([[[0.0, -0.0, -np.inf]]]), kernel=2, padding=(0, 1))
    array([[[-0.0000000e+00, -0.0000000e+00, -3.4028235e+38]]], dtype=float32)
    """
    q = np.asarray(q)
    windows = make_windows(
        q.shape[2:], kernel, strides=strides, padding=padding, dilation=dilation, ceil_mode=ceil_mode
    )
    if q.dtype.kind == "f":
        return _max_floats(q, windows)
    return _pool(q, np.maximum, int(np.iinfo(q.dtype).min), windows)


def sum_pool(
    q: np.ndarray,
    *,
    kernel: Option,
    strides: Option = 1,
    padding: Option = 0,
    dilation: Option = 1,
    zero_point: int = 0,
    ceil_mode: bool = False,
) -> np.ndarray:
    """Sum of (q - zero_point) under each window; padding contributes 0.

    Options as in `max_pool`. An average is this, requantized with s_x / (s_y * number of elements); where the
    number differs from window to window, see `average_factors`.
    returns  int32, shape (N, C, spatial...)
    raises   AccumulatorError if a window is so large that a sum could leave int32

    >>> sum_pool(np.uint8([[[1, 5, 7]]]), kernel=2, padding=(0, 1), zero_point=1)
    array([[[ 4, 10,  6]]], dtype=int32)
    """
    q = np.asarray(q)
    windows = make_windows(
        q.shape[2:], kernel, strides=strides, padding=padding, dilation=dilation, ceil_mode=ceil_mode
    )
    _check_sum(q.dtype, zero_point, math.prod(windows.kernel), "sum_pool")
    return _pool(np.subtract(q, np.int32(zero_point), dtype=np.int32), np.add, 0, windows)


def adaptive_sum_pool(q: np.ndarray, out_size: Sequence[int], zero_point: int = 0) -> np.ndarray:
    """Sum of (q - zero_point) under windows that cover each spatial axis evenly, whatever its size.

    q         integer codes, shape (N, C, spatial...)
    out_size  number of windows along each spatial axis: window i of m over n elements is
              floor(i * n / m) .. ceil((i + 1) * n / m), the end excluded; neighbours overlap where m does not divide n
    returns   int32, shape (N, C, out_size...); an average is this, requantized, see `adaptive_counts`
    raises    AccumulatorError if a window is so large that a sum could leave int32, ConfigError for another number of
              axes or no windows

    >>> adaptive_sum_pool(np.uint8([[[1, 2, 3, 4, 5]]]), [3])
    array([[[3, 9, 9]]], dtype=int32)
    """
    q = np.asarray(q)
    if len(out_size) != q.ndim - 2 or min(out_size, default=1) < 1:
        raise ConfigError(f"adaptive pool: needs one positive size for each spatial axis. Got {tuple(out_size)}")
    bounds = [adaptive_bounds(n, m) for n, m in zip(q.shape[2:], out_size, strict=True)]
    _check_sum(q.dtype, zero_point, math.prod(int((end - begin).max()) for begin, end in bounds), "adaptive_sum_pool")
    total = np.subtract(q, np.int32(zero_point), dtype=np.int32)
    for axis, (begin, end) in enumerate(bounds, 2):
        parts = [total.take(range(i, j), axis).sum(axis, dtype=np.int32) for i, j in zip(begin, end, strict=True)]
        total = np.stack(parts, axis)
    return np.asarray(total)


def adaptive_bounds(size: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Begins and ends (excluded) of `count` windows over `size` elements: int64 (count,) each.

    >>> adaptive_bounds(5, 3)
    (array([0, 1, 3]), array([2, 4, 5]))
    """
    i = np.arange(count)
    return i * size // count, -((i + 1) * -size // count)


def adaptive_counts(spatial: Sequence[int], out_size: Sequence[int]) -> np.ndarray:
    """Elements under each window of `adaptive_sum_pool`: int32, shape (out_size...).

    >>> adaptive_counts([5, 2], [3, 1])
    array([[4],
           [6],
           [4]], dtype=int32)
    """
    lengths = [np.subtract(*adaptive_bounds(n, m)[::-1]) for n, m in zip(spatial, out_size, strict=True)]
    grids = np.meshgrid(*lengths, indexing="ij")
    return np.prod(grids, axis=0).astype(np.int32)


def sum(q: np.ndarray, axes: Sequence[int], keepdims: bool = False, zero_point: int = 0) -> np.ndarray:
    """Sum of (q - zero_point) over axes.

    q        integer codes, any shape
    returns  int32
    raises   AccumulatorError if there are so many elements that a sum could leave int32

    >>> sum(np.uint8([[1, 5], [7, 9]]), axes=[1], zero_point=1)
    array([ 4, 14], dtype=int32)
    """
    q = np.asarray(q)
    axes = tuple(int(axis) for axis in axes)
    count = math.prod(q.shape[axis] for axis in axes)
    _check_sum(q.dtype, zero_point, count, "sum")
    total = q.sum(axis=axes, keepdims=True, dtype=np.int32) - np.int32(zero_point * count)
    return np.asarray(total) if keepdims else np.squeeze(total, axes)


def window_counts(
    spatial: Sequence[int],
    *,
    kernel: Option,
    strides: Option = 1,
    padding: Option = 0,
    dilation: Option = 1,
    ceil_mode: bool = False,
) -> np.ndarray:
    """Number of elements under each window that are not padding: int32, shape (spatial...).

    >>> window_counts([3], kernel=2, padding=(0, 1))
    array([2, 2, 1], dtype=int32)
    """
    windows = make_windows(spatial, kernel, strides=strides, padding=padding, dilation=dilation, ceil_mode=ceil_mode)
    return np.asarray(_pool(np.ones((1, 1, *spatial), np.int32), np.add, 0, windows)[0, 0])


def average_factors(counts: np.ndarray) -> tuple[np.ndarray, int]:
    """Integers that bring sums over different numbers of elements to one divisor.

    sum / count = sum * factor / divisor, so that sum * factor is requantized with s_x / (s_y * divisor).
    counts   int32, any shape, as `window_counts` gives them
    returns  factors (int32, shape of counts) and the divisor, the least common multiple of the counts
    raises   ConfigError if a window is empty, AccumulatorError if the divisor leaves int32

    >>> average_factors(np.int32([2, 2, 1]))
    (array([1, 1, 2], dtype=int32), 2)
    """
    counts = np.asarray(counts)
    if (counts < 1).any():
        raise ConfigError("average pool: a window lies wholly in the padding; use ceil_mode=False or less padding")
    divisor = math.lcm(*(int(count) for count in np.unique(counts)))
    if divisor > INT32_MAX:
        raise AccumulatorError(
            f"average pool: the counts of its windows have the common multiple {divisor}, int32 ends at "
            f"{INT32_MAX}; keep this layer in float"
        )
    return (divisor // counts).astype(np.int32), divisor


def _check_sum(dtype: np.dtype, zero_point: int, count: int, name: str) -> None:
    """Refuse what could take the sum of codes, of zero points or of their differences out of int32."""
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    reach = count * max(-low, high, high - zero_point, zero_point - low)
    if reach > INT32_MAX:
        raise AccumulatorError(
            f"{name}: {count} codes of {np.dtype(dtype).name} can reach {reach}, int32 ends at {INT32_MAX}; "
            f"keep this layer in float"
        )


def _max_floats(x: np.ndarray, windows: Windows) -> np.ndarray:
    """Maximum of floats in the order of memory, from the lowest on: what does not exceed the next one gives way."""
    lowest = np.finfo(x.dtype).min
    needed = [
        max((size - 1) * stride + span_of((kernel,), (dilation,))[0], before + length)
        for size, stride, kernel, dilation, (before, _), length in zip(
            windows.sizes, windows.strides, windows.kernel, windows.dilation, windows.padding, x.shape[2:], strict=True
        )
    ]
    padded = np.full((*x.shape[:2], *needed), lowest, x.dtype)
    inside = tuple(slice(before, before + n) for (before, _), n in zip(windows.padding, x.shape[2:], strict=True))
    padded[(slice(None), slice(None), *inside)] = x
    largest = np.full((*x.shape[:2], *windows.sizes), lowest, x.dtype)
    for _, offsets in windows.taps():
        tap = one_tap(padded, offsets, windows.strides, windows.sizes)
        largest = np.where(largest > tap, largest, tap)
    return largest


def _pool(q: np.ndarray, combine: np.ufunc, fill: Any, windows: Windows) -> np.ndarray:
    """Windows are boxes, and it does not matter in which parts they are combined: each spatial axis by itself."""
    for axis in range(len(windows.kernel) - 1, -1, -1):
        q = _pool_axis(q, axis, combine, fill, windows)
    return q


def _pool_axis(q: np.ndarray, axis: int, combine: np.ufunc, fill: Any, windows: Windows) -> np.ndarray:
    kernel, stride, dilation = windows.kernel[axis], windows.strides[axis], windows.dilation[axis]
    before, size = windows.padding[axis][0], windows.sizes[axis]
    q = np.moveaxis(q, axis + 2, -1)
    needed = (size - 1) * stride + (kernel - 1) * dilation + 1
    padded = np.full((*q.shape[:-1], max(needed, before + q.shape[-1])), fill, q.dtype)
    padded[..., before : before + q.shape[-1]] = q
    result = one_tap(padded, (0,), (stride,), (size,)).copy()
    for tap in range(1, kernel):
        combine(result, one_tap(padded, (tap * dilation,), (stride,), (size,)), out=result)
    return np.ascontiguousarray(np.moveaxis(result, -1, axis + 2))


# An operator of the graph is named for two spatial axes.
max_pool2d = max_pool
