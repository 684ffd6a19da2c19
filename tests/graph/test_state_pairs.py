"""Which inputs and outputs of a module are states, and what is said of those that are none."""

from __future__ import annotations

from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

import tvmq
from tests.support.models.stateful_models import attention, causal_convolutions, gru_cell, gru_layer
from tvmq.errors import ModelError
from tvmq.graph.describe_states import describe_states
from tvmq.graph.ledger import get_ledger
from tvmq.graph.state_pairs import state_outputs, state_pairs
from tvmq.graph.view import View

MODELS = {
    "convolutions": (causal_convolutions(), {"cache0_in": "replaced", "cache1_in": "replaced"}),
    "gru_cell": (gru_cell(), {"h_in": "replaced"}),
    "gru_layer": (gru_layer(), {"h_in": "replaced"}),
    "attention": (attention(), {f"past_key_values.0.{kind}": "appended" for kind in ("key", "value")}),
}


@pytest.mark.parametrize("name", MODELS)
def test_names_and_structure_tell(name: str) -> None:
    model, kinds = MODELS[name]
    mod, _ = tvmq.from_onnx(model)
    pairs = state_pairs(mod)
    assert {pair.input: pair.kind for pair in pairs} == kinds
    assert all(pair.axis == (2 if pair.kind == "appended" else None) for pair in pairs)
    assert [f"state: {pair}" for pair in pairs] == get_ledger(mod).notes
    assert state_outputs(mod) == frozenset(range(1, len(kinds) + 1))


@pytest.mark.parametrize("state", [None, {}])
def test_no_states_where_none_are_wanted(state: Any) -> None:
    mod, _ = tvmq.from_onnx(gru_cell(), state=state)
    assert state_pairs(mod) == () and not state_outputs(mod) and not get_ledger(mod).notes
    assert not describe_states(View(mod))


REFUSED: list[tuple[Any, Any, str]] = [
    (gru_cell(), "yes", r"state must be \{input: output\}, 'auto' or None\. Got 'yes' instead"),
    (gru_cell(), {"h_im": "h_out"}, "the model has no input 'h_im'; did you mean 'h_in'?"),
    (gru_cell(), {"h_in": "h"}, "the model has no output 'h'; it has y, h_out"),
    (gru_cell(), {"h_in": "y"}, r"the input is \[1, 16\], the output \[1, 4\]; a state keeps its shape, or has rows"),
    (gru_cell(), {"h_in": "h_out", "x": "h_out"}, r"'x': 'h_out'\}: the input is \[1, 8\]"),
    (attention(), {"ids": "logits"}, "the input is int64, the output float32; a state keeps its type"),
]


@pytest.mark.parametrize(("model", "state", "message"), REFUSED)
def test_what_is_no_state(model: onnx.ModelProto, state: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        tvmq.from_onnx(model, state=state)


def sum_of(*names: str) -> onnx.ModelProto:
    """h_out, the sum of inputs of these names."""
    taken = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in names]
    given = helper.make_tensor_value_info("h_out", TensorProto.FLOAT, [1, 4])
    graph = helper.make_graph([helper.make_node("Sum", list(names), ["h_out"], "/sum")], "sum", taken, [given])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_one_output_for_two_states_and_states_alone() -> None:
    with pytest.raises(ModelError, match="two states have one output: h_out, h_out"):
        tvmq.from_onnx(sum_of("x", "h_in", "z"), state={"h_in": "h_out", "x": "h_out"})
    with pytest.raises(ModelError, match=r"all inputs are states \(h_in\); leave one to be given"):
        tvmq.from_onnx(sum_of("h_in"), state={"h_in": "h_out"})
    assert state_pairs(tvmq.from_onnx(sum_of("h_in"))[0]) == ()
