"""States that stay tensors between calls: the bits of calls on arrays, and states that anyone may look at and change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tvmq
from tests.support.models.llama_model import LlamaShape, formula_weights, write_llama
from tvmq.errors import DataError
from tvmq.runtime.state_calls import state_calls

pytestmark = pytest.mark.slow

SHAPE = LlamaShape(layers=1, width=16, heads=2, key_heads=1, hidden=24, words=31)
TOKENS = np.random.default_rng(0).integers(0, SHAPE.words, (2, 12))


@pytest.fixture(scope="module")
def exe() -> tvmq.Executable:
    mod, params = tvmq.from_onnx(write_llama(SHAPE, formula_weights(SHAPE)))
    empty = np.zeros((1, SHAPE.key_heads, 0, SHAPE.head), np.float32)
    past = {f"past_key_values.0.{kind}": empty for kind in ("key", "value")}
    samples = [{"input_ids": TOKENS[:1], **past}]
    with tvmq.qconfig(activations="dynamic"):
        qmod = tvmq.quantize(mod, params, samples, guard=None)
    return tvmq.build(qmod, sizes={"sequence": [1]})


def on_arrays(exe: tvmq.Executable, tokens: np.ndarray, state: Any) -> np.ndarray:
    """A call that looks at each state."""
    _ = state.arrays
    return exe.run({"input_ids": tokens}, state, check_finite=True)[0]


@pytest.mark.parametrize("chunks", [(12,), (1,) * 12, (5, 1, 1, 5)])
def test_bits_are_those_of_calls_on_arrays(exe: tvmq.Executable, chunks: tuple[int, ...]) -> None:
    state, plain = exe.new_state(), exe.new_state()
    for begin, size in zip(np.cumsum([0, *chunks]), chunks, strict=False):
        part = TOKENS[:1, begin : begin + size]
        (logits,) = exe.run({"input_ids": part}, state)
        assert state.tensors is not None and state.length == begin + size
        assert np.array_equal(logits, on_arrays(exe, part, plain)) and plain.tensors is None
    assert all(np.array_equal(state.arrays[name], plain.arrays[name]) for name in plain.arrays)


def test_what_is_written_into_a_state_is_read_by_the_next_call(exe: tvmq.Executable) -> None:
    states = [exe.new_state() for _ in range(2)]
    for state in states:
        exe.run({"input_ids": TOKENS[:1, :4]}, state)
    name = next(iter(states[0].arrays))
    states[0].arrays[name][..., 1, :] = 7
    states[1].arrays[name] = states[0].arrays[name].copy()
    results = [exe.run({"input_ids": TOKENS[:1, 4:5]}, state)[0] for state in states]
    untouched = exe.new_state()
    exe.run({"input_ids": TOKENS[:1, :4]}, untouched)
    assert np.array_equal(*results)
    assert not np.array_equal(results[0], exe.run({"input_ids": TOKENS[:1, 4:5]}, untouched)[0])


def test_copies_and_rewound_states_go_their_own_way(exe: tvmq.Executable) -> None:
    state = exe.new_state()
    exe.run({"input_ids": TOKENS[:1, :6]}, state)
    copy = state.copy()
    wanted = exe.run({"input_ids": TOKENS[:1, 6:9]}, state)[0]
    state.rewind(6)
    assert np.array_equal(wanted, exe.run({"input_ids": TOKENS[:1, 6:9]}, state)[0])
    assert np.array_equal(wanted, exe.run({"input_ids": TOKENS[:1, 6:9]}, copy)[0])


def test_a_batch_runs_sample_by_sample(exe: tvmq.Executable) -> None:
    both, alone = exe.new_state(2), [exe.new_state() for _ in range(2)]
    for begin in (0, 3, 4):
        part = TOKENS[:, begin : begin + (1 if begin else 3)]
        (logits,) = exe.run({"input_ids": part}, both)
        for number, state in enumerate(alone):
            row = part[number : number + 1]
            assert np.array_equal(logits[number : number + 1], exe.run({"input_ids": row}, state)[0])


@pytest.mark.parametrize(
    ("feed", "error"),
    [
        ({"input_ids": np.full((1, 1), 31)}, "index 31 lies outside"),
        ({"input_ids": np.zeros((1, 1, 1), np.int64)}, "has shape"),
        ({"input_id": TOKENS[:1]}, "no input 'input_id'"),
        ({}, "input 'input_ids' is missing"),
        ({"input_ids": TOKENS[:1], "past_key_values.0.key": 0}, "is a state"),
        ({"input_ids": TOKENS}, "state is of a batch of 1"),
        ([TOKENS], "inputs must be"),
    ],
)
def test_wrong_inputs_lose_nothing(exe: tvmq.Executable, feed: Any, error: str) -> None:
    state, other = exe.new_state(), exe.new_state()
    for one in (state, other):
        exe.run({"input_ids": TOKENS[:1, :3]}, one)
    with pytest.raises(DataError, match=error):
        exe.run(feed, state)
    assert np.array_equal(*(exe.run({"input_ids": TOKENS[:1, 3:4]}, one)[0] for one in (state, other)))


def test_a_capacity_holds(exe: tvmq.Executable) -> None:
    state = exe.new_state(capacity=5)
    exe.run({"input_ids": TOKENS[:1, :5]}, state)
    with pytest.raises(DataError, match="5 of at most 5 rows, and 1 more do not fit"):
        exe.run({"input_ids": TOKENS[:1, 5:6]}, state)
    assert state.length == 5


def test_states_that_are_replaced_are_copied(exe: tvmq.Executable) -> None:
    class Function:
        caches = type(exe["main"].caches)(frozenset([1]), frozenset([1]))

    assert state_calls(Function(), exe.states) is None  # type: ignore[arg-type]
    assert state_calls(exe["main"], exe.states) is not None
