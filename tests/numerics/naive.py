"""Slow definitions in loops over Python integers, which the tests compare with; no tvmq in here."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np


def conv(
    x: np.ndarray,
    w: np.ndarray,
    strides: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    x_zero: int,
) -> np.ndarray:
    """Convolve with a Python sum for each element; padding lists all sides before, then all sides after."""
    ndim = x.ndim - 2
    spans = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], dilation, strict=True)]
    sizes = [(n + padding[i] + padding[ndim + i] - spans[i]) // strides[i] + 1 for i, n in enumerate(x.shape[2:])]
    result = np.empty((x.shape[0], w.shape[0], *sizes), np.int64)
    per_group = w.shape[0] // groups
    for n, f, *place in np.ndindex(*result.shape):
        total = 0
        for c, *tap in np.ndindex(*w.shape[1:]):
            at = [p * s + t * d - b for p, s, t, d, b in zip(place, strides, tap, dilation, padding, strict=False)]
            inside = all(0 <= a < size for a, size in zip(at, x.shape[2:], strict=True))
            code = int(x[(n, f // per_group * w.shape[1] + c, *at)]) if inside else x_zero
            total += code * int(w[(f, c, *tap)])
        result[(n, f, *place)] = total
    return result


def conv_transpose(
    x: np.ndarray,
    w: np.ndarray,
    strides: Sequence[int],
    padding: Sequence[int],
    output_padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    x_zero: int,
) -> np.ndarray:
    """Scatter of the steps from x_zero, element by element, then x_zero times the sum of each filter."""
    ndim = x.ndim - 2
    spans = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], dilation, strict=True)]
    sizes = [
        (n - 1) * strides[i] + spans[i] + output_padding[i] - padding[i] - padding[ndim + i]
        for i, n in enumerate(x.shape[2:])
    ]
    filters = w.shape[1] * groups
    result = np.zeros((x.shape[0], filters, *sizes), np.int64)
    for n, c, *place in np.ndindex(*x.shape):
        group = c // (x.shape[1] // groups)
        for f, *tap in np.ndindex(*w.shape[1:]):
            at = [p * s + t * d - b for p, s, t, d, b in zip(place, strides, tap, dilation, padding, strict=False)]
            if all(0 <= a < size for a, size in zip(at, sizes, strict=True)):
                result[(n, group * w.shape[1] + f, *at)] += (int(x[(n, c, *place)]) - x_zero) * int(w[(c, f, *tap)])
    for f in range(filters):
        rows = slice(f // w.shape[1] * (x.shape[1] // groups), (f // w.shape[1] + 1) * (x.shape[1] // groups))
        result[:, f] += x_zero * int(w[rows, f % w.shape[1]].astype(np.int64).sum())
    return result


def pool(
    q: np.ndarray,
    kernel: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
    maximum: bool,
    zero_point: int,
) -> np.ndarray:
    """Maximum of the codes, or sum of the steps from zero_point, over the elements under each window."""
    ndim = q.ndim - 2
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    room = [n + padding[i] + padding[ndim + i] - spans[i] for i, n in enumerate(q.shape[2:])]
    sizes = [(-(-r // s) if ceil_mode else r // s) + 1 for r, s in zip(room, strides, strict=True)]
    result = np.empty((*q.shape[:2], *sizes), np.int64)
    for n, c, *place in np.ndindex(*result.shape):
        values = []
        for tap in itertools.product(*(range(k) for k in kernel)):
            at = [p * s + t * d - b for p, s, t, d, b in zip(place, strides, tap, dilation, padding, strict=False)]
            if all(0 <= a < size for a, size in zip(at, q.shape[2:], strict=True)):
                values.append(int(q[(n, c, *at)]))
        if maximum:
            result[(n, c, *place)] = max(values, default=int(np.iinfo(q.dtype).min))
        else:
            result[(n, c, *place)] = sum(value - zero_point for value in values)
    return result
