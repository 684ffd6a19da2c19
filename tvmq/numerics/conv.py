"""Integer convolution over one, two or three spatial axes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from tvmq.errors import ConfigError
from tvmq.numerics.codes import Number, largest_code, zero_of
from tvmq.numerics.gemm import Plan, choose_plan, largest_magnitude_sum, run_plan, to_int32
from tvmq.numerics.windows import Ints, Option, Windows, make_windows, one_tap, pad

COLUMN_ELEMENTS = 2**19  # of the unfolded input at a time: 2 MB, about a second-level cache
PLANE_ELEMENTS = 2**15  # of a block of depthwise channels at a time


def conv(
    x: np.ndarray,
    w: np.ndarray,
    *,
    strides: Option = 1,
    padding: Option = 0,
    dilation: Option = 1,
    groups: int = 1,
    x_zero: Number = 0,
) -> np.ndarray:
    """Sums of x codes times w codes under each window, exact.

    x         integer codes, shape (N, C, spatial...), one to three spatial axes; taken as they are, so the
              caller subtracts x_zero * sum(w) of each filter where x_zero is not 0
    w         integer codes, shape (F, C / groups, kernel...)
    padding   one int, one for each axis, or all the befores then all the afters; filled with x_zero
    x_zero    a code of x, its zero point
    returns   int32, shape (N, F, spatial...)
    raises    AccumulatorError if a sum leaves int32, ConfigError for shapes and options that do not fit,
              RangeError if x_zero is no code of x

    >>> conv(np.uint8([[[1, 2, 3]]]), np.int8([[[1, -1]]]), padding=1, x_zero=5)
    array([[[ 4, -1, -1, -2]]], dtype=int32)
    """
    x, w = np.asarray(x), np.asarray(w)
    check_operands(x, w, groups, "conv")
    if x.shape[1] != w.shape[1] * groups or w.shape[0] % groups:
        raise ConfigError(f"conv: {x.shape[1]} channels in {groups} groups do not fit weights of shape {w.shape}")
    windows = make_windows(x.shape[2:], w.shape[2:], strides=strides, padding=padding, dilation=dilation)
    x_zero = zero_of(x, x_zero)
    plan = plan_sums(w, largest_code(x), depth_axes=tuple(range(1, w.ndim)))
    depthwise = w.shape[1] == 1 and plan.piece >= math.prod(windows.kernel)
    filters: np.ndarray = w.astype(plan.dtype)
    result = np.empty((x.shape[0], w.shape[0], *windows.sizes), np.int32)
    for picture, out in zip(x, result, strict=True):
        padded = pad(picture, windows.padding, x_zero, plan.dtype)
        if depthwise:
            _depthwise(padded, filters, windows, out)
        else:
            _unfold_and_multiply(padded, filters, windows, groups, plan, out)
    return result


def check_operands(x: np.ndarray, w: np.ndarray, groups: int, name: str) -> None:
    """Refuse dimensions, empty weights and groups that no convolution can have."""
    if not 3 <= x.ndim <= 5 or w.ndim != x.ndim:
        raise ConfigError(
            f"{name}: input and weights need the same three to five dimensions. "
            f"Got shapes {x.shape} and {w.shape} instead"
        )
    if groups < 1 or 0 in w.shape:
        raise ConfigError(
            f"{name}: groups must be at least 1 and weights not empty. Got {groups} and shape {w.shape} instead"
        )


def plan_sums(w: np.ndarray, x_largest: int, depth_axes: Ints) -> Plan:
    """How to add the products of each filter exactly."""
    depth = math.prod(w.shape[axis] for axis in depth_axes)
    largest_product = x_largest * largest_code(w)
    return choose_plan(depth, largest_product, lambda: x_largest * largest_magnitude_sum(w, depth_axes))


def _unfold_and_multiply(
    x: np.ndarray, w: np.ndarray, windows: Windows, groups: int, plan: Plan, out: np.ndarray
) -> None:
    """Convolve a padded picture, a few rows of the result at a time: filters of each group times columns of taps."""
    filters = w.reshape(groups, w.shape[0] // groups, -1)
    depth, width = filters.shape[2], math.prod(windows.sizes[1:])
    rows = max(COLUMN_ELEMENTS // max(groups * depth * width, 1), 1)
    for first in range(0, windows.sizes[0], rows):
        part = replace(windows, sizes=(min(rows, windows.sizes[0] - first), *windows.sizes[1:]))
        columns = _unfold(x[:, first * windows.strides[0] :], part)
        sums = run_plan(plan, filters, columns.reshape(groups, depth, -1))
        out[:, first : first + rows] = to_int32(sums, "conv").reshape(-1, *part.sizes)


def _unfold(x: np.ndarray, windows: Windows) -> np.ndarray:
    """The elements under all taps of all windows, shape (C, kernel..., sizes...)."""
    if math.prod(windows.kernel) == 1:
        return np.ascontiguousarray(one_tap(x, (0,) * len(windows.kernel), windows.strides, windows.sizes))
    columns = np.empty((x.shape[0], *windows.kernel, *windows.sizes), x.dtype)
    for index, tap in windows.taps():
        of_tap: tuple[Any, ...] = (slice(None), *index)
        columns[of_tap] = one_tap(x, tap, windows.strides, windows.sizes)
    return columns


def _depthwise(x: np.ndarray, w: np.ndarray, windows: Windows, out: np.ndarray) -> None:
    """Convolve a padded picture, one input channel for each filter: a few channels at a time, to stay in cache."""
    repeats = w.shape[0] // x.shape[0]
    channels = max(PLANE_ELEMENTS // max(math.prod(x.shape[1:]), 1), 1)
    for first in range(0, x.shape[0], channels):
        block = x[first : first + channels]
        block = block if repeats == 1 else np.repeat(block, repeats, axis=0)
        filters = slice(first * repeats, first * repeats + len(block))
        out[filters] = _depthwise_block(block, w[filters], windows)


def _depthwise_block(x: np.ndarray, w: np.ndarray, windows: Windows) -> np.ndarray:
    """Shifted multiply-adds of whole planes, int32 (C, sizes...).

    Planes are taken as flat, so that a tap is one offset; sums that run over a row are cut off later.
    """
    phases = _split_phases(x, windows.strides)
    plane = phases.shape[1 + len(windows.strides) :]
    steps = [math.prod(plane[axis + 1 :]) for axis in range(len(plane))]
    length = sum((n - 1) * step for n, step in zip(windows.sizes, steps, strict=True)) + 1
    total = np.zeros((len(x), windows.sizes[0] * steps[0]), x.dtype)
    product = np.empty((len(x), length), x.dtype)
    for index, tap in windows.taps():
        phase: tuple[Any, ...] = (slice(None), *(t % s for t, s in zip(tap, windows.strides, strict=True)))
        weight: tuple[Any, ...] = (slice(None), slice(0, 1), *index)
        offset = sum(t // s * step for t, s, step in zip(tap, windows.strides, steps, strict=True))
        shifted = phases[phase].reshape(len(x), -1)[:, offset : offset + length]
        np.multiply(shifted, w[weight], out=product)
        total[:, :length] += product
    rows = total.reshape(len(x), windows.sizes[0], *plane[1:])
    return to_int32(one_tap(rows, (0,) * len(plane), (1,) * len(plane), windows.sizes), "conv")


def _split_phases(x: np.ndarray, strides: Ints) -> np.ndarray:
    """x[:, p::stride] for all p < stride: shape (C, strides..., plane...), planes rounded up to strides."""
    whole = tuple((0, -size % s) for size, s in zip(x.shape[1:], strides, strict=True))
    x = pad(x, whole, 0, x.dtype)
    pairs = [n for size, s in zip(x.shape[1:], strides, strict=True) for n in (size // s, s)]
    split = x.reshape(x.shape[0], *pairs)
    return np.ascontiguousarray(split.transpose(0, *range(2, split.ndim, 2), *range(1, split.ndim, 2)))
