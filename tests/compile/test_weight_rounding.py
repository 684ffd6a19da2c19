"""Rounding of weights, compiled: the bits of the definition."""

from __future__ import annotations

import numpy as np
import pytest

from tvmq.compile import evaluators
from tvmq.compile.evaluators import round_weights
from tvmq.numerics import rounding


@pytest.fixture(autouse=True)
def compiled_whatever_the_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluators, "FEW_STEPS", 0)


@pytest.mark.parametrize(
    "groups, filters, taps",
    [(1, 1, 1), (1, 7, 31), (1, 8, 32), (1, 20, 33), (1, 33, 65), (3, 2, 9), (40, 1, 9), (1, 24, 130)],
)
def test_equals_the_definition(groups: int, filters: int, taps: int) -> None:
    random = np.random.default_rng(taps)
    weight = random.normal(0, 20, (groups, filters, taps))
    weight[:, :, ::5] = 0.5 * np.rint(weight[:, :, ::5])  # ties
    inputs = random.normal(0, 1, (groups, 50, taps)) @ random.normal(0, 1, (groups, taps, taps))
    inputs[:, :, taps // 2] = 0  # an input that the data never move
    moments = inputs.transpose(0, 2, 1) @ inputs / 50
    for qmin, qmax in ((-127, 127), (-8, 7)):
        expected = rounding.round_weights(weight, moments, qmin=qmin, qmax=qmax)
        assert np.array_equal(round_weights(weight, moments, qmin=qmin, qmax=qmax), expected)


def test_no_moments_at_all() -> None:
    weight = np.array([[[0.4, 1.6, -200.0]]])
    assert np.array_equal(round_weights(weight, np.zeros((1, 3, 3)), qmin=-127, qmax=127), [[[0, 2, -127]]])
