"""States of sessions by themselves: their arrays, copies, files, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tvmq.errors import ArtifactError, ConfigError, DataError, OutputError
from tvmq.state.model_states import ModelStates
from tvmq.state.pair import APPENDED, StatePair
from tvmq.state.session_state import SessionState, load_session
from tvmq.state.state_tensor import StateTensor

KEYS = StateTensor(StatePair("k", "k_out", APPENDED, 2, 0.0, 0.5, 3), ("batch", 2, "past", 4), "uint8")
HIDDEN = StateTensor(StatePair("h", "hn", initial=1.0), ("batch", 3), "float32")
INPUTS = [("x", ("batch", "time")), ("k", KEYS.shape), ("h", HIDDEN.shape)]


def model(*tensors: StateTensor, facts: object = None) -> ModelStates:
    return ModelStates.of(tensors, INPUTS, "", facts)


def session(*tensors: StateTensor, batch: int = 1, capacity: int | None = None) -> SessionState:
    states = model(*tensors)
    return SessionState(states, states.begin(batch), batch, capacity)


def rows(count: int) -> dict[str, np.ndarray]:
    return {"k_out": np.arange(count * 8, dtype=np.uint8).reshape(1, 2, count, 4)}


def test_a_state_begins_without_rows_and_with_its_initial_value() -> None:
    arrays = session(KEYS, HIDDEN, batch=2).arrays
    assert arrays["k"].shape == (2, 2, 0, 4) and arrays["k"].dtype == np.uint8
    assert arrays["h"].tolist() == [[1.0] * 3] * 2


def test_the_initial_value_becomes_a_code() -> None:
    tensor = StateTensor(StatePair("h", "hn", initial=1.0, scale=0.5, zero_point=3), (1, 2), "uint8")
    assert tensor.begin({}).tolist() == [[5, 5]]


def test_the_batch_is_the_size_that_states_share_with_inputs() -> None:
    assert model(KEYS, HIDDEN).batch == "batch"
    time_first = ModelStates.of([StateTensor(StatePair("h", "hn"), (1, 3), "float32")], [("x", ("time", 8))], "time", 0)
    assert time_first.batch == ""  # the state has no axis of it


def test_rows_are_counted_and_forgotten() -> None:
    state = session(KEYS)
    state.advance(rows(5))
    assert state.length == 5 and state.nbytes == 40
    copy = state.copy()
    state.rewind(2)
    assert state.length == 2 and copy.length == 5
    assert np.array_equal(state.arrays["k"], rows(5)["k_out"][:, :, :2])
    with pytest.raises(DataError, match=r"the state has 2 rows\. Got 3 instead of 0 to 2"):
        state.rewind(3)


def test_a_replaced_state_cannot_be_rewound() -> None:
    with pytest.raises(DataError, match="state 'h' is replaced at each call, what it was before is gone; keep a copy"):
        session(KEYS, HIDDEN).rewind(0)


def test_rows_beyond_the_capacity_are_refused_and_change_nothing() -> None:
    state = session(KEYS, capacity=5)
    state.advance(rows(4))
    with pytest.raises(DataError, match="holds 4 of at most 5 rows, and 2 more do not fit"):
        state.advance(rows(6))
    assert state.length == 4


def test_files(tmp_path: Path) -> None:
    state = session(KEYS, capacity=9)
    state.advance(rows(3))
    state.save(tmp_path / "s.npz")
    again = load_session(tmp_path / "s.npz", model(KEYS))
    assert again.capacity == 9 and np.array_equal(again.arrays["k"], state.arrays["k"])
    with pytest.raises(DataError, match="load_state: the state belongs to another model"):
        load_session(tmp_path / "s.npz", model(KEYS, facts={"scale": 0.25}))
    (tmp_path / "torn.npz").write_bytes((tmp_path / "s.npz").read_bytes()[:100])
    for name in ("torn.npz", "none.npz"):
        with pytest.raises(ArtifactError, match="is no state that SessionState.save wrote"):
            load_session(tmp_path / name, model(KEYS))
    with pytest.raises(OutputError, match="the state cannot be written to"):
        state.save(tmp_path / "no" / "s.npz")


def test_a_file_with_other_arrays_is_refused(tmp_path: Path) -> None:
    state = session(KEYS)
    state.arrays["k"] = state.arrays["k"].astype(np.int8)
    state.save(tmp_path / "s.npz")
    with pytest.raises(ArtifactError, match="are not those of the model's states; save it again"):
        load_session(tmp_path / "s.npz", model(KEYS))


@pytest.mark.parametrize("batch", [0, 1.5, True])
def test_wrong_batches(batch: object) -> None:
    with pytest.raises(ConfigError, match="batch must be a whole number of at least 1"):
        model(KEYS).begin(batch)  # type: ignore[arg-type]


def test_a_fixed_batch_and_a_free_size_are_named() -> None:
    fixed = ModelStates.of([StateTensor(StatePair("h", "hn"), (1, 3), "float32")], [("x", (1, 8))], "", 0)
    with pytest.raises(ConfigError, match=r"the batch of the model is fixed at 1\. Got 3 instead"):
        fixed.begin(3)
    free = ModelStates.of([StateTensor(StatePair("h", "hn"), (1, "width"), "float32")], [("x", (1, 8))], "", 0)
    with pytest.raises(ConfigError, match=r"axis 1 of state 'h' has the free size 'width', .* give its size"):
        free.begin()
    assert free.begin(sizes={"width": 4})["h"].shape == (1, 4)


def test_json_holds_all_of_a_model() -> None:
    states = model(KEYS, HIDDEN)
    assert ModelStates.from_json(states.to_json()) == states
    assert not ModelStates.from_json({}) and ModelStates().to_json() == {}


def test_states_print_what_they_are() -> None:
    assert str(KEYS) == "k -> k_out, appended along axis 2: uint8[batch, 2, past, 4] codes of scale 0.5"
    assert repr(session(HIDDEN)) == "SessionState(h float32[1, 3])"
