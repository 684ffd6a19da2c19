"""Scores of an attention plus its mask, in the steps of the scores."""

from __future__ import annotations

import numpy as np

from tvmq.errors import ConfigError, RangeError
from tvmq.numerics.codes import INT32_MAX

LARGEST_VALUE = 1 << 20  # of a mask before it is multiplied: masks are 0 and 1
LARGEST_STEP = 1 << 30  # of a mask: further down exp is 0 long since, and sums of scores keep apart
LARGEST_FACTOR = 1 << 40


def add_mask(x: np.ndarray, mask: np.ndarray, *, multiplier: int, offset: int) -> np.ndarray:
    """x + (mask * multiplier + offset), saturated to -(2^31 - 1)..2^31 - 1; broadcasting.

    x           int32: scores, accumulators of a product
    mask        any integers, for example 0 where a token is padding and 1 elsewhere
    multiplier  |multiplier| <= 2^40, offset likewise: a mask of real values a * mask + b has rint(a / scale) and
                rint(b / scale) of them, see `mask_steps`
    returns     int32, broadcast shape
    raises      ConfigError for other types, RangeError for numbers out of range
    order       in int64: m = clip(mask, -2^20, 2^20) * multiplier + offset; clip(m, -2^30, 2^30) is added to x

    >>> add_mask(np.int32([[5, 6], [7, 8]]), np.int64([1, 0]), multiplier=10000, offset=-10000)
    array([[    5, -9994],
           [    7, -9992]], dtype=int32)
    """
    x, mask = np.asarray(x), np.asarray(mask)
    if x.dtype != np.int32 or mask.dtype.kind not in "iu":
        raise ConfigError(f"add_mask: takes int32 and integers. Got {x.dtype.name} and {mask.dtype.name} instead")
    if max(abs(multiplier), abs(offset)) > LARGEST_FACTOR:
        raise RangeError(f"add_mask: multiplier {multiplier} or offset {offset} is beyond 2^40; use mask_steps")
    steps = np.clip(mask.astype(np.int64), -LARGEST_VALUE, LARGEST_VALUE) * multiplier + offset
    total = x.astype(np.int64) + np.clip(steps, -LARGEST_STEP, LARGEST_STEP)
    return np.clip(total, -INT32_MAX, INT32_MAX).astype(np.int32)


def mask_steps(value: float, scale: float) -> int:
    """A real number of a mask in steps of the scores: rint(value / scale), at most 2^40 of either sign.

    >>> mask_steps(-10000.0, 0.5), mask_steps(-np.inf, 0.5)
    (-20000, -1099511627776)
    """
    with np.errstate(over="ignore"):
        steps = float(np.rint(np.float64(value) / np.float64(scale)))
    return int(np.clip(steps, -LARGEST_FACTOR, LARGEST_FACTOR))
