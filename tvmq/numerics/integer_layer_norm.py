"""Layer norm and rms norm of codes in integers alone: no float, no division, products of 32 bits into 64.

The deviations and the variance of a row of integers are exact when all is multiplied by the row's length; then a
reciprocal square root by Newton's iteration (numerics/fixed_point.py, with the sources; I-BERT has the integer square
root, and divides), and one multiplier and offset for each element of the row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from tvmq.errors import ConfigError, RangeError
from tvmq.numerics.code_type import CODES_16
from tvmq.numerics.codes import Number, check_zero_point, code_limits
from tvmq.numerics.fixed_point import inverse_sqrt

LONGEST_ROW = 1 << 14
STEP_BITS = 22  # fraction bits of (x - mean) / deviation, which is at most sqrt(length) <= 2^7
LARGEST_EPSILON = 1 << 61


class LayerNormParams(NamedTuple):
    """The constants of `integer_layer_norm`, as `integer_layer_norm_params` computes them.

    multiplier  int32 (length,); gamma in steps of the result, times 2^(shift - 22)
    offset      int64 (length,); beta in steps of the result, times 2^shift, and the half that rounds
    epsilon     epsilon in the units of the integer variance
    shift       bits by which products are shifted to the right

    >>> LayerNormParams(np.int32([1, 1]), np.int64([0, 0]), epsilon=1, shift=3).shift
    3
    """

    multiplier: np.ndarray
    offset: np.ndarray
    epsilon: int
    shift: int


def integer_layer_norm(
    x: np.ndarray,
    multiplier: np.ndarray,
    offset: np.ndarray,
    *,
    epsilon: int,
    shift: int,
    zero_point: int,
    dtype: DTypeLike,
    qmin: int | None = None,
    qmax: int | None = None,
    centred: bool = True,
    x_zero: int = 0,
) -> np.ndarray:
    """Codes of (x - mean) / sqrt(variance + epsilon) * gamma + beta over the last axes; without the mean rms norm.

    x           int8, uint8 or int16, any shape; n elements in a row, at most 16384
    multiplier  int32, |multiplier| <= 2^30, of the shape of the last axes, which make a row
    offset      int64, the same shape, |offset| < 2^62
    others      integers as `integer_layer_norm_params` gives them
    x_zero      zero point of x; with the mean it makes no difference
    returns     dtype, shape of x
    raises      ConfigError for another type or shapes that do not fit, RangeError for numbers out of range
    order       in int64: p is the largest with n * 2^p <= 2^14
                1. d = n * x - sum(x) and v = n * sum(x * x) - sum(x)^2;
                   not centred: d = n * (x - x_zero) and v = n * sum((x - x_zero)^2)
                2. w = max((v << 2p) + epsilon, 4^p); k is the largest with w << 2k below 2^62
                3. y = inverse_sqrt((w << 2k) >> 31), Q30; m = 39 - k - p; z = (d * y + 2^(m - 1)) >> m, Q22
                4. clip(((z * multiplier + offset) >> shift) + zero_point, qmin, qmax)
    bounds      n * |x - x_zero| < 2^30 and y <= 2^31 + 16: d * y < 2^62. v << 2p is at most 2^60 (a row of 2^16 steps,
                not centred), so w < 2^62, and m >= 9 because w >= 4^p. |d| / sqrt(w) <= 2^(7 - p) keeps
                |z| <= 2^29 + 2 and the last sum below 2^62
    error       with u = (x - mean) / sqrt(variance + epsilon) in real numbers, a code that does not saturate is off by
                at most 1/2 + |gamma| / scale_y * (|u| * (2^-26 + 1 / (4 w)) + 2^-23) + (|u| + 1) * 2^(21 - shift):
                the reciprocal root is off by 2^-27 and the bits that w loses cost 2^-30, rounding epsilon 1 / (4 w) of
                u; z is rounded by 2^-23, multiplier and offset by half a step of 2^(22 - shift) and 2^-shift.
                w is at least (n - 1) * 4^p unless all elements are equal (then u is 0, and exact): 1 / (4 w) is below
                2^-13, and below 2^-20 for rows up to 128

    >>> params = integer_layer_norm_params(0.5, np.float32([1, 1, 2]), np.float32([0, 0, 1]), 0.25, epsilon=1e-5)
    >>> integer_layer_norm(np.int8([[1, 2, 3]]), **params._asdict(), zero_point=0, dtype="int8")
    array([[-5,  0, 14]], dtype=int8)
    """
    x, low_high = np.asarray(x), code_limits(dtype, qmin, qmax)
    zero = int(check_zero_point(zero_point, *low_high))
    multiplier, offset = np.asarray(multiplier), np.asarray(offset)
    _check(x, multiplier, offset, epsilon, shift)
    if x.size == 0:
        return np.zeros(x.shape, dtype)
    rows = x.reshape(*x.shape[: x.ndim - multiplier.ndim], -1).astype(np.int64)
    d, v = _deviations(rows if centred else rows - x_zero, centred)
    spare = spare_bits(rows.shape[-1])
    w = np.maximum((v << 2 * spare) + epsilon, 1 << 2 * spare)
    k = np.zeros_like(w)
    for bits in (16, 8, 4, 2, 1):
        small = w < 1 << (62 - 2 * bits)
        w, k = np.where(small, w << 2 * bits, w), k + bits * small
    m = 39 - k - spare
    z = (d * inverse_sqrt(w >> 31) + np.left_shift(np.int64(1), m - 1)) >> m
    steps = (z * multiplier.reshape(-1).astype(np.int64) + offset.reshape(-1)) >> shift
    return np.asarray(np.clip(steps, low_high[0] - zero, low_high[1] - zero) + zero).astype(dtype).reshape(x.shape)


def _deviations(rows: np.ndarray, centred: bool) -> tuple[np.ndarray, np.ndarray]:
    """Step 1: d, of the shape of the rows, and v, with a last axis of 1."""
    count = rows.shape[-1]
    total = rows.sum(axis=-1, keepdims=True) if centred else np.zeros((*rows.shape[:-1], 1), np.int64)
    squares = (rows * rows).sum(axis=-1, keepdims=True)
    return count * rows - total, count * squares - total * total


def spare_bits(count: int) -> int:
    """The largest p with count * 2^p <= 2^14.

    >>> spare_bits(96), spare_bits(16384)
    (7, 0)
    """
    return (LONGEST_ROW // count).bit_length() - 1


def integer_layer_norm_params(
    scale_x: Number,
    gamma: ArrayLike,
    beta: ArrayLike | None,
    scale_y: Number,
    *,
    epsilon: float,
) -> LayerNormParams:
    """Constants of `integer_layer_norm` for codes of steps `scale_x` and `scale_y`, in float64.

    epsilon     rint(n^2 * 4^p * epsilon / scale_x^2)
    shift       22 + g, the largest g up to 40 with |gamma| / scale_y * 2^g <= 2^30 and
                |beta| / scale_y * 2^shift <= 2^60
    multiplier  rint(gamma / scale_y * 2^g), offset = rint(beta / scale_y * 2^shift) + 2^(shift - 1)
    raises      RangeError for a row that is too long, parameters that are not finite, a scale so small that epsilon
                passes 2^61, or a scale of the result that leaves no g above -22

    >>> integer_layer_norm_params(0.5, np.float32([1, 2]), None, 0.25, epsilon=1e-5)[2:]
    (10737, 49)
    """
    gamma = np.asarray(gamma, np.float64)
    beta = np.zeros(gamma.shape) if beta is None else np.asarray(beta, np.float64)
    if not (np.isfinite(gamma).all() and np.isfinite(beta).all()):
        raise RangeError("integer_layer_norm: gamma and beta must be finite")
    _check_length(gamma.size)
    steps = float(scale_y)
    reach = (gamma.size << spare_bits(gamma.size)) ** 2
    eps = round(reach * float(epsilon) / float(scale_x) ** 2)
    if not 0 <= eps <= LARGEST_EPSILON:
        raise RangeError(
            f"integer_layer_norm: epsilon {epsilon:g} is {eps:.3g} for steps of {float(scale_x):g}, 2^61 is the most; "
            "the input is hardly more than epsilon, keep the layer in float"
        )
    bits = min(40, _headroom_bits(gamma / steps, 30), _headroom_bits(beta / steps, 60) - STEP_BITS)
    if bits <= -STEP_BITS:
        raise RangeError(f"integer_layer_norm: gamma or beta are too large for steps of {steps:g}")
    shift = STEP_BITS + bits
    multiplier = np.rint(gamma / steps * 2.0**bits).astype(np.int32)
    offset = np.rint(beta / steps * 2.0**shift).astype(np.int64) + (1 << (shift - 1))
    return LayerNormParams(multiplier, offset, eps, shift)


def _headroom_bits(values: np.ndarray, bits: int) -> int:
    """The largest g with |values| * 2^g <= 2^bits."""
    largest = float(np.abs(values).max(initial=0.0))
    return bits - int(np.ceil(np.log2(largest))) if largest > 0 else bits


def _check_length(count: int) -> None:
    if not 0 < count <= LONGEST_ROW:
        raise RangeError(
            f"integer_layer_norm: a row may have 1 to {LONGEST_ROW} elements. Got {count} instead; keep it in float"
        )


def _check(x: np.ndarray, multiplier: np.ndarray, offset: np.ndarray, epsilon: int, shift: int) -> None:
    if x.dtype.name not in CODES_16:
        raise ConfigError(f"integer_layer_norm: x must be one of {', '.join(CODES_16)}. Got {x.dtype.name} instead")
    row = x.shape[x.ndim - multiplier.ndim :] if multiplier.ndim else ()
    if multiplier.ndim == 0 or multiplier.shape != offset.shape or row != multiplier.shape:
        raise ConfigError(
            f"integer_layer_norm: multiplier and offset must have the shape of the last axes. "
            f"Got {multiplier.shape} and {offset.shape} for {x.shape} instead"
        )
    _check_length(multiplier.size)
    largest = int(np.abs(multiplier.astype(np.int64)).max()), int(np.abs(offset.astype(np.int64)).max())
    if largest[0] > 1 << 30 or largest[1] >= 1 << 62 or not 0 <= epsilon <= LARGEST_EPSILON or not 1 <= shift <= 62:
        raise RangeError(
            f"integer_layer_norm: multiplier {largest[0]}, offset {largest[1]}, epsilon {epsilon} and shift {shift} do "
            "not fit their types; use the constants of integer_layer_norm_params"
        )
