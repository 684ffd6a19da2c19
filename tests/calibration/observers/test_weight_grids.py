"""Grids of groups of weights: found where there is one, with no error, and not where there is none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tvmq.calibration.observers.weight_grids import ROWS, TOLERANCE, WeightGrid, find_grid


def blocks(groups: int, size: int, bits: int, seed: int, *, offsets: bool = True) -> np.ndarray:
    """Weights as files of blocks have them: code * step + offset with 16-bit steps and offsets."""
    random = np.random.default_rng(seed)
    half = 2 ** (bits - 1)
    codes = random.integers(-half, half, (groups, size))
    steps = random.uniform(1e-3, 1, (groups, 1)).astype(np.float16).astype(np.float32)
    lowest = random.normal(size=(groups, 1)).astype(np.float16).astype(np.float32) if offsets else np.float32(0)
    return (codes.astype(np.float32) * steps + lowest).astype(np.float32)


def values(grid: WeightGrid) -> np.ndarray:
    """The weights that a grid stands for."""
    return grid.codes * grid.steps.astype(np.float64) + (0.0 if grid.offsets is None else grid.offsets)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 20), st.integers(3, 40), st.integers(2, 4), st.booleans(), st.integers(0, 999))
def test_weights_of_blocks_are_found_again(groups: int, size: int, bits: int, offsets: bool, seed: int) -> None:
    rows = blocks(groups, size, bits, seed, offsets=offsets)
    grid = find_grid(rows, bits)
    assert grid is not None
    assert grid.codes.min() >= -(2 ** (bits - 1)) and grid.codes.max() < 2 ** (bits - 1)
    assert (np.abs(values(grid) - rows) <= TOLERANCE * np.abs(rows).max(axis=1, keepdims=True)).all()


def test_offsets_are_left_out_where_all_are_whole_steps() -> None:
    rows = blocks(50, 32, 4, 0, offsets=False)
    grid = find_grid(rows, 4)
    assert grid is not None and grid.offsets is None
    assert np.array_equal((grid.codes * grid.steps).astype(np.float32), rows)
    grid = find_grid(-rows, 4)  # its codes reach to 8: the step has a sign
    assert grid is not None and grid.offsets is None and grid.steps.min() < 0


@pytest.mark.parametrize("place", [0, ROWS + 3])
def test_one_group_without_a_grid_is_enough(place: int) -> None:
    rows = blocks(ROWS + 5, 8, 4, 0)
    assert find_grid(rows, 4) is not None
    rows[place, 3] += 0.3 * (rows[place].max() - rows[place].min()) / 15
    assert find_grid(rows, 4) is None


def test_groups_of_one_value_and_of_zeros() -> None:
    rows = np.float32([[0.3, 0.3, 0.3], [0, 0, 0], [1, 1, 16]])
    grid = find_grid(rows, 4)
    assert grid is not None and np.array_equal(values(grid).astype(np.float32), rows)
    assert (grid := find_grid(rows[:2], 4)) is not None and grid.offsets is None


def test_what_has_no_grid() -> None:
    """Trained floats, numbers that are not finite, pairs, nothing, and more values than codes."""
    assert find_grid(np.random.default_rng(0).normal(size=(9, 32)).astype(np.float32), 4) is None
    for bad in (np.nan, np.inf):
        rows = blocks(3, 8, 4, 0)
        rows[1, 1] = bad
        assert find_grid(rows, 4) is None
    assert find_grid(np.ones((4, 2), np.float32), 4) is None
    assert find_grid(np.zeros((0, 8), np.float32), 4) is None
    assert find_grid(np.arange(17, dtype=np.float32)[None], 4) is None
