"""Models that hand a state to their next call: compiled code beside the definition, files, threads, refusals."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import tvmq
from tests.support.models.stateful_models import (
    STATEFUL,
    Calls,
    causal_convolutions,
    gru_cell,
    steps_of,
    texts,
)
from tvmq.errors import ConfigError, DataError
from tvmq.reference import Reference


class Built(NamedTuple):
    """A quantized model, its float form, and sequences that it was not calibrated with."""

    exe: tvmq.Executable
    floats: tvmq.Executable
    sequences: list[Calls]


@pytest.fixture(scope="module", params=STATEFUL)
def built(request: pytest.FixtureRequest) -> Built:
    model, sequences = STATEFUL[request.param]
    mod, params = tvmq.from_onnx(model())
    qmod = tvmq.quantize(mod, params, sequences(8, 0), guard=None)
    return Built(tvmq.build(qmod), tvmq.build(mod, params=params), sequences(2, 1))


def play(model: Any, calls: Calls, state: Any = None) -> list[np.ndarray]:
    """Results of the calls, then the state that is left."""
    state = state or model.new_state()
    results = [y for call in calls for y in model.run(call, state)]
    return [*results, *state.arrays.values()]


@pytest.mark.slow_cases("convolutions", "gru_layer")
def test_compiled_sessions_equal_the_definition(built: Built) -> None:
    reference = Reference(built.exe.module)
    for calls in built.sequences:
        for ours, wanted in zip(play(built.exe, calls), play(reference, calls), strict=True):
            assert ours.dtype == wanted.dtype and np.array_equal(ours, wanted)


def test_sessions_are_near_the_float_model_to_the_end(built: Built) -> None:
    for calls in built.sequences:
        ours, wanted = (model.run(calls[-1], state)[0] for model, state in _behind_all_but_last(built, calls))
        assert np.square(ours - wanted).sum() < 0.01 * np.square(wanted).sum()  # 20 dB


def _behind_all_but_last(built: Built, calls: Calls) -> list[tuple[tvmq.Executable, Any]]:
    pairs = []
    for model in (built.exe, built.floats):
        state = model.new_state()
        for call in calls[:-1]:
            model.run(call, state)
        pairs.append((model, state))
    return pairs


def test_a_saved_model_takes_a_saved_state(built: Built, tmp_path: Path) -> None:
    built.exe.save(tmp_path / "m.tvmq")
    loaded = tvmq.load(tmp_path / "m.tvmq")
    assert loaded.states == built.exe.states and built.exe.states
    calls = built.sequences[0]
    state = built.exe.new_state()
    built.exe.run(calls[0], state)
    state.save(tmp_path / "s.npz")
    again = play(loaded, calls[1:], loaded.load_state(tmp_path / "s.npz"))
    assert all(map(np.array_equal, again, play(built.exe, calls[1:], state)))


def test_the_definition_takes_states_of_compiled_code(built: Built) -> None:
    first, *rest = built.sequences[0]
    state = built.exe.new_state()
    built.exe.run(first, state)
    wanted = play(Reference(built.exe.module), rest, state.copy())
    assert all(map(np.array_equal, play(built.exe, rest, state), wanted))


def test_verify_compares_states_as_well(built: Built) -> None:
    result = tvmq.verify(built.exe, built.sequences)
    assert result.exact and result.samples >= sum(map(len, built.sequences))


def convolutions(**options: Any) -> tvmq.Executable:
    mod, params = tvmq.from_onnx(causal_convolutions(**options))
    return tvmq.build(tvmq.quantize(mod, params, steps_of((1, 8, -1), 8, 0, (7, 4)), guard=None))


@pytest.fixture(scope="module")
def exe() -> tvmq.Executable:
    return convolutions()


def test_states_are_codes_that_pass_unchanged(exe: tvmq.Executable) -> None:
    assert [one.dtype for one in exe.states.tensors] == ["uint8", "uint8"]
    assert all(one.pair.scale for one in exe.states.tensors)
    assert {info.name: info.dtype for info in exe.input_info} == {"x": "float32", "cache0_in": "uint8", "cache1_in": "uint8"}
    assert [note for note in exe.ledger.notes if "codes of scale" in note]


def test_sessions_in_threads(exe: tvmq.Executable) -> None:
    sequences = steps_of((1, 8, -1), 4, 3, (3,) * 6)
    wanted = [play(exe, calls) for calls in sequences]
    found: dict[int, list[np.ndarray]] = {}
    threads = [
        threading.Thread(target=lambda n=n, calls=calls: found.update({n: play(exe, calls)}))
        for n, calls in enumerate(sequences)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(all(map(np.array_equal, found[n], one)) for n, one in enumerate(wanted))


def test_a_batch_of_sessions_is_each_of_them(exe: tvmq.Executable) -> None:
    one, two = steps_of((1, 8, -1), 2, 4, (3, 2))
    both = [{"x": np.concatenate([a["x"], b["x"]])} for a, b in zip(one, two, strict=True)]
    joined = play(exe, both, exe.new_state(batch=2))
    for row, calls in enumerate((one, two)):
        assert all(np.array_equal(whole[row : row + 1], alone) for whole, alone in zip(joined, play(exe, calls), strict=True))


REFUSALS = [
    (lambda exe, x: exe.run(x), r"hands a state to its next call \(cache0_in, cache1_in\); give one, run\(inputs"),
    (lambda exe, x: exe.run(x, 3), r"a state is what new_state\(\) gives\. Got int instead"),
    (lambda exe, x: exe.run({**x, "cache0_in": 0}, exe.new_state()), "input 'cache0_in' is a state, which exe.new_state"),
    (lambda exe, x: exe.run(x, exe.new_state(batch=2)), "the state is of a batch of 2, the inputs have 1; make one with"),
]


@pytest.mark.parametrize(("call", "message"), REFUSALS)
def test_refusals(exe: tvmq.Executable, call: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        call(exe, steps_of((1, 8, -1), 1, 0, (3,))[0][0])


@pytest.mark.slow
def test_a_state_of_another_model_is_refused(exe: tvmq.Executable) -> None:
    other = convolutions(mean=True)
    with pytest.raises(DataError, match=r"run: the state belongs to another model \(its digest is [0-9a-f]{12}, this"):
        exe.run(steps_of((1, 8, -1), 1, 0, (3,))[0][0], other.new_state())


def test_options_of_new_states(exe: tvmq.Executable) -> None:
    with pytest.raises(ConfigError, match=r"capacity must be a whole number of at least 1\. Got 0 instead"):
        exe.new_state(capacity=0)
    with pytest.raises(ConfigError, match="no state of the model is appended to, all are replaced; leave capacity out"):
        exe.new_state(capacity=8)


def test_models_without_a_state() -> None:
    mod, params = tvmq.from_onnx(gru_cell(), state=None)
    exe = tvmq.build(mod, params=params)
    with pytest.raises(ConfigError, match=r"the model has no state; import it with from_onnx\(\.\.\., state="):
        exe.new_state()
    own = convolutions()
    with pytest.raises(DataError, match="the model has no state; leave it out"):
        exe.run({}, own.new_state())
    feed = {"x": np.ones((1, 8), np.float32), "h_in": np.zeros((1, 16), np.float32)}
    assert [y.shape for y in exe.run(feed)] == [(1, 4), (1, 16)]


def test_a_cache_has_a_capacity_and_can_be_rewound() -> None:
    model, sequences = STATEFUL["attention"]
    mod, params = tvmq.from_onnx(model())
    exe = tvmq.build(tvmq.quantize(mod, params, sequences(4, 0), guard=None))
    (first, second, third), state = texts(1, 5)[0], exe.new_state(capacity=8)
    exe.run(first, state)
    behind, length = state.copy(), state.length
    wanted = exe.run(second, state)
    with pytest.raises(DataError, match="the state holds 6 of at most 8 rows, and 3 more do not fit"):
        exe.run(third, state)
    assert state.length == 6
    state.rewind(length)
    assert all(np.array_equal(state.arrays[name], behind.arrays[name]) for name in state.arrays)
    assert np.array_equal(exe.run(second, state)[0], wanted[0])
