"""Grids of small groups of weights that were made of codes before: a step and an offset, kept as they are.

Checkpoints are often floats of codes, because a file of 4-bit blocks was read as floats. Choosing other steps for them
rounds a second time; a group of weights that stands on at most 2^bits evenly spaced values needs no rounding at all.

Tests: tests/calibration/observers/test_weight_grids.py
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

ROWS = 2**13  # that are worked on together: their copies stay in the cache
# Distance from the grid, as a share of the largest weight, that rounding to float32 may have made.
TOLERANCE = 2.0**-21


@dataclass(frozen=True, eq=False)
class WeightGrid:
    """Codes int8 [groups, weights of a group], steps and offsets float32 [groups, 1]; offsets None: all are 0."""

    codes: np.ndarray
    steps: np.ndarray
    offsets: np.ndarray | None


def find_grid(rows: np.ndarray, bits: int) -> WeightGrid | None:
    """The grid of all groups; None where one has none, or where fewer than three weights are a group.

    rows  float32 [groups, weights of a group]
    bits  of the codes, -2^(bits-1) to 2^(bits-1) - 1; code * step + offset is a weight up to TOLERANCE of the largest
          of its group

    >>> grid = find_grid(np.float32([[0.5, 2.5, 3.5, 2.5]]), 4)
    >>> grid.codes.tolist(), grid.steps.tolist(), grid.offsets.tolist()
    ([[-8, 2, 7, 2]], [[0.20000000298023224]], [[2.0999999046325684]])
    >>> find_grid(np.float32([[0.0, 0.1, 0.123456, 1.0]]), 4) is None
    True
    """
    rows = np.asarray(rows, np.float32)
    if rows.shape[1] < 3 or not len(rows):  # two values are always on a grid
        return None
    parts = []
    for begin in range(0, len(rows), ROWS):
        part = _grid_of(rows[begin : begin + ROWS], bits)
        if part is None:
            return None
        parts.append(part)
    codes, steps, offsets = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return _without_offsets(rows, codes, steps, offsets, bits) or WeightGrid(codes, steps, offsets)


def _grid_of(rows: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Codes, steps, offsets of a few groups: the most steps between lowest and highest weight that fit."""
    most, lowest = 2**bits - 1, -(2 ** (bits - 1))
    low, high = (np.asarray(find(axis=1, keepdims=True), np.float64) for find in (rows.min, rows.max))
    if not np.isfinite(rows).all():
        return None
    # of one value: code 0, and a step that has the offset as a multiple
    codes: np.ndarray = np.zeros(rows.shape, np.int8)
    steps, offsets = np.where(low == 0, 1, np.abs(low)).astype(np.float32), low.astype(np.float32)
    left: np.ndarray = np.flatnonzero(low != high)
    for count in range(most, 0, -1):
        step = ((high[left] - low[left]) / count).astype(np.float32)
        step = np.where(step > np.finfo(np.float32).smallest_normal, step, np.float32(1))
        here: np.ndarray = np.clip(np.rint((rows[left] - low[left]) / step), 0, most) + lowest
        offset = (low[left] - lowest * step.astype(np.float64)).astype(np.float32)
        fits = _are_equal(rows[left], here, step, offset)
        codes[left[fits]], steps[left[fits]], offsets[left[fits]] = here[fits], step[fits], offset[fits]
        left = left[~fits]
    return None if len(left) else (codes, steps, offsets)


def _are_equal(rows: np.ndarray, codes: np.ndarray, steps: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """True for each group whose codes stand for its weights."""
    values = codes * steps.astype(np.float64) + offsets
    largest = np.abs(rows).max(axis=1, keepdims=True)
    return np.asarray((np.abs(values - rows) <= TOLERANCE * largest).all(axis=1))


def _without_offsets(
    rows: np.ndarray, codes: np.ndarray, steps: np.ndarray, offsets: np.ndarray, bits: int
) -> WeightGrid | None:
    """The grid with whole steps, of either sign, in place of offsets; None where a group needs its offset."""
    half = 2 ** (bits - 1)
    shift = np.rint(offsets.astype(np.float64) / steps)
    whole = codes + shift
    flips = (whole.min(axis=1, keepdims=True) < -half) | (whole.max(axis=1, keepdims=True) > half - 1)
    whole, signed = np.where(flips, -whole, whole), np.where(flips, -steps, steps)
    if whole.min() < -half or whole.max() > half - 1:
        return None
    equal = _are_equal(rows, whole, signed, np.zeros_like(offsets))
    return WeightGrid(whole.astype(np.int8), signed, None) if equal.all() else None
