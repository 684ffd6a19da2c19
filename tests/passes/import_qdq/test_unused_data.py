"""Models that are quantized in part, and calibration data beside them; choices between tensors of two scales."""

from __future__ import annotations

import warnings

import numpy as np
import onnx
import pytest
from onnx import helper

import tvmq
from tests.support.models.onnx_models import make_model

RNG = np.random.default_rng(0)


def model(nodes: list, shapes: dict[str, list[int]], constants: dict[str, np.ndarray], result: str) -> onnx.ModelProto:
    return make_model(nodes, shapes, [result], constants, 17)


def pair(name: str, scale: str, zero: str, result: str) -> list:
    return [
        helper.make_node("QuantizeLinear", [name, scale, zero], [f"{name}_codes"]),
        helper.make_node("DequantizeLinear", [f"{name}_codes", scale, zero], [result]),
    ]


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def partly_quantized() -> onnx.ModelProto:
    """Two convolutions in float and one rounding between them."""
    first = helper.make_node("Conv", ["x", "w1"], ["a"], name="first")
    second = helper.make_node("Conv", ["b", "w2"], ["y"], name="second")
    constants = {"w1": floats(4, 3, 3, 3), "w2": floats(5, 4, 3, 3), "s": np.float32(0.05), "z": np.uint8(128)}
    return model([first, *pair("a", "s", "z", "b"), second], {"x": [1, 3, 8, 8]}, constants, "y")


def test_data_that_a_model_of_own_scales_leaves_unused_are_warned_of() -> None:
    mod, params = tvmq.from_onnx(partly_quantized())
    with pytest.warns(UserWarning, match="the calibration data are not used and 2 of 2 layers .* first 'first'; take its"):
        tvmq.quantize(mod, params, {"x": floats(4, 3, 8, 8)}, guard=None)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        tvmq.quantize(mod, params)


@pytest.mark.parametrize("scale", [0.0937, 0.0611, 0.0231, 0.0113])
@pytest.mark.parametrize("op_type", ["Max", "Min", "Where", "Concat"])
def test_a_choice_of_two_scales_is_rounded_once_to_that_of_its_result(op_type: str, scale: float) -> None:
    """So it is what the file says: the choice between real values, rounded."""
    scales, zeros = {"a": 0.0417, "b": 0.0893}, {"a": -8, "b": -4}
    mask = RNG.random((1, 4, 8, 8)) > 0.5
    inputs = {"Where": ["mask", "da", "db"]}.get(op_type, ["da", "db"])
    nodes = [*pair("a", "sa", "za", "da"), *pair("b", "sb", "zb", "db")]
    nodes.append(helper.make_node(op_type, inputs, ["o"], **({"axis": 1} if op_type == "Concat" else {})))
    constants = {f"s{name}": np.float32(value) for name, value in (*scales.items(), ("o", scale))}
    constants |= {f"z{name}": np.int8(value) for name, value in zeros.items()} | {"zo": np.uint8(103)}
    constants |= {"mask": mask} if op_type == "Where" else {}
    shapes = dict.fromkeys("ab", [1, 4, 8, 8])
    mod, params = tvmq.from_onnx(model([*nodes, *pair("o", "so", "zo", "y")], shapes, constants, "y"))
    x = {name: floats(1, 4, 8, 8) * np.float32(1.2) for name in "ab"}
    real = {
        name: (np.clip(np.rint(x[name].astype(np.float64) / scales[name]) + zeros[name], -128, 127) - zeros[name]) * scales[name]
        for name in "ab"
    }  # fmt: skip
    chosen = {
        "Max": np.maximum(real["a"], real["b"]), "Min": np.minimum(real["a"], real["b"]),
        "Where": np.where(mask, real["a"], real["b"]), "Concat": np.concatenate([real["a"], real["b"]], 1),
    }[op_type]  # fmt: skip
    wanted = np.clip(np.rint(chosen / scale) + 103, 0, 255)
    result = tvmq.reference.run(tvmq.quantize(mod, params), x)[0]
    assert np.array_equal(np.rint(result / np.float32(scale)) + 103, wanted)
