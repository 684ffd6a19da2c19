"""Convolutions, products and sums of codes in accumulators that can overflow.

Each function takes the exact sums as well, which whoever asks has already, and gives the described ones with a mask of
those that overflowed. Codes are taken as the module has them: the zero point of the input stands in the bias.

Tests: tests/chips/emulation/test_accumulator.py
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tvmq import numerics
from tvmq.chips.emulation.accumulator import Accumulator, saturating_sums
from tvmq.numerics.gemm import multiply_matrices
from tvmq.numerics.windows import both_sides, make_windows, pad, span_of

Sums = tuple[np.ndarray, np.ndarray]


def fit_sums(exact: np.ndarray, accumulator: Accumulator) -> Sums:
    """Sums of one step, or of any order: they wrap, or saturate once."""
    return accumulator.fit_values(exact), accumulator.leaves(exact)


def parts(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The positive and the magnitudes of the negative numbers, in types that hold them.

    >>> [part.tolist() for part in parts(np.int8([-128, 5]))]
    [[0, 5], [128, 0]]
    """
    unsigned = np.dtype(f"uint{8 * values.dtype.itemsize}")
    negative = np.where(values < 0, -values.astype(np.int64), 0)
    return np.maximum(values, 0).astype(unsigned), negative.astype(unsigned)


