"""Sums and means of float32 over axes, fixed to the last bit.

Sums of float32 in one fixed order that vectors of any width can follow.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

LANES = 16


def lane_sum(values: np.ndarray) -> np.ndarray:
    """Sum along the last axis: float32, shape values.shape[:-1].

    order  1. 16 lanes, each +0 at first: lane j = e[j] + e[j + 16] + e[j + 32] + ..., in this order; a missing
              element adds 0
           2. the lanes halve: lane j += lane j + 8 (j < 8), then + 4, + 2, + 1; lane 0 is the sum

    >>> lane_sum(np.float32([[1, 2, 3]]))
    array([6.], dtype=float32)
    """
    length = values.shape[-1]
    lanes = np.zeros((*values.shape[:-1], LANES), np.float32)
    for start in range(0, length, LANES):
        width = min(LANES, length - start)
        lanes[..., :width] += values[..., start : start + width]
    half = LANES // 2
    while half:
        lanes = lanes[..., :half] + lanes[..., half : 2 * half]
        half //= 2
    return lanes[..., 0]


def float_sum(x: np.ndarray, axes: Sequence[int], *, keepdims: bool = False, mean: bool = False) -> np.ndarray:
    """Sum over axes, or their mean.

    x        float32, any shape; a sum of nothing is 0, a mean of nothing NaN
    axes     which are summed together; the others keep their order
    returns  float32
    order    1. the elements that belong to one result, in their order in memory: lane_sum
             2. for a mean, divided by their number as float32

    >>> float_sum(np.float32([[1, 2], [3, 5]]), [0], mean=True)
    array([2. , 3.5], dtype=float32)
    """
    x = np.asarray(x, np.float32)
    summed = sorted({axis % x.ndim for axis in axes})
    kept = [axis for axis in range(x.ndim) if axis not in summed]
    sizes = [x.shape[axis] for axis in kept]
    count = int(np.prod([x.shape[axis] for axis in summed]))
    with np.errstate(all="ignore"):
        total = lane_sum(x.transpose(*kept, *summed).reshape(*sizes, count))
        total = np.asarray(total / np.float32(count) if mean else total)
    return total.reshape([1 if axis in summed else size for axis, size in enumerate(x.shape)]) if keepdims else total
