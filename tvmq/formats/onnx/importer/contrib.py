"""Replaces onnxruntime's operators (com.microsoft), some of ai.onnx.ml, and operators on codes, by standard ones.

onnxruntime's quantizer and optimizer write them, and sklearn's converters; shape inference, folding and all later
stages know standard ones only.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tvmq.errors import UnsupportedOpError
from tvmq.formats.onnx.importer.attention import ATTENTION
from tvmq.formats.onnx.importer.bodies import Replacement, constant_lookup, constants_of, replace_each
from tvmq.formats.onnx.importer.dynamic_products import DYNAMIC
from tvmq.formats.onnx.importer.fused_operators import FUSED
from tvmq.formats.onnx.importer.layer import OnnxLayer
from tvmq.formats.onnx.importer.load import opset_of
from tvmq.formats.onnx.importer.nbits import NBITS
from tvmq.formats.onnx.importer.preparation_operators import PREPARATION
from tvmq.formats.onnx.importer.quantized_operators import QUANTIZED
from tvmq.formats.onnx.importer.shapes import dimensions

if TYPE_CHECKING:
    import onnx

MICROSOFT = "com.microsoft"
ANY_DOMAIN = {**QUANTIZED, "SimplifiedLayerNormalization": FUSED["SimplifiedLayerNormalization"]}
DOMAINS = {MICROSOFT: {**FUSED, **ATTENTION, **DYNAMIC, **NBITS}, "ai.onnx.ml": PREPARATION}
CONVERSIONS = ("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "ConvInteger", "MatMulInteger")
OPERATORS = frozenset({*QUANTIZED, *DYNAMIC, *NBITS, *CONVERSIONS, "QAttention"})
LAYOUTS = ("com.microsoft.nchwc", "com.ms.internal.nhwc")


def carries_scales(path: Path) -> bool:
    """True for an ONNX file that is quantized already; False for all other files."""
    import onnx

    try:
        model = onnx.load(str(path), load_external_data=False)
    except Exception:  # whoever imports it says what is wrong with it
        return False
    return any(node.op_type in OPERATORS for node in model.graph.node)


def expand_contrib(model: onnx.ModelProto) -> bool:
    """Expand such nodes (in place); True if there were any. Types of values must be inferred again.

    A node whose expansion needs an unknown rank waits until shape inference has it.

    raises   UnsupportedOpError naming the layer: forms without an expansion, and memory layouts of one CPU
    """
    graph = model.graph
    for node in graph.node:
        if node.domain in LAYOUTS:
            raise UnsupportedOpError(
                f"from_onnx, layer '{node.name}': operator {node.domain}.{node.op_type} uses a memory layout made for "
                f"one CPU; import the model from before onnxruntime's optimizer, or optimize with ORT_ENABLE_EXTENDED"
            )
    ranks = {name: len(tensor.dims) for name, tensor in constants_of(graph).items()}
    for info in [*graph.input, *graph.value_info]:
        dims = dimensions(info)
        if dims is not None:
            ranks[info.name] = len(dims)
    value, waiting = constant_lookup(graph), []

    def expand(node: onnx.NodeProto) -> Replacement | None:
        expansion = _expansion(node)
        if expansion is None:
            return None
        layer = OnnxLayer(node, value, ranks.get, opset_of(model))
        try:
            expansion(layer)
        except UnsupportedOpError as error:
            if not layer.has_unknown_rank:
                raise
            waiting.append(error)
            return None
        return layer.nodes, layer.initializers

    is_any = replace_each(model, expand)
    if waiting and not is_any:
        raise waiting[0]
    return is_any


def _expansion(node: onnx.NodeProto) -> Callable[[OnnxLayer], None] | None:
    if node.op_type in ANY_DOMAIN:
        return ANY_DOMAIN[node.op_type]
    return DOMAINS.get(node.domain, {}).get(node.op_type)
