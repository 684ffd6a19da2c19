"""Expansion of one ONNX node into several: names, constants, and errors where that is impossible.

Also the refusal of operators and element types that cannot be imported.

Tests: tests/formats/onnx/importer/test_quantized_operators.py
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmq.errors import UnsupportedOpError
from tvmq.formats.importing.importers import SEPARATOR
from tvmq.formats.onnx.importer.expand import LAYER

if TYPE_CHECKING:
    import onnx

ONE_SCALE = "quantize each activation with one scale"


class OnnxLayer:
    """Node that is being expanded: the new nodes and constants so far, all called <node>/<role>.

    constant   value of a tensor by name, None where it is computed
    rank       number of dimensions of a tensor by name, None where it is unknown

    has_unknown_rank   True once such a rank was asked for
    """

    def __init__(
        self,
        node: onnx.NodeProto,
        constant: Callable[[str], np.ndarray | None],
        rank: Callable[[str], int | None] = lambda name: None,
        opset: int = 17,
    ) -> None:
        from onnx import helper

        self.node = node
        self.inputs = list(node.input)
        self.outputs = list(node.output)
        self.attributes: dict[str, Any] = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        self.opset = opset
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self.value = constant
        self._ranks = rank
        self.has_unknown_rank = False

    def rank(self, name: str) -> int | None:
        """Number of dimensions of a tensor, None where it is unknown."""
        rank = self._ranks(name)
        self.has_unknown_rank |= rank is None
        return rank

    def unsupported_error(self, what: str, way_out: str) -> UnsupportedOpError:
        """The error that names the layer."""
        return UnsupportedOpError(f"from_onnx, layer '{self.node.name}': {self.node.op_type}: {what}; {way_out}")

    def has_input(self, index: int) -> bool:
        """True if the node has this input."""
        return index < len(self.inputs) and bool(self.inputs[index])

    def has_output(self, index: int) -> bool:
        """True if the node has this output."""
        return index < len(self.outputs) and bool(self.outputs[index])

    def text(self, name: str, default: str = "") -> str:
        """A text attribute."""
        value = self.attributes.get(name, default)
        return value.decode() if isinstance(value, bytes) else str(value)

    def scale(self, index: int) -> np.ndarray:
        """A constant scale."""
        return np.asarray(self._constant_scale(self.inputs[index]), np.float32)

    def _constant_scale(self, name: str) -> np.ndarray:
        value = self.value(name)
        if value is None:
            raise self.unsupported_error(f"its scale '{name}' is not a constant", "quantize it with constant scales")
        return value

    def emit(self, op_type: str, inputs: Sequence[str], output: str, name: str, **attributes: Any) -> str:
        """Add a node of a standard operator; returns the name of its result."""
        from onnx import helper

        new = helper.make_node(op_type, list(inputs), [output], name, **attributes)
        new.metadata_props.add(key=LAYER, value=self.node.name)
        self.nodes.append(new)
        return output

    def compute(self, op_type: str, inputs: Sequence[str], role: str, **attributes: Any) -> str:
        """Add a node whose result has a role inside of the layer."""
        name = f"{self.node.name}/{role}"
        return self.emit(op_type, inputs, name, name, **attributes)

    def finish(self, op_type: str, inputs: Sequence[str], output: int = 0, **attributes: Any) -> str:
        """Add the node that produces a result of the layer; the first result's node has the layer's name."""
        name = self.node.name if output == 0 else f"{self.node.name}/output_{output}"
        return self.emit(op_type, inputs, self.outputs[output], name, **attributes)

    def constant(self, role: str, value: Any) -> str:
        """Add an initializer; returns its name."""
        from onnx import numpy_helper

        name = f"{self.node.name}/{role}"
        self.initializers.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def number(self, role: str, value: float) -> str:
        """Add a float32 scalar."""
        return self.constant(role, np.float32(value))

    def vector(self, role: str, *values: int) -> str:
        """Add an int64 vector of sizes, axes and the like."""
        return self.constant(role, np.array(values, np.int64))

    def float_input(self, index: int, role: str, axis: int | None = None) -> str:
        """Input `index` in float; its scale and zero point are the two inputs behind it."""
        return self.dequantize([self.inputs[i] for i in range(index, index + 3) if self.has_input(i)], role, axis)

    def dequantize(self, triple: Sequence[str], role: str, axis: int | None = None) -> str:
        """Codes, their scale and their zero point, if there is one, in float."""
        scale = self._constant_scale(triple[1])
        if scale.size > 1 and axis is None:
            raise self.unsupported_error(f"activation '{triple[0]}' has {scale.size} scales", ONE_SCALE)
        return self.compute("DequantizeLinear", triple, role, **({"axis": axis} if scale.size > 1 else {}))

    def bias(self, index: int, x: int, w: int, factor: float = 1.0) -> list[str]:
        """The int32 bias in float, an empty list without one; x and w are the indices of the two scales."""
        if not self.has_input(index):
            return []
        scale = np.asarray(np.float64(self.scale(x)) * np.float64(self.scale(w)) * factor, np.float32)
        scale = scale.reshape(()) if scale.size == 1 else scale.ravel()
        named = {"axis": 0} if scale.size > 1 else {}
        triple = [self.inputs[index], self.constant("bias_scale", scale)]
        return [self.compute("DequantizeLinear", triple, "bias", **named)]

    def round_result(self, op_type: str, inputs: Sequence[str], y: int | None, **attributes: Any) -> None:
        """Add the float operator under the layer's name, and round its result to the scale at input `y`."""
        if y is None or not self.has_input(y):
            self.finish(op_type, inputs, **attributes)
            return
        value = self.emit(op_type, inputs, f"{self.node.name}/y", self.node.name, **attributes)
        if self.scale(y).size > 1:
            raise self.unsupported_error(f"its result has {self.scale(y).size} scales", ONE_SCALE)
        zero = self.inputs[y + 1 : y + 2]
        result = self.outputs[0]
        self.emit("QuantizeLinear", [value, self.inputs[y], *zero], result, f"{self.node.name}/QuantizeLinear")


