"""Operators of ai.onnx.ml around a network, imported, against onnxruntime; those that are no network are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper

import tvmq
from tests.formats.importing.frontend_models import make_model
from tvmq.errors import UnsupportedOpError

ML = "ai.onnx.ml"
# x = 3 i / 7 - 4, in rows of four
X = (np.arange(24, dtype=np.float32) * 3 / 7 - 4).reshape(6, 4)


def ml_node(op_type: str, inputs: list[str], output: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op_type, inputs, [output], output, domain=ML, **attributes)


def with_ml(model: onnx.ModelProto) -> onnx.ModelProto:
    model.opset_import.append(helper.make_opsetid(ML, 1))
    return model


def assert_like_onnxruntime(model: onnx.ModelProto, x: np.ndarray) -> None:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    expected = session.run(None, {"x": x})
    mod, params = tvmq.from_onnx(model)
    for ours, theirs in zip(tvmq.build(mod, params).run({"x": x}), expected, strict=True):
        assert ours.shape == theirs.shape
        assert ours.dtype == theirs.dtype
        assert np.array_equal(ours, theirs)


SCALERS = {
    "columns": {"offset": [1.0, -2.0, 0.5, 4.0], "scale": [0.5, 2.0, 0.25, -1.0]},
    "one number": {"offset": [1.5], "scale": [0.25]},
    "only an offset": {"offset": [1.5]},
    "nothing": {},
}


@pytest.mark.parametrize("attributes", SCALERS.values(), ids=SCALERS)
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_scaler(attributes: dict[str, list[float]], dtype: str) -> None:
    if set(attributes) != {"offset", "scale"}:  # onnxruntime asks for both
        model = with_ml(make_model([ml_node("Scaler", ["x"], "y", **attributes)], {"x": (dtype, (6, 4))}, ["y"]))
        mod, params = tvmq.from_onnx(model)
        expected = X.astype(dtype).astype(np.float32) - np.float32(attributes.get("offset", [0.0])[0])
        assert np.array_equal(tvmq.build(mod, params).run({"x": X.astype(dtype)})[0], expected)
        return
    model = make_model([ml_node("Scaler", ["x"], "y", **attributes)], {"x": (dtype, (6, 4))}, ["y"])
    assert_like_onnxruntime(with_ml(model), X.astype(dtype))


def test_binarizer() -> None:
    model = make_model([ml_node("Binarizer", ["x"], "y", threshold=0.5)], {"x": ("float32", (6, 4))}, ["y"])
    at_threshold = np.where(np.abs(X) < 0.6, np.float32(0.5), X)
    assert_like_onnxruntime(with_ml(model), at_threshold)


def test_columns_are_chosen() -> None:
    node = ml_node("ArrayFeatureExtractor", ["x", "positions"], "y")
    model = make_model([node], {"x": ("float32", (6, 4))}, ["y"], {"positions": np.array([[3, 0, 3]])})
    assert_like_onnxruntime(with_ml(model), X)


def sklearn_network() -> onnx.ModelProto:
    """A scaler, a perceptron of one hidden layer and its label, as sklearn's converters write them."""
    rows, columns = np.meshgrid(np.arange(4), np.arange(8), indexing="ij")
    hidden = np.sin(rows * 8 + columns + 1).astype(np.float32)
    nodes = [
        ml_node("Scaler", ["x"], "scaled", offset=[1.0, 0.0, -1.0, 2.0], scale=[0.5, 1.0, 2.0, 0.25]),
        helper.make_node("MatMul", ["scaled", "hidden"], ["product"], "product"),
        helper.make_node("Relu", ["product"], ["relu"], "relu"),
        helper.make_node("MatMul", ["relu", "last"], ["scores"], "scores"),
        helper.make_node("ArgMax", ["scores"], ["best"], "best", axis=1, keepdims=0),
        ml_node("ArrayFeatureExtractor", ["classes", "best"], "row"),
        helper.make_node("Reshape", ["row", "shape"], ["label"], "label"),
    ]
    constants = {"hidden": hidden, "last": hidden.T[:, :3].copy(), "classes": np.array([7, 3, 5]), "shape": np.array([-1])}
    model = make_model(nodes, {"x": ("float32", ("n", 4))}, ["label", "scores"], constants)
    model.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.INT64
    return with_ml(model)


def test_a_network_of_sklearn_is_quantized() -> None:
    model = sklearn_network()
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    label, scores = session.run(None, {"x": X})
    mod, params = tvmq.from_onnx(model)
    qmod = tvmq.quantize(mod, params, [{"x": X}])
    assert tvmq.explain(qmod).to_dict()["int8_share"] == 1.0
    ours = tvmq.build(qmod).run({"x": X})
    assert set(ours[0]) <= {7, 3, 5}
    assert (ours[0] == label).mean() >= 5 / 6
    assert np.abs(ours[1] - scores).max() < 0.05 * np.abs(scores).max()


@pytest.mark.parametrize("op_type", ["TreeEnsembleClassifier", "SVMRegressor", "Normalizer"])
def test_what_is_no_network_is_refused(op_type: str) -> None:
    model = with_ml(make_model([ml_node(op_type, ["x"], "y")], {"x": ("float32", (6, 4))}, ["y"]))
    with pytest.raises(UnsupportedOpError, match="tvmq compiles neural networks; run this part with onnxruntime"):
        tvmq.from_onnx(model)
