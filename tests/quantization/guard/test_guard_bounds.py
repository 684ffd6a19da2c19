"""Bounds of the guard, the outputs that they judge, and the samples that they are judged by."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tvmq
from tests.support.models.networks import Net
from tvmq.backends import backend_named
from tvmq.errors import ConfigError
from tvmq.quantization.guard import why_not
from tvmq.quantization.guard.bound import Figure, Guard, guard_of
from tvmq.quantization.guard.calibration_cache import Batch, CalibrationCache
from tvmq.quantization.guard.evidence import drop_largest_errors, judged_outputs, looked_up_outputs
from tvmq.quantization.guard.judge import Judge


def test_an_output_of_places_is_not_judged():
    net = Net((1, 8))
    y = net.dense("x", 8, 6)
    model = net.model(y, net.op("ArgMax", y, axis=1))
    mod, _ = tvmq.from_onnx(model)
    assert judged_outputs(mod) == [0] and looked_up_outputs(mod) == []


def test_floats_that_an_argmax_looks_up_are_judged_but_for_a_quarter():
    net = Net((4, 8))
    y = net.dense("x", 8, 6)
    place = net.op("ArgMax", y, axis=1)
    best = net.op("GatherElements", y, place, axis=1)
    mod, _ = tvmq.from_onnx(net.model(best, place))
    assert judged_outputs(mod) == [] and looked_up_outputs(mod) == [0]
    wanted, got = drop_largest_errors(np.arange(8.0), np.array([9.0, 1, 2, 3, 4, 5, 6, -7]))
    assert np.array_equal(wanted, got) and wanted.tolist() == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("options, words", [
    ({"sqnr": float("nan")}, "sqnr must be a finite number of dB"),
    ({"metric": len}, "metric= and max_drop= go together"),
    ({"max_drop": 0.5}, "metric= and max_drop= go together"),
    ({"metric": len, "max_drop": -1}, "max_drop must be a number of at least 0"),
    ({"metric": len, "max_drop": 1}, "needs data="),
])  # fmt: skip
def test_bounds_that_are_none_are_refused(options, words):
    with pytest.raises(ConfigError, match=words):
        Guard(**options)


def test_texts_of_bounds():
    assert guard_of("sqnr >= 17.5 dB") == Guard(17.5) and guard_of(None) is None
    assert str(Guard(metric=len, max_drop=0.5, data=[])) == "drop <= 0.5"
    with pytest.raises(ConfigError, match="'psnr > 3' is no bound; write 'sqnr >= 20'"):
        guard_of("psnr > 3")


def test_figures():
    by_metric = Guard(metric=len, max_drop=0.01, data=[])
    assert Figure(5.0, (0.995, 1.0)).holds(by_metric) and not Figure(50.0, (0.98, 1.0)).holds(by_metric)
    assert Figure(5.0, (0.9, 1.0)).beats(Figure(50.0, (0.8, 1.0))) and Figure(9.0).beats(Figure(8.9))
    assert str(Figure(float("inf"))) == "equal to float"


def test_why_precision_is_not_raised():
    cpu = backend_named("cpu")
    assert why_not(tvmq.QConfig(), cpu) is None
    integral = tvmq.QConfig(partition_conversions="fully_integral")
    assert why_not(integral, cpu) == "partition_conversions 'fully_integral' asks for no floats"
    chip = tvmq.Backend("chip", floats=False, requantize=("fixed_point",))
    assert why_not(tvmq.QConfig(), chip) == "backend chip has no floats"


def test_a_choice_that_is_below_stops_at_the_samples_that_show_it():
    net = Net((1, 4))
    mod, _ = tvmq.from_onnx(net.model(net.dense("x", 4, 4)))
    random = np.random.default_rng(0)
    signal = [random.normal(size=(1, 4)).astype(np.float32) for _ in range(8)]
    batches = [Batch({"x": np.full((1, 4), i, np.float32)}, 1, [y]) for i, y in enumerate(signal)]
    judge, runs = Judge(mod, mod, batches, lambda _: lambda _feed: [], Guard()), list[int]()

    def noisy(size: float, of: set[int] = frozenset(range(8))):  # type: ignore[assignment]
        def run(feed: Any) -> list[np.ndarray]:
            index = int(feed["x"][0, 0])
            runs.append(index)
            return [signal[index] * np.float32(1 + size * (index in of))]

        return run

    whole = judge.measure(noisy(0.1), roughly=True)
    assert whole == Figure(20.0) and judge.measure(noisy(0.1), roughly=True, least=20.0) == whole
    assert judge.measure(noisy(0.1), roughly=True, least=10.0) == whole and len(runs) == 3 * 8
    runs.clear()
    assert judge.measure(noisy(1.0), roughly=True, least=20.0).sqnr < 20 and len(runs) == 1
    for least in (10.0, 5.0):  # the sample that tells comes first where it was the worst before
        runs.clear()
        assert judge.measure(noisy(5.0, {6}), roughly=True, least=least).sqnr < least
    assert runs == [6]
    assert judge.measure(lambda _: [np.zeros(3)], roughly=True, least=10.0).sqnr == -math.inf
    assert judge.measure(lambda feed: [signal[int(feed["x"][0, 0])]], roughly=True, least=10.0).sqnr == math.inf


def test_samples_are_kept_from_all_over_the_data():
    kept, feeds = CalibrationCache(), [({"x": np.full((1, 2), i, np.float32)}, 1) for i in range(80)]
    assert len(list(kept._pass_batches(feeds))) == 80
    judging = [int(batch.feed["x"][0, 0]) for batch in kept.batches()]
    assert judging[:8] == [2, 7, 10, 15, 20, 23, 28, 31]
    assert {index % 2 for index in judging} == {0, 1} and {index % 3 for index in judging} == {0, 1, 2}
    few = CalibrationCache()
    list(few._pass_batches(feeds[:6]))
    assert len(few.batches()) == 6
