"""Operators of onnxruntime's own (com.microsoft) and those on codes, replaced by ONNX's.

What its quantizer and its optimizer write; inference, folding and all later stages know ONNX's own operators alone.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tvmq.errors import UnsupportedOpError
from tvmq.formats.onnx.importer.attention import ATTENTION
from tvmq.formats.onnx.importer.bodies import replace_nodes
from tvmq.formats.onnx.importer.dynamic_products import DYNAMIC
from tvmq.formats.onnx.importer.fused_operators import FUSED
from tvmq.formats.onnx.importer.layer import OnnxLayer
from tvmq.formats.onnx.importer.load import opset_of
from tvmq.formats.onnx.importer.nbits import NBITS
from tvmq.formats.onnx.importer.quantized_operators import QUANTIZED
from tvmq.formats.onnx.importer.shapes import dimensions

if TYPE_CHECKING:
    import onnx

MICROSOFT = "com.microsoft"
ANY_DOMAIN = {**QUANTIZED, "SimplifiedLayerNormalization": FUSED["SimplifiedLayerNormalization"]}
OWN_DOMAIN = {**FUSED, **ATTENTION, **DYNAMIC, **NBITS}
CONVERSIONS = ("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "ConvInteger", "MatMulInteger")
CODES = frozenset({*QUANTIZED, *DYNAMIC, *NBITS, *CONVERSIONS, "QAttention"})
LAYOUTS = {
    "com.microsoft.nchwc": "ORT_ENABLE_EXTENDED",
    "com.ms.internal.nhwc": "ORT_ENABLE_EXTENDED",
}


def carries_scales(path: Path) -> bool:
    """True for an ONNX file that is quantized already; False for others and for what is no ONNX file."""
    import onnx

    try:
        model = onnx.load(str(path), load_external_data=False)
    except Exception:  # whoever imports it says what is wrong with it
        return False
    return any(node.op_type in CODES for node in model.graph.node)


def expand_contrib(model: onnx.ModelProto) -> bool:
    """Replace the nodes that can be (in place); True if there were any. Types of values must be inferred again.

    One whose expansion asks for the rank of a value waits until inference tells it.

    raises   UnsupportedOpError naming the layer: what has no expansion in this form, and layouts of one CPU
    """
    from onnx import numpy_helper

    graph = model.graph
    for node in graph.node:
        _refuse_layout(node)
    if not any(_expansion(node) for node in graph.node):
        return False
    constants = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            constants[node.output[0]] = node.attribute[0].t
    ranks = {name: len(tensor.dims) for name, tensor in constants.items()}
    for value in [*graph.input, *graph.value_info]:
        dims = dimensions(value)
        if dims is not None:
            ranks[value.name] = len(dims)

    def value_of(name: str) -> np.ndarray | None:
        return numpy_helper.to_array(constants[name]) if name in constants else None

    nodes: list[onnx.NodeProto] = []
    waiting: UnsupportedOpError | None = None
    expanded = 0
    for node in graph.node:
        expand = _expansion(node)
        if expand is None:
            nodes.append(node)
            continue
        unknown_ranks: list[str] = []
        layer = OnnxLayer(node, value_of, _rank_lookup(ranks, unknown_ranks), opset_of(model))
        try:
            expand(layer)
        except UnsupportedOpError as error:
            if not unknown_ranks:
                raise
            waiting = waiting or error
            nodes.append(node)
            continue
        expanded += 1
        nodes += layer.nodes
        graph.initializer.extend(layer.initializers)
    if not expanded and waiting:
        raise waiting
    replace_nodes(graph, nodes)
    return True


def _rank_lookup(ranks: dict[str, int], unknown_ranks: list[str]) -> Callable[[str], int | None]:
    """Rank of a value by name; values of unknown rank are noted in `unknown_ranks`."""

    def rank(name: str) -> int | None:
        if name not in ranks:
            unknown_ranks.append(name)
        return ranks.get(name)

    return rank


def _expansion(node: onnx.NodeProto) -> Callable[[OnnxLayer], None] | None:
    if node.op_type in ANY_DOMAIN:
        return ANY_DOMAIN[node.op_type]
    return OWN_DOMAIN.get(node.op_type) if node.domain == MICROSOFT else None


def _refuse_layout(node: onnx.NodeProto) -> None:
    if node.domain in LAYOUTS:
        raise UnsupportedOpError(
            f"from_onnx, layer '{node.name}': operator {node.domain}.{node.op_type} uses a memory layout made for "
            f"one CPU; import the model from before onnxruntime's optimizer, or optimize it with {LAYOUTS[node.domain]}"
        )
