"""Sliding windows over the spatial axes of N, C, ... arrays: options, sizes, padding, and one tap of all windows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tvmq.errors import ConfigError

Option = int | Sequence[int]


def per_axis(value: Option, ndim: int, name: str, lowest: int = 1) -> tuple[int, ...]:
    """An option as one int for each of `ndim` spatial axes.

    >>> per_axis(2, 2, "strides"), per_axis((1, 3), 2, "strides")
    ((2, 2), (1, 3))
    """
    values = (value,) * ndim if isinstance(value, (int, np.integer)) else tuple(value)
    if len(values) != ndim or any(v < lowest for v in values):
        raise ConfigError(
            f"{name} must be an int of at least {lowest} or {ndim} of them. Got {value!r} instead"
        )
    return tuple(int(v) for v in values)


def both_sides(padding: Option, ndim: int) -> tuple[tuple[int, int], ...]:
    """Padding as (before, after) of each spatial axis.

    padding  one int, one for each axis, or all the befores then all the afters (top, left, bottom, right)

    >>> both_sides((0, 1, 2, 3), 2)
    ((0, 2), (1, 3))
    """
    values = (padding,) * ndim if isinstance(padding, (int, np.integer)) else tuple(padding)
    values = values * 2 if len(values) == ndim else values
    values = per_axis(values, 2 * ndim, "padding", lowest=0)
    return tuple(zip(values[:ndim], values[ndim:], strict=True))


def span_of(kernel: tuple[int, ...], dilation: tuple[int, ...]) -> tuple[int, ...]:
    """Elements from the first to the last tap of a window, on each axis."""
    return tuple((k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True))


def out_sizes(
    sizes: tuple[int, ...],
    kernel: tuple[int, ...],
    strides: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
    dilation: tuple[int, ...],
    ceil_mode: bool = False,
) -> tuple[int, ...]:
    """(size + padding - span) / stride + 1, rounded down, or up with ceil_mode.

    raises  ConfigError if a window is larger than its padded axis

    >>> out_sizes((7, 8), (3, 3), (2, 2), ((0, 0), (0, 0)), (1, 1), ceil_mode=True)
    (3, 4)
    """
    result = []
    for size, span, stride, sides in zip(sizes, span_of(kernel, dilation), strides, padding, strict=True):
        room = size + sum(sides) - span
        if room < 0:
            raise ConfigError(
                f"a window of {span} does not fit a spatial size of {size} with padding {sides}"
            )
        result.append((room + (stride - 1 if ceil_mode else 0)) // stride + 1)
    return tuple(result)


def pad(
    x: np.ndarray, padding: tuple[tuple[int, int], ...], fill: float, dtype: np.dtype | type | None = None
) -> np.ndarray:
    """x with its last axes padded, converted to dtype."""
    dtype = x.dtype if dtype is None else dtype
    if not any(before or after for before, after in padding):
        return x.astype(dtype, copy=False)
    lead = x.ndim - len(padding)
    sizes = tuple(size + sum(sides) for size, sides in zip(x.shape[lead:], padding, strict=True))
    result = np.full(x.shape[:lead] + sizes, fill, dtype)
    inside = tuple(
        slice(before, before + size) for size, (before, _) in zip(x.shape[lead:], padding, strict=True)
    )
    result[(..., *inside)] = x
    return result


def one_tap(
    x: np.ndarray, tap: Sequence[int], strides: tuple[int, ...], sizes: tuple[int, ...]
) -> np.ndarray:
    """View of the elements under one tap of all windows: x[..., tap::stride] with `sizes` elements on each of the last axes."""
    return x[(..., *(slice(t, t + (n - 1) * s + 1, s) for t, s, n in zip(tap, strides, sizes, strict=True)))]
