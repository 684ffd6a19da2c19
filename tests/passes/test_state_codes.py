"""States in codes: which states are, with one scale at both ends, and what stays as it is."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
import tvm

import tvmq
from tests.support.models.stateful_models import STATEFUL, StatefulNet, causal_convolutions, gru_cell, steps_of
from tvmq.graph.state_pairs import state_pairs
from tvmq.graph.view import View, dtype_of, op_name, results_of
from tvmq.passes.state_codes import state_codes


def quantized(model: onnx.ModelProto, sequences: object, **options: object) -> tvm.IRModule:
    mod, params = tvmq.from_onnx(model)
    with tvmq.qconfig(**options):
        return tvmq.quantize(mod, params, sequences, guard=None)


def ends(mod: tvm.IRModule) -> list[tuple[str, str]]:
    """Types of each state, as input and as output."""
    view = View(mod)
    results = {name: dtype_of(leaf) for name, leaf in zip(_outputs(mod), results_of(view.func), strict=True)}
    types = dict(zip(_inputs(mod), map(dtype_of, view.func.params), strict=True))
    return [(types[pair.input], results[pair.output]) for pair in state_pairs(mod)]


def _inputs(mod: tvm.IRModule) -> list[str]:
    from tvmq.graph.names import input_names

    return list(input_names(mod["main"]).values())


def _outputs(mod: tvm.IRModule) -> list[str]:
    from tvmq.graph.names import output_names

    return output_names(mod["main"], len(results_of(mod["main"])))


# What integer layers read and write; the state of the GRU layer is float32 there and here
EXPECTED = {"convolutions": "uint8", "gru_cell": "uint8", "gru_layer": "float32", "attention": "uint8"}


@pytest.mark.parametrize("name", EXPECTED)
def test_states_of_integer_layers_are_codes(name: str) -> None:
    model, sequences = STATEFUL[name]
    mod = quantized(model(), sequences(6, 0))
    wanted = EXPECTED[name]
    assert ends(mod) == [(wanted, wanted)] * len(state_pairs(mod))
    assert all((pair.scale is not None) is (wanted == "uint8") for pair in state_pairs(mod))


def test_signed_codes() -> None:
    mod = quantized(causal_convolutions(), steps_of((1, 8, -1), 4, 0, (6,)), dtype_input="int8", scheme="symmetric")
    assert ends(mod) == [("int8", "int8")] * 2
    assert [pair.zero_point for pair in state_pairs(mod)] == [0, 0]


def test_a_layer_in_float_keeps_its_state_in_float() -> None:
    rule = tvmq.Rule("/conv*", None)
    mod = quantized(causal_convolutions(), steps_of((1, 8, -1), 4, 0, (6,)), rules=(rule,))
    assert ends(mod) == [("float32", "float32")] * 2
    assert all(pair.scale is None for pair in state_pairs(mod))


def test_no_rounding_between_two_calls() -> None:
    """Codes pass unchanged between the state that is read and the cache that is cut from it."""
    mod = quantized(causal_convolutions(), steps_of((1, 8, -1), 4, 0, (6,)))
    view = View(mod)
    for leaf in results_of(view.func)[1:]:
        value, names = view.producer(leaf), []
        while value is not None:
            names.append(op_name(value))
            value = view.producer(value.args[0].fields[0] if op_name(value) == "concat" else value.args[0])
        assert set(names) <= {"strided_slice", "concat", "tvmq.strided_slice"}


def test_what_float_layers_read_too_is_dequantized() -> None:
    """h is read by a product in codes and by a sine in float: both see the same numbers."""
    g = StatefulNet(5)
    product = g.add("MatMul", "h_in", g.weight(16, 16))
    g.give("h_out", "Tanh", g.add("Add", product, g.add("MatMul", "x", g.weight(8, 16))))
    g.give("y", "Sin", "h_in")
    model = g.finish({"x": [1, 8], "h_in": [1, 16]}, {"y": [1, 16], "h_out": [1, 16]})
    sequences = steps_of((1, 8), 6, 0, (1,) * 4)
    mod = quantized(model, sequences)
    (pair,) = state_pairs(mod)
    assert ends(mod) == [("uint8", "uint8")]
    exe, state = tvmq.build(mod), tvmq.build(mod).new_state()
    for call in sequences[0]:
        codes = state.arrays["h_in"]
        (y,) = exe.run(call, state)
        real = np.float32(pair.scale) * (codes.astype(np.int32) - pair.zero_point).astype(np.float32)
        assert np.allclose(y, np.sin(real), atol=1e-6)


def test_modules_without_a_state_are_left_alone() -> None:
    mod, params = tvmq.from_onnx(gru_cell(), state=None)
    data = [{"x": np.ones((1, 8), np.float32), "h_in": np.ones((1, 16), np.float32)}]
    qmod = tvmq.quantize(mod, params, data, guard=None)
    assert state_codes(qmod) is qmod
