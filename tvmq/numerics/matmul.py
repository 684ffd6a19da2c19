"""Integer matrix multiplication."""

from __future__ import annotations

import numpy as np

from tvmq.errors import ConfigError
from tvmq.numerics.codes import Number, largest_code, zero_of
from tvmq.numerics.gemm import choose_plan, largest_magnitude_sum, run_plan, to_int32


def matmul(a: np.ndarray, b: np.ndarray, *, a_zero: Number = 0, b_zero: Number = 0) -> np.ndarray:
    """Sums of products of centred codes: np.matmul(a - a_zero, b - b_zero) in exact int32.

    a, b             integer codes (..., M, K) and (..., K, N), or one-dimensional as np.matmul takes them
    a_zero, b_zero   codes of 0.0; 0 where the caller takes care of them (a constant weight and its bias)
    returns          int32
    order            none: differences, products and sums are exact
    raises           AccumulatorError if a sum leaves int32, ConfigError for types and shapes that do not fit,
                     RangeError for a zero point outside of its codes' type

    >>> matmul(np.uint8([[255, 1]]), np.int8([[-128], [2]]))
    array([[-32638]], dtype=int32)
    >>> matmul(np.uint8([[255, 1]]), np.uint8([[0], [2]]), a_zero=128, b_zero=1)
    array([[-254]], dtype=int32)
    """
    a, b = np.asarray(a), np.asarray(b)
    depth_axis = max(b.ndim - 2, 0)
    if a.ndim == 0 or b.ndim == 0 or a.shape[-1] != b.shape[depth_axis]:
        raise ConfigError(f"matmul: shapes (..., M, K) and (..., K, N) are needed. Got {a.shape} and {b.shape} instead")
    (a, a_largest), (b, b_largest) = _subtract_zero_point(a, a_zero), _subtract_zero_point(b, b_zero)

    def largest_sum() -> int:
        return min(a_largest * largest_magnitude_sum(b, depth_axis), b_largest * largest_magnitude_sum(a, -1))

    plan = choose_plan(a.shape[-1], a_largest * b_largest, largest_sum)
    return to_int32(run_plan(plan, a, b), "matmul")


def _subtract_zero_point(codes: np.ndarray, zero_point: Number) -> tuple[np.ndarray, int]:
    """Codes less their zero point, and the largest magnitude that their type lets these have."""
    zero = zero_of(codes, zero_point)
    if zero == 0:
        return codes, largest_code(codes)
    limits = np.iinfo(codes.dtype)
    return codes.astype(np.int32) - zero, max(int(limits.max) - zero, zero - int(limits.min))
