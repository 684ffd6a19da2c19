"""Sums of float32 in one fixed order that vectors of any width can follow."""

from __future__ import annotations

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
