"""Product of two quantized tensors, to be requantized by s_a * s_b / s_y."""

from __future__ import annotations

import numpy as np

from tvmq.errors import AccumulatorError
from tvmq.numerics.codes import INT32_MAX, Number, zero_of


def multiply(a: np.ndarray, b: np.ndarray, *, a_zero: Number, b_zero: Number) -> np.ndarray:
    """(a - a_zero) * (b - b_zero), exact.

    a, b            integer codes that broadcast against each other
    a_zero, b_zero  their zero points, within their types
    returns         int32, broadcast shape
    raises          AccumulatorError if codes of these types could take a product out of int32 (16 x 16 bits),
                    RangeError for a zero point outside of its type

    >>> multiply(np.uint8([0, 255]), np.int8([-128]), a_zero=3, b_zero=-1)
    array([   381, -32004], dtype=int32)
    """
    a, b = np.asarray(a), np.asarray(b)
    a_steps, a_largest = _steps(a, a_zero)
    b_steps, b_largest = _steps(b, b_zero)
    if a_largest * b_largest > INT32_MAX:
        raise AccumulatorError(
            f"multiply: products of {a.dtype.name} and {b.dtype.name} codes can reach "
            f"{a_largest * b_largest}, int32 ends at {INT32_MAX}; use fewer bits"
        )
    return np.asarray(a_steps * b_steps)


def _steps(q: np.ndarray, zero_point: Number) -> tuple[np.ndarray, int]:
    """q - zero_point in int32, and its largest magnitude for any code of the type."""
    zero, limits = zero_of(q, zero_point), np.iinfo(q.dtype)
    return np.subtract(q, np.int32(zero), dtype=np.int32), max(int(limits.max) - zero, zero - int(limits.min))
