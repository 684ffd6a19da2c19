"""Replaces operators of ai.onnx.ml that prepare the inputs of a network, or choose its answer, by standard ones.

sklearn's converters put them around a multilayer perceptron: StandardScaler becomes Scaler, the choice of a class label
ArrayFeatureExtractor. Trees, support vector machines and maps are no networks and are refused.

    Scaler(x)                       (x - offset) * scale, for each column or all
    Binarizer(x)                    1 where x > threshold, else 0
    ArrayFeatureExtractor(x, i)     x[..., i]; i is flattened, and a vector counts as one row

Tests: tests/formats/onnx/importer/test_preparation_operators.py
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tvmq.formats.onnx.importer.layer import OnnxLayer


def scale_columns(layer: OnnxLayer) -> None:
    """Scaler: floats, whatever the numbers are that it reads."""
    x = layer.compute("Cast", [layer.inputs[0]], "float", to=1)
    offset, scale = (
        layer.constant(role, np.asarray(layer.attributes.get(role) or [neutral], np.float32))
        for role, neutral in (("offset", 0.0), ("scale", 1.0))
    )
    layer.finish("Mul", [layer.compute("Sub", [x, offset], "centred"), scale])


def compare_with_threshold(layer: OnnxLayer) -> None:
    """Binarizer of float32."""
    threshold = layer.constant("threshold", np.float32(layer.attributes.get("threshold", 0.0)))
    layer.finish("Cast", [layer.compute("Greater", [layer.inputs[0], threshold], "above")], to=1)


def choose_columns(layer: OnnxLayer) -> None:
    """ArrayFeatureExtractor, whose result has two dimensions at least."""
    x, positions = layer.inputs
    rank = layer.rank(x)
    if rank is None:
        raise layer.unsupported_error("the rank of its input is unknown", "export the model with shapes")
    flat = layer.compute("Reshape", [positions, layer.constant("flat", np.asarray([-1], np.int64))], "positions")
    if rank > 1:
        layer.finish("Gather", [x, flat], axis=-1)
        return
    row = layer.compute("Reshape", [x, layer.constant("row_shape", np.asarray([1, -1], np.int64))], "row")
    layer.finish("Gather", [row, flat], axis=-1)


PREPARATION: dict[str, Callable[[OnnxLayer], None]] = {
    "ArrayFeatureExtractor": choose_columns,
    "Binarizer": compare_with_threshold,
    "Scaler": scale_columns,
}
