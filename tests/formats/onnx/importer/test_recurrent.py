"""LSTM, GRU and RNN of ONNX against onnxruntime, and what quantization makes of them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tvmq
from tests.support.models.networks import feeds_of, run_onnx
from tests.support.models.onnx_models import make_model
from tvmq import Rule
from tvmq.errors import BuildError, UnsupportedOpError
from tvmq.graph.ledger import get_ledger
from tvmq.graph.view import View, op_name

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
STEPS, BATCH, INPUTS, HIDDEN = 5, 2, 6, 8


def model(op: str, *, state: bool = False, bias: bool = True, peepholes: bool = False, **options: Any) -> Any:
    """A model of a recurrent node with all its results."""
    random = np.random.default_rng(3)
    directions = 2 if options.get("direction") == "bidirectional" else 1

    def weight(*shape: int) -> np.ndarray:
        return random.normal(0, 0.4, (directions, *shape)).astype(np.float32)

    gates = GATES[op] * HIDDEN
    constants = {"w": weight(gates, INPUTS), "r": weight(gates, HIDDEN)}
    names = ["x", "w", "r", "", "", "", "", ""]
    if bias:
        constants["b"], names[3] = weight(2 * gates), "b"
    if state:
        for index, name in enumerate(("h0", "c0")[: 2 if op == "LSTM" else 1]):
            constants[name], names[5 + index] = weight(BATCH, HIDDEN), name
    if peepholes:
        constants["p"], names[7] = weight(3 * HIDDEN), "p"
    while not names[-1]:
        names.pop()
    results = ["y", "y_h", "y_c"][: 3 if op == "LSTM" else 2]
    node = helper.make_node(op, names, results, name="rnn", hidden_size=HIDDEN, **options)
    return make_model([node], {"x": [STEPS, BATCH, INPUTS]}, results, constants, 17)


CASES = [
    ("LSTM", {}),
    ("LSTM", {"direction": "bidirectional", "state": True}),
    ("LSTM", {"peepholes": True, "clip": 0.5}),
    ("GRU", {"linear_before_reset": 1}),
    ("GRU", {"linear_before_reset": 0, "state": True}),
    ("GRU", {"direction": "reverse", "bias": False}),
    ("RNN", {"activations": ["Relu"]}),
    ("RNN", {"direction": "bidirectional", "activations": ["Tanh", "Sigmoid"]}),
]


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize(("op", "options"), CASES)
def test_equals_onnxruntime(op: str, options: dict[str, Any]) -> None:
    made = model(op, **options)
    feed = feeds_of(made)[0]
    mod, params = tvmq.from_onnx(made)
    for found, expected in zip(tvmq.build(mod, params=params).run(feed), run_onnx(made, feed), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_batch_first() -> None:
    """onnxruntime has no layout 1: the results of layout 0, transposed."""
    made, turned = model("GRU"), model("GRU", layout=1)
    turned.graph.input[0].CopyFrom(helper.make_tensor_value_info("x", TensorProto.FLOAT, [BATCH, STEPS, INPUTS]))
    x = feeds_of(made)[0]["x"]
    results = [tvmq.build(*swap(tvmq.from_onnx(m))) for m in (made, turned)]
    y, last = results[0].run({"x": x})
    y_turned, last_turned = results[1].run({"x": x.transpose(1, 0, 2)})
    np.testing.assert_array_equal(y_turned, y.transpose(2, 0, 1, 3))
    np.testing.assert_array_equal(last_turned, last.transpose(1, 0, 2))


def swap(imported: tuple[Any, Any]) -> tuple[Any, str, Any]:
    mod, params = imported
    return mod, "llvm", params


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("op", ["LSTM", "GRU"])
@pytest.mark.parametrize("mode", ["static", "dynamic"])
def test_int8_weights(op: str, mode: str) -> None:
    made = model(op, direction="bidirectional")
    feeds = feeds_of(made)
    mod, params = tvmq.from_onnx(made)
    with tvmq.qconfig(activations=mode):
        quantized = tvmq.quantize(mod, params, feeds if mode == "static" else None, guard=None)
    executable = tvmq.build(quantized)
    assert tvmq.verify(executable, feeds[:2]).exact
    for found, expected in zip(executable.run(feeds[0]), run_onnx(made, feeds[0]), strict=True):
        assert np.abs(found - expected).max() < 0.05
    entries = [entry for entry in get_ledger(quantized).layers.values() if entry["macs"]]
    assert all(entry["precision"] == "int8" for entry in entries)
    found = [op_name(call) for _, call in View(quantized).bindings]
    assert found.count("tvmq.recurrent_codes") == 2  # one kernel a direction, for all steps


@pytest.mark.slow
@pytest.mark.thinned(8)
@pytest.mark.parametrize("op", ["LSTM", "GRU"])
@pytest.mark.parametrize(
    ("options", "error"),
    [({}, 0.05), ({"nbit_weight": 4}, 0.5), ({"nbit_weight": 4, "group_size": 2}, 0.4), ({"per_channel": False}, 0.05)],
)
def test_weights_alone(op: str, options: dict[str, Any], error: float, tmp_path: Any) -> None:
    """Codes of both weights, arithmetic in floats; exported, and read back."""
    made = model(op, direction="bidirectional")
    feeds = feeds_of(made)
    mod, params = tvmq.from_onnx(made)
    with tvmq.qconfig(activations=None, **options):
        quantized = tvmq.quantize(mod, params)
    executable = tvmq.build(quantized)
    assert tvmq.verify(executable, feeds[:2]).exact
    results = executable.run(feeds[0])
    for found, expected in zip(results, run_onnx(made, feeds[0]), strict=True):
        assert 0 < np.abs(found - expected).max() < error
    view = View(quantized)
    loops = [call for _, call in view.bindings if op_name(call) == "tvmq.recurrent"]
    form = "tvmq.group_dequantize" if "group_size" in options else "tvmq.dequantize"
    assert [op_name(view.producer(call.args[1])) for call in loops] == [form] * 2
    bits = [entry.get("weight_bits", 8) for entry in get_ledger(quantized).layers.values() if entry["macs"]]
    assert bits == [options.get("nbit_weight", 8)] * 4
    tvmq.to_onnx(quantized, tmp_path / "loop.onnx")
    exported = onnx.load(tmp_path / "loop.onnx")
    back, weights = tvmq.from_onnx(exported)
    for again in (run_onnx(exported, feeds[0]), tvmq.build(back, params=weights).run(feeds[0])):
        for a, b in zip(again, results, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_a_rule_keeps_a_loop_in_float() -> None:
    made = model("LSTM")
    mod, params = tvmq.from_onnx(made)
    with tvmq.qconfig(rules=[Rule(op="tvmq.recurrent", spec=None)]):
        quantized = tvmq.quantize(mod, params, feeds_of(made), guard=None)
    entries = {entry["op"]: entry for entry in get_ledger(quantized).layers.values()}
    assert entries["tvmq.recurrent"]["precision"] == "float" and entries["dense"]["precision"] == "int8"
    assert entries["tvmq.recurrent"]["why"] == "rule 'op:tvmq.recurrent'"


@pytest.mark.slow
def test_backends_without_floats_and_listed_operators_keep_a_loop_in_float() -> None:
    made = model("RNN")
    mod, params = tvmq.from_onnx(made)
    with tvmq.qconfig(debug_enabled_ops=["matmul"]):
        quantized = tvmq.quantize(mod, params, feeds_of(made), guard=None)
    whys = [entry["why"] for entry in get_ledger(quantized).layers.values() if entry["op"] == "tvmq.recurrent"]
    assert whys == ["option debug_enabled_ops"]


def test_the_module_does_not_grow_with_the_steps() -> None:
    """Nor does the code: a hundred steps are one loop."""
    sizes = []
    for steps in (2, 300):
        made = model("LSTM")
        made.graph.input[0].type.tensor_type.shape.dim[0].dim_value = steps
        mod, _ = tvmq.from_onnx(made)
        sizes.append(len(View(mod).bindings))
    assert sizes[0] == sizes[1] < 20


@pytest.mark.parametrize(("options", "words"), [
    ({"input_forget": 1}, "input_forget=1 is not supported; export it with separate gates"),
    ({"activations": ["HardSigmoid", "Tanh", "Tanh"]}, "activation hardsigmoid is unknown; use one of"),
])  # fmt: skip
def test_refusals(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UnsupportedOpError, match=f"layer 'rnn': LSTM: {words}"):
        tvmq.from_onnx(model("LSTM", **options))


def with_lengths(made: Any, names: list[str]) -> Any:
    """Lengths of the sequences as an input, or a constant."""
    node = made.graph.node[0]
    node.input.extend([""] * (5 - len(node.input)))
    node.input[4] = "lengths"
    for name in names:
        made.graph.input.append(helper.make_tensor_value_info(name, TensorProto.INT32, [BATCH]))
    return made


@pytest.mark.slow
@pytest.mark.parametrize("op", ["LSTM", "GRU"])
def test_lengths_of_sequences(op: str) -> None:
    made = with_lengths(model(op, direction="bidirectional"), ["lengths"])
    feed = feeds_of(model(op))[0] | {"lengths": np.int32([3, 5])}
    mod, params = tvmq.from_onnx(made)
    executable = tvmq.build(mod, params=params)
    assert tvmq.verify(executable, [feed]).exact
    for found, expected in zip(executable.run(feed), run_onnx(made, feed), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("mode", [None, "dynamic"])
def test_any_number_of_steps_and_samples(mode: str | None) -> None:
    made = model("GRU", direction="bidirectional", linear_before_reset=1)
    for dim, name in zip(made.graph.input[0].type.tensor_type.shape.dim, ("steps", "batch"), strict=False):
        dim.dim_param = name
    mod, params = tvmq.from_onnx(made)
    if mode:
        with tvmq.qconfig(activations=mode):
            mod, params = tvmq.quantize(mod, params), None
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no word of loops that are slow
        executable = tvmq.build(mod, params=params)
    for steps, batch in ((1, 1), (7, 3)):
        feed = {"x": np.random.default_rng(steps).normal(0, 1, (steps, batch, INPUTS)).astype(np.float32)}
        assert tvmq.verify(executable, [feed]).exact
        for found, expected in zip(executable.run(feed), run_onnx(made, feed), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=0.05 if mode else 1e-6)


def test_computed_weights_are_refused() -> None:
    made = model("RNN")
    made.graph.initializer.remove(next(tensor for tensor in made.graph.initializer if tensor.name == "r"))
    made.graph.input.append(helper.make_tensor_value_info("r", TensorProto.FLOAT, [1, HIDDEN, HIDDEN]))
    with pytest.raises(UnsupportedOpError, match="layer 'rnn': RNN: its weight R is not a constant; export the model"):
        tvmq.from_onnx(made)


@pytest.mark.parametrize("name", ["sequence_lens", "initial_h"])
def test_lengths_and_states_of_another_number_of_samples_are_refused(name: str) -> None:
    """Compiled code read behind them where the batch is dynamic."""
    made = model("GRU", state=name == "initial_h")
    if name == "sequence_lens":
        with_lengths(made, [])
        made.graph.initializer.append(numpy_helper.from_array(np.int32([3, 5]), "lengths"))
    made.graph.input[0].type.tensor_type.shape.dim[1].dim_param = "batch"
    with pytest.raises(UnsupportedOpError, match=f"layer 'rnn': GRU: {name} has a batch of 2 and X a batch of batch; fix"):
        tvmq.from_onnx(made)
    if name == "sequence_lens":
        made.graph.initializer.pop()
        made.graph.input.append(helper.make_tensor_value_info("lengths", TensorProto.INT32, ["other"]))
        with pytest.raises(UnsupportedOpError, match="GRU: sequence_lens has a batch of other and X a batch of batch"):
            tvmq.from_onnx(made)
    mod, _ = tvmq.from_onnx(
        made, shape={name: [BATCH] for name in ["lengths"][: name == "sequence_lens"]} | {"x": [STEPS, BATCH, INPUTS]}
    )
    assert mod["main"].params[0].ty.shape.values[1] == BATCH


def test_a_state_that_no_block_of_a_gpu_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tvmq.codegen.kernels.cuda.recurrent.STATIC_SHARED", 16)
    mod, params = tvmq.from_onnx(model("RNN"))
    words = "layer 'rnn': a state of 8 hidden units does not fit the shared memory of a GPU"
    with pytest.raises(BuildError, match=words):
        tvmq.build(mod, "cuda -arch=sm_80", params=params)


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize(("op", "options"), CASES)
def test_exported_loops_are_those_of_onnx(op: str, options: dict[str, Any], tmp_path: Any) -> None:
    """In floats, of the weights that the codes stand for; and read back."""
    made = model(op, **options)
    feeds = feeds_of(made)
    mod, params = tvmq.from_onnx(made)
    with tvmq.qconfig(rules=[Rule(op="matmul", spec=None)]):
        quantized = tvmq.quantize(mod, params, feeds, guard=None)
    tvmq.to_onnx(quantized, tmp_path / "loop.onnx")
    exported = onnx.load(tmp_path / "loop.onnx")
    back, weights = tvmq.from_onnx(exported)
    expected = tvmq.build(mod, params=params).run(feeds[0])
    for found in (run_onnx(exported, feeds[0]), tvmq.build(back, params=weights).run(feeds[0])):
        for a, b in zip(found, expected, strict=True):
            assert np.abs(a - b).max() < 0.02 * max(1.0, float(np.abs(b).max()))
