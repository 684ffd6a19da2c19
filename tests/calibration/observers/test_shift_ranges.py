"""Ranges with scales that are powers of two, and which of them is chosen."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvmq.calibration.observers.auto import shift_ranges
from tvmq.calibration.observers.base import TensorStatistics
from tvmq.numerics.spec import QuantSpec, choose_qparams
from tvmq.passes.calibrate.thresholds import _choose_by_tensor
from tvmq.passes.families.weight_scales import power_of_two

INT8, UINT8 = QuantSpec("int8", symmetric=True), QuantSpec("uint8")
ENDS = st.floats(2.0**-40, 2.0**40)


@pytest.mark.slow
@given(ENDS, ENDS, st.sampled_from([INT8, UINT8]))
def test_scales_are_the_power_above_and_the_one_below(low: float, high: float, spec: QuantSpec):
    step = float(choose_qparams(-low, high, spec).scale)
    wide, narrow = shift_ranges({"x": (-low, high)}, spec).values()
    scales = [float(choose_qparams(*ends, spec).scale) for ends in (wide, narrow)]
    assert scales[0] == 2 * scales[1] and math.frexp(scales[0])[0] == 0.5
    assert scales[0] >= step * (1 - 2.0**-23) and scales[1] < step * (1 + 2.0**-23)
    assert all(
        power_of_two(choose_qparams(*ends, spec)).scale == s for ends, s in zip((wide, narrow), scales, strict=True)
    )


def test_empty_ranges_stay():
    assert shift_ranges({"x": (0.0, 0.0)}, INT8) == {"x": (0.0, 0.0)}


def chosen(values: np.ndarray) -> float:
    """The scale for such values."""
    statistics = TensorStatistics("x")
    statistics.update(values[None].astype(np.float32))
    choice = _choose_by_tensor(statistics, INT8, shifts=True)
    return float(choose_qparams(choice.low, choice.high, INT8).scale)


def test_the_power_of_least_error_is_chosen():
    """Values that fill the range keep the power above; what sticks out a little is clipped by the one below."""
    assert chosen(np.linspace(-1.5, 1.5, 4001)) == 2.0**-6
    assert chosen(np.append(np.linspace(-0.98, 0.98, 4001), 1.0)) == 2.0**-7
