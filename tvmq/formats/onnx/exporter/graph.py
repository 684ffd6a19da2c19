"""The ONNX graph that is being written: unique names, constants, conversions with the names that onnxruntime gives.

Sizes that only a run tells, as ONNX nodes: Shape of an input, Gather of an axis, arithmetic, Concat.

Tests: tests/formats/onnx/exporter/test_dynamic_shapes.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmq.graph.names import UniqueNames

if TYPE_CHECKING:
    import onnx
import tvm

from tvmq import numerics
from tvmq.errors import UnsupportedOpError
from tvmq.formats.onnx.exporter.dialects import Form
from tvmq.graph.size_text import size_text
from tvmq.graph.sizes import is_number

ARITHMETIC = {
    tvm.tirx.Add: "Add",
    tvm.tirx.Sub: "Sub",
    tvm.tirx.Mul: "Mul",
    tvm.tirx.FloorDiv: "Div",
    tvm.tirx.Min: "Min",
    tvm.tirx.Max: "Max",
}


class DynamicSizes:
    """Writes dynamic sizes into a graph, each dimension once.

    places  {dynamic dimension: (input, axis) where it stands}
    """

    def __init__(self, graph: OnnxGraph, places: Mapping[str, tuple[str, int]]) -> None:
        self._graph, self._places = graph, places
        self._dimensions: dict[str, str] = {}

    def vector(self, sizes: Sequence[Any], layer: str, name: str) -> str:
        """The name of an int64 vector of these sizes."""
        parts = [self._size(size, layer, f"{name}_{i}") for i, size in enumerate(sizes)]
        return self._graph.node("Concat", parts, f"{layer}/Concat", name, axis=0)

    def _size(self, size: Any, layer: str, name: str) -> str:
        """The name of a vector of one size."""
        if is_number(size):
            return self._graph.constant(np.asarray([int(size)], np.int64), name)
        if isinstance(size, tvm.ir.Var) and size.name in self._places:
            return self._dimension(str(size.name))
        operator = ARITHMETIC.get(type(size))
        if operator is None:
            raise UnsupportedOpError(
                f"to_onnx, layer '{layer}': the size {size_text(size)} has no equivalent in ONNX; fix the sizes: "
                "from_onnx(..., shape=...)"
            )
        parts = [self._size(part, layer, f"{name}_{i}") for i, part in enumerate((size.a, size.b))]
        return self._graph.node(operator, parts, f"{layer}/{operator}", name)

    def _dimension(self, name: str) -> str:
        if name not in self._dimensions:
            input_name, axis = self._places[name]
            shape = self._graph.node("Shape", [input_name], f"{input_name}/Shape", f"{input_name}_shape")
            index = self._graph.constant(np.asarray([axis], np.int64), f"{name}_axis")
            self._dimensions[name] = self._graph.node("Gather", [shape, index], f"{input_name}/Gather", name, axis=0)
        return self._dimensions[name]


@dataclass(frozen=True)
class Scale:
    """Scale and zero point of codes: numbers, or one entry a channel of `axis`.

    dtype   NumPy's name of the codes' type, "int4" for what NumPy lacks
    block   how many codes along `axis` share a scale; the scale has the rank of the codes then
    """

    scale: np.ndarray
    zero_point: np.ndarray
    dtype: str
    axis: int | None = None
    block: int = 0


@dataclass(frozen=True)
class CodedTensor:
    """A quantized tensor: names of its codes and of the dequantized tensor, and the scale of the codes."""

    codes: str
    real: str
    scale: Scale


def int64s(values: Sequence[int]) -> np.ndarray:
    """Integers as ONNX takes axes and shapes."""
    return np.asarray(values, np.int64)


class OnnxGraph:
    """Collects nodes and initializers; every method returns the name of a tensor."""

    def __init__(
        self, reserved: Sequence[str], places: Mapping[str, tuple[str, int]] | None = None, form: Form | None = None
    ) -> None:
        self.dynamic_sizes = DynamicSizes(self, places or {})
        self.form = form or Form()
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self._tensor = UniqueNames(reserved)
        self._node = UniqueNames()

    def tensor(self, wanted: str) -> str:
        """A name that no other tensor has."""
        return self._tensor(wanted)

    def constant(self, value: Any, wanted: str) -> str:
        """An initializer."""
        from onnx import numpy_helper

        name = self.tensor(wanted)
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(value).reshape(np.shape(value)), name))
        return name

    def codes(self, value: np.ndarray, wanted: str, dtype: str) -> str:
        """An initializer of codes; of 4 bits two to a byte, the first of two in the low half."""
        if dtype != "int4":
            return self.constant(np.asarray(value).astype(dtype), wanted)
        from onnx import TensorProto, helper

        name, packed = self.tensor(wanted), numerics.pack_int4(np.asarray(value).astype(np.int8))
        kind = TensorProto.INT4
        self.initializers.append(helper.make_tensor(name, kind, np.shape(value), packed.tobytes(), raw=True))
        return name

    def node(self, op_type: str, inputs: Sequence[str], layer: str, result: str, **attributes: Any) -> str:
        """Add a node of one result; its name."""
        return self.nodes_of(op_type, inputs, layer, [result], **attributes)[0]

    def nodes_of(
        self, op_type: str, inputs: Sequence[str], layer: str, results: Sequence[str], **attributes: Any
    ) -> list[str]:
        """Add a node of several results; their names."""
        from onnx import helper

        names = [self.tensor(result) for result in results]
        self.nodes.append(helper.make_node(op_type, list(inputs), names, self._node(layer), **attributes))
        return names

    def quantize(self, x: str, name: str, scale: Scale) -> CodedTensor:
        """QuantizeLinear and DequantizeLinear of an activation."""
        numbers = self._numbers(name, scale)
        codes = self.node("QuantizeLinear", [x, *numbers], f"{name}_QuantizeLinear", f"{name}_QuantizeLinear_Output")
        return CodedTensor(codes, self._dequantize(codes, numbers, name, scale), scale)

    def dequantize_codes(self, codes: str, name: str, scale: Scale) -> CodedTensor:
        """DequantizeLinear of codes that the graph has already."""
        return CodedTensor(codes, self._dequantize(codes, self._numbers(name, scale), name, scale), scale)

    def weight(self, codes: np.ndarray, name: str, scale: Scale) -> str:
        """Add a constant as codes with a DequantizeLinear; the name of its result."""
        if name in self.form.narrow and numerics.fits_int4(codes):
            scale = replace(scale, dtype="int4")
        stored = self.codes(codes, f"{name}_quantized", scale.dtype)
        return self._dequantize(stored, self._numbers(name, scale), name, scale)

    def _numbers(self, name: str, scale: Scale) -> list[str]:
        zero = np.broadcast_to(np.asarray(scale.zero_point), np.shape(scale.scale))
        return [
            self.constant(np.asarray(scale.scale, np.float32), f"{name}_scale"),
            self.codes(zero, f"{name}_zero_point", scale.dtype),
        ]

    def _dequantize(self, codes: str, numbers: list[str], name: str, scale: Scale) -> str:
        attributes = {"axis": scale.axis} if scale.axis is not None else {}
        attributes |= {"block_size": scale.block} if scale.block else {}
        result = f"{name}_DequantizeLinear_Output"
        return self.node("DequantizeLinear", [codes, *numbers], f"{name}_DequantizeLinear", result, **attributes)

    def rename(self, old: str, new: str, kept: set[str], layer: str) -> None:
        """Give a tensor the name of an output; an Identity where it bears one of the names `kept` already."""
        from onnx import helper

        if old in kept or any(tensor.name == old for tensor in self.initializers):
            self.nodes.append(helper.make_node("Identity", [old], [new], self._node(f"{layer}/Identity")))
            return
        for node in self.nodes:
            for names in (node.input, node.output):
                for i, name in enumerate(names):
                    if name == old:
                        names[i] = new
