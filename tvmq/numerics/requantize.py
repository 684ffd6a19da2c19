"""From int32 sums to codes: round(acc * factor), with the zero point added.

    mode            multiplier     shift     real factor                rounds
    float           float32        unused    multiplier                 half to even
    fixed_point     int32          int32     multiplier * 2^(shift-31)  UPWARD, TONEAREST or DOUBLE
    power_of_two    unused         int32     2^shift                    UPWARD, TONEAREST or DOUBLE

UPWARD rounds ties towards +infinity, TONEAREST away from zero. DOUBLE rounds twice, as TFLite, CMSIS-NN and TOSA's
double rounding do: the high half of the product upward, what a negative shift takes off then away from zero.
A positive shift enlarges. Mode and rounding name a rule (requantize_rule.py), which has others besides.
Mode float can shrink negative sums by a further factor, negative_slope: a leaky relu that costs no rounding of its own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from tvmq.errors import ConfigError, RangeError
from tvmq.numerics.code_type import CODES_16
from tvmq.numerics.codes import Number, along_axis, check_zero_point, code_limits
from tvmq.numerics.requantize_factors import fixed_point_constants
from tvmq.numerics.requantize_rule import rule_of_mode
from tvmq.numerics.rule_arithmetic import LARGEST_SHIFT

ACCUMULATORS = (*CODES_16, "int32")


def requantize(
    acc: np.ndarray,
    multiplier: ArrayLike,
    shift: ArrayLike = 0,
    *,
    zero_point: Number,
    axis: int | None = None,
    mode: str = "float",
    rounding: str = "UPWARD",
    negative_slope: float = 1.0,
    dtype: DTypeLike,
    qmin: int | None = None,
    qmax: int | None = None,
) -> np.ndarray:
    """q = clip(round(acc * factor) + zero_point, qmin, qmax).

    acc         int32 sums, or codes (int8, uint8, int16) that are to get another scale; any shape
    multiplier  shape () or (acc.shape[axis],); float32, finite, not negative (mode float), or
                int32, 0..2^31-1 (fixed_point)
    shift       int32, same shapes; at most 31 (fixed_point) or 30 (power_of_two)
    zero_point  int, the code of 0.0 of the result, within qmin..qmax
    negative_slope  0..1, mode float: sums below 0 are multiplied by float32(multiplier * float32(slope)) instead
    returns     dtype, shape of acc; what lies outside qmin..qmax saturates, however large
    raises      ConfigError for an unknown mode or rounding, RangeError for numbers out of range
    order       float: acc to float32 (half to even), times multiplier in float32 (one rounding), rint, clip
                to qmin - zero_point .. qmax - zero_point, add the zero point in integers;
                fixed_point: as `fixed_point_multiply`, clipped and added in int64;
                power_of_two: (acc + half) >> -shift or acc << shift, as fixed_point with 2^30 and shift + 1

    >>> acc = np.int32([-10, -6, -2, 2, 6, 10])
    >>> requantize(acc, 0.75, zero_point=0, dtype="int8")
    array([-8, -4, -2,  2,  4,  8], dtype=int8)
    >>> requantize(acc, 1610612736, 0, zero_point=0, mode="fixed_point", dtype="int8")
    array([-7, -4, -1,  2,  5,  8], dtype=int8)
    """
    acc = np.asarray(acc)
    if acc.dtype.name not in ACCUMULATORS:
        raise ConfigError(f"requantize: acc must be int32, or codes. Got {acc.dtype.name} instead")
    low, high = code_limits(dtype, qmin, qmax)
    zero = int(check_zero_point(zero_point, low, high))
    slope = checked_slope(negative_slope, mode)
    if rule_of_mode(mode, rounding).arithmetic == "float32":
        steps = _float_steps(acc, multiplier, axis, slope, low - zero, high - zero)
        steps += np.float32(zero)  # integers below 2^17: exact in float32, as if added to integers
        return np.asarray(steps.astype(dtype))
    constants = fixed_point_constants(multiplier, shift, mode=mode)
    steps = fixed_point_multiply(acc, *constants, axis=axis, rounding=rounding)
    return np.asarray((np.clip(steps, low - zero, high - zero) + zero).astype(dtype))


def checked_slope(negative_slope: float, mode: str) -> np.float32:
    """The slope of negative sums as float32, refused outside of 0..1 and, unless it is 1, in other modes than float."""
    slope = np.float32(negative_slope)
    if not 0 <= slope <= 1 or (slope != 1 and mode != "float"):
        raise ConfigError(
            f"requantize: negative_slope must lie in 0..1, and be 1 unless mode is float. "
            f"Got {negative_slope:g} in mode {mode} instead; use a table"
        )
    return slope


def _float_steps(
    acc: np.ndarray, multiplier: ArrayLike, axis: int | None, slope: np.float32, low: int, high: int
) -> np.ndarray:
    """rint(float32(acc) * multiplier), clipped: float32, shape of acc."""
    multiplier = np.asarray(multiplier, np.float32)
    bad = ~(np.isfinite(multiplier) & (multiplier >= 0))
    if bad.any():
        channel = int(np.argmax(bad))
        raise RangeError(
            f"requantize: multiplier must be finite and not negative. "
            f"Got {np.ravel(multiplier)[channel]:g} at channel {channel} instead"
        )
    steps = np.asarray(acc.astype(np.float32))
    with np.errstate(all="ignore"):  # may overflow to infinity, which saturates
        factor = along_axis(multiplier, axis, acc.shape)
        np.multiply(steps, factor if slope == 1 else np.where(acc < 0, factor * slope, factor), out=steps)
    np.rint(steps, out=steps)
    return np.asarray(np.clip(steps, np.float32(low), np.float32(high), out=steps))


def fixed_point_multiply(
    acc: np.ndarray,
    multiplier: ArrayLike,
    shift: ArrayLike,
    *,
    axis: int | None = None,
    rounding: str = "UPWARD",
) -> np.ndarray:
    """acc * multiplier * 2^(shift - 31), rounded, in int64.

    With e = shift, p = (acc << max(e, 0)) * multiplier and n = 31 + max(-e, 0):
        UPWARD     (p + 2^(n-1)) >> n
        TONEAREST  (p + 2^(n-1) - (1 if p < 0 else 0)) >> n
        DOUBLE     (p + 2^(n-1) + k) >> n, k = 0 for n = 31, else -2^30 if p < 0 else 2^30: the same as
                   h = (p + 2^30) >> 31 and then h / 2^(n-31), rounded half away from zero
    acc         int32
    multiplier  int32, 0..2^31-1
    shift       int32, at most 31; below -32 it acts as -32 (the result is 0)
    returns     int64, exact below 2^29. Where p would pass 2^62 acc is clipped to keep it within int64; the
                result is then some number of the same sign and at least 2^29, outside of every code
    raises      RangeError for a multiplier or shift out of range, ConfigError for an unknown rounding
    source      UPWARD: TOSA RESCALE with a single rounding. DOUBLE: MultiplyByQuantizedMultiplier of TFLite

    >>> fixed_point_multiply(np.int32([1000, 12345678]), 2034096512, -8)  # times 0.0037
    array([    4, 45679])
    """
    rule = rule_of_mode("fixed_point", rounding)
    acc, multiplier, shift = (np.asarray(values, np.int64) for values in (acc, multiplier, shift))
    if ((multiplier < 0) | (multiplier >= 2**31)).any():
        raise RangeError(
            f"requantize: a fixed-point multiplier must lie in 0..2^31-1. "
            f"Got {int(multiplier.min())}..{int(multiplier.max())} instead"
        )
    if (shift > LARGEST_SHIFT).any():
        raise RangeError(f"requantize: shift must be at most {LARGEST_SHIFT}. Got {int(shift.max())} instead")
    return rule.round_products(acc, along_axis(multiplier, axis, acc.shape), along_axis(shift, axis, acc.shape))