def conv(exact: np.ndarray, x: np.ndarray, w: np.ndarray, accumulator: Accumulator, **windows: Any) -> Sums:
    """Sums of numerics.conv with these options, which gives `exact`."""
    if accumulator.overflow != "saturate":
        return fit_sums(exact, accumulator)

    def conv_or_zeros(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """numerics.conv, skipped where one operand is nothing but zeros."""
        if not a.any() or not b.any():
            return np.zeros(exact.shape, np.int64)
        return np.asarray(numerics.conv(a, b, **windows), np.int64)

    (x_up, x_down), (w_up, w_down) = parts(x), parts(w)
    most = conv_or_zeros(x_up, w_up) + conv_or_zeros(x_down, w_down)
    least = -conv_or_zeros(x_up, w_down) - conv_or_zeros(x_down, w_up)
    return saturating_sums(exact, most, least, conv_products(x, w, **windows), accumulator)


def conv_products(
    x: np.ndarray,
    w: np.ndarray,
    *,
    strides: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int = 1,
) -> Callable[[tuple[np.ndarray, ...]], np.ndarray]:
    """Gives the products of results of a convolution, int64 [results, steps] in the order in which they are added."""
    sides = both_sides(padding, x.ndim - 2)
    grouped = pad(x, sides, 0, x.dtype)
    grouped = grouped.reshape(len(x), groups, x.shape[1] // groups, *grouped.shape[2:])
    axes = tuple(range(3, grouped.ndim))
    spans = span_of(w.shape[2:], tuple(dilation))
    view = np.lib.stride_tricks.sliding_window_view(grouped, spans, axis=axes)
    every: Any = (..., *(slice(None, None, s) for s in strides), *(slice(None, None, d) for d in dilation))
    view = view[every]
    filters, per_group = np.moveaxis(w, 1, -1), w.shape[0] // groups

    def products(index: tuple[np.ndarray, ...]) -> np.ndarray:
        sample, channel, *place = index
        windows = view[(sample, channel // per_group, slice(None), *place)]  # [results, channels, kernel...]
        windows = np.moveaxis(windows, 1, -1).astype(np.int64)
        return (windows * filters[channel]).reshape(len(sample), -1)

    return products


def pair_sums(products: np.ndarray) -> np.ndarray:
    """Sums of int64 [results, steps] whose neighbours are added in 16 bits that saturate, as vpmaddubsw does.

    >>> pair_sums(np.int64([[255 * 127, 255 * 127, -5]])).tolist()
    [32762]
    """
    even = np.pad(products, [(0, 0), (0, products.shape[1] % 2)])
    pairs = even[:, ::2] + even[:, 1::2]
    return np.asarray(np.clip(pairs, -(2**15), 2**15 - 1).sum(axis=1))


def conv_transpose(
    exact: np.ndarray,
    x: np.ndarray,
    w: np.ndarray,
    accumulator: Accumulator,
    *,
    strides: Sequence[int],
    padding: Sequence[int],
    output_padding: Sequence[int],
    dilation: Sequence[int],
    groups: int = 1,
    x_zero: int = 0,
) -> Sums:
    """Sums of numerics.conv_transpose, which gives `exact`: the convolution of x with gaps by the flipped kernel.

    Gaps and border hold the zero point, as the definition has it.
    """
    if accumulator.overflow != "saturate":
        return fit_sums(exact, accumulator)
    ndim = x.ndim - 2
    filters = np.flip(numerics.filters_first(w, groups), tuple(range(2, w.ndim)))
    spans, sides = span_of(w.shape[2:], tuple(dilation)), both_sides(padding, ndim)
    spread = np.full((*x.shape[:2], *((n - 1) * s + 1 for n, s in zip(x.shape[2:], strides, strict=True))), x_zero)
    every: Any = (..., *(slice(None, None, s) for s in strides))
    spread[every] = x
    width = [
        (span - 1 - before, span - 1 - after + more)
        for span, (before, after), more in zip(spans, sides, output_padding, strict=True)
    ]
    spread = pad(spread, tuple((max(a, 0), max(b, 0)) for a, b in width), x_zero, spread.dtype)
    cut: Any = (..., *(slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(width, spread.shape[2:], strict=True)))
    return conv(
        exact, spread[cut].astype(x.dtype), filters, accumulator,
        strides=(1,) * ndim, padding=(0,) * ndim, dilation=dilation, groups=groups,
    )  # fmt: skip


def matmul(exact: np.ndarray, a: np.ndarray, b: np.ndarray, accumulator: Accumulator) -> Sums:
    """Sums of numerics.matmul of steps (codes less their zero points), which gives `exact`."""
    if accumulator.overflow != "saturate":
        return fit_sums(exact, accumulator)
    rows, columns = np.asarray(a, np.float64), np.asarray(b, np.float64)
    rows, columns = (rows[None] if a.ndim == 1 else rows), (columns[:, None] if b.ndim == 1 else columns)
    batch = np.broadcast_shapes(rows.shape[:-2], columns.shape[:-2])
    shape = (*batch, rows.shape[-2], columns.shape[-1])
    up = [(np.maximum(m, 0), np.maximum(-m, 0)) for m in (rows, columns)]
    most = multiply_matrices(up[0][0], up[1][0]) + multiply_matrices(up[0][1], up[1][1])
    least = -multiply_matrices(up[0][0], up[1][1]) - multiply_matrices(up[0][1], up[1][0])
    wide_rows = np.broadcast_to(rows, (*batch, *rows.shape[-2:]))
    wide_columns = np.broadcast_to(columns, (*batch, *columns.shape[-2:])).swapaxes(-1, -2)

    def products(index: tuple[np.ndarray, ...]) -> np.ndarray:
        *place, row, column = index
        return (wide_rows[(*place, row)] * wide_columns[(*place, column)]).astype(np.int64)

    total, left = saturating_sums(exact.reshape(shape), most, least, products, accumulator)
    return total.reshape(exact.shape), left.reshape(exact.shape)


def sum_over_axes(exact: np.ndarray, steps: np.ndarray, axes: Sequence[int], accumulator: Accumulator) -> Sums:
    """Sums of numbers over axes, of which `exact` are the sums with or without these axes."""
    if accumulator.overflow != "saturate":
        return fit_sums(exact, accumulator)
    axes = tuple(int(axis) % steps.ndim for axis in axes)
    kept = np.moveaxis(np.asarray(steps, np.int64), axes, range(-len(axes), 0))
    flat = kept.reshape(-1, math.prod(kept.shape[kept.ndim - len(axes) :]))
    total, left = accumulator.in_steps(flat)
    return total.reshape(exact.shape), left.reshape(exact.shape)


def sum_pool(
    exact: np.ndarray,
    steps: np.ndarray,
    accumulator: Accumulator,
    *,
    kernel: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[int],
) -> Sums:
    """Sums of windows, as a convolution of each channel by ones; padding adds nothing."""
    if accumulator.overflow != "saturate":
        return fit_sums(exact, accumulator)
    ndim = steps.ndim - 2
    windows = make_windows(steps.shape[2:], kernel, strides=strides, padding=padding)
    ones = np.ones((steps.shape[1], 1, *windows.kernel), np.int8)
    return conv(
        exact, np.asarray(steps, np.int16), ones, accumulator,
        strides=strides, padding=padding, dilation=(1,) * ndim, groups=steps.shape[1],
    )  # fmt: skip


def adaptive_sum_pool(exact: np.ndarray, steps: np.ndarray, accumulator: Accumulator, out_size: Sequence[int]) -> Sums:
    """Sums of windows that cover each axis evenly."""
    if accumulator.overflow != "saturate":
        return fit_sums(exact, accumulator)
    total, left = np.empty(exact.shape, np.int64), np.empty(exact.shape, bool)
    bounds = [numerics.adaptive_bounds(n, m) for n, m in zip(steps.shape[2:], out_size, strict=True)]
    for place in np.ndindex(*exact.shape[2:]):
        window = tuple(slice(*(int(end[i]) for end in axis)) for axis, i in zip(bounds, place, strict=True))
        at: Any = (..., *window)
        part = np.asarray(steps[at], np.int64).reshape(*steps.shape[:2], -1)
        sums, over = accumulator.in_steps(part.reshape(-1, part.shape[-1]))
        total[(..., *place)], left[(..., *place)] = sums.reshape(steps.shape[:2]), over.reshape(steps.shape[:2])
    return total, left
