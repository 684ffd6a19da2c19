"""Steps of small groups of weights, with a sign: codes of n bits have one more value below 0 than above it, and a
negative step gives it to the side that needs it.

A group of 32 normal numbers in 4 bits has 0.58 of the squared error that its largest magnitude / 7 gives it.
"""

from __future__ import annotations

import numpy as np

from tvmq.numerics.affine import check_finite
from tvmq.numerics.spec import SMALLEST_NORMAL

# Shares of the step that reaches the farthest weight: below 1 that weight is clipped, and the others are finer.
FACTORS = tuple(1 - step / 32 for step in range(-2, 14))
ROWS = 2**13  # that are worked on together: their copies stay in the cache


def signed_steps(rows: np.ndarray, bits: int, name: str = "") -> np.ndarray:
    """The steps of least squared error, float32 [groups, 1]: of FACTORS and both signs the first best one.

    rows    float32 [groups, weights of a group]
    bits    of the codes, -2^(bits-1) to 2^(bits-1) - 1
    returns 1 for a group of zeros, and never a subnormal number
    raises  RangeError for NaN or infinity, with the name

    >>> signed_steps(np.float32([[0.5, -8, 3], [8, 1, -3]]), 4).ravel()
    array([ 1., -1.], dtype=float32)
    """
    rows = np.asarray(rows, np.float32)
    check_finite(rows, name)
    steps = [_best_steps(rows[begin : begin + ROWS], 2 ** (bits - 1)) for begin in range(0, len(rows), ROWS)]
    return np.concatenate([np.zeros((0, 1), np.float32), *steps])


def _best_steps(rows: np.ndarray, half: int) -> np.ndarray:
    low, high = -rows.min(axis=1, initial=0.0, keepdims=True), rows.max(axis=1, initial=0.0, keepdims=True)
    best: np.ndarray = np.ones((len(rows), 1), np.float32)
    least: np.ndarray = np.full((len(rows), 1), np.inf)
    for sign in (1, -1):
        long_side, short_side = (low, high) if sign > 0 else (high, low)
        reach = np.maximum(long_side / half, short_side / (half - 1))
        for factor in FACTORS:
            step = (sign * factor * reach).astype(np.float32)
            step = np.where(np.abs(step) >= SMALLEST_NORMAL, step, np.float32(1))
            error = _squared_errors(rows, step, half)
            best, least = np.where(error < least, step, best), np.minimum(error, least)
    return best


def _squared_errors(rows: np.ndarray, step: np.ndarray, half: int) -> np.ndarray:
    """Squared error of each row, float64, summed from its first weight to its last."""
    missing = rows - np.clip(np.rint(rows / step), -half, half - 1) * step
    total = np.zeros(len(rows))
    for column in missing.astype(np.float64).T:
        total += column * column
    return total[:, None]
