"""Sequences cut into other calls, in batches, side by side and by threads: the same bits, or the layer that is to blame."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tvmq
from tests.support.models.stateful_models import STATEFUL, Calls, causal_convolutions, gru_cell, steps_of
from tvmq.errors import ConfigError, DataError
from tvmq.runtime.inputs import TensorInfo
from tvmq.state.model_states import ModelStates
from tvmq.state.pair import APPENDED, StatePair
from tvmq.state.state_tensor import StateTensor
from tvmq.tools.analysis.chunks import find_time


def build(model: Any, sequences: list[Calls], **options: Any) -> tvmq.Executable:
    mod, params = tvmq.from_onnx(model)
    with tvmq.qconfig(**options):
        return tvmq.build(tvmq.quantize(mod, params, sequences, guard=None))


@pytest.mark.parametrize("name", STATEFUL)
def test_any_chunks_give_the_same_bits(name: str) -> None:
    model, sequences = STATEFUL[name]
    exe = build(model(), sequences(6, 0))
    result = tvmq.check_invariance(exe, sequences(3, 1), runs=6)
    assert result.holds and result.samples == 3
    checks = {check.what: check for check in result.checks}
    assert list(checks) == ["chunks", "batch", "sessions", "threads"]
    one_step = name == "gru_cell"
    assert bool(checks["chunks"].runs) is not one_step and bool(checks["batch"].runs) is not one_step
    assert checks["sessions"].runs == 3 and checks["threads"].runs == 9
    if one_step:
        assert "chunks: not tried, the model, or the data, has one step in each call" in str(result)
        assert "batch: not tried, the batch is fixed" in str(result)


def test_a_layer_that_sums_over_the_steps_of_a_call_is_named() -> None:
    exe = build(causal_convolutions(mean=True), steps_of((1, 8, -1), 6, 0, (7, 4)))
    result = tvmq.check_invariance(exe, steps_of((1, 8, -1), 2, 1, (9,)), runs=2)
    assert not result.holds
    chunks = result.checks[0]
    assert chunks.differing and "the first layer that differs is tvmq.float_sum '/reducemean_" in chunks.note
    assert "it sums over all steps of a call: hand what it has to the next call" in chunks.note
    assert all(check.differing == 0 for check in result.checks[1:])


def test_a_state_that_is_forgotten_is_noticed() -> None:
    """Without its state a convolution begins each call anew: chunks differ from the whole."""
    mod, params = tvmq.from_onnx(causal_convolutions(), state={"cache1_in": "cache1_out"})
    with pytest.raises(DataError, match="input 'cache0_in' is missing"):
        tvmq.quantize(mod, params, steps_of((1, 8, -1), 2, 0, (4,)))


def test_too_few_sequences() -> None:
    exe = build(gru_cell(), steps_of((1, 8), 4, 0, (1, 1)))
    assert "sessions: not tried, the data have one sequence" in str(
        tvmq.check_invariance(exe, steps_of((1, 8), 1, 1, (1, 1)))
    )
    with pytest.raises(DataError, match="the data gave 0 sequences; give at least one"):
        tvmq.check_invariance(exe, [])
    with pytest.raises(ConfigError, match="samples must be at least 1"):
        tvmq.check_invariance(exe, [], samples=0)


def test_time_is_what_appended_states_grow_by() -> None:
    keys = StateTensor(StatePair("k", "kn", APPENDED, 1), ("batch", "past", 4), "float32")
    inputs = [("k", keys.shape), ("mask", ("batch", "total")), ("ids", ("batch", "words"))]
    states = ModelStates.of([keys], inputs, "", 0)
    outputs = [TensorInfo("y", ("batch", "words", 3), "float32"), TensorInfo("kn", ("batch", "past + words", 4), "float32")]
    time = find_time(states, outputs)
    assert time is not None and time.name == "words"
    feed = {"mask": np.arange(9)[None], "ids": np.arange(5)[None]}
    part = time.cut(feed, 1, 3, past=4)
    assert part["ids"].tolist() == [[1, 2]] and part["mask"].tolist() == [list(range(7))]
    assert time.join([feed, feed]) is None  # a mask counts rows: calls cannot be joined
