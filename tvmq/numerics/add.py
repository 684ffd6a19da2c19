"""Residual add of two quantized tensors of different scales, in integers only."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from tvmq.errors import AccumulatorError, RangeError
from tvmq.numerics.codes import INT32_MAX, code_limits

LARGEST_CODE = 255  # largest |code| and |code - zero_point| of uint8 and int8
LARGEST_SHIFT = 22  # more would gain nothing: the error bound is 6e-5 LSB there
INT16_SHIFT = 14  # less would cost too much: the error bound is 0.016 LSB there


class AddParams(NamedTuple):
    """The constants of `add`; `add(a, b, **params._asdict(), zero_point=..., dtype=...)`."""

    a_multiplier: int
    b_multiplier: int
    offset: int
    shift: int


def add(
    a: np.ndarray,
    b: np.ndarray,
    *,
    a_multiplier: int,
    b_multiplier: int,
    offset: int,
    shift: int,
    zero_point: int,
    dtype: DTypeLike,
    qmin: int | None = None,
    qmax: int | None = None,
) -> np.ndarray:
    """q = clip(((a * a_multiplier + b * b_multiplier + offset) >> shift) + zero_point, qmin, qmax).

    a, b      uint8 or int8 codes that broadcast against each other
    others    integers as `add_params` gives them
    returns   dtype, broadcast shape
    raises    AccumulatorError if codes of these types could take the sum out of int32, RangeError for a bad shift
    order     all in int32, the shift is arithmetic (towards minus infinity); offset holds the zero points of a and b and
              the half that makes the shift round half up

    >>> params = add_params(0.5, 0, 0.25, 10, 0.5)
    >>> add(np.uint8([4, 200]), np.uint8([14, 250]), **params._asdict(), zero_point=1, dtype="uint8")
    array([  7, 255], dtype=uint8)
    """
    a, b = np.asarray(a), np.asarray(b)
    low, high = code_limits(dtype, qmin, qmax)
    if not 0 <= shift <= 31:
        raise RangeError(f"add: shift must lie in 0..31. Got {shift} instead")
    _check_int32(a.dtype, b.dtype, a_multiplier, b_multiplier, offset)
    total = np.asarray(np.multiply(a, np.int32(a_multiplier), dtype=np.int32))
    other = np.multiply(b, np.int32(b_multiplier), dtype=np.int32)
    total = np.add(total, other, out=total if total.shape == np.broadcast_shapes(a.shape, b.shape) else None)
    total += np.int32(offset)
    total >>= np.int32(shift)
    np.clip(total, low - zero_point, high - zero_point, out=total)
    total += np.int32(zero_point)
    return total.astype(dtype)


def _check_int32(
    a_dtype: np.dtype, b_dtype: np.dtype, a_multiplier: int, b_multiplier: int, offset: int
) -> None:
    reach = abs(offset)
    for dtype, multiplier in ((a_dtype, a_multiplier), (b_dtype, b_multiplier)):
        limits = np.iinfo(dtype)
        reach += max(-int(limits.min), int(limits.max)) * abs(multiplier)
    if reach > INT32_MAX:
        raise AccumulatorError(
            f"add: the sum can reach {reach}, int32 ends at {INT32_MAX}; use the parameters that add_params gives"
        )


def add_params(
    scale_a: ArrayLike, zero_a: ArrayLike, scale_b: ArrayLike, zero_b: ArrayLike, scale_y: ArrayLike
) -> AddParams:
    """Constants of `add` for two tensors of 8-bit codes (uint8 or int8) and a result of scale `scale_y`.

    With r_a = scale_a / scale_y and r_b = scale_b / scale_y (float64), multiplier = rint(r * 2^shift) and
    offset = 2^(shift-1) - zero_a * a_multiplier - zero_b * b_multiplier.
    shift       the largest up to 22 at which both multipliers fit int16, if that is at least 14 (so wherever r_a, r_b <= 1);
                else the largest at which every partial sum fits int32: 2 * 255 * (a_multiplier + b_multiplier) + 2^(shift-1) < 2^31
    error       a result that does not saturate is within 1/2 + 255 / 2^shift of the real sum (in steps of scale_y), because each
                multiplier is off by at most 1/2 and each centred code is at most 255: 255 / 2^shift is at most 0.016
                where r_a + r_b <= 256, and at most 1.3e-4 * (r_a + r_b) beyond
    raises      RangeError if scales are not positive and finite, or r_a + r_b is so large (about 4e6) that no shift is left

    >>> add_params(0.5, 0, 0.25, 10, 0.5)
    AddParams(a_multiplier=16384, b_multiplier=8192, offset=-73728, shift=14)
    """
    scales = [float(np.float32(scale)) for scale in (scale_a, scale_b, scale_y)]
    if not all(np.isfinite(scale) and scale > 0 for scale in scales):
        raise RangeError(
            f"add: scales must be positive and finite. Got {scales[0]:g}, {scales[1]:g} and {scales[2]:g} instead"
        )
    ratios = scales[0] / scales[2], scales[1] / scales[2]
    shift = _largest_shift(ratios[0], ratios[1])
    if shift is None:
        raise RangeError(
            f"add: scales {scales[0]:g} and {scales[1]:g} are too far above the output's {scales[2]:g} for int32; "
            f"the output range does not fit its inputs"
        )
    a_multiplier, b_multiplier = _multipliers(ratios[0], ratios[1], shift)
    offset = 2 ** (shift - 1) - int(zero_a) * a_multiplier - int(zero_b) * b_multiplier
    return AddParams(a_multiplier, b_multiplier, offset, shift)


def _multipliers(a_ratio: float, b_ratio: float, shift: int) -> tuple[int, int]:
    return round(a_ratio * 2.0**shift), round(
        b_ratio * 2.0**shift
    )  # half to even; Python ints cannot overflow


def _largest_shift(a_ratio: float, b_ratio: float) -> int | None:
    """The shift that `add_params` describes; None if there is none."""
    for shift in range(LARGEST_SHIFT, INT16_SHIFT - 1, -1):
        if max(_multipliers(a_ratio, b_ratio, shift)) < 2**15:
            return shift
    for shift in range(LARGEST_SHIFT, 0, -1):
        if 2 * LARGEST_CODE * sum(_multipliers(a_ratio, b_ratio, shift)) + 2 ** (shift - 1) <= INT32_MAX:
            return shift
    return None
