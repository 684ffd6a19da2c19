"""A Q/DQ graph as a torch module: float operators between those of torch.ops.quantized_decomposed.

The graph is the one that exporters/onnx/ writes: there scales of weights are found again, and tables become the
functions they were made of. Here each of its nodes becomes a torch function, its constants become buffers.

Tests: tests/formats/torch/exporter/test_onnx_operators.py
"""

from __future__ import annotations

import importlib
import operator
import re
from contextlib import suppress
from typing import Any

import numpy as np
import onnx
import torch
from onnx import helper
from torch import fx

from tvmq.errors import UnsupportedOpError
from tvmq.formats.onnx.exporter.file_view import DEQUANTIZE, QUANTIZE, FileView
from tvmq.formats.torch.exporter.onnx_operators import FUNCTIONS, run
from tvmq.graph.names import UniqueNames

with suppress(ImportError):  # registers the operators
    importlib.import_module("torch.ao.quantization.fx._decomposed")

DECOMPOSED = torch.ops.quantized_decomposed
TYPES = {"int4": torch.int8, "int8": torch.int8, "uint8": torch.uint8, "int16": torch.int16, "int32": torch.int32}
PRODUCTS = ("Gemm", "MatMul")
LINEAR = torch.nn.functional.linear
# operator -> inputs that are sizes, axes, places or bounds: numbers of Python where they are constants
NUMBERS = {
    "Clip": (1, 2), "Expand": (1,), "Gather": (1,), "Pad": (1, 2), "ReduceMax": (1,), "ReduceMean": (1,),
    "ReduceMin": (1,), "ReduceSum": (1,), "Reshape": (1,), "Resize": (1, 2, 3), "Slice": (1, 2, 3, 4), "Split": (1,),
    "Squeeze": (1,), "Tile": (1,), "Unsqueeze": (1,),
}  # fmt: skip
SIZES = ("Add", "Concat", "Div", "Gather", "Max", "Min", "Mul", "Shape", "Sub")  # they compute sizes, too


