"""Kernels and loops of calibration.

Rounding of weights, compiled: the bits of the definition.

Compiled sums of what depthwise convolutions read: those of the definition.
"""

from __future__ import annotations

import numpy as np
import pytest

from tvmq.codegen.compile import compiled_rounding, window_sums
from tvmq.codegen.compile.compiled_rounding import round_weights
from tvmq.codegen.compile.window_sums import sum_windows
from tvmq.numerics import rounding
from tvmq.numerics.moments import Moments, window_places, window_rows


@pytest.fixture(autouse=True)
def compiled_whatever_the_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_rounding, "FEW_STEPS", 0)


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
    steps = np.repeat(random.uniform(0.5, 4, (groups, filters, -(-taps // 4))), 4, axis=2)[:, :, :taps]
    steps *= random.choice([-1, 1], steps.shape)
    expected = rounding.round_weights(weight, moments, qmin=-8, qmax=7, steps=steps)
    assert np.array_equal(round_weights(weight, moments, qmin=-8, qmax=7, steps=steps), expected)


def test_no_moments_at_all() -> None:
    weight = np.array([[[0.4, 1.6, -200.0]]])
    assert np.array_equal(round_weights(weight, np.zeros((1, 3, 3)), qmin=-127, qmax=127), [[[0, 2, -127]]])


@pytest.mark.parametrize(
    "channels, side, dtype, zero_point", [(16, 1, "uint8", 0), (37, 3, "uint8", 200), (80, 5, "int8", -128)]
)
def test_sums_of_windows_equal_the_definition(
    channels: int, side: int, dtype: str, zero_point: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Extreme codes, two samples at once and a third, sums emptied between; what lies outside is 0."""
    monkeypatch.setattr(window_sums, "MOST_ROWS", 50)
    random = np.random.default_rng(channels)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    codes = random.choice([low, high, 3], (3, channels, 9, 8)).astype(dtype)
    options = {
        "kernel": [side, side], "strides": [2, 1], "padding": [side // 2] * 4, "dilation": [1, 1], "places": 40,
    }  # fmt: skip
    expected = Moments(1.0)
    expected.add(window_rows(codes, zero_point, groups=channels, **options))
    sums = sum_windows(channels, side * side, dtype)
    assert sums is not None
    for part in (codes[:2], codes[2:]):
        sums.add(part.transpose(0, 2, 3, 1), window_places([9, 8], **options), zero_point)
    for found, wanted in zip(sums.totals(), expected.totals(), strict=True):
        assert found.dtype == wanted.dtype and np.array_equal(found, wanted)


def test_layers_that_the_code_of_windows_does_not_take() -> None:
    for channels, taps, dtype in ((15, 9, "uint8"), (16, 65, "uint8"), (16, 9, "int16")):
        assert sum_windows(channels, taps, dtype) is None
