"""Preprocessing of the input before the first product of a model."""

import numpy as np
import onnx
import pytest

import tvmq
from tests.support.models.onnx_models import make_model
from tvmq.graph.analysis.input_preprocessing import first_operators


def model(nodes, weights, kind=onnx.TensorProto.FLOAT):
    """A model of these nodes from x (1, 3, 4, 4) to y."""
    made = [
        onnx.helper.make_node(*node[:3], name=f"n{i}", **(node[3] if node[3:] else {})) for i, node in enumerate(nodes)
    ]
    tensors = {name: np.asarray(array, np.float32) for name, array in weights.items()}
    return make_model(made, {"x": (onnx.helper.tensor_dtype_to_np_dtype(kind), [1, 3, 4, 4])}, ["y"], tensors, 17)


KERNEL = {"w": np.ones((2, 3, 1, 1))}
CONV = ("Conv", ["a", "w"], ["y"])


@pytest.mark.parametrize("nodes, weights, expected", [
    ([("Sub", ["x", "m"], ["a"]), CONV], {"m": [[[123.0]], [[117.0]], [[104.0]]]}, [("subtract", 123.0)]),
    ([("Sub", ["x", "m"], ["b"]), ("Div", ["b", "s"], ["a"]), CONV], {"m": [[[0.5]]] * 3, "s": [[[0.25]]] * 3},
     [("subtract", 0.5), ("divide", 0.25)]),
    ([("Mul", ["x", "m"], ["a"]), CONV], {"m": 1 / 255}, [("multiply", np.float32(1 / 255))]),
    ([("BatchNormalization", ["x", "g", "h", "m", "v"], ["a"]), CONV],
     {"g": [9.0] * 3, "h": [8.0] * 3, "m": [117.0] * 3, "v": [60.0] * 3}, [("batch_norm", 117.0)]),
    ([("Conv", ["x", "w"], ["y"])], {}, []),
], ids=["mean", "mean and std", "scale", "batch norm", "nothing"])  # fmt: skip
def test_first_operators(nodes, weights, expected):
    found = first_operators(*tvmq.from_onnx(model(nodes, {**KERNEL, **weights})), "x")
    assert found[: len(expected)] == expected and found[len(expected) :] in ([("nn.conv2d", 1.0)], [])


def test_conversions_are_passed():
    nodes = [("Cast", ["x"], ["f"], {"to": 1}), ("Div", ["f", "s"], ["a"]), CONV]
    found = first_operators(*tvmq.from_onnx(model(nodes, {**KERNEL, "s": 255.0}, onnx.TensorProto.UINT8)), "x")
    assert found[0] == ("divide", 255.0)
