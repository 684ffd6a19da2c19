"""Exact integer matrix products, carried out by a float BLAS where a bound proves that it is exact.

A float adds and multiplies integers without rounding while every partial sum stays below 2^24 (float32) or
2^53 (float64) in magnitude: all such integers are representable, so neither the order of a sum nor a fused
multiply-add can change it. With |a| <= A and |b| <= B the partial sums of K products stay within K * A * B;
for uint8 x int8 float32 is exact to K = 514. What the BLAS of this process gives is looked at all the same: products
that are known, once, and every sum that must be an integer.

Integer matrix multiplication.

Tests: tests/numerics/test_known_products.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from tvmq.base.forks import MULTIPLYING, ForkLock
from tvmq.errors import AccumulatorError, BlasError, ConfigError
from tvmq.numerics.codes import INT32_MAX, Number, largest_code, zero_of
from tvmq.numerics.known_products import REMEDY, blas_name, check_products

BLAS = ForkLock("multiplying matrices", MULTIPLYING)
FLOAT32_EXACT, FLOAT64_EXACT = 2**24, 2**53
SMALLEST_PIECE = 64  # shorter float32 products would cost more than one float64 product


@dataclass(frozen=True)
class Plan:
    """A proved way to multiply: the float type, and how many products may be added exactly in it."""

    dtype: type
    piece: int


def choose_plan(depth: int, largest_product: int, largest_sum: Callable[[], int]) -> Plan:
    """The cheapest exact way to add `depth` products.

    largest_product  bound of the magnitude of one product
    largest_sum      gives a bound of the magnitude of all partial sums from the operands at hand; asked only
                     where depth * largest_product does not prove float32 exact (real weights are far smaller)
    raises           AccumulatorError where even float64 cannot be proved

    >>> choose_plan(576, 255 * 128, lambda: 2**24), choose_plan(576, 255 * 128, lambda: 2**24 - 1).piece
    (Plan(dtype=<class 'numpy.float32'>, piece=514), 576)
    """
    largest_product = max(largest_product, 1)
    piece = (FLOAT32_EXACT - 1) // largest_product
    if depth <= piece or largest_sum() < FLOAT32_EXACT:
        return Plan(np.float32, max(depth, 1))
    if piece >= SMALLEST_PIECE and depth * largest_product <= INT32_MAX:
        return Plan(np.float32, piece)
    if depth * largest_product < FLOAT64_EXACT:
        return Plan(np.float64, depth)
    raise AccumulatorError(
        f"{depth} products of up to {largest_product} can reach {depth * largest_product}, "
        f"exact float64 ends at {FLOAT64_EXACT}; use fewer bits"
    )


def multiply_matrices(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """np.matmul(a, b), which no fork of another thread cuts in two: NumPy's BLAS holds locks while it multiplies.

    raises  BlasError where this process's BLAS gives wrong sums of known products

    >>> multiply_matrices(np.float32([[1, 2]]), np.float32([[3], [4]]))
    array([[11.]], dtype=float32)
    """
    check_blas()
    return _multiply(a, b)


def _multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    with BLAS:
        return np.asarray(np.matmul(a, b))


@cache
def check_blas() -> None:
    """BlasError where NumPy's BLAS gives wrong sums on this CPU; it is asked once a process, in about 2 ms."""
    check_products(_multiply)


def to_integers(sums: np.ndarray, dtype: type, name: str) -> np.ndarray:
    """Float sums of integers as integers; BlasError for one that is none, which no order of adding can give.

    >>> to_integers(np.float32([2.0, -3.0]), np.int64, "moments")
    array([ 2, -3])
    """
    with np.errstate(invalid="ignore"):
        whole: np.ndarray = sums.astype(dtype)
    wrong = whole.astype(sums.dtype) != sums
    if wrong.any():
        raise BlasError(
            f"{name}: {wrong.sum()} of {sums.size} sums of products of integers are no integers, the first is "
            f"{sums[wrong][0]:.9g}: {blas_name()} multiplies wrongly on this CPU; {REMEDY}"
        )
    return np.asarray(whole)


def run_plan(plan: Plan, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """np.matmul(a, b) of arrays of integers, exact; float where one piece holds the depth, else int32."""
    a, b = (np.asarray(operand).astype(plan.dtype, copy=False) for operand in (a, b))
    depth = a.shape[-1]
    if depth <= plan.piece:
        return multiply_matrices(a, b)
    total = None
    for start in range(0, depth, plan.piece):
        piece = slice(start, start + plan.piece)
        rows: np.ndarray = b[piece] if b.ndim == 1 else b[..., piece, :]
        part = to_integers(multiply_matrices(a[..., piece], rows), np.int32, "matmul")
        total = part if total is None else total + part
    return np.asarray(total)


def to_int32(sums: np.ndarray, name: str) -> np.ndarray:
    """Exact sums as int32; AccumulatorError where they do not fit (only float64 ones can fail to).

    raises  BlasError for a sum that is no integer
    """
    # no more than a plan allows: other values are none of these sums
    if sums.dtype == np.float64 and sums.size and INT32_MAX < max(-sums.min() - 1, sums.max()) < FLOAT64_EXACT:
        raise AccumulatorError(
            f"{name}: a sum reaches {np.abs(sums).max():.0f}, int32 ends at {INT32_MAX}; use fewer bits"
        )
    return sums if sums.dtype == np.int32 else to_integers(sums, np.int32, name)


def largest_magnitude_sum(values: np.ndarray, axis: int | tuple[int, ...]) -> int:
    """Largest sum of magnitudes of integers along one or more axes, exact."""
    if values.size == 0:
        return 0
    if values.dtype == np.int8:  # |-128| wraps to the bits of -128, which read 128 as uint8
        return int(np.abs(values).view(np.uint8).sum(axis=axis, dtype=np.int64).max())
    return int(np.abs(values, dtype=np.float64).sum(axis=axis).max())


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
