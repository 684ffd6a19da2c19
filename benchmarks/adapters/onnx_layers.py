"""The convolutions and products of an ONNX model as shapes, for a library that has layers and no networks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, shape_inference


@dataclass(frozen=True)
class Layer:
    """A convolution (channels first, as oneDNN counts whatever the layout) or a product.

    source, weights, output   shapes; weights of grouped convolutions: groups, filters, channels, rows, columns
    strides                   none for a product
    """

    name: str
    source: tuple[int, ...]
    weights: tuple[int, ...]
    output: tuple[int, ...]
    strides: tuple[int, ...] = ()
    dilations: tuple[int, ...] = ()
    pads: tuple[int, ...] = ()


def read_layers(path: Path, sizes: Mapping[str, tuple[int, ...]] | None = None) -> list[Layer]:
    """The convolutions and products of a model, its inputs of these sizes; dynamic ones are 1 where none are given."""
    model = onnx.load(path)
    for value in model.graph.input:
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            dim.dim_value = sizes[value.name][axis] if sizes else dim.dim_value or 1
    del model.graph.value_info[:]
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    graph = shape_inference.infer_shapes(model, data_prop=True).graph
    shapes = {value.name: tuple(value.dims) for value in graph.initializer}
    for value in (*graph.input, *graph.value_info, *graph.output):
        shapes[value.name] = tuple(dim.dim_value for dim in value.type.tensor_type.shape.dim)
    return [_layer(node, shapes) for node in graph.node if node.op_type in ("Conv", "Gemm", "MatMul")]


def _layer(node: onnx.NodeProto, shapes: dict[str, tuple[int, ...]]) -> Layer:
    source, weights, output = shapes[node.input[0]], shapes[node.input[1]], shapes[node.output[0]]
    options = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    if node.op_type != "Conv":
        weights = weights[::-1] if options.get("transB") else weights
        if len(weights) == 2:
            source, output = (int(np.prod(source[:-1])), source[-1]), (int(np.prod(output[:-1])), output[-1])
        return Layer(node.name, source, weights, output)
    groups = options.get("group", 1)
    if groups > 1:
        weights = (groups, weights[0] // groups, *weights[1:])
    ones = (1,) * (len(source) - 2)
    return Layer(
        node.name, source, weights, output, tuple(options.get("strides", ones)),
        tuple(options.get("dilations", ones)), tuple(options.get("pads", (0, 0) * len(ones))),
    )  # fmt: skip
