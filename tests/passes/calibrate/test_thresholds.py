"""tvmq.passes.calibrate.thresholds: ranges in front of functions that are flat at both ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper

import tvmq
from tests.support.models.onnx_models import make_model
from tvmq.calibration.observers.base import TensorStatistics
from tvmq.numerics.spec import QuantSpec
from tvmq.passes.calibrate.thresholds import FEW_VALUES, _choose_behind_tables, flat_ends

CODES = QuantSpec()


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.clip(x, -50, 50)))


def chosen(values: np.ndarray, *functions: Any, spec: QuantSpec = CODES) -> tuple[float, float]:
    statistics = TensorStatistics("x")
    statistics.update(np.float32(values)[None])
    choice = _choose_behind_tables(statistics, spec, functions, shifts=False)
    return choice.low, choice.high


def test_few_values_get_all_of_a_function_with_flat_ends() -> None:
    """Values of won games alone: the range reaches to lost ones, and what the values need stays inside."""
    won = np.linspace(0.1, 3.0, 32)
    low, high = chosen(won, np.tanh)
    assert -2.5 < low < -2.4 and high >= 2.42
    wide = chosen(won, np.tanh, sigmoid)  # of several functions the farthest end
    assert wide[0] < -4.8 and wide[1] > 4.8
    symmetric = chosen(won, np.tanh, spec=QuantSpec("int8", symmetric=True))
    assert symmetric[0] == -symmetric[1]


def test_many_values_and_functions_without_ends_stay_as_they_are() -> None:
    won = np.linspace(0.1, 3.0, 32)
    assert chosen(np.resize(won, 2 * FEW_VALUES), np.tanh)[0] == 0.0
    assert chosen(won, lambda x: x * sigmoid(x))[0] == 0.0 == chosen(won, np.exp, np.tanh)[0]


def test_ends_of_functions() -> None:
    low, high = flat_ends(sigmoid)
    assert low == pytest.approx(-4.85, abs=0.02) and high == pytest.approx(4.85, abs=0.02)
    assert flat_ends(lambda x: np.clip(x, 0, 1)) == pytest.approx((0.0, 1.0), abs=0.02)
    assert flat_ends(np.ones_like) is None and flat_ends(lambda x: np.full_like(x, np.nan)) is None
    assert flat_ends(lambda x: np.clip(x, -100, 100)) is None  # it ends where nobody looks: beyond what values reach


def test_a_value_head_survives_positions_that_were_not_seen() -> None:
    """A score behind tanh, calibrated on won games: lost ones get their values, too."""
    random = np.random.default_rng(0)
    w = np.float32([[0.5], [0.25], [-0.125], [1.0]])
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["score"], name="score"),
        helper.make_node("Tanh", ["score"], ["y"], name="value"),
    ]
    model = tvmq.from_onnx(make_model(nodes, {"x": [8, 4]}, ["y"], {"w": w}, 17))
    x = random.normal(size=(32, 8, 4)).astype(np.float32)
    won = x * np.sign(x @ w)
    qmod = tvmq.quantize(*model, [{"x": one} for one in won[:4]], guard=None)
    exe = tvmq.build(qmod)
    lost = -won[8]
    # the input itself was seen on both sides, its scores on one
    error = exe.run({"x": lost})[0] - np.tanh(lost @ w)
    assert float(np.abs(error).max()) < 0.1