DOMAINS = frozenset({"", "ai.onnx", "com.microsoft"})
ELEMENT_TYPES = frozenset("BOOL INT8 INT16 INT32 INT64 UINT8 UINT16 UINT32 UINT64 FLOAT16 FLOAT DOUBLE".split())

_REASONS = {
    "If Loop": (
        "control flow that depends on values known only at run time is not supported; fix the input shapes with "
        "shape= if it depends on them, or export the model without it, for example by tracing with fixed inputs"
    ),
    "Scan SequenceMap": (
        "control flow is not supported; export the model without it, for example by tracing with fixed inputs"
    ),
    "Optional OptionalGetElement OptionalHasElement SequenceAt SequenceConstruct SequenceEmpty SequenceErase "
    "SequenceInsert SequenceLength ConcatFromSequence SplitToSequence": (
        "optional values are not supported, nor are sequences that are outputs or whose length or positions are known "
        "only at run time; fix the input shapes with shape=, or export the model with tensors only"
    ),
    "AllClassNMS Compress NonMaxSuppression NonZero Unique": (
        "the shape of its result depends on values; leave it out of the graph and run it after the network"
    ),
}
UNSUPPORTED = {op_type: reason for op_types, reason in _REASONS.items() for op_type in op_types.split()}


def refuse_unknown(nodes: Iterable[onnx.NodeProto], imported: Collection[str]) -> None:
    """Raise UnsupportedOpError for the first node that has no import; the message lists the other operators.

    imported   operators that a converter or a repair imports
    """
    unknown = []
    for node in nodes:
        if node.op_type in UNSUPPORTED:
            raise UnsupportedOpError(f"from_onnx, layer '{node.name}': {node.op_type}: {UNSUPPORTED[node.op_type]}")
        if node.op_type in imported and SEPARATOR in node.op_type:  # of an importer of the user's
            continue
        if node.op_type not in imported or node.domain not in DOMAINS:
            unknown.append((node.domain, f"{node.domain}.{node.op_type}".lstrip("."), node.name))
    if not unknown:
        return
    domain, op_type, name = unknown[0]
    others = sorted({other for _, other, _ in unknown} - {op_type})
    more = f" (nor are {', '.join(others)})" if others else ""
    way_out = "export the model with simpler operators, or leave this part out of the graph"
    if domain == "ai.onnx.ml":
        way_out = "tvmq compiles neural networks; run this part with onnxruntime, before or after the network"
    elif domain not in DOMAINS:
        own = op_type.removeprefix(f"{domain}.")
        way_out = f'register @tvmq.extension.importer("{domain}", "{own}"), or {way_out}'
    raise UnsupportedOpError(f"from_onnx, layer '{name}': operator {op_type} is not supported{more}; {way_out}")


def element_type(code: int, what: str) -> str:
    """NumPy's name of an ONNX element type; `what` is the value that has it, for messages.

    raises UnsupportedOpError for text, complex numbers, 8-bit floats and types below 8 bits.
    """
    from onnx import TensorProto, helper

    name = TensorProto.DataType.Name(code)
    if name not in ELEMENT_TYPES:
        raise UnsupportedOpError(
            f"from_onnx, {what}: element type {name.lower()} is not supported; export the model in float32"
        )
    return str(helper.tensor_dtype_to_np_dtype(code))
