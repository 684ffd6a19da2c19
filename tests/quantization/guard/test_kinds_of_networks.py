"""The guard on recurrent layers, on positions of the input, and where compiled code contradicts the definition."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
import tvm
from onnx import helper

import tvmq
from tests.formats.importing.frontend_models import make_model
from tvmq.errors import BuildError
from tvmq.graph.ledger import get_ledger
from tvmq.quantization.guard.bound import Guard
from tvmq.quantization.guard.calibration_cache import Batch
from tvmq.quantization.guard.judge import Judge

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
RANDOM = np.random.default_rng(0)


def recurrent(kind: str, *, states: bool, layers: int = 2) -> onnx.ModelProto:
    """Layers of 8 over 5 steps of 6 values, and a product behind them."""
    nodes, x, size = [], "x", 6
    constants: dict[str, np.ndarray] = {"axes": np.int64([1]), "head": RANDOM.standard_normal((8, 3)).astype(np.float32)}
    inputs: dict[str, Any] = {"x": ("float32", (5, 1, 6))}
    for layer in range(layers):
        rows = 8 * GATES[kind]
        constants[f"w{layer}"] = RANDOM.standard_normal((1, rows, size)).astype(np.float32) / 3
        constants[f"r{layer}"] = RANDOM.standard_normal((1, rows, 8)).astype(np.float32) / 3
        given = ["", ""] if not states else ["", f"h{layer}"]
        if states:
            inputs[f"h{layer}"] = ("float32", (1, 1, 8))
        names = [x, f"w{layer}", f"r{layer}", "", *given]
        nodes.append(helper.make_node(kind, names, [f"y{layer}"], f"{kind}{layer}", hidden_size=8))
        nodes.append(helper.make_node("Squeeze", [f"y{layer}", "axes"], [f"s{layer}"], f"squeeze{layer}"))
        x, size = f"s{layer}", 8
    nodes.append(helper.make_node("MatMul", [x, "head"], ["scores"], "head"))
    return make_model(nodes, inputs, ["scores"], constants, 17)


def samples_of(model: onnx.ModelProto, count: int = 16) -> list[dict[str, np.ndarray]]:
    shapes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in model.graph.input}
    random = np.random.default_rng(1)
    return [{k: random.standard_normal(s).astype(np.float32) for k, s in shapes.items()} for _ in range(count)]


@pytest.mark.parametrize(
    "kind, states",
    [pytest.param("LSTM", False), *(pytest.param(k, s, marks=pytest.mark.slow) for k in GATES for s in (False, True))],
)
@pytest.mark.parametrize("bound", ["sqnr >= 90", pytest.param("sqnr >= 60", marks=pytest.mark.slow)])
def test_recurrent_layers_get_more_precision(kind: str, states: bool, bound: str) -> None:
    model = recurrent(kind, states=states)
    samples = samples_of(model)
    mod, params = tvmq.from_onnx(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tvmq.errors.AccuracyWarning)
        module = tvmq.quantize(mod, params, samples, guard=bound)
    assert any(layer["precision"] == "float" for layer in get_ledger(module).layers.values())
    assert tvmq.verify(tvmq.build(module), samples[:2]).exact


def test_places_of_the_input_need_no_evidence() -> None:
    """An ArgMax of x itself: both modules read the same."""
    nodes = [
        helper.make_node("ArgMax", ["x"], ["places"], "places", axis=1, keepdims=0),
        helper.make_node("MatMul", ["x", "w"], ["y"], "product"),
    ]
    model = make_model(nodes, {"x": ("float32", (1, 6))}, ["places", "y"], {"w": np.ones((6, 3), np.float32)}, 17)
    model.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.INT64
    module = tvmq.quantize(*tvmq.from_onnx(model), samples_of(model), guard="sqnr >= 20")
    assert [layer["precision"] for layer in get_ledger(module).layers.values()].count("int8") == 1


def test_compiled_code_that_contradicts_the_definition_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The figure of a small module is that of its definition, which a fault of a kernel does not change."""
    from tvmq.quantization import static_quantization

    right: Callable[[tvm.IRModule], Any] = static_quantization.check_evaluator

    def wrong(module: tvm.IRModule) -> Callable[[Any], Sequence[np.ndarray]]:
        run, is_integer = right(module), get_ledger(module).stage == "realized"
        return lambda feed: [np.array(y) + (1 if is_integer else 0) for y in run(feed)]

    monkeypatch.setattr(static_quantization, "check_evaluator", wrong)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], "product")]
    model = make_model(nodes, {"x": ("float32", (1, 6))}, ["y"], {"w": np.ones((6, 3), np.float32)}, 17)
    with pytest.raises(BuildError, match="differs from the definition in 3 of 3 values of output 'y'; this is a fault"):
        tvmq.quantize(*tvmq.from_onnx(model), samples_of(model), guard="sqnr >= 20")


def test_an_output_of_another_shape_keeps_nothing() -> None:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], "product")]
    model = make_model(nodes, {"x": ("float32", (1, 6))}, ["y"], {"w": np.ones((6, 3), np.float32)}, 17)
    prepared = tvmq.passes.prepare.prepare(*tvmq.from_onnx(model))
    batch = Batch(samples_of(model, 1)[0], 1, [np.ones((1, 3), np.float32)])
    judge = Judge(prepared, prepared, [batch], lambda _: lambda _feed: [], Guard())
    assert judge.measure(lambda _: [np.ones((1, 3), np.float32)]).sqnr == np.inf
    assert judge.measure(lambda _: [np.ones((1, 2), np.float32)]).sqnr == -np.inf
