"""Signed steps of groups: never worse than the largest magnitude, exact where a group has only codes."""

from __future__ import annotations

import numpy as np
import pytest

from tvmq.calibration.observers.signed_steps import ROWS, signed_steps
from tvmq.errors import RangeError


def error(rows: np.ndarray, step: np.ndarray, low: int, high: int) -> np.ndarray:
    return np.square(np.clip(np.rint(rows / step), low, high) * step - rows).sum(axis=1, dtype=np.float64)


@pytest.mark.parametrize("bits", [2, 3, 4])
@pytest.mark.parametrize("size", [2, 32, 128])
def test_no_group_is_worse_than_by_its_largest_magnitude(bits: int, size: int) -> None:
    rows = np.random.default_rng(bits).standard_t(4, (ROWS // 8 + 3, size)).astype(np.float32)
    half = 2 ** (bits - 1)
    steps = signed_steps(rows, bits)
    plain = np.abs(rows).max(axis=1, keepdims=True) / np.float32(half - 1)
    assert steps.dtype == np.float32 and (steps < 0).any() and (steps > 0).any()
    ours, theirs = error(rows, steps, -half, half - 1), error(rows, plain, 1 - half, half - 1)
    assert ours.sum() < 0.8 * theirs.sum()
    assert (ours <= theirs * 1.000001).mean() > 0.99  # the whole range with both signs is one of the choices


@pytest.mark.parametrize("sign", [1, -1])
def test_codes_have_no_error(sign: int) -> None:
    rows = np.arange(-8, 8, dtype=np.float32)[None] * sign * 0.25
    assert signed_steps(rows, 4).item() == sign * 0.25


def test_zeros_tiny_numbers_and_no_groups() -> None:
    assert signed_steps(np.zeros((2, 4), np.float32), 4).tolist() == [[1], [1]]
    tiny = signed_steps(np.full((1, 4), 1e-40, np.float32), 4)
    assert np.isfinite(tiny).all() and np.abs(tiny).min() >= np.finfo(np.float32).smallest_normal
    assert signed_steps(np.zeros((0, 4), np.float32), 4).shape == (0, 1)


def test_groups_do_not_depend_on_each_other() -> None:
    rows = np.random.default_rng(0).normal(size=(ROWS + 9, 8)).astype(np.float32)
    assert np.array_equal(signed_steps(rows, 4)[-20:], signed_steps(rows[-20:], 4))


def test_infinity_is_refused() -> None:
    with pytest.raises(RangeError, match="w"):
        signed_steps(np.full((1, 4), np.inf, np.float32), 4, "w")
