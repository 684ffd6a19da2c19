"""The guard of detectors: what it tries in which order, by the figures that modules have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import tvm

import tvmq
from tests.quantization.guard.test_outputs_by_meaning import pictures, squares
from tvmq.graph.ledger import get_ledger
from tvmq.options.rules import Rule
from tvmq.quantization.guard import guard_module
from tvmq.quantization.guard.bound import Figure, Guard
from tvmq.quantization.pipeline import static_quantization
from tvmq.quantization.static_quantization import StaticQuantization

pytestmark = pytest.mark.slow


class ScriptedModel:
    """A quantization whose channels can be scaled as often as one likes.

    calls  what was asked for: "module", "equalize"
    """

    def __init__(self, quantization: StaticQuantization, calls: list[str], *, is_equalized: bool = False) -> None:
        self.quantization, self.calls, self.is_equalized = quantization, calls, is_equalized
        self.config, self.backend = quantization.config, quantization.backend

    def module(self, rules: Sequence[Rule] = ()) -> tvm.IRModule:
        self.calls.append("equalized module" if self.is_equalized else "module")
        return self.quantization.module(rules)

    def simulation(self) -> tvm.IRModule:
        return self.quantization.simulation()

    def reuse_roundings(self) -> ScriptedModel:
        return ScriptedModel(self.quantization.reuse_roundings(), self.calls, is_equalized=self.is_equalized)

    def equalize(self) -> ScriptedModel:
        self.calls.append("equalize")
        return ScriptedModel(self.quantization, self.calls, is_equalized=True)


class ScriptedJudge:
    """A judge that gives figures one after the other, the last one again and again."""

    def __init__(self, figures: Sequence[float]) -> None:
        self.guard, self.is_possible, self.readings = Guard(), True, [object()]
        self.figures = [Figure(one) for one in figures]

    def figure(self, _: tvm.IRModule) -> Figure:
        return self.figures.pop(0) if len(self.figures) > 1 else self.figures[0]

    def check_compiled(self, module: tvm.IRModule) -> tvm.IRModule:
        return module


@pytest.fixture(scope="module")
def quantization() -> StaticQuantization:
    made = static_quantization(*tvmq.from_onnx(squares()), pictures(4, 1))
    made.module()
    return made


def mended(quantization: StaticQuantization, figures: Sequence[float]) -> tuple[Any, list[str]]:
    """Modules that were handed out, and calls that made them."""
    calls: list[str] = []
    module = quantization.module()
    return guard_module(module, ScriptedJudge(figures), ScriptedModel(quantization, calls)), calls  # type: ignore[arg-type]


def test_what_little_work_mends_costs_no_second_calibration(quantization: StaticQuantization) -> None:
    module, calls = mended(quantization, [12.0, 24.0])
    assert "equalize" not in calls and calls.count("module") >= 2
    assert "guard: in 8 bits: 12.0 dB" in get_ledger(module).notes


def test_where_the_bound_just_holds_little_work_alone_is_spent(quantization: StaticQuantization) -> None:
    """Boxes come and go between 20 and 30 dB; what has more is handed on untouched."""
    module, calls = mended(quantization, [24.0, 27.0])
    assert set(calls) == {"module"} and "guard: so: 27.0 dB" in get_ledger(module).notes
    module, calls = mended(quantization, [24.0, 23.0])
    assert set(calls) == {"module"} and not get_ledger(module).notes
    assert mended(quantization, [30.0])[1] == []


def test_weights_rounded_anew_are_taken_unless_they_are_worse(quantization: StaticQuantization) -> None:
    module, calls = mended(quantization, [12.0, 24.0, 21.0])
    assert get_ledger(module).notes[-1] == "guard: so: 24.0 dB" and calls.count("module") == 2
    module, _ = mended(quantization, [12.0, 24.0, 26.0])
    assert get_ledger(module).notes[-1] == "guard: so: 26.0 dB"


def test_channels_of_one_size_where_little_work_does_not_suffice(quantization: StaticQuantization) -> None:
    choices = len(mended(quantization, [12.0])[1])
    module, calls = mended(quantization, [12.0, *[13.0] * (choices - 1), 24.0])
    assert "equalize" in calls
    first = calls.index("equalize")
    assert first > 0 and set(calls[:first]) == {"module"} and calls[first + 1] == "equalized module"
    module, calls = mended(quantization, [12.0, *[13.0] * first, 24.0])
    assert calls[first:] == ["equalize", "equalized module"]  # it keeps the bound with all in 8 bits
    assert get_ledger(module).notes[-2:] == ["guard: in 8 bits: 12.0 dB", "guard: with equalization: 24.0 dB"]
    module, calls = mended(quantization, [12.0, *[13.0] * first, 15.0, 24.0])
    assert calls[first : first + 3] == ["equalize", "equalized module", "equalized module"]
    assert "guard: with equalization: 15.0 dB" in get_ledger(module).notes
