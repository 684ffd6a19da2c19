"""Integer matrix multiplication."""

from __future__ import annotations

import numpy as np

from tvmq.errors import ConfigError
from tvmq.numerics.codes import largest_code
from tvmq.numerics.gemm import choose_plan, largest_magnitude_sum, run_plan, to_int32


def matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Sums of products of the codes as they are (zero points are the caller's): np.matmul in exact int32.

    a, b     integer codes (..., M, K) and (..., K, N), or one-dimensional as np.matmul takes them
    returns  int32
    raises   AccumulatorError if a sum leaves int32, ConfigError for types and shapes that do not fit

    >>> matmul(np.uint8([[255, 1]]), np.int8([[-128], [2]]))
    array([[-32638]], dtype=int32)
    """
    a, b = np.asarray(a), np.asarray(b)
    depth_axis = max(b.ndim - 2, 0)
    if a.ndim == 0 or b.ndim == 0 or a.shape[-1] != b.shape[depth_axis]:
        raise ConfigError(
            f"matmul: shapes (..., M, K) and (..., K, N) are needed. Got {a.shape} and {b.shape} instead"
        )
    a_largest, b_largest = largest_code(a), largest_code(b)

    def largest_sum() -> int:
        return min(a_largest * largest_magnitude_sum(b, depth_axis), b_largest * largest_magnitude_sum(a, -1))

    plan = choose_plan(a.shape[-1], a_largest * b_largest, largest_sum)
    return to_int32(run_plan(plan, a, b), "matmul")
