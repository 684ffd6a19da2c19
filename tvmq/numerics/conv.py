"""Integer convolution over one, two or three spatial axes."""

from __future__ import annotations

import math

import numpy as np

from tvmq.errors import ConfigError
from tvmq.numerics.codes import largest_code
from tvmq.numerics.gemm import Plan, choose_plan, largest_magnitude_sum, run_plan, to_int32
from tvmq.numerics.windows import Option, both_sides, one_tap, out_sizes, pad, per_axis

COLUMN_ELEMENTS = 2**19  # of the unfolded input at a time: 2 MB, about one second-level cache
PLANE_ELEMENTS = 2**15  # of a block of depthwise channels at a time


def conv(
    x: np.ndarray,
    w: np.ndarray,
    *,
    strides: Option = 1,
    padding: Option = 0,
    dilation: Option = 1,
    groups: int = 1,
    x_zero: int = 0,
) -> np.ndarray:
    """Sums of x codes times w codes under each window, exact.

    x         integer codes, shape (N, C, spatial...), one to three spatial axes; taken as they are, so the caller
              subtracts x_zero * sum(w) of each filter where x_zero is not 0
    w         integer codes, shape (F, C / groups, kernel...)
    padding   one int, one for each axis, or all the befores then all the afters; padding is filled with x_zero
    returns   int32, shape (N, F, spatial...)
    raises    AccumulatorError if a sum leaves int32, ConfigError for shapes and options that do not fit

    >>> conv(np.uint8([[[1, 2, 3]]]), np.int8([[[1, -1]]]), padding=1, x_zero=5)
    array([[[ 4, -1, -1, -2]]], dtype=int32)
    """
    x, w = np.asarray(x), np.asarray(w)
    check_operands(x, w, groups, "conv")
    if x.shape[1] != w.shape[1] * groups or w.shape[0] % groups:
        raise ConfigError(
            f"conv: {x.shape[1]} channels in {groups} groups do not fit weights of shape {w.shape}"
        )
    ndim = x.ndim - 2
    strides, dilation = per_axis(strides, ndim, "strides"), per_axis(dilation, ndim, "dilation")
    sides = both_sides(padding, ndim)
    sizes = out_sizes(x.shape[2:], w.shape[2:], strides, sides, dilation)
    plan = plan_sums(w, max(largest_code(x), abs(x_zero)), depth_axes=tuple(range(1, w.ndim)))
    result = np.empty((x.shape[0], w.shape[0], *sizes), np.int32)
    for picture, out in zip(x, result, strict=True):
        padded = pad(picture, sides, x_zero, plan.dtype)
        if w.shape[1] == 1 and plan.piece >= math.prod(w.shape[2:]):
            _depthwise(padded, w, strides, dilation, out)
        else:
            _unfold_and_multiply(padded, w, strides, dilation, groups, plan, out)
    return result


def check_operands(x: np.ndarray, w: np.ndarray, groups: int, name: str) -> None:
    """Refuse dimensions, empty kernels and groups that no convolution can have."""
    if not 3 <= x.ndim <= 5 or w.ndim != x.ndim:
        raise ConfigError(
            f"{name}: input and weights need the same three to five dimensions. Got shapes {x.shape} and {w.shape} instead"
        )
    if groups < 1 or 0 in w.shape:
        raise ConfigError(
            f"{name}: groups must be at least 1 and weights not empty. Got {groups} and shape {w.shape} instead"
        )


def plan_sums(w: np.ndarray, x_largest: int, depth_axes: tuple[int, ...]) -> Plan:
    """How to add the products of each filter exactly."""
    depth = math.prod(w.shape[axis] for axis in depth_axes)
    return choose_plan(
        depth, x_largest * largest_code(w), lambda: x_largest * largest_magnitude_sum(w, depth_axes)
    )


