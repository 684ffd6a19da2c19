"""Factors of requantizations, scale_x * scale_w / scale_y, and the constants that stand for them in each mode.

    mode            multiplier     shift     real factor
    float           float32        unused    multiplier
    fixed_point     int32          int32     multiplier * 2^(shift-31)
    power_of_two    unused         int32     2^shift = 2^30 * 2^(shift + 1 - 31)

Tests: tests/numerics/test_requantize.py
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tvmq.errors import RangeError
from tvmq.numerics.tie_rules import rounded_float


def float_multiplier(scale_x: ArrayLike, scale_w: ArrayLike, scale_y: ArrayLike) -> np.ndarray:
    """float32(scale_x * scale_w / scale_y): product, then quotient in float64, rounded once.

    Shapes () or (C,) as they broadcast; scales are float32.
    raises  RangeError if a result is not a positive finite float32, naming the channel

    >>> float_multiplier(0.5, 0.25, 2.0)
    array(0.0625, dtype=float32)
    """
    scales = [np.asarray(scale, np.float32).astype(np.float64) for scale in (scale_x, scale_w, scale_y)]
    with np.errstate(all="ignore"):
        multiplier = np.asarray((scales[0] * scales[1] / scales[2]).astype(np.float32))
    bad = ~(np.isfinite(multiplier) & (multiplier > 0))
    if bad.any():
        channel = int(np.argmax(bad))
        x, w, y = (np.ravel(np.broadcast_to(scale, multiplier.shape))[channel] for scale in scales)
        raise RangeError(
            f"requantize: scales {x:g} * {w:g} / {y:g} at channel {channel} give no positive finite float32; "
            f"the ranges of input, weights and output do not fit each other"
        )
    return multiplier


def fixed_point_parameters(factor: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Multiplier and shift of mode fixed_point: factor ~ multiplier * 2^(shift - 31).

    (mantissa, e) = frexp(factor); multiplier = floor(mantissa * 2^31 + 1/2); if that is 2^31 it is halved and
    e grows by one. So the multiplier lies in 2^30..2^31-1; factor 0 gives (0, 0). In float64, so exact for a
    float32 factor.
    returns  two int32 arrays, shape of factor
    raises   RangeError if a factor is negative, not finite, or 2^30 and more

    >>> [int(value) for value in fixed_point_parameters(np.float32(1.3))]
    [1395864320, 1]
    """
    factor = np.asarray(factor, np.float64)
    bad = ~((factor >= 0) & (factor < 2.0**30))
    if bad.any():
        raise RangeError(
            f"requantize: a factor must lie in 0..2^30. Got {np.ravel(factor)[int(np.argmax(bad))]:g} instead"
        )
    return mantissa_and_shift(factor, 31, "upward")


def mantissa_and_shift(factor: np.ndarray, bits: int, tie: str) -> tuple[np.ndarray, np.ndarray]:
    """Integers of so many bits and shifts, int32: factor ~ mantissa * 2^(shift - bits), rounded by a tie rule."""
    fraction, exponent = np.frexp(factor)
    mantissa = rounded_float(fraction * 2.0**bits, tie)
    is_full = mantissa == 2.0**bits
    mantissa = np.where(is_full, mantissa / 2, mantissa)
    return np.asarray(mantissa.astype(np.int32)), np.asarray((exponent + is_full).astype(np.int32))


def power_of_two_shift(factor: ArrayLike) -> np.ndarray:
    """Shift of mode power_of_two: log2(factor), int32, shape of factor.

    raises  RangeError if a factor is not a power of two

    >>> power_of_two_shift([0.25, 1.0, 8.0])
    array([-2,  0,  3], dtype=int32)
    """
    factor = np.asarray(factor, np.float64)
    mantissa, exponent = np.frexp(factor)
    bad = mantissa != 0.5
    if bad.any():
        raise RangeError(
            f"requantize: mode power_of_two needs factors that are powers of two. "
            f"Got {np.ravel(factor)[int(np.argmax(bad))]:g} instead; choose scales that are powers of two"
        )
    return np.asarray((exponent - 1).astype(np.int32))


def requantize_constants(factor: np.ndarray, mode: str) -> tuple[np.ndarray, np.ndarray]:
    """(multiplier, shift) of a mode for real factors (float64)."""
    if mode == "float":
        return factor.astype(np.float32), np.zeros(factor.shape, np.int32)
    if mode == "fixed_point":
        return fixed_point_parameters(factor)
    return np.zeros(factor.shape, np.int32), power_of_two_shift(factor)


def fixed_point_constants(multiplier: ArrayLike, shift: ArrayLike, *, mode: str) -> tuple[np.ndarray, np.ndarray]:
    """(multiplier, shift) of mode fixed_point for those of an integer mode, int64; shapes () or (C,) each.

    >>> [int(value) for value in fixed_point_constants(0, -3, mode="power_of_two")]
    [1073741824, -2]
    """
    integers, exponents = np.asarray(multiplier, np.int64), np.asarray(shift, np.int64)
    return (np.full(exponents.shape, 2**30), exponents + 1) if mode == "power_of_two" else (integers, exponents)


def real_factor(multiplier: ArrayLike, shift: ArrayLike, *, mode: str) -> np.ndarray:
    """The real factors that the constants of a mode stand for: float64, exact.

    >>> float(real_factor(2**30, 1, mode="fixed_point"))
    1.0
    """
    if mode == "float":
        return np.asarray(multiplier, np.float64)
    integers, exponents = fixed_point_constants(multiplier, shift, mode=mode)
    return np.asarray(np.ldexp(integers.astype(np.float64), np.maximum(exponents, -1000) - 31))
