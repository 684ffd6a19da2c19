"""Caches as codes with a scale for each row: the logits of caches in float, whatever the chunks; what stays float."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm

import tvmq
from tests.support.models.llama_model import LlamaShape, formula_weights, write_llama
from tests.support.models.stateful_models import STATEFUL, StatefulNet, attention, texts
from tvmq.errors import DataError
from tvmq.graph.state_pairs import state_pairs
from tvmq.graph.view import View, op_name
from tvmq.passes.realize.state_rows import encode_state_rows
from tvmq.reference import Reference

LLAMA = LlamaShape(layers=2)


def at_run_time(model: Any, **options: Any) -> tvm.IRModule:
    mod, params = tvmq.from_onnx(model, **options)
    with tvmq.qconfig(activations="dynamic"):
        return tvmq.quantize(mod, params)


@pytest.fixture(scope="module")
def decoder() -> tvm.IRModule:
    return at_run_time(write_llama(LLAMA, formula_weights(LLAMA)))


def test_each_cache_is_codes_and_scales(decoder: tvm.IRModule) -> None:
    names = [f"past_key_values.{layer}.{kind}" for layer in range(2) for kind in ("key", "value")]
    assert [pair.input for pair in state_pairs(decoder)] == [*names, *(f"{name}.scale" for name in names)]
    states = Reference(decoder).new_state(batch=3).arrays
    assert {name: (array.dtype, array.shape) for name, array in states.items()} == {
        **{name: (np.int8, (3, 2, 0, 8)) for name in names},
        **{f"{name}.scale": (np.float32, (3, 2, 0, 1)) for name in names},
    }


@pytest.mark.slow
def test_logits_are_those_of_caches_in_float(decoder: tvm.IRModule) -> None:
    floats = Reference(at_run_time(write_llama(LLAMA, formula_weights(LLAMA)), state=None))
    tokens = np.random.default_rng(0).integers(0, LLAMA.words, (2, 9))
    names = [f"past_key_values.{n}.{kind}" for n in (0, 1) for kind in ("key", "value")]
    empty = {name: np.zeros((2, 2, 0, 8), np.float32) for name in names}
    wanted = floats.run({"input_ids": tokens, **empty})[0]
    model = Reference(decoder)
    for chunk in (1, 4, 9):
        state = model.new_state(batch=2)
        parts = [model.run({"input_ids": tokens[:, n : n + chunk]}, state)[0] for n in range(0, 9, chunk)]
        assert np.array_equal(np.concatenate(parts, axis=1), wanted)
        assert state.length == 9


@pytest.mark.slow
def test_compiled_sessions_equal_the_definition() -> None:
    qmod = at_run_time(attention())
    exe, reference = tvmq.build(qmod), Reference(qmod)
    assert [pair.input.endswith(".scale") for pair in state_pairs(qmod)] == [False, False, True, True]
    for calls in texts(2, 1):
        ours, wanted = exe.new_state(), reference.new_state()
        for call in calls:
            assert np.array_equal(exe.run(call, ours)[0], reference.run(call, wanted)[0])
        assert all(np.array_equal(ours.arrays[name], wanted.arrays[name]) for name in wanted.arrays)


def test_a_state_that_begins_with_floats_is_refused(decoder: tvm.IRModule) -> None:
    rows = np.ones((1, 2, 3, 8), np.float32)
    with pytest.raises(DataError, match="state 'past_key_values.0.key' is kept in codes with a scale for each row"):
        Reference(decoder)._states.begin_for({"past_key_values.0.key": rows})


def read_as_floats() -> Any:
    """A cache whose floats a sum reads beside the attention."""
    g = StatefulNet(0)
    keys = g.give("present.0.key", "Concat", "past_key_values.0.key", "x", axis=1)
    scores = g.add("MatMul", "x", g.add("Transpose", keys, perm=[0, 2, 1]))
    largest = g.add("ReduceMax", g.add("Abs", keys), axes=[1, 2])
    g.give("y", "Add", g.add("ReduceMax", scores, axes=[2], keepdims=1), largest)
    shapes = {"x": ["batch", "time", 8], "past_key_values.0.key": ["batch", "past", 8]}
    return g.finish(shapes, {"y": ["batch", "time", 1], "present.0.key": ["batch", "total", 8]})


@pytest.mark.parametrize("model", [read_as_floats, STATEFUL["convolutions"][0]], ids=["floats", "replaced"])
def test_what_else_reads_a_state_keeps_its_floats(model: Any) -> None:
    qmod = at_run_time(model())
    assert not any(pair.input.endswith(".scale") for pair in state_pairs(qmod)) and state_pairs(qmod)
    assert encode_state_rows(qmod) is qmod
    inputs = [value for _, value in View(qmod).bindings if op_name(value) == "concat"]
    assert all("float32" in str(value.ty) for value in inputs)
