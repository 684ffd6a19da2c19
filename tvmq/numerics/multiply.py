"""Product of two quantized tensors, to be requantized by s_a * s_b / s_y."""

from __future__ import annotations

import numpy as np

from tvmq.errors import AccumulatorError
from tvmq.numerics.codes import INT32_MAX


def multiply(a: np.ndarray, b: np.ndarray, *, a_zero: int, b_zero: int) -> np.ndarray:
    """(a - a_zero) * (b - b_zero), exact.

    a, b     integer codes that broadcast against each other
    returns  int32, broadcast shape
    raises   AccumulatorError if codes of these types could take a product out of int32 (16 x 16 bits)

    >>> multiply(np.uint8([0, 255]), np.int8([-128]), a_zero=3, b_zero=-1)
    array([   381, -32004], dtype=int32)
    """
    a, b = np.asarray(a), np.asarray(b)
    reach = _largest_step(a.dtype, a_zero) * _largest_step(b.dtype, b_zero)
    if reach > INT32_MAX:
        raise AccumulatorError(
            f"multiply: products of {a.dtype.name} and {b.dtype.name} codes can reach {reach}, int32 ends at {INT32_MAX}; use fewer bits"
        )
    return np.asarray(
        np.subtract(a, np.int32(a_zero), dtype=np.int32) * np.subtract(b, np.int32(b_zero), dtype=np.int32)
    )


def _largest_step(dtype: np.dtype, zero_point: int) -> int:
    limits = np.iinfo(dtype)
    return max(int(limits.max) - zero_point, zero_point - int(limits.min))
