"""Quantization at run time: scales that are taken from the values themselves, one for each row, sample or tensor.

    scale = max|x| / 127                     over the reduced axes
    codes = clip(rint(x / scale), -127, 127)
    y     = float32(sums) * (scale_x * scale_w)

Symmetric: a zero point would cost a correction in every sum, and padding needs none. NaN is not seen by the maximum
and becomes the lowest code, as in `quantize`; infinities count as the largest float32.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

LARGEST = np.float32(np.finfo(np.float32).max)
NORMAL = np.finfo(np.float32).smallest_normal


def dynamic_scale(x: np.ndarray, *, axes: Sequence[int], largest_code: int = 127) -> np.ndarray:
    """Scale of each slice of x along the other axes.

    x             float32
    axes          reduced; they stay with extent 1
    largest_code  2^(bits-1) - 1
    returns       float32, positive: max|x| / largest_code in float32; 1 where that is below the smallest normal
                  float32 (all zero, or nothing but NaN)

    >>> dynamic_scale(np.float32([[1.0, -127.0], [0.0, 0.0]]), axes=[1]).tolist()
    [[1.0], [1.0]]
    """
    magnitude = np.minimum(np.abs(np.asarray(x, np.float32)), LARGEST)
    largest = np.fmax.reduce(magnitude, axis=tuple(axes), keepdims=True, initial=np.float32(0))
    scale = np.asarray(largest / np.float32(largest_code), np.float32)
    return np.where(scale >= NORMAL, scale, np.float32(1))


def dynamic_quantize(x: np.ndarray, scale: np.ndarray, *, largest_code: int = 127) -> np.ndarray:
    """clip(rint(x / scale), -largest_code, largest_code), float32 division, half to even; scale broadcasts.

    returns  int8; NaN becomes the lowest code

    >>> dynamic_quantize(np.float32([[0.5, -1.5, 300.0]]), np.float32([[1.0]])).tolist()
    [[0, -2, 127]]
    """
    with np.errstate(over="ignore"):  # saturates
        steps = np.rint(np.asarray(x, np.float32) / np.asarray(scale, np.float32))
    low, high = np.float32(-largest_code), np.float32(largest_code)
    return np.asarray(np.where(np.isnan(steps), low, np.clip(steps, low, high)).astype(np.int8))


def dynamic_dequantize(acc: np.ndarray, x_scale: np.ndarray, w_scale: np.ndarray) -> np.ndarray:
    """float32(acc) * (x_scale * w_scale), both products in float32; the scales broadcast.

    >>> dynamic_dequantize(np.int32([[6, -4]]), np.float32([[0.5]]), np.float32([1.0, 0.25])).tolist()
    [[3.0, -0.5]]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        factor = np.asarray(x_scale, np.float32) * np.asarray(w_scale, np.float32)
        return np.asarray(np.asarray(acc).astype(np.float32) * factor)
