"""LSTM, GRU and RNN of ONNX against onnxruntime, and what quantization makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tvmq
from tests.models import feeds_of, run_onnx
from tvmq.errors import UnsupportedOpError
from tvmq.graph.ledger import get_ledger
from tvmq.graph.view import View, op_name

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
STEPS, BATCH, INPUTS, HIDDEN = 5, 2, 6, 8


def model(op: str, *, state: bool = False, bias: bool = True, peepholes: bool = False, **options: Any) -> Any:
    """One recurrent node with all its results."""
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
    graph = helper.make_graph(
        [node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [STEPS, BATCH, INPUTS])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in results],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )  # fmt: skip
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    made.ir_version = 8
    return made


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


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("op", "options"), CASES)
def test_equals_onnxruntime(op: str, options: dict[str, Any]) -> None:
    made = model(op, **options)
    feed = feeds_of(made)[0]
    mod, params = tvmq.from_onnx(made)
    for found, expected in zip(tvmq.build(mod, params=params).run(feed), run_onnx(made, feed), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


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


@pytest.mark.thinned(4)
@pytest.mark.parametrize("op", ["LSTM", "GRU"])
@pytest.mark.parametrize("mode", ["dynamic", None])
def test_int8_weights(op: str, mode: str | None) -> None:
    made = model(op, direction="bidirectional")
    feeds = feeds_of(made)
    mod, params = tvmq.from_onnx(made)
    with tvmq.qconfig(activations=mode):
        quantized = tvmq.quantize(mod, params)
    executable = tvmq.build(quantized)
    assert tvmq.verify(executable, feeds[:2]).exact
    for found, expected in zip(executable.run(feeds[0]), run_onnx(made, feeds[0]), strict=True):
        assert np.abs(found - expected).max() < 0.03
    constants = {arg.value for _, call in View(quantized).bindings for arg in getattr(call, "args", ())
                 if hasattr(arg, "value") and str(arg.ty.dtype) == "int8"}  # fmt: skip
    # one weight of the input in each direction, and of the state one, or one a gate
    assert len(constants) == (4 if op == "LSTM" else 8)


def test_static_quantization_leaves_them_float() -> None:
    made = model("LSTM")
    mod, params = tvmq.from_onnx(made)
    quantized = tvmq.quantize(mod, params, feeds_of(made))
    layers = get_ledger(quantized).layers.values()
    assert all(entry["precision"] == "float" for entry in layers)
    assert any("recurrent layers stay float" in entry["why"] for entry in layers)
    assert "matmul" in [op_name(call) for _, call in View(quantized).bindings]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"input_forget": 1}, "input_forget=1; export it with separate gates"),
        ({"activations": ["HardSigmoid", "Tanh", "Tanh"]}, "activation hardsigmoid; use one of"),
    ],
)
def test_refusals(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UnsupportedOpError, match=f"layer 'rnn': LSTM: {words}"):
        tvmq.from_onnx(model("LSTM", **options))


def test_lengths_and_free_steps_are_refused() -> None:
    made = model("RNN")
    made.graph.node[0].input.extend(["", ""])
    made.graph.node[0].input[4] = "lengths"
    made.graph.initializer.append(numpy_helper.from_array(np.int32([5, 3]), "lengths"))
    with pytest.raises(UnsupportedOpError, match="sequence_lens shorter than the input; pad the sequences"):
        tvmq.from_onnx(made)
    free = model("RNN")
    free.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "steps"
    with pytest.raises(UnsupportedOpError, match="the number of steps is not fixed; fix it with shape="):
        tvmq.from_onnx(free)
    assert isinstance(free, onnx.ModelProto)
