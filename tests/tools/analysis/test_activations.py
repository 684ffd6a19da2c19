"""`tvmq.activations`: values of layers against NumPy, of float and quantized models."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper

import tvmq
from tests.support.models.onnx_models import make_model
from tvmq.errors import CalibrationError, ConfigError, DataError

random = np.random.default_rng(0)
W = random.integers(-3, 4, (4, 3)).astype(np.float32)
X = random.integers(-5, 6, (7, 4)).astype(np.float32)  # small integers: products are exact
ACT = np.maximum(X @ W, 0)


def dense(batch: int | str) -> onnx.ModelProto:
    """A product, called "first", and a relu, called "act"."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["one"], name="first"),
        helper.make_node("Relu", ["one"], ["two"], name="act"),
    ]
    return make_model(nodes, {"x": [batch, 4]}, ["two"], {"w": W}, 17)


@pytest.fixture(scope="module")
def model():
    return tvmq.from_onnx(dense(2))


@pytest.fixture(scope="module")
def quantized(model):
    return tvmq.quantize(*model, X, guard=None)


@pytest.mark.slow_cases("2")
@pytest.mark.parametrize("batch", [1, 2, "rows"])
def test_float_layers_equal_numpy(batch):
    values = tvmq.activations(tvmq.from_onnx(dense(batch)), X)
    assert set(values) >= {"first", "act"}
    np.testing.assert_array_equal(values["first"], X @ W)
    np.testing.assert_array_equal(values["act"], ACT)


@pytest.mark.slow
def test_layers_alone(model):
    """Layers that are not needed are not computed."""
    np.testing.assert_array_equal(tvmq.activations(model, X, ["x"])["x"], X)
    np.testing.assert_array_equal(tvmq.activations(model, X, ["first"])["first"], X @ W)


def test_an_executable_and_its_module_give_the_same(model):
    exe = tvmq.build(*model[:1], params=model[1])
    np.testing.assert_array_equal(tvmq.activations(exe, X, ["act"])["act"], ACT)


def test_codes_are_scaled_back(model, quantized):
    mod, params = model
    values = tvmq.activations(quantized, X, ["act", "first", "x"])
    assert list(values) == ["act", "first", "x"]
    np.testing.assert_array_equal(values["first"], values["act"])  # they are one layer
    np.testing.assert_allclose(values["act"], ACT, atol=ACT.max() / 50)
    codes = tvmq.run_calibration(mod, params, X)["x"]
    step = (codes.high - codes.low) / 255
    np.testing.assert_allclose(values["x"], np.clip(X, codes.low, codes.high), atol=step / 2 * 1.001)
    steps = values["x"] / step
    np.testing.assert_allclose(steps, np.rint(steps), atol=1e-4)


def test_unknown_layers_and_empty_data_are_refused(model):
    with pytest.raises(ConfigError, match="activations: none of 3 layers is called 'frist'; did you mean 'first'"):
        tvmq.activations(model, X, ["frist"])
    with pytest.raises(DataError):
        tvmq.activations(model, X[:0])


@pytest.mark.slow
def test_calibration_is_found_by_names_of_the_source(tmp_path):
    model = tvmq.from_onnx(dense(1))
    result = tvmq.run_calibration(*model, X)
    result.save(tmp_path / "c.npz")
    loaded = tvmq.CalibrationResult.load(tmp_path / "c.npz")
    for name, tensor in result.tensors.items():
        assert tensor.layers
        assert result[tensor.layers[-1]] is tensor
        assert loaded[tensor.layers[-1]] == loaded[name] == tensor
    with pytest.raises(CalibrationError, match="'third': no thresholds"):
        result["third"]


@pytest.mark.slow
def test_the_story_of_a_layer_has_its_codes():
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["one"], name="first"),
        helper.make_node("MatMul", ["one", "v"], ["two"], name="second"),
    ]
    weights = {"w": W, "v": np.float32([[1, 2], [3, 4], [5, 6]])}
    mod, params = tvmq.from_onnx(make_model(nodes, {"x": [1, 4]}, ["two"], weights, 17))
    result = tvmq.run_calibration(mod, params, X)
    qmod = tvmq.quantize(mod, params, calibration=result)
    codes = tvmq.explain(qmod, "first").output
    assert (codes["dtype"], codes["bits"]) == ("uint8", 8)
    assert codes["scale"] == pytest.approx((result["first"].high - result["first"].low) / 255, rel=1e-6)
    assert tvmq.explain(qmod, "second").output is None
