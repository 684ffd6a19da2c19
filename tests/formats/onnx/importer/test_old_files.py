"""Files as old exporters write them: weights among the inputs, nodes in any order, sizes that are fixed."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from frontend_models import normal_floats
from onnx import helper, numpy_helper

import tvmq
from tvmq.errors import ModelError
from tvmq.formats.onnx.importer.from_onnx import from_onnx

floats = normal_floats(0)
X = floats(1, 2, 6, 6)
WEIGHTS = {
    "w": floats(3, 2, 3, 3), "gamma": floats(3), "beta": floats(3), "mean": floats(3), "var": np.abs(floats(3)) + 1,
    "num_batches_tracked": np.array(7),
}  # fmt: skip
NODES = [
    helper.make_node("Conv", ["x", "w"], ["a"], name="conv"),
    helper.make_node("BatchNormalization", ["a", "gamma", "beta", "mean", "var"], ["b"], name="norm"),
    helper.make_node("Relu", ["b"], ["c"], name="relu"),
    helper.make_node("GlobalAveragePool", ["c"], ["y"], name="pool"),
]


def network(order: list[int], opset: int, ir: int, listed: bool, more: list[Any] | None = None) -> onnx.ModelProto:
    """A convolution, batch norm, relu and pool; its nodes in that order, its weights among the inputs where listed."""
    inputs = [helper.make_tensor_value_info("x", 1, X.shape)]
    if listed:
        kinds = {name: helper.np_dtype_to_tensor_dtype(value.dtype) for name, value in WEIGHTS.items()}
        inputs += [helper.make_tensor_value_info(name, kinds[name], WEIGHTS[name].shape) for name in WEIGHTS]
    nodes = [*(NODES[position] for position in order), *(more or [])]
    weights = [numpy_helper.from_array(value, name) for name, value in WEIGHTS.items()]
    outputs = [helper.make_empty_tensor_value_info(nodes[-1].output[0] if more else "y")]
    outputs[0].type.tensor_type.elem_type = 1
    graph = helper.make_graph(nodes, "old", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir)


def expected(x: np.ndarray = X) -> np.ndarray:
    """The network in float64."""
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), (3, 3), axis=(2, 3))
    a = np.einsum("nchwij,ocij->nohw", windows, WEIGHTS["w"])
    column = {name: value.reshape(1, -1, 1, 1) for name, value in WEIGHTS.items() if value.ndim == 1}
    b = (a - column["mean"]) / np.sqrt(column["var"] + 1e-5) * column["gamma"] + column["beta"]
    return np.maximum(b, 0).mean((2, 3), keepdims=True)


def run(model: onnx.ModelProto, x: np.ndarray = X, **options: Any) -> np.ndarray:
    mod, params = from_onnx(model, **options)
    executable = tvmq.build(mod, params=params)
    assert [one.name for one in executable.input_info] == ["x"]
    return np.asarray(executable(x))


@pytest.mark.parametrize("listed", [True, False], ids=["listed", "not-listed"])
@pytest.mark.parametrize("opset", [7, 8, 9, 11, 13])
def test_weights_among_the_inputs_are_constants(opset: int, listed: bool) -> None:
    model = network([0, 1, 2, 3], opset, 3 if listed else 8, listed)
    np.testing.assert_allclose(run(model), expected(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("order", [[3, 2, 1, 0], [1, 0, 3, 2], [2, 0, 3, 1]])
def test_nodes_in_any_order_are_sorted(order: list[int]) -> None:
    np.testing.assert_allclose(run(network(order, 13, 8, False)), expected(), rtol=1e-4, atol=1e-5)


def test_nodes_that_wait_for_each_other_are_refused() -> None:
    model = network([0, 1, 2, 3], 13, 8, False)
    model.graph.node[0].input[0] = "c"
    with pytest.raises(ModelError, match="layer 'conv' .* reads 'c', which no input, weight or earlier layer provides"):
        from_onnx(model)


def test_bodies_are_sorted_and_wait_for_what_they_read_outside() -> None:
    body = helper.make_graph(
        [helper.make_node("Neg", ["h"], ["out"]), helper.make_node("Add", ["outer", "outer"], ["h"])],
        "then", [], [helper.make_tensor_value_info("out", 1, [2])],
    )  # fmt: skip
    nodes = [
        helper.make_node("If", ["yes"], ["y"], name="choice", then_branch=body, else_branch=body),
        helper.make_node("Abs", ["x"], ["outer"], name="abs"),
    ]
    values = [helper.make_tensor_value_info(name, 1, [2]) for name in "xy"]
    graph = helper.make_graph(nodes, "g", values[:1], values[1:], [numpy_helper.from_array(np.array(True), "yes")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    mod, params = from_onnx(model)
    assert np.asarray(tvmq.build(mod, params=params)(np.float32([1, -3]))).tolist() == [-2, -6]


def test_fixed_sizes_are_changed_where_the_layers_take_others() -> None:
    x = floats(1, 2, 9, 7)
    result = run(network([0, 1, 2, 3], 13, 8, False), x, shape={"x": x.shape})
    np.testing.assert_allclose(result, expected(x), rtol=1e-4, atol=1e-5)


def test_fixed_sizes_that_layers_need_are_refused() -> None:
    more = [
        helper.make_node("Constant", [], ["m"], value=numpy_helper.from_array(floats(3, 2), "m")),
        helper.make_node("Constant", [], ["s"], value=numpy_helper.from_array(np.array([1, -1]), "s")),
        helper.make_node("Reshape", ["y", "s"], ["row"]),
        helper.make_node("MatMul", ["row", "m"], ["z"]),
    ]
    model = network([0, 1, 2, 3], 13, 8, False, more)
    assert run(model).shape == (1, 2)
    with pytest.raises(ModelError, match="changes dimension 0 of 'x' from 1 to 2, which is fixed in the model"):
        from_onnx(model, shape={"x": (2, 2, 6, 6)})
