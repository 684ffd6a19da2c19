"""Logarithm of softmax with float32 arithmetic that is fixed to the last bit, as that of softmax."""

from __future__ import annotations

import numpy as np

from tvmq.numerics.lane_sum import lane_sum
from tvmq.numerics.softmax import LARGEST, LN2_HIGH, LN2_LOW, exp_negative

ROOT_HALF_BITS = np.int32(0x3F3504F3)  # the float32 next to sqrt(1 / 2)
# log(1 + f) ~ f - f^2 / 2 + f^3 * (c[0] + c[1] f + ... + c[7] f^7) for sqrt(1/2) <= 1 + f < sqrt(2): the polynomial of
# least largest relative error (6e-9), its coefficients then rounded to float32.
LOG_COEFFICIENTS = tuple(
    np.float32(float.fromhex(c))
    for c in (
        *("0x1.555554p-2", "-0x1.000226p-2", "0x1.99a008p-3", "-0x1.547244p-3"),
        *("0x1.22da1ep-3", "-0x1.0d8542p-3", "0x1.055b68p-3", "-0x1.38b576p-4"),
    )
)


def log_softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """log(softmax(x)) along an axis.

    x        float32, any shape; infinities and NaN are allowed as in `softmax`
    returns  float32, shape of x; far below the largest element it may be -inf
    order    1. d and sum as in `softmax`, steps 1 to 4
             2. d - log_from_one(sum)

    >>> log_softmax(np.float32([0, 0]))
    array([-0.6931472, -0.6931472], dtype=float32)
    """
    x = np.asarray(x, np.float32)
    if x.size == 0:
        return x.copy()
    x = np.moveaxis(np.fmin(np.fmax(x, -LARGEST), LARGEST), axis, -1)
    with np.errstate(over="ignore"):  # the difference may overflow to -inf
        d = x - x.max(axis=-1, keepdims=True)
    return np.moveaxis(d - log_from_one(lane_sum(exp_negative(d)))[..., None], -1, axis)


def log_from_one(s: np.ndarray) -> np.ndarray:
    """log(s) for normal, finite float32 s > 0; within 1 unit in the last place.

    order  e = (bits of s - ROOT_HALF_BITS) >> 23; m = the float32 of bits (bits of s - (e << 23)); f = m - 1;
           q = (((c7 * f + c6) * f + ...) * f + c0, c = LOG_COEFFICIENTS; g = f * f;
           ((((g * f) * q - 0.5 * g) + e * LN2_LOW) + f) + e * LN2_HIGH

    >>> log_from_one(np.float32([1, 8]))
    array([0.       , 2.0794415], dtype=float32)
    """
    bits = s.view(np.int32)
    exponent = np.right_shift(bits - ROOT_HALF_BITS, np.int32(23))
    f = (bits - np.left_shift(exponent, np.int32(23))).view(np.float32) - np.float32(1)
    q = f * LOG_COEFFICIENTS[-1] + LOG_COEFFICIENTS[-2]
    for coefficient in LOG_COEFFICIENTS[-3::-1]:
        q = q * f + coefficient
    square, e = f * f, exponent.astype(np.float32)
    return (((square * f) * q - np.float32(0.5) * square) + e * LN2_LOW + f) + e * LN2_HIGH
