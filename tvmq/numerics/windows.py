"""Sliding windows over the spatial axes of (N, C, spatial...) arrays: options, sizes, padding, taps.

Weighted sums of neighbours along one axis in float32, fixed to the last bit: linear and cubic resize.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Union

import numpy as np
from numpy.typing import DTypeLike

from tvmq.errors import ConfigError

Option = Union[int, Sequence[int]]  # noqa: UP007 -- evaluated at import, also by Python 3.10
Ints = tuple[int, ...]


@dataclass(frozen=True)
class Windows:
    """All windows of a convolution or pooling; every field has one entry for each spatial axis.

    padding  (before, after)
    sizes    number of windows = spatial sizes of the result
    """

    kernel: Ints
    strides: Ints
    dilation: Ints
    padding: tuple[tuple[int, int], ...]
    sizes: Ints

    def taps(self) -> Iterator[tuple[Ints, Ints]]:
        """Index in the kernel, and offset from a window's first element, of each tap."""
        for index in np.ndindex(*self.kernel):
            yield index, tuple(i * d for i, d in zip(index, self.dilation, strict=True))


def make_windows(
    spatial: Sequence[int],
    kernel: Option,
    *,
    strides: Option = 1,
    padding: Option = 0,
    dilation: Option = 1,
    ceil_mode: bool = False,
) -> Windows:
    """Windows over padded axes of these sizes: (size + padding - span) / stride + 1 of them.

    padding    one int, one for each axis, or all the befores then all the afters (top, left, bottom, right)
    ceil_mode  round that quotient up instead of down
    raises     ConfigError for options that do not fit, or a window larger than its padded axis

    >>> make_windows((7, 8), 3, strides=2, ceil_mode=True).sizes
    (3, 4)
    """
    ndim = len(spatial)
    kernel, strides = per_axis(kernel, ndim, "kernel"), per_axis(strides, ndim, "strides")
    dilation, sides = per_axis(dilation, ndim, "dilation"), both_sides(padding, ndim)
    sizes = []
    for size, span, stride, (before, after) in zip(spatial, span_of(kernel, dilation), strides, sides, strict=True):
        room = size + before + after - span
        if room < 0:
            raise ConfigError(
                f"a window of {span} does not fit a spatial size of {size} with padding {before} and {after}"
            )
        sizes.append((room + (stride - 1 if ceil_mode else 0)) // stride + 1)
    return Windows(kernel, strides, dilation, sides, tuple(sizes))


def per_axis(value: Option, ndim: int, name: str, lowest: int = 1) -> Ints:
    """An option as one int for each of `ndim` spatial axes.

    >>> per_axis(2, 2, "strides"), per_axis((1, 3), 2, "strides")
    ((2, 2), (1, 3))
    """
    values = tuple(value) if isinstance(value, (Sequence, np.ndarray)) else (value,) * ndim
    if len(values) != ndim or any(v < lowest for v in values):
        raise ConfigError(f"{name} must be an int of at least {lowest}, or {ndim} of them. Got {value!r} instead")
    return tuple(int(v) for v in values)


def both_sides(padding: Option, ndim: int) -> tuple[tuple[int, int], ...]:
    """Padding as (before, after) of each spatial axis.

    >>> both_sides((0, 1, 2, 3), 2), both_sides((1, 2), 2)
    (((0, 2), (1, 3)), ((1, 1), (2, 2)))
    """
    values = tuple(padding) if isinstance(padding, (Sequence, np.ndarray)) else (padding,) * ndim
    values = values * 2 if len(values) == ndim else values
    values = per_axis(values, 2 * ndim, "padding", lowest=0)
    return tuple(zip(values[:ndim], values[ndim:], strict=True))


def span_of(kernel: Ints, dilation: Ints) -> Ints:
    """Elements from the first to the last tap of a window, on each axis."""
    return tuple((k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True))


def pad(x: np.ndarray, padding: tuple[tuple[int, int], ...], fill: float, dtype: DTypeLike) -> np.ndarray:
    """x with its last axes padded, converted to dtype; x itself where nothing is to be done."""
    if not any(before or after for before, after in padding):
        return np.asarray(x.astype(dtype, copy=False))
    lead = x.ndim - len(padding)
    sizes = tuple(size + sum(sides) for size, sides in zip(x.shape[lead:], padding, strict=True))
    result = np.full(x.shape[:lead] + sizes, fill, dtype)
    starts = tuple(before for before, _ in padding)
    one_tap(result, starts, (1,) * len(padding), x.shape[lead:])[...] = x
    return result


def one_tap(x: np.ndarray, tap: Ints, strides: Ints, sizes: Ints) -> np.ndarray:
    """View of x[..., tap::stride] with `sizes` elements on each of the last axes: one tap of all windows."""
    spatial = (slice(t, t + (n - 1) * s + 1, s) for t, s, n in zip(tap, strides, sizes, strict=True))
    index: tuple[Any, ...] = (..., *spatial)
    return np.asarray(x[index])


def resample(x: np.ndarray, index: np.ndarray, weight: np.ndarray, axis: int) -> np.ndarray:
    """y[i] = x[index[0, i]] * weight[0, i] + x[index[1, i]] * weight[1, i] + ... along an axis.

    x        float32, any shape
    index    integers, shape (taps, size of the result), each within the axis
    weight   float32, shape of index
    returns  float32, shape of x but for the axis
    order    tap by tap; every product and every sum is rounded to float32 by itself
    source   ONNX Resize, linear and cubic, an axis at a time

    >>> resample(np.float32([0, 10]), np.array([[0, 0], [1, 1]]), np.float32([[0.75, 0.25], [0.25, 0.75]]), 0)
    array([2.5, 7.5], dtype=float32)
    """
    x = np.asarray(x, np.float32)
    shape = [1] * x.ndim
    shape[axis] = -1
    with np.errstate(all="ignore"):
        products = [x.take(i, axis) * np.float32(w).reshape(shape) for i, w in zip(index, weight, strict=True)]
        total = products[0]
        for product in products[1:]:
            total = total + product
    return np.asarray(total)
