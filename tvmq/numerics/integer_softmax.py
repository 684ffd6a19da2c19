"""Softmax of codes or accumulators in integers alone: no float, no division, products of 32 bits into 64.

e = 2^-(d * scale * log2 e) by a polynomial, the sum of a row normalized to 31 bits, its reciprocal by Newton's
iteration (numerics/fixed_point.py, with the sources), one product and one rounding for each code.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from tvmq.errors import ConfigError, RangeError
from tvmq.numerics.code_type import CODES_16
from tvmq.numerics.codes import Number, check_zero_point, code_limits
from tvmq.numerics.fixed_point import EXPONENT_BITS, LARGEST_EXPONENT, exp2_negative, reciprocal

LONGEST_ROW = 1 << 16
SUM_SHIFTS = 17  # a row of 2^16 ones in Q30 has 47 bits
INPUT_TYPES = (*CODES_16, "int32")
# Outside of these a multiplier or a shift would leave its type. 2^-54 takes all differences of int32 to one value.
SMALLEST_INPUT_SCALE = 2.0**-53
OUTPUT_SCALES = (2.0**-28, 2.0**20)


class SoftmaxParams(NamedTuple):
    """The constants of `integer_softmax`, as `integer_softmax_params` computes them.

    multiplier, shift          multiplier * 2^-shift is the scale of the scores, times log2(e) * 2^20
    out_multiplier, out_shift  out_multiplier * 2^(out_shift - 31) is 1 / scale of the result

    `integer_softmax(x, **params._asdict(), zero_point=..., dtype=...)` takes them as they are.
    """

    multiplier: int
    shift: int
    out_multiplier: int
    out_shift: int


def integer_softmax(
    x: np.ndarray,
    *,
    multiplier: int,
    shift: int,
    out_multiplier: int,
    out_shift: int,
    zero_point: int,
    dtype: DTypeLike,
    qmin: int | None = None,
    qmax: int | None = None,
    axis: int = -1,
) -> np.ndarray:
    """Codes of exp(x * scale_x) / sum(exp(x * scale_x)) along an axis of at most 65536 elements.

    x         int8, uint8, int16 or int32, any shape; a zero point of x makes no difference
    others    integers as `integer_softmax_params` gives them: multiplier below 2^30, out_multiplier below 2^31
    returns   dtype, shape of x
    raises    ConfigError for another type, RangeError for a longer row or numbers out of range
    order     in int64: 1. d = max(x) - x
              2. t = min((d * multiplier + 2^(shift - 1)) >> shift, 2^25); e = exp2_negative(t), Q30
              3. s = sum(e); k = how many of 2^31, 2^32, ..., 2^47 are not above s; r = reciprocal(s >> k), Q30
              4. f = (r * out_multiplier + 2^30) >> 31; h = (e * f) >> 31; n = 30 + k - out_shift
              5. clip(((h + 2^(n - 1)) >> n) + zero_point, qmin, qmax)
    bounds    d < 2^32 and multiplier < 2^30: d * multiplier < 2^62. e <= 2^30, s <= 2^46. r, f <= 2^31 + 4 and
              out_multiplier < 2^31: all products are below 2^63, h is below 2^30 + 2
    error     with p the true softmax of x * scale_x, in float64, and `length` the elements of a row, a code that does
              not saturate is off by at most 1/2 + (1e-6 * p + (1 + length * p) * 2^-31) / scale_y:
              rounding t moves e by 3.6e-7 of itself, the polynomial by 9.1e-8, both in e and in the sum; each e is
              rounded by at most 2^-31; truncating s, the reciprocal, and f together cost 6e-9

    >>> params = integer_softmax_params(0.5, 1 / 255)
    >>> integer_softmax(np.int8([[0, 2, -4]]), **params._asdict(), zero_point=0, dtype="uint8")
    array([[ 66, 180,   9]], dtype=uint8)
    """
    x = np.asarray(x)
    low, high = code_limits(dtype, qmin, qmax)
    zero = int(check_zero_point(zero_point, low, high))
    if x.dtype.name not in INPUT_TYPES:
        raise ConfigError(f"integer_softmax: x must be one of {', '.join(INPUT_TYPES)}. Got {x.dtype.name} instead")
    _check(x.shape[axis], multiplier, shift, out_multiplier, out_shift)
    if x.size == 0:
        return np.zeros(x.shape, dtype)
    codes64 = np.moveaxis(x.astype(np.int64), axis, -1)
    d = codes64.max(axis=-1, keepdims=True) - codes64
    e = exp2_negative(np.minimum((d * multiplier + (1 << (shift - 1))) >> shift, LARGEST_EXPONENT))
    total = e.sum(axis=-1, keepdims=True, dtype=np.int64)
    k = sum((total >= 1 << (31 + j)).astype(np.int64) for j in range(SUM_SHIFTS))
    factor = (reciprocal(total >> k) * out_multiplier + (1 << 30)) >> 31
    n = 30 + k - out_shift
    steps = (((e * factor) >> 31) + np.left_shift(np.int64(1), n - 1)) >> n
    return np.moveaxis(np.clip(steps + zero, low, high).astype(dtype), -1, axis)


def integer_softmax_params(scale_x: Number, scale_y: Number) -> SoftmaxParams:
    """Constants of `integer_softmax` for an input of steps `scale_x` and codes of steps `scale_y`, in float64.

    multiplier * 2^-shift           scale_x * log2(e) * 2^20, at most 2^25 (one step is then e^-22), 30 bits
    out_multiplier * 2^(out_shift - 31)    1 / scale_y, 31 bits
    raises  RangeError for a scale that is not finite, or not in 2^-53.. and 2^-28..2^20

    >>> integer_softmax_params(0.5, 1 / 255)
    SoftmaxParams(multiplier=774541002, shift=10, out_multiplier=2139095040, out_shift=8)
    """
    x, y = float(scale_x), float(scale_y)
    if not SMALLEST_INPUT_SCALE <= x < np.inf:
        raise RangeError(
            f"integer_softmax: the scale of its input must be finite and at least 2^-53. Got {x:g} instead"
        )
    if not OUTPUT_SCALES[0] <= y <= OUTPUT_SCALES[1]:
        raise RangeError(f"integer_softmax: the scale of its result must lie in 2^-28..2^20. Got {y:g} instead")
    multiplier, exponent = _mantissa(min(x * np.log2(np.e) * 2.0**EXPONENT_BITS, float(LARGEST_EXPONENT)), 30)
    out_multiplier, out_shift = _mantissa(1.0 / y, 31)
    return SoftmaxParams(multiplier, 30 - exponent, out_multiplier, out_shift)


def _mantissa(value: float, bits: int) -> tuple[int, int]:
    """(m, e) with value ~ m * 2^(e - bits), m of so many bits."""
    fraction, exponent = np.frexp(value)
    mantissa = round(float(fraction) * 2.0**bits)
    full = mantissa == 1 << bits
    return (mantissa >> 1, int(exponent) + 1) if full else (mantissa, int(exponent))


def _check(length: int, multiplier: int, shift: int, out_multiplier: int, out_shift: int) -> None:
    if length > LONGEST_ROW:
        raise RangeError(
            f"integer_softmax: a row may have {LONGEST_ROW} elements. Got {length} instead; keep it in float"
        )
    fits = 0 <= multiplier < 1 << 30 and 1 <= shift <= 62
    if not (fits and 0 <= out_multiplier < 1 << 31 and -19 <= out_shift <= 29):
        raise RangeError(
            f"integer_softmax: multiplier {multiplier}, shift {shift}, out_multiplier {out_multiplier} and out_shift "
            f"{out_shift} do not fit their types; use the constants of integer_softmax_params"
        )