def _unfold_and_multiply(
    x: np.ndarray,
    w: np.ndarray,
    strides: tuple[int, ...],
    dilation: tuple[int, ...],
    groups: int,
    plan: Plan,
    out: np.ndarray,
) -> None:
    """One padded picture: columns of all taps, then one matrix product for each group, a few rows of the result at a time."""
    kernel, sizes = w.shape[2:], out.shape[1:]
    filters = w.reshape(groups, w.shape[0] // groups, -1).astype(plan.dtype)
    row = math.prod(sizes[1:])
    rows = min(max(COLUMN_ELEMENTS // max(filters.shape[2] * groups * row, 1), 1), sizes[0])
    for first in range(0, sizes[0], rows):
        part = (min(rows, sizes[0] - first), *sizes[1:])
        columns = _unfold(x[:, first * strides[0] :], kernel, strides, dilation, part)
        sums = run_plan(plan, filters, columns.reshape(groups, filters.shape[2], -1))
        out[:, first : first + rows] = to_int32(sums, "conv").reshape(w.shape[0], *part)


def _unfold(
    x: np.ndarray,
    kernel: tuple[int, ...],
    strides: tuple[int, ...],
    dilation: tuple[int, ...],
    sizes: tuple[int, ...],
) -> np.ndarray:
    """The elements under all taps, shape (C, kernel..., sizes...)."""
    if math.prod(kernel) == 1:
        return np.ascontiguousarray(one_tap(x, [0] * len(kernel), strides, sizes))
    columns = np.empty((x.shape[0], *kernel, *sizes), x.dtype)
    for index in np.ndindex(*kernel):
        tap = [i * d for i, d in zip(index, dilation, strict=True)]
        columns[(slice(None), *index)] = one_tap(x, tap, strides, sizes)
    return columns


def _depthwise(
    x: np.ndarray, w: np.ndarray, strides: tuple[int, ...], dilation: tuple[int, ...], out: np.ndarray
) -> None:
    """One padded picture, one input channel for each filter: shifted multiply-adds of whole planes, a few channels at a time."""
    repeats = w.shape[0] // x.shape[0]
    channels = max(PLANE_ELEMENTS // max(math.prod(x.shape[1:]), 1), 1)
    for first in range(0, x.shape[0], channels):
        block = x[first : first + channels]
        filters = slice(first * repeats, (first + len(block)) * repeats)
        if repeats > 1:
            block = np.repeat(block, repeats, axis=0)
        _depthwise_block(block, w[filters].astype(x.dtype), strides, dilation, out[filters])


def _depthwise_block(
    x: np.ndarray, w: np.ndarray, strides: tuple[int, ...], dilation: tuple[int, ...], out: np.ndarray
) -> None:
    """Planes are flat, so that a tap is one offset; the few sums that wrap around the end of a row are cut off at the end."""
    phases, sizes = _split_phases(x, strides), out.shape[1:]
    planes = phases.shape[-len(sizes) :]
    steps = [math.prod(planes[axis + 1 :]) for axis in range(len(planes))]
    length = sum((n - 1) * step for n, step in zip(sizes, steps, strict=True)) + 1
    total = np.zeros((len(x), sizes[0] * steps[0]), x.dtype)
    product = np.empty((len(x), length), x.dtype)
    for index in np.ndindex(*w.shape[2:]):
        tap = [i * d for i, d in zip(index, dilation, strict=True)]
        phase = phases[(slice(None), *(t % s for t, s in zip(tap, strides, strict=True)))].reshape(len(x), -1)
        offset = sum(t // s * step for t, s, step in zip(tap, strides, steps, strict=True))
        np.multiply(phase[:, offset : offset + length], w[(slice(None), slice(0, 1), *index)], out=product)
        total[:, :length] += product
    kept = total.reshape(len(x), sizes[0], *planes[1:])
    out[...] = kept[(..., *(slice(n) for n in sizes[1:]))]


def _split_phases(x: np.ndarray, strides: tuple[int, ...]) -> np.ndarray:
    """x[:, p::stride] for all p: shape (C, strides..., planes...), planes the spatial sizes divided by the strides, rounded up."""
    ndim = len(strides)
    x = pad(x, tuple((0, -size % s) for size, s in zip(x.shape[1:], strides, strict=True)), 0)
    split = x.reshape(
        x.shape[0], *(n for size, s in zip(x.shape[1:], strides, strict=True) for n in (size // s, s))
    )
    order = [0, *range(2, 2 * ndim + 1, 2), *range(1, 2 * ndim, 2)]
    return np.ascontiguousarray(split.transpose(order))
