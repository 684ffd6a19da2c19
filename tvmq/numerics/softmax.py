"""Softmax with float32 arithmetic that is fixed to the last bit, so that every CPU can compute the same.

Every product, sum, difference and quotient is rounded to float32 by itself: no fused multiply-add, no
reordering.

Logarithm of softmax with float32 arithmetic that is fixed to the last bit, as that of softmax.
"""

from __future__ import annotations

import numpy as np

from tvmq.numerics.float_sum import lane_sum

LARGEST = np.finfo(np.float32).max
LOWEST_ARGUMENT = np.float32(-87.0)  # exp is 0 below it; down to it 2^n stays normal (n is at least -126)
LOG2_E = np.float32(float.fromhex("0x1.715476p+0"))
# ln 2 = LN2_HIGH + LN2_LOW; LN2_HIGH has 10 significant bits, so that n * LN2_HIGH is exact (n has 7).
LN2_HIGH = np.float32(float.fromhex("0x1.63p-1"))
LN2_LOW = np.float32(float.fromhex("-0x1.bd0106p-13"))
# exp(r) ~ 1 + r + r^2 * (c[0] + c[1] r + ... + c[4] r^4) for |r| <= ln(2) / 2: the polynomial of least
# largest relative error (3e-9), its coefficients then rounded to float32.
EXP_COEFFICIENTS = tuple(
    np.float32(float.fromhex(c))
    for c in ("0x1.fffffcp-2", "0x1.555492p-3", "0x1.5558f2p-5", "0x1.123a2p-7", "0x1.6a23cep-10")
)


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """exp(x - max) / sum(exp(x - max)) along an axis.

    x        float32, any shape; infinities and NaN are allowed, see order
    returns  float32, shape of x
    order    1. x = min(max(x, -LARGEST), LARGEST), the largest finite float32; NaN becomes -LARGEST
             2. d = x - max(x along the axis)
             3. e = exp_negative(d)
             4. sum = lane_sum(e): 16 strided lanes, then a fixed tree
             5. e / sum, a true division
    source   ONNX Softmax; the order is ours
    So a row of equal values, also one of -inf or NaN alone, gives 1 / n; -inf next to a number gives 0.

    >>> softmax(np.float32([0, 0, -np.inf]))
    array([0.5, 0.5, 0. ], dtype=float32)
    """
    x = np.asarray(x, np.float32)
    if x.size == 0:
        return x.copy()
    x = np.moveaxis(np.fmin(np.fmax(x, -LARGEST), LARGEST), axis, -1)
    with np.errstate(over="ignore"):  # the difference may overflow to -inf, whose exp is 0
        powers = exp_negative(x - x.max(axis=-1, keepdims=True))
    return np.moveaxis(powers / lane_sum(powers)[..., None], -1, axis)


def exp_negative(d: np.ndarray) -> np.ndarray:
    """exp(d) for float32 d <= 0, -inf included; within 1 unit in the last place; exactly 0 where d < -87.

    order  t = max(d, -87); n = rint(t * LOG2_E), half to even; r = (t - n * LN2_HIGH) - n * LN2_LOW;
           q = (((c4 * r + c3) * r + c2) * r + c1) * r + c0, c = EXP_COEFFICIENTS; p = (q * (r * r) + r) + 1;
           e = p * 2^n, where 2^n is the float32 of bits (n + 127) << 23: this product is exact;
           the result is e where d >= -87, else +0

    >>> exp_negative(np.float32([0, -1, -100]))
    array([1.        , 0.36787945, 0.        ], dtype=float32)
    """
    t = np.maximum(d, LOWEST_ARGUMENT)
    n = np.rint(t * LOG2_E)
    r = (t - n * LN2_HIGH) - n * LN2_LOW
    q = np.full_like(r, EXP_COEFFICIENTS[-1])
    for coefficient in EXP_COEFFICIENTS[-2::-1]:
        q = q * r + coefficient
    p = (q * (r * r) + r) + np.float32(1)
    power = np.left_shift(n.astype(np.int32) + np.int32(127), np.int32(23)).view(np.float32)
    return np.where(d >= LOWEST_ARGUMENT, p * power, np.float32(0))


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