class TorchBuilder:
    """Writes one graph; `values` holds what each tensor became: a node, or numbers."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.model, self.view = model, FileView(model)
        self.root, self.graph = torch.nn.Module(), fx.Graph()
        self.values: dict[str, Any] = {"": None}
        self._name = UniqueNames()
        self._buffers: dict[str, fx.Node] = {}
        self._sizes: set[str] = set()
        self.transposed_weights = self._find_transposed_weights()

    def module(self) -> fx.GraphModule:
        """The module, in evaluation mode."""
        for value in self.model.graph.input:
            self.values[value.name] = self.graph.placeholder(_identifier(value.name))
        for node in self.view.nodes:
            self._write(node)
        return self._finish([self._read(value.name) for value in self.model.graph.output])

    def _finish(self, results: list[Any]) -> fx.GraphModule:
        self.graph.output(results[0] if len(results) == 1 else tuple(results))
        self.graph.eliminate_dead_code()
        self.graph.lint()
        return fx.GraphModule(self.root, self.graph, "QuantizedNetwork").eval()

    # ---- nodes

    def _write(self, node: onnx.NodeProto) -> None:
        if node.op_type == QUANTIZE:
            result = self._quantize(node)
        elif node.op_type == DEQUANTIZE:
            result = self._dequantize(node)
        elif node.op_type in PRODUCTS and node.input[1] in self.transposed_weights:
            result = self.graph.call_function(LINEAR, tuple(map(self._read, node.input)))
        elif node.op_type in FUNCTIONS:
            result = self._function(node)
        else:
            raise UnsupportedOpError(
                f"to_torch, layer '{node.name}': {node.op_type} has no equivalent in torch; keep the module, or leave "
                "the layer out"
            )
        if len(node.output) == 1:
            self.values[node.output[0]] = result
            return
        for position, name in enumerate(node.output):
            self.values[name] = self.graph.call_function(operator.getitem, (result, position))

    def _function(self, node: onnx.NodeProto) -> Any:
        attributes = {item.name: _python_value(helper.get_attribute_value(item)) for item in node.attribute}
        if node.op_type == "Cast":
            attributes["to"] = getattr(torch, str(helper.tensor_dtype_to_np_dtype(attributes["to"])))
        of_sizes = node.op_type == "Shape" or (node.op_type in SIZES and node.input[0] in self._sizes)
        if of_sizes:
            self._sizes.update(node.output)
        numbers = range(len(node.input)) if of_sizes else NUMBERS.get(node.op_type, ())
        inputs = [self._number(name) if i in numbers else self._read(name) for i, name in enumerate(node.input)]
        return self.graph.call_function(run, (node.op_type, attributes, *inputs))

    def _read(self, name: str) -> Any:
        """A tensor: what a node made, or a buffer."""
        return self.values[name] if name in self.values else self._buffer(name, self.view.constant_of(name))

    def _number(self, name: str) -> Any:
        """Numbers of Python where they are constants, and what a node made otherwise."""
        value = self.view.constant_of(name)
        return self.values[name] if value is None else value.tolist()

    def _buffer(self, name: str, value: Any) -> fx.Node:
        if name not in self._buffers:
            stored = self._name(_identifier(name))
            self.root.register_buffer(stored, torch.from_numpy(np.array(value)))
            self._buffers[name] = self.graph.get_attr(stored)
        return self._buffers[name]

    # ---- conversions

    def _quantize(self, node: onnx.NodeProto) -> fx.Node:
        """Codes that end at -127 were clipped in floats before; here the operator has bounds of its own."""
        scale, zero, dtype = conversion_codes(self.view, node)
        low, high = bounds_of(dtype)
        source, origin = node.input[0], self.view.producer(node.input[0])
        if origin is not None and origin.op_type == "Clip":
            bounds = [self.view.constant(origin, position) for position in (1, 2)]
            steps = [None if b is None else int(np.rint(b / scale)) + int(zero) for b in bounds]
            if steps == [low + 1, high]:
                source, low = origin.input[0], low + 1
        arguments = (self._read(source), float(scale), int(zero), low, high, dtype)
        name = _identifier(node.output[0])
        return self.graph.create_node("call_function", DECOMPOSED.quantize_per_tensor.default, arguments, name=name)

    def _dequantize(self, node: onnx.NodeProto) -> fx.Node:
        scale, zero, dtype = conversion_codes(self.view, node)
        codes = self.view.constant(node, 0)
        if codes is None:
            arguments = (self._read(node.input[0]), float(scale), int(zero), *bounds_of(dtype), dtype)
            return self.graph.call_function(DECOMPOSED.dequantize_per_tensor.default, arguments)
        return self._weight(node, codes, scale, zero, dtype)

    def _weight(
        self, node: onnx.NodeProto, codes: np.ndarray, scale: np.ndarray, zero: np.ndarray, dtype: torch.dtype
    ) -> fx.Node:
        bounds = bounds_of(dtype, codes, narrow=self.view.code_type(node) == "int4")
        axis, block = self.view.attribute(node, "axis", 1), self.view.attribute(node, "block_size", 0)
        if node.output[0] in self.transposed_weights:
            codes, scale, axis = codes.T, scale.T, 1 - axis
        stored = self._buffer(node.input[0], codes)
        if block:
            return self._blocks(node, stored, scale, axis, block)
        if scale.size == 1:
            arguments: tuple[Any, ...] = (stored, float(scale.reshape(())), int(zero.reshape(-1)[0]), *bounds, dtype)
            return self.graph.call_function(DECOMPOSED.dequantize_per_tensor.default, arguments)
        zeros = np.broadcast_to(zero, scale.shape).astype(np.int64)
        numbers = self._buffer(node.input[1], scale), self._buffer(f"{node.input[1]}_zeros", zeros)
        arguments = (stored, *numbers, axis, *bounds, dtype)
        return self.graph.call_function(DECOMPOSED.dequantize_per_channel.default, arguments)

    def _blocks(self, node: onnx.NodeProto, stored: fx.Node, scale: np.ndarray, axis: int, block: int) -> fx.Node:
        """Groups along the inputs of a product have an operator; others are scaled in floats."""
        scales = self._buffer(node.input[1], scale)
        if node.output[0] in self.transposed_weights and axis == 1:
            arguments = (stored, scales, None, -8, 7, torch.int8, block, torch.float32)
            return self.graph.call_function(DECOMPOSED.dequantize_per_channel_group.default, arguments)
        return self.graph.call_function(run, ("Blocks", {"axis": axis, "block": block}, stored, scales))

    def _find_transposed_weights(self) -> set[str]:
        """Names of weights that only products read: torch stores them with the outputs first."""
        weights = set()
        for node in self.view.of(DEQUANTIZE):
            codes, readers = self.view.constant(node, 0), self.view.readers.get(node.output[0], [])
            is_factor = all(r.op_type in PRODUCTS and list(r.input).index(node.output[0]) == 1 for r in readers)
            if codes is not None and codes.ndim == 2 and readers and is_factor:
                weights.add(node.output[0])
        return weights


def conversion_codes(view: FileView, node: onnx.NodeProto) -> tuple[np.ndarray, np.ndarray, torch.dtype]:
    """Scale, zero point, and the type that holds the codes."""
    scale, zero = view.constant(node, 1), view.constant(node, 2)
    assert scale is not None and zero is not None  # what our exporter writes
    return scale, zero.astype(np.int64), TYPES[view.code_type(node)]


def bounds_of(dtype: torch.dtype, codes: np.ndarray | None = None, *, narrow: bool = False) -> tuple[int, int]:
    """Lowest and highest code of a type; of a weight -127 where it has no lower one.

    >>> bounds_of(torch.int8), bounds_of(torch.int8, np.int8([3, -127])), bounds_of(torch.int8, narrow=True)
    ((-128, 127), (-127, 127), (-8, 7))
    """
    if narrow:
        return -8, 7
    limits = torch.iinfo(dtype)
    is_symmetric = codes is not None and codes.size > 0 and int(codes.min()) > limits.min and limits.min < 0
    return limits.min + int(is_symmetric), limits.max


def _identifier(name: str) -> str:
    """Python identifier for a name of ONNX."""
    text = re.sub(r"\W", "_", name).strip("_") or "x"
    return f"_{text}" if text[0].isdigit() else text


def _python_value(value: Any) -> Any:
    """Python value of an attribute."""
    return value.decode() if isinstance(value, bytes) else value
