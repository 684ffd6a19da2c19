"""Powers of two, reciprocals and reciprocal square roots in integers, for devices without floats or division.

Everything is sums, comparisons, shifts and products of two numbers of 32 bits into 64. Qf means: the integer is the
real number times 2^f. Shifts to the right round down unless a half is added first.

Sources: the range reduction of exp to a power of two and a polynomial is that of I-BERT (Kim et al. 2021) and of
gemmlowp (Jacob et al. 2018); Newton's iterations y * (2 - a * y) and y * (3 - a * y * y) / 2 are the textbook ones.

Whole numbers at their ends: indices outside of an axis, casts of floats that do not fit, division by zero, shifts.

Machines and compilers differ in all of these, or fault; here each has one result.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

EXPONENT_BITS = 20  # fraction bits of the exponent of exp2_negative
LARGEST_EXPONENT = 32 << EXPONENT_BITS  # 2^-32 of Q30 rounds to 0
# 2^-r ~ 1 + c[1] r + ... + c[5] r^5 for 0 <= r < 1 in Q30: least largest relative error with c[0] = 1, 8.4e-8
EXP2_COEFFICIENTS = (1073741824, -744257403, 257891465, -59375086, 9884650, -1014583)
ONE = 1 << 30
RECIPROCAL_START = (3031741621, 2021161081)  # 48/17 and 32/17 in Q30: off by at most 1/17 of the reciprocal
RECIPROCAL_STEPS = 3
# 2.135 and 1.22 in Q30: the line nearest to 1 / sqrt(a) for 1/4 <= a < 1, off by at most 0.0871 of it
INVERSE_SQRT_START = (2292438794, 1309965025)
INVERSE_SQRT_STEPS = 4


def exp2_negative(t: np.ndarray) -> np.ndarray:
    """2^-t: int64 in Q20, 0..2^25, to int64 in Q30, 0..2^30.

    order   n = t >> 20, r = t & (2^20 - 1); p = c[5]; p = ((p * r) >> 20) + c[k] for k = 4, 3, 2, 1, 0;
            (p + (2^n >> 1)) >> n
    error   p is within 9.1e-8 of 2^-r, relatively (seen for each of the 2^20 values of r); the result within 2^-31 more
    bounds  |p| <= 2^30 and r < 2^20, so no product leaves 51 bits

    >>> exp2_negative(np.int64([0, 1 << 20, 32 << 20]))
    array([1073741824,  536870912,          0])
    """
    n, r = t >> EXPONENT_BITS, t & ((1 << EXPONENT_BITS) - 1)
    p = np.full_like(r, EXP2_COEFFICIENTS[-1])
    for coefficient in EXP2_COEFFICIENTS[-2::-1]:
        p = ((p * r) >> EXPONENT_BITS) + coefficient
    half = np.left_shift(np.int64(1), n) >> 1
    return np.asarray((p + half) >> n)


def reciprocal(a: np.ndarray) -> np.ndarray:
    """1 / a by Newton's iteration: int64 in Q31, 2^30..2^31 - 1, to int64 in Q30, nearly 2^30..2^31.

    order   y = c[0] - ((c[1] * a) >> 31), c = RECIPROCAL_START; three times y = (y * (2^31 - ((a * y) >> 31))) >> 30
    error   within 2^-28 of 1 / a, relatively: the line is off by 1/17 and each step squares that, (1/17)^8 < 1.5e-10;
            rounding the product down raises the last y by less than 2^-29 of it, its own by less than 2^-30
    bounds  all y are below 2^31 + 4, since y * (2 - a * y) is never above 1 / a: products stay below 2^63

    >>> reciprocal(np.int64([1 << 30, 3 << 29]))  # of 1/2 and 3/4
    array([2147483648, 1431655765])
    """
    y = RECIPROCAL_START[0] - ((RECIPROCAL_START[1] * a) >> 31)
    for _ in range(RECIPROCAL_STEPS):
        y = (y * (2 * ONE - ((a * y) >> 31))) >> 30
    return np.asarray(y)


def inverse_sqrt(a: np.ndarray) -> np.ndarray:
    """1 / sqrt(a) by Newton's iteration: int64 in Q31, 2^29..2^31 - 1, to int64 in Q30, nearly 2^30..2^31.

    order   y = c[0] - ((c[1] * a) >> 31), c = INVERSE_SQRT_START; four times
            s = (y * y) >> 31; y = (y * (3 * 2^29 - ((a * s) >> 31))) >> 30
    error   within 2^-27 of 1 / sqrt(a), relatively: an error e of y becomes at most 1.5 * e^2 * (1 + e), so 0.0871
            becomes 1e-15 in four steps; rounding s and a * s down raises the last y by less than 2^-28 of it
    bounds  all y are below 2^31 + 16, since y * (3 - a * y * y) / 2 is never above 1 / sqrt(a): products stay below
            2^63

    >>> inverse_sqrt(np.int64([1 << 29, 1 << 30]))  # of 1/4 and 1/2
    array([2147483647, 1518500251])
    """
    y = INVERSE_SQRT_START[0] - ((INVERSE_SQRT_START[1] * a) >> 31)
    for _ in range(INVERSE_SQRT_STEPS):
        square = (y * y) >> 31
        y = (y * (3 * (ONE >> 1) - ((a * square) >> 31))) >> 30
    return np.asarray(y)


def place(index: ArrayLike, size: ArrayLike) -> np.ndarray:
    """The place 0 .. size - 1 that an index means: the index modulo the size, int64 of the shape of the indices.

    -1 is the last place. ONNX and torch define -size .. size - 1; other indices wrap round.

    >>> place([0, 3, -1, 4, -2**63], 4).tolist()
    [0, 3, 3, 0, 0]
    """
    return np.asarray(np.mod(np.asarray(index).astype(np.int64), np.maximum(size, 1)))


def cast(x: np.ndarray, dtype: DTypeLike) -> np.ndarray:
    """Another element type, shape kept; a float that becomes an integer is cut towards zero.

    A number that does not fit becomes the nearest integer that does, NaN the lowest.

    >>> cast(np.float32([-1.9, 300, -np.inf, np.nan]), "uint8").tolist()
    [0, 255, 0, 0]
    """
    wanted = np.dtype(dtype)
    if x.dtype.kind != "f" or wanted.kind not in "iu":
        return x.astype(wanted)
    limits = np.iinfo(wanted)
    values64 = x.astype(np.float64)
    above, below = values64 >= 2.0 ** int(limits.max).bit_length(), ~(values64 > float(limits.min) - 1)
    with np.errstate(invalid="ignore"):
        inside = np.where(above | below, x.dtype.type(0), x).astype(wanted)
    result: np.ndarray = np.where(above, wanted.type(limits.max), np.where(below, wanted.type(limits.min), inside))
    return result


def divide(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """Quotient of integers of shapes that broadcast, cut towards zero; by zero it is 0, the lowest by -1 itself.

    >>> divide([7, -7, 7, -128], np.int8([2, 2, 0, -1])).tolist()
    [3, -3, 0, 128]
    >>> divide(np.int8([-128]), np.int8([-1])).tolist()
    [-128]
    """
    a, b = np.asarray(a), np.asarray(b)
    with np.errstate(all="ignore"):
        down, rest = np.floor_divide(a, b), np.mod(a, b)
        return np.asarray(down + ((rest != 0) & ((a < 0) != (b < 0))).astype(down.dtype))
