"""Mean over the tokens that a mask keeps, in integers alone; the count is known at run time only."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from tvmq.errors import ConfigError, RangeError
from tvmq.numerics.code_type import CODES_16
from tvmq.numerics.codes import check_zero_point, code_limits
from tvmq.numerics.fixed_point import reciprocal

LONGEST = 1 << 14
COUNT_BITS = 14  # of the largest count


def masked_mean(
    x: np.ndarray,
    mask: np.ndarray,
    *,
    axis: int,
    multiplier: int,
    shift: int,
    x_zero: int,
    zero_point: int,
    dtype: DTypeLike,
    qmin: int | None = None,
    qmax: int | None = None,
) -> np.ndarray:
    """Codes of sum(x * mask) / sum(mask) along an axis of at most 16384 elements.

    x           int8, uint8 or int16 codes
    mask        integers of the rank of x, each dimension that of x or 1: 0 and 1; others count as the nearer of both
    multiplier  and shift: scale_x / scale_y = multiplier * 2^(shift - 31), as fixed_point_parameters gives them;
                multiplier below 2^31, shift -1..30
    returns     dtype, shape of x without the axis; the zero point where the mask keeps nothing
    raises      ConfigError for other types or shapes, RangeError for a longer axis or numbers out of range
    order       in int64: 1. m = clip(mask, 0, 1) along the axis; s = sum((x - x_zero) * m), c = max(sum(m), 1)
                2. k is the largest with c << k below 2^31; f = (reciprocal(c << k) * multiplier + 2^30) >> 31
                3. n = 61 - k - shift; clip(((s * f + 2^(n - 1)) >> n) + zero_point, qmin, qmax)
    bounds      |s| < 2^30 and f <= 2^31 + 4: s * f stays below 2^62; k is 16..30, so n is 1..46
    error       at most 1/2 + 2^-27 * |y| of a code for the true mean y in codes: the reciprocal is off by 2^-28 of
                itself, multiplier and f by less than 2^-30 each

    >>> x = np.int16([[[10, 20], [30, 41], [99, 99]]])
    >>> mask, half = np.int64([[[1], [1], [0]]]), {"multiplier": 1 << 30, "shift": 1}
    >>> masked_mean(x, mask, axis=1, **half, x_zero=0, zero_point=0, dtype="int16")
    array([[20, 31]], dtype=int16)
    """
    x, mask = np.asarray(x), np.asarray(mask)
    low, high = code_limits(dtype, qmin, qmax)
    zero = int(check_zero_point(zero_point, low, high))
    _check(x, mask, axis, multiplier, shift)
    length = x.shape[axis]
    kept = np.clip(mask, 0, 1).astype(np.int64)
    kept = np.broadcast_to(kept, [length if i == axis else size for i, size in enumerate(mask.shape)])
    total = ((x.astype(np.int64) - x_zero) * kept).sum(axis=axis)
    count = np.maximum(kept.sum(axis=axis), 1)
    k = 30 - COUNT_BITS + sum((count < 1 << bit).astype(np.int64) for bit in range(1, COUNT_BITS + 1))
    factor = (reciprocal(count << k) * multiplier + (1 << 30)) >> 31
    n = 61 - k - shift
    steps = (total * factor + np.left_shift(np.int64(1), n - 1)) >> n
    return np.asarray(np.clip(steps, low - zero, high - zero) + zero).astype(dtype)


def _check(x: np.ndarray, mask: np.ndarray, axis: int, multiplier: int, shift: int) -> None:
    if x.dtype.name not in CODES_16 or mask.dtype.kind not in "iu":
        raise ConfigError(f"masked_mean: takes codes and an integer mask. Got {x.dtype.name} and {mask.dtype.name}")
    fits = mask.ndim == x.ndim and all(m in (1, size) for m, size in zip(mask.shape, x.shape, strict=True))
    if not fits or not 0 <= axis < x.ndim:
        raise ConfigError(f"masked_mean: a mask of {mask.shape} does not fit {x.shape} along axis {axis}")
    if x.shape[axis] > LONGEST:
        raise RangeError(f"masked_mean: an axis may have {LONGEST} elements. Got {x.shape[axis]}; keep it in float")
    if not (0 <= multiplier < 1 << 31 and -1 <= shift <= 30):
        raise RangeError(
            f"masked_mean: multiplier {multiplier} and shift {shift} must lie in 0..2^31-1 and -1..30; "
            "the scales of input and result are too far apart"
        )
