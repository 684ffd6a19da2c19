"""A Q/DQ file as a checker reads it: producers, readers, constants, shapes and types by name.

Tests: tests/formats/onnx/exporter/test_dialects.py
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import onnx

QUANTIZE, DEQUANTIZE = "QuantizeLinear", "DequantizeLinear"
SMALL = {"INT4": "int4", "UINT4": "uint4"}
# operators through which codes and floats go unchanged, or nearly: from a layer to where its result is rounded
MOVES = ("Identity", "MaxPool", "Reshape", "Squeeze", "Transpose", "Unsqueeze")
PASSES = ("Relu", "Clip", "LeakyRelu", *MOVES)


class FileView:
    """A model with its tensors by name; sizes of activations are not needed."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.model = model
        self.nodes = list(model.graph.node)
        self._stored: dict[str, onnx.TensorProto] = {}
        self.store(model.graph.initializer)
        self._producer = {name: node for node in self.nodes for name in node.output if name}
        self._arrays: dict[str, np.ndarray] = {}
        for node in self.nodes:
            if node.op_type == "Constant" and node.attribute and node.attribute[0].name == "value":
                self._stored[node.output[0]] = node.attribute[0].t

    def store(self, constants: Iterable[onnx.TensorProto]) -> None:
        """Constants beside those of the model."""
        self._stored |= {tensor.name: tensor for tensor in constants}

    @property
    def opset(self) -> int:
        """The version of the standard operators."""
        return max((entry.version for entry in self.model.opset_import if entry.domain in ("", "ai.onnx")), default=0)

    def of(self, *op_types: str) -> Iterator[onnx.NodeProto]:
        """The nodes of these types, in order."""
        return (node for node in self.nodes if node.op_type in op_types)

    @cached_property
    def readers(self) -> dict[str, list[onnx.NodeProto]]:
        """{tensor: nodes that read it}."""
        readers: dict[str, list[onnx.NodeProto]] = {}
        for node in self.nodes:
            for name in node.input:
                readers.setdefault(name, []).append(node)
        return readers

    def producer(self, name: str) -> onnx.NodeProto | None:
        """The node that makes a tensor; None for inputs and constants."""
        return self._producer.get(name)

    def constant(self, node: onnx.NodeProto, position: int) -> np.ndarray | None:
        """Value of an input that is a constant; None for a computed or absent one."""
        return self.constant_of(node.input[position]) if position < len(node.input) else None

    def constant_of(self, name: str) -> np.ndarray | None:
        """Value of the constant of that name, None for any other tensor; 4-bit codes are held in 8 bits."""
        if name not in self._stored:
            return None
        if name not in self._arrays:
            from onnx import numpy_helper

            array = numpy_helper.to_array(self._stored[name])
            self._arrays[name] = array.astype(np.int8) if self._type(name) in SMALL.values() else array
        return self._arrays[name]

    def _type(self, name: str) -> str:
        from onnx import TensorProto, helper

        kind = self._stored[name].data_type
        text = TensorProto.DataType.Name(kind)
        return SMALL[text] if text in SMALL else str(helper.tensor_dtype_to_np_dtype(kind))

    def code_type(self, node: onnx.NodeProto) -> str:
        """The type of the codes that a conversion makes or takes; "" where the file does not say it beside the node."""
        if len(node.input) > 2 and node.input[2] in self._stored:
            return self._type(node.input[2])
        if node.op_type == DEQUANTIZE and node.input[0] in self._stored:
            return self._type(node.input[0])
        origin = self.producer(node.input[0]) if node.op_type == DEQUANTIZE else None
        if origin is not None and origin.op_type == QUANTIZE:
            return self.code_type(origin)
        return "uint8" if node.op_type == QUANTIZE else ""

    def shape(self, name: str) -> tuple[int, ...] | None:
        """The shape of a constant."""
        return tuple(self._stored[name].dims) if name in self._stored else None

    def attribute(self, node: onnx.NodeProto, name: str, default: Any) -> Any:
        """An attribute of a node."""
        from onnx import helper

        attribute = next((item for item in node.attribute if item.name == name), None)
        return default if attribute is None else helper.get_attribute_value(attribute)

    def is_dequantized(self, name: str) -> bool:
        """True for the result of a DequantizeLinear, also after operators that only move it."""
        node = self.producer(name)
        while node is not None and node.op_type in (
            "Reshape",
            "Transpose",
            "Squeeze",
            "Unsqueeze",
            "MaxPool",
            "Identity",
        ):
            node = self.producer(node.input[0])
        return node is not None and node.op_type == DEQUANTIZE

    def is_quantized(self, name: str) -> bool:
        """True for a tensor that is read by QuantizeLinear alone, an activation between them or not."""
        readers = self.readers.get(name, [])
        return bool(readers) and all(
            node.op_type == QUANTIZE or (node.op_type in PASSES and self.is_quantized(node.output[0]))
            for node in readers
        )

    def real_origin(self, name: str) -> onnx.NodeProto | None:
        """The node whose result a pair of conversions rounds, found through operators that pass it on."""
        node = self.producer(name)
        while node is not None and node.op_type in (DEQUANTIZE, QUANTIZE, *PASSES):
            node = self.producer(node.input[0])
        return node
