"""Multiplication and addition of constants that vary over a quantized tensor, and prelu, in integers only."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from tvmq.errors import AccumulatorError, RangeError
from tvmq.numerics.codes import INT32_MAX, Number, check_zero_point, code_limits, largest_code, zero_of

LARGEST_CODE = 255  # largest |code| and |code - zero_point| of uint8 and int8
LARGEST_SHIFT = 22  # more would gain nothing: the error bound is 3e-5 steps there
# steps; a summand beyond this leaves all codes, however much it is beyond
LARGEST_RESULT = {"uint8": 2**10, "int8": 2**10, "int16": 2**17}


class ScaleShiftParams(NamedTuple):
    """The constants of `scale_shift`."""

    multiplier: np.ndarray
    offset: np.ndarray
    shift: int


class PreluParams(NamedTuple):
    """The constants of `prelu`."""

    slopes: np.ndarray
    multiplier: int
    shift: int


def scale_shift(
    q: np.ndarray,
    multiplier: np.ndarray,
    offset: np.ndarray,
    *,
    shift: int,
    zero_point: int,
    dtype: DTypeLike,
    qmin: int | None = None,
    qmax: int | None = None,
) -> np.ndarray:
    """y = clip(((q * multiplier + offset) >> shift) + zero_point, qmin, qmax).

    q                   uint8, int8 or int16 codes
    multiplier, offset  int32, all three broadcast against each other; `scale_shift_params` gives them
    returns             dtype, broadcast shape
    raises              AccumulatorError if codes of this type could take a sum out of int32,
                        RangeError for a shift outside 0..31 or a zero point outside qmin..qmax
    order               all in int32, the shift is arithmetic (towards minus infinity); offset has the zero point of q,
                        the summand and the half that makes the shift round half up

    >>> params = scale_shift_params(0.5, 10, [1.0, -2.0], [0.0, 1.0], 0.25)
    >>> scale_shift(np.uint8([[10, 10], [14, 14]]), *params[:2], shift=params.shift, zero_point=100, dtype="uint8")
    array([[100, 104],
           [108,  88]], dtype=uint8)
    """
    q, multiplier, offset = np.asarray(q), np.asarray(multiplier, np.int32), np.asarray(offset, np.int32)
    low, high = code_limits(dtype, qmin, qmax)
    zero = _check_shift(shift, zero_point, low, high)
    reach = largest_code(q) * np.abs(multiplier.astype(np.int64)) + np.abs(offset.astype(np.int64))
    _check_reach(int(np.max(reach, initial=0)), "scale_shift")
    total = np.asarray(np.multiply(q, multiplier, dtype=np.int32) + offset)
    return _shift_and_saturate(total, shift, zero, low, high, dtype)


def scale_shift_params(
    scale_x: Number,
    zero_x: Number,
    factor: ArrayLike,
    summand: ArrayLike,
    scale_y: Number,
    *,
    dtypes: tuple[str, str] = ("uint8", "uint8"),
) -> ScaleShiftParams:
    """Constants of `scale_shift` for y = x * factor + summand.

    With r = factor * scale_x / scale_y and t = summand / scale_y (float64), multiplier = rint(r * 2^shift) and
    offset = rint(t * 2^shift) + 2^(shift-1) - zero_x * multiplier; t is cut to +-1024 (2^17 where y is int16), where
    every result saturates unless r is of that size.
    factor, summand  real numbers that broadcast against each other
    dtypes   types of x and y; both 8-bit types (uint8, int8) have the same constants
    shift    the largest up to 22 at which all sums fit: L * |multiplier| + |rint(t * 2^shift)| + 2^(shift-1), L being
             2 * 255 for 8-bit codes of x and 32768 + |zero_x| for int16
    error    a result that does not saturate is within 1/2 + 128 / 2^shift of the real one, in steps of scale_y; for
             int16 codes of x within 1/2 + (L + 1) / 2^(shift+1): 1.5 steps of 65536 where |r| <= 1 and |t| < 32768
    raises   RangeError if a scale is not positive and finite, a constant is not finite, or r is so large (4e6) that
             no shift is left

    >>> scale_shift_params(0.5, 10, [1.0], [0.25], 0.5)
    ScaleShiftParams(multiplier=array([4194304], dtype=int32), offset=array([-37748736], dtype=int32), shift=22)
    """
    scales = _checked_scales(scale_x, scale_y)
    ratio = np.asarray(factor, np.float64) * (scales[0] / scales[1])
    steps = np.asarray(summand, np.float64) / scales[1]
    if not (np.isfinite(ratio).all() and np.isfinite(steps).all()):
        raise RangeError("scale_shift: factors and summands must be finite; repair the model's constants")
    largest, is_int16 = LARGEST_RESULT[dtypes[1]], dtypes[0] == "int16"
    steps = np.clip(steps, -largest, largest)
    zero = int(check_zero_point(zero_x, *((-(2**15), 2**15 - 1) if is_int16 else (-128, 255))))
    reach = 2**15 + abs(zero) if is_int16 else 2 * LARGEST_CODE
    shift = _largest_shift(float(np.abs(ratio).max(initial=0)), float(np.abs(steps).max(initial=0)), reach)
    multiplier = np.asarray(np.rint(np.ldexp(ratio, shift)).astype(np.int32))
    half = np.int64(2) ** shift // 2
    offset = np.rint(np.ldexp(steps, shift)).astype(np.int64) + half - zero * multiplier.astype(np.int64)
    return ScaleShiftParams(multiplier, np.asarray(offset.astype(np.int32)), shift)


def prelu(
    q: np.ndarray,
    slopes: np.ndarray,
    *,
    multiplier: int,
    shift: int,
    x_zero: int,
    zero_point: int,
    dtype: DTypeLike,
    qmin: int | None = None,
    qmax: int | None = None,
) -> np.ndarray:
    """y = clip(((d * (multiplier if d > 0 else slopes) + half) >> shift) + zero_point, qmin, qmax), d = q - x_zero.

    q        uint8 or int8 codes
    slopes   int32 multipliers of negative values, broadcast against q; `prelu_params` gives all constants
    returns  dtype, broadcast shape
    raises   AccumulatorError, RangeError as `scale_shift`
    order    all in int32; half is 2^(shift-1) (0 for shift 0), the shift is arithmetic: half up

    >>> params = prelu_params(0.5, [0.25, -1.0], 0.25)
    >>> prelu(np.uint8([[6, 6], [14, 14]]), **params._asdict(), x_zero=10, zero_point=100, dtype="uint8")
    array([[ 98, 108],
           [108, 108]], dtype=uint8)
    """
    q, slopes = np.asarray(q), np.asarray(slopes, np.int32)
    low, high = code_limits(dtype, qmin, qmax)
    zero = _check_shift(shift, zero_point, low, high)
    half = 2**shift // 2
    largest = max(abs(multiplier), int(np.abs(slopes.astype(np.int64)).max(initial=0)))
    _check_reach(LARGEST_CODE * largest + half, "prelu")
    steps = np.subtract(q, np.int32(zero_of(q, x_zero)), dtype=np.int32)
    total = steps * np.where(steps > 0, np.int32(multiplier), slopes) + np.int32(half)
    return _shift_and_saturate(np.asarray(total), shift, zero, low, high, dtype)


def prelu_params(scale_x: Number, slopes: ArrayLike, scale_y: Number) -> PreluParams:
    """Constants of `prelu`: rint(r * 2^shift) and rint(slope * r * 2^shift) with r = scale_x / scale_y in float64.

    shift, error, raises  as `scale_shift_params`, without a summand

    >>> prelu_params(0.5, [0.25], 0.5)
    PreluParams(slopes=array([1048576], dtype=int32), multiplier=4194304, shift=22)
    """
    scales = _checked_scales(scale_x, scale_y)
    ratio = scales[0] / scales[1]
    negative = np.asarray(slopes, np.float64) * ratio
    if not np.isfinite(negative).all():
        raise RangeError("prelu: slopes must be finite; repair the model's constants")
    shift = _largest_shift(max(ratio, float(np.abs(negative).max(initial=0))), 0.0)
    return PreluParams(np.rint(np.ldexp(negative, shift)).astype(np.int32), round(ratio * 2.0**shift), shift)


def _largest_shift(ratio: float, steps: float, reach: int = 2 * LARGEST_CODE) -> int:
    for shift in range(LARGEST_SHIFT, -1, -1):
        if reach * (ratio * 2.0**shift + 1) + (steps + 0.5) * 2.0**shift + 1 <= INT32_MAX:
            return shift
    raise RangeError(
        f"scale_shift: the factors are {ratio:g} steps of the result a step of the input, too far for int32; "
        "the output range does not fit its input"
    )


def _checked_scales(scale_x: Number, scale_y: Number) -> list[float]:
    scales = [float(np.float32(scale)) for scale in (scale_x, scale_y)]
    if not all(np.isfinite(scale) and scale > 0 for scale in scales):
        raise RangeError(f"scale_shift: scales must be positive and finite. Got {scales[0]:g}, {scales[1]:g} instead")
    return scales


def _check_shift(shift: int, zero_point: int, low: int, high: int) -> int:
    if not 0 <= shift <= 31:
        raise RangeError(f"scale_shift: shift must lie in 0..31. Got {shift} instead")
    return int(check_zero_point(zero_point, low, high))


def _check_reach(reach: int, name: str) -> None:
    if reach > INT32_MAX:
        raise AccumulatorError(
            f"{name}: the sum can reach {reach}, int32 ends at {INT32_MAX}; use the constants of {name}_params"
        )


def _shift_and_saturate(total: np.ndarray, shift: int, zero: int, low: int, high: int, dtype: DTypeLike) -> np.ndarray:
    steps = np.clip(total >> np.int32(shift), low - zero, high - zero)
    return np.asarray((steps + np.int32(zero)).astype(dtype))
