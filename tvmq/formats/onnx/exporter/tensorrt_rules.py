"""The rules of TensorRT for files with QuantizeLinear and DequantizeLinear, as a checker: `check_tensorrt`.

TensorRT itself needs a GPU; what its parser asserts and what its documentation asks for can be checked anywhere. A rule
says whether a file that breaks it is refused, or runs with fewer layers in int8. The sources:

    PARSER     onnx-tensorrt, onnxOpImporters.cpp, QuantDequantLinearHelper and the importers of Conv and Gemm
    OPERATORS  onnx-tensorrt, docs/operators.md; NVIDIA, "ONNX Opset Guide" of TensorRT 11
    LAYERS     NVIDIA, classes IQuantizeLayer and IDequantizeLayer
    PLACEMENT  NVIDIA, "Explicit Quantization": Q/DQ Layer-Placement Recommendations
    BIASES     microsoft/onnxruntime#14229 and onnx/onnx-tensorrt#850

Tests: tests/formats/onnx/exporter/test_dialects.py
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmq.errors import UnsupportedOpError
from tvmq.formats.onnx.exporter.file_view import FileView

if TYPE_CHECKING:
    import onnx

QUANTIZE, DEQUANTIZE = "QuantizeLinear", "DequantizeLinear"
PAIR = (QUANTIZE, DEQUANTIZE)
WEIGHTED = ("Conv", "ConvTranspose", "Gemm", "MatMul")
# they compute new values, so that their results need a scale of their own
COMPUTES = ("Add", "Sub", "Mul", "AveragePool", "GlobalAveragePool", "ReduceMean")
# operators of quantized ONNX without an importer
WITHOUT_IMPORTER = frozenset(
    """
    ConvInteger MatMulInteger QLinearConv QLinearMatMul DynamicQuantizeLinear BitShift Compress ConcatFromSequence Det
    MaxUnpool Multinomial SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SplitToSequence
    StringNormalizer TfIdfVectorizer Unique
    """.split()
)
OLDEST, NEWEST = 13, 25  # opsets; 13 is the first with scales for channels
INT4 = "int4"


@dataclass(frozen=True)
class TensorrtFinding:
    """A rule that a node breaks.

    rule     its name in RULES
    node     name of the node
    text     what is wrong, in numbers
    is_refused  True where TensorRT refuses the file, False where it only computes less in int8
    source   where the rule stands
    """

    rule: str
    node: str
    text: str
    is_refused: bool
    source: str

    def __str__(self) -> str:
        return f"{'refused' if self.is_refused else 'slower'}: '{self.node}': {self.text} ({self.rule}; {self.source})"


@dataclass(frozen=True)
class TensorrtRule:
    """A rule: what it finds in a file, as (node, text)."""

    find: Callable[[FileView], Iterator[tuple[str, str]]]
    is_refused: bool
    source: str


def check_tensorrt(model: onnx.ModelProto | str | os.PathLike[str]) -> list[TensorrtFinding]:
    """Find what TensorRT would refuse of a Q/DQ file, and what keeps layers of it out of int8.

    model    an ONNX file, or what was read of one
    returns  findings in the order of RULES; none of `is_refused` where TensorRT can read the file as far as its rules
             are known here

    >>> from onnx import helper
    >>> check_tensorrt(helper.make_model(helper.make_graph([], "empty", [], [])))
    []
    """
    import onnx

    view = FileView(model if isinstance(model, onnx.ModelProto) else onnx.load(os.fspath(model)))
    return [
        TensorrtFinding(name, node, text, rule.is_refused, rule.source)
        for name, rule in RULES.items()
        for node, text in rule.find(view)
    ]


def require_tensorrt(model: onnx.ModelProto) -> None:
    """raises  UnsupportedOpError with the first finding for which TensorRT refuses a file, and how many there are"""
    refused = [finding for finding in check_tensorrt(model) if finding.is_refused]
    if refused:
        first = refused[0]
        raise UnsupportedOpError(
            f"to_onnx, layer '{first.node}': TensorRT would refuse the file: {first.text} ({len(refused)} such "
            "places); keep this layer in float"
        )


def _opset(view: FileView) -> Iterator[tuple[str, str]]:
    if any(node.op_type in PAIR for node in view.nodes) and not OLDEST <= view.opset <= NEWEST:
        yield view.model.graph.name, f"opset {view.opset}, it reads {OLDEST} to {NEWEST}"


def _importers(view: FileView) -> Iterator[tuple[str, str]]:
    for node in view.nodes:
        if node.op_type in WITHOUT_IMPORTER or node.domain not in ("", "ai.onnx"):
            yield node.name, f"{node.op_type} has no importer"


def _zero_points(view: FileView) -> Iterator[tuple[str, str]]:
    for node in view.of(*PAIR):
        zero = view.constant(node, 2)
        if zero is not None and np.any(zero.astype(np.int64)):
            yield node.name, f"zero point {int(zero.astype(np.int64).reshape(-1)[0])}, it must be 0"


def _types(view: FileView) -> Iterator[tuple[str, str]]:
    """int8; int4 for weights. An int32 bias behind a DequantizeLinear is what onnxruntime writes."""
    for node in view.of(*PAIR):
        dtype = view.code_type(node)
        if dtype == INT4 and node.op_type == DEQUANTIZE and view.constant(node, 0) is not None:
            continue
        if dtype not in ("int8", ""):
            yield node.name, f"codes of {dtype}, it takes int8"


def _scales(view: FileView) -> Iterator[tuple[str, str]]:
    for node in view.of(*PAIR):
        scale = view.constant(node, 1)
        if scale is None:
            yield node.name, "its scale is no constant"
        elif scale.dtype != np.float32 or not scale.size or not (scale > 0).all():
            yield node.name, f"its scale is {scale.reshape(-1)[:1]} of {scale.dtype}, it must be positive float32"


def _scale_sizes(view: FileView) -> Iterator[tuple[str, str]]:
    """Conversions take one scale, one for each channel, or one for each block along a single axis."""
    for node in view.of(*PAIR):
        scale, zero, shape = view.constant(node, 1), view.constant(node, 2), view.shape(node.input[0])
        if scale is None:
            continue
        if zero is not None and zero.size != scale.size:
            yield node.name, f"{scale.size} scales and {zero.size} zero points"
        if scale.size == 1 or shape is None:
            continue
        axis = view.attribute(node, "axis", 1)
        if scale.ndim == 1 and shape[axis] != scale.size:
            yield node.name, f"{scale.size} scales for {shape[axis]} channels of axis {axis}"
        if scale.ndim > 1 and not _is_blocked(scale.shape, shape):
            yield node.name, f"scales of shape {scale.shape} for codes of shape {shape}, one axis alone may have blocks"


def _is_blocked(scales: tuple[int, ...], codes: tuple[int, ...]) -> bool:
    if len(scales) != len(codes) or any(c % s for s, c in zip(scales, codes, strict=True)):
        return False
    along = [axis for axis, (s, c) in enumerate(zip(scales, codes, strict=True)) if s != c]
    return len(along) <= 1 and all(axis >= len(codes) - 2 for axis in along)


def _activations(view: FileView) -> Iterator[tuple[str, str]]:
    for node in view.of(QUANTIZE):
        scale = view.constant(node, 1)
        if scale is not None and scale.size != 1 and view.constant(node, 0) is None:
            yield node.name, f"{scale.size} scales for an activation, it takes one"


def _halves(view: FileView) -> Iterator[tuple[str, str]]:
    for node in view.of(DEQUANTIZE):
        codes = view.constant(node, 0)
        if codes is not None and view.code_type(node) == INT4 and codes.size % 2:
            yield node.name, f"{codes.size} codes of 4 bits, their number must be even"


def _biases(view: FileView) -> Iterator[tuple[str, str]]:
    """A bias is a float constant of one axis, as long as the channels; Gemm takes others, but not int32 ones."""
    for node in view.of("Conv", "ConvTranspose", "Gemm"):
        if len(node.input) < 3 or not node.input[2]:
            continue
        bias = view.constant(node, 2)
        if bias is None and node.op_type != "Gemm":
            yield node.name, "its bias is no constant"
        elif bias is not None and (bias.dtype != np.float32 or (bias.ndim != 1 and node.op_type != "Gemm")):
            yield node.name, f"its bias is {bias.dtype} of shape {bias.shape}, it must be float32 of one axis"


def _weight_axes(view: FileView) -> Iterator[tuple[str, str]]:
    """The scales of a weight lie along its output channels."""
    for node in view.of(*WEIGHTED):
        origin = view.producer(node.input[1])
        scale = view.constant(origin, 1) if origin is not None and origin.op_type == DEQUANTIZE else None
        shape = view.shape(origin.input[0]) if origin is not None else None
        if origin is None or scale is None or scale.size == 1 or scale.ndim > 1 or shape is None:
            continue
        axis, wanted = view.attribute(origin, "axis", 1) % len(shape), _channel_axis(view, node, len(shape))
        if axis != wanted:
            yield node.name, f"its weight has scales along axis {axis}, its output channels are axis {wanted}"


def _channel_axis(view: FileView, node: Any, rank: int) -> int:
    if node.op_type == "Conv" or (node.op_type == "Gemm" and view.attribute(node, "transB", 0)):
        return 0
    return 1 if node.op_type == "ConvTranspose" else rank - 1


def _both_inputs(view: FileView) -> Iterator[tuple[str, str]]:
    for node in view.of(*WEIGHTED):
        quantized = [view.is_dequantized(name) for name in node.input[:2]]
        if any(quantized) and not all(quantized):
            missing = "activation" if quantized[1] else "weight"
            yield node.name, f"its {missing} is not quantized, so it computes in floats"


def _before_activations(view: FileView) -> Iterator[tuple[str, str]]:
    """A rounding between a layer and its Relu keeps the two from being one."""
    for node in view.of("Relu"):
        origin = view.real_origin(node.input[0])
        if origin is not None and view.is_dequantized(node.input[0]) and origin.op_type in WEIGHTED:
            yield node.name, f"QuantizeLinear stands between '{origin.name}' and its Relu"


def _results(view: FileView) -> Iterator[tuple[str, str]]:
    for node in view.of(*COMPUTES):
        reads = [name for name in node.input if view.constant_of(name) is None]
        if not reads or not all(map(view.is_dequantized, reads)):
            continue
        if not view.is_quantized(node.output[0]):
            yield node.name, f"{node.op_type} reads int8 and its result is not quantized, so it computes in floats"


def _residuals(view: FileView) -> Iterator[tuple[str, str]]:
    """A sum is part of the convolution before it where only the other branch is quantized."""
    for node in view.of("Add"):
        if len(node.input) != 2 or not all(map(view.is_dequantized, node.input)):
            continue
        weighted = [view.real_origin(name) for name in node.input]
        origins = [origin for origin in weighted if origin is not None and origin.op_type in WEIGHTED]
        if origins:
            last = max(origins, key=view.nodes.index)
            yield node.name, f"both its inputs are quantized, so it is a layer beside '{last.name}' and not part of it"


PARSER, LAYERS, BIASES = "QuantDequantLinearHelper", "IQuantizeLayer", "onnxruntime#14229, onnx-tensorrt#850"
OPERATORS, PLACEMENT = "operators.md", "Q/DQ Layer-Placement Recommendations"
RULES: dict[str, TensorrtRule] = {
    "opset": TensorrtRule(_opset, True, "ONNX Opset Guide"),
    "importers": TensorrtRule(_importers, True, OPERATORS),
    "zero points": TensorrtRule(_zero_points, True, PARSER),
    "types": TensorrtRule(_types, True, BIASES),
    "scales": TensorrtRule(_scales, True, PARSER),
    "sizes of scales": TensorrtRule(_scale_sizes, True, PARSER),
    "activations": TensorrtRule(_activations, True, PARSER),
    "halves of bytes": TensorrtRule(_halves, True, PARSER),
    "biases": TensorrtRule(_biases, True, BIASES),
    "axes of weights": TensorrtRule(_weight_axes, False, LAYERS),
    "both inputs": TensorrtRule(_both_inputs, False, PLACEMENT),
    "before activations": TensorrtRule(_before_activations, False, PLACEMENT),
    "results": TensorrtRule(_results, False, PLACEMENT),
    "residual sums": TensorrtRule(_residuals, False, PLACEMENT),
}
