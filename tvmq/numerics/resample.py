"""Weighted sums of neighbours along one axis in float32, fixed to the last bit: linear and cubic resize."""

from __future__ import annotations

import numpy as np


def resample(x: np.ndarray, index: np.ndarray, weight: np.ndarray, axis: int) -> np.ndarray:
    """y[i] = x[index[0, i]] * weight[0, i] + x[index[1, i]] * weight[1, i] + ... along an axis.

    x        float32, any shape
    index    integers, shape (taps, size of the result), each within the axis
    weight   float32, shape of index
    returns  float32, shape of x but for the axis
    order    tap by tap; every product and every sum is rounded to float32 by itself

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
