"""Calibration over sequences: what the float model hands on is what is calibrated, and the guard plays to the end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tvmq
from tests.support.models.stateful_models import STATEFUL, StatefulNet, gru_cell, steps_of
from tvmq.codegen.compile.evaluators import evaluator
from tvmq.errors import AccuracyWarning, ConfigError
from tvmq.graph.state_pairs import state_pairs
from tvmq.passes.prepare import prepare
from tvmq.quantization.sequence_play import StatePlayer, unroll


@pytest.mark.slow_cases("convolutions", "gru_layer")
@pytest.mark.parametrize("name", STATEFUL)
def test_calls_are_calibrated_with_the_states_that_they_read(name: str) -> None:
    model, sequences = STATEFUL[name]
    prepared = prepare(*tvmq.from_onnx(model()))
    data = sequences(2, 0)
    unrolled = unroll(prepared, data, evaluator)
    exe, feeds = tvmq.build(prepared), list(unrolled)
    states = [one.name for one in exe.states.tensors]
    assert len(feeds) == sum(map(len, data)) and len(unrolled.sequences) == 2
    for calls in data:
        state = exe.new_state()
        for call in calls:
            feed, _ = feeds.pop(0)
            assert all(np.array_equal(feed[name], state.arrays[name]) for name in states)
            exe.run(call, state)


def test_a_player_gives_what_a_session_gives() -> None:
    prepared = prepare(*tvmq.from_onnx(gru_cell()))
    data = steps_of((1, 8), 1, 0, (1,) * 5)
    (batch,) = unroll(prepared, data, evaluator).sequences
    exe = tvmq.build(prepared)
    state = exe.new_state()
    wanted = np.concatenate([exe.run(call, state)[0] for call in data[0]])
    y, h = StatePlayer(prepared).player(prepared, exe.run)(batch.feed)
    assert np.array_equal(y, wanted) and np.array_equal(h, state.arrays["h_in"]) and batch.calls == 5


def integrator() -> Any:
    """y = h_out = h_in + product of x: errors of a state of few bits add up over the calls."""
    g = StatefulNet(6)
    x = g.add("MatMul", "x", g.weight(8, 16))
    g.give("h_out", "Add", "h_in", x)
    g.give("y", "MatMul", "h_out", g.weight(16, 4))
    return g.finish({"x": [1, 8], "h_in": [1, 16]}, {"y": [1, 4], "h_out": [1, 16]})


@pytest.mark.slow
def test_the_guard_judges_the_end_of_sequences() -> None:
    """A step is well represented in 8 bits, the sum of many is not: the guard has to see the end."""
    mod, params = tvmq.from_onnx(integrator())
    data = [[{"x": 0.05 * call["x"]} for call in calls] for calls in steps_of((1, 8), 6, 0, (1,) * 40)]
    few = tvmq.quantize(mod, params, data, guard=None)
    kept = tvmq.quantize(mod, params, data, guard="sqnr >= 30")

    def figure(module: Any) -> float:
        exe, floats = tvmq.build(module), tvmq.build(mod, params=params)
        signal = noise = 0.0
        for calls in data:
            ours, wanted = exe.new_state(), floats.new_state()
            for call in calls:
                a, b = exe.run(call, ours)[0], floats.run(call, wanted)[0]
            signal, noise = signal + float(np.square(b).sum()), noise + float(np.square(a - b).sum())
        return 10 * np.log10(signal / max(noise, 1e-30))

    assert figure(few) < 30 <= figure(kept) + 3
    assert [note for note in tvmq.explain(kept).ledger.notes if "guard" in note]


def test_a_bound_that_cannot_be_kept_is_a_warning() -> None:
    mod, params = tvmq.from_onnx(integrator())
    with pytest.warns(AccuracyWarning), tvmq.qconfig(nbit_input=4):
        tvmq.quantize(mod, params, steps_of((1, 8), 4, 0, (1,) * 6), guard="sqnr >= 60")


def test_one_call_given_with_its_state_is_a_sequence() -> None:
    """Data of all inputs, as models without a state take them, still calibrate."""
    mod, params = tvmq.from_onnx(gru_cell())
    random = np.random.default_rng(0)
    data = [{"x": random.normal(size=(1, 8)), "h_in": random.normal(size=(1, 16))} for _ in range(8)]
    qmod = tvmq.quantize(mod, params, data, guard=None)
    assert state_pairs(qmod)[0].scale is not None


def test_what_knows_single_calls_alone_is_refused() -> None:
    mod, params = tvmq.from_onnx(gru_cell())
    data = steps_of((1, 8), 2, 0, (1, 1))
    with pytest.raises(ConfigError, match=r"search plays single calls, and the model hands a state .* \(h_in\)"):
        tvmq.search(mod, params, data)

    class Training:
        """Protocol of `tvmq.training.Distill`, as far as it is asked here."""

        def check_config(self, config: Any) -> None:
            """Takes all options."""

    with pytest.raises(ConfigError, match="finetune= plays single calls"):
        tvmq.quantize(mod, params, data, finetune=Training())  # type: ignore[arg-type]


@pytest.mark.slow
def test_thresholds_of_sequences() -> None:
    model, sequences = STATEFUL["convolutions"]
    mod, params = tvmq.from_onnx(model())
    result = tvmq.run_calibration(mod, params, sequences(4, 0))
    one, two = tvmq.quantize(mod, params, calibration=result), tvmq.quantize(mod, params, sequences(4, 0), guard=None)
    assert state_pairs(one) == state_pairs(two)
