"""Operators on quantized tensors (QLinearConv and its kind) as DequantizeLinear, the float operator, QuantizeLinear.

Before                                           After
    y = QLinearConv(x, w, bias)   'conv'             x_f = DequantizeLinear(x)               'conv/x'
                                                     w_f = DequantizeLinear(w, axis=0)       'conv/w'
                                                     b_f = DequantizeLinear(bias, s_x * s_w) 'conv/bias'
                                                     y_f = Conv(x_f, w_f, b_f)               'conv'
                                                     y = QuantizeLinear(y_f)                 'conv/y'

Also those of com.microsoft that onnxruntime's quantizer writes. All nodes belong to the layer they came from.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmq.errors import UnsupportedOpError
from tvmq.frontends.onnx_expand import LAYER

if TYPE_CHECKING:
    import onnx

CONVERSIONS = ("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "ConvInteger", "MatMulInteger")


def carries_scales(path: Path) -> bool:
    """True for an ONNX file that is quantized already; False for others and for what is no ONNX file."""
    import onnx

    try:
        model = onnx.load(str(path), load_external_data=False)
    except Exception:  # whoever imports it says what is wrong with it
        return False
    return any(node.op_type in EXPANSIONS or node.op_type in CONVERSIONS for node in model.graph.node)


def expand_quantized(model: onnx.ModelProto) -> onnx.ModelProto:
    """Replace the nodes of EXPANSIONS (in place).

    raises UnsupportedOpError naming the layer, for scales that are computed and for layouts that are not ONNX's
    """
    from onnx import numpy_helper

    graph = model.graph
    if not any(node.op_type in EXPANSIONS for node in graph.node):
        return model
    constants = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            constants[node.output[0]] = node.attribute[0].t
    nodes: list[onnx.NodeProto] = []
    for node in graph.node:
        if node.op_type not in EXPANSIONS:
            nodes.append(node)
            continue
        layer = _Layer(node, lambda name: numpy_helper.to_array(constants[name]) if name in constants else None)
        EXPANSIONS[node.op_type](layer)
        nodes += layer.nodes
        graph.initializer.extend(layer.initializers)
    copies = [_copy(node) for node in nodes]
    del graph.node[:]
    graph.node.extend(copies)
    return model


def _copy(node: onnx.NodeProto) -> onnx.NodeProto:
    import onnx

    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    return copy


class _Layer:
    """One node that is being expanded: the new nodes and constants so far."""

    def __init__(self, node: onnx.NodeProto, constant: Callable[[str], np.ndarray | None]) -> None:
        from onnx import helper

        self.node = node
        self.inputs = list(node.input)
        self.attributes: dict[str, Any] = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self._constant = constant
        if self.attributes.pop("channels_last", 0):
            raise self.unsupported("channels_last is not supported", "quantize the model in ONNX's own layout")

    def unsupported(self, what: str, way_out: str) -> UnsupportedOpError:
        """The error that names the layer."""
        return UnsupportedOpError(f"from_onnx, layer '{self.node.name}': {self.node.op_type}: {what}; {way_out}")

    def given(self, index: int) -> bool:
        """True if the node has this input."""
        return index < len(self.inputs) and bool(self.inputs[index])

    def scale(self, index: int) -> np.ndarray:
        """A constant scale."""
        value = self._constant(self.inputs[index])
        if value is None:
            raise self.unsupported(f"its scale '{self.inputs[index]}' is computed", "quantize with constant scales")
        return np.asarray(value, np.float32)

    def emit(self, op_type: str, inputs: list[str], output: str, name: str, **attributes: Any) -> str:
        """A new node of ONNX's own operators; gives the name of its result."""
        from onnx import helper

        new = helper.make_node(op_type, inputs, [output], name, **attributes)
        new.metadata_props.add(key=LAYER, value=self.node.name)
        self.nodes.append(new)
        return output

    def dequantized(self, index: int, role: str, axis: int | None = None) -> str:
        """Input `index` in float; its scale and zero point are the two inputs behind it."""
        scale = self.scale(index + 1)
        if scale.size > 1 and axis is None:
            raise self.unsupported(f"{scale.size} scales for '{self.inputs[index]}'", "give an activation one scale")
        named = {"axis": axis} if scale.size > 1 else {}
        output = f"{self.node.name}/{role}"
        return self.emit("DequantizeLinear", self.inputs[index : index + 3], output, output, **named)

    def bias(self, index: int, x: int, w: int, factor: float = 1.0) -> list[str]:
        """The int32 bias in float, nothing where there is none; x and w are the places of the two scales."""
        if not self.given(index):
            return []
        scale = np.asarray(np.float64(self.scale(x)) * np.float64(self.scale(w)) * factor, np.float32)
        scale = scale.reshape(()) if scale.size == 1 else scale.ravel()
        name, output = self.constant("bias_scale", scale), f"{self.node.name}/bias"
        named = {"axis": 0} if scale.size > 1 else {}
        return [self.emit("DequantizeLinear", [self.inputs[index], name], output, output, **named)]

    def constant(self, role: str, value: np.ndarray) -> str:
        """A new initializer."""
        from onnx import numpy_helper

        name = f"{self.node.name}/{role}"
        self.initializers.append(numpy_helper.from_array(value, name))
        return name

    def compute(self, op_type: str, inputs: list[str], y: int | None, **attributes: Any) -> None:
        """The float operator under the layer's name, and the rounding of its result to the scale at input `y`."""
        result = self.node.output[0]
        if y is None or not self.given(y):
            self.emit(op_type, inputs, result, self.node.name, **attributes)
            return
        value = self.emit(op_type, inputs, f"{self.node.name}/y", self.node.name, **attributes)
        if self.scale(y).size > 1:
            raise self.unsupported(f"{self.scale(y).size} scales for its result", "give an activation one scale")
        zero = self.inputs[y + 1 : y + 2]
        self.emit("QuantizeLinear", [value, self.inputs[y], *zero], result, f"{self.node.name}/QuantizeLinear")


def _conv(layer: _Layer) -> None:
    x, w = layer.dequantized(0, "x"), layer.dequantized(3, "w", axis=0)
    layer.compute("Conv", [x, w, *layer.bias(8, 1, 4)], 6, **layer.attributes)


def _matmul(layer: _Layer) -> None:
    a, b = layer.dequantized(0, "a"), layer.dequantized(3, "b", axis=-1)
    layer.compute("MatMul", [a, b], 6)


def _gemm(layer: _Layer) -> None:
    rows = bool(layer.attributes.get("transB", 0))
    a, b = layer.dequantized(0, "a"), layer.dequantized(3, "b", axis=0 if rows else 1)
    alpha = float(layer.attributes.get("alpha", 1.0))
    layer.compute("Gemm", [a, b, *layer.bias(6, 1, 4, alpha)], 7, **layer.attributes)


def _binary(op_type: str) -> Callable[[_Layer], None]:
    return lambda layer: layer.compute(op_type, [layer.dequantized(0, "a"), layer.dequantized(3, "b")], 6)


def _unary(op_type: str) -> Callable[[_Layer], None]:
    return lambda layer: layer.compute(op_type, [layer.dequantized(0, "x")], 3, **layer.attributes)


def _softmax(layer: _Layer) -> None:
    if layer.attributes.pop("opset", 13) < 13 and layer.attributes.get("axis", 1) != -1:
        raise layer.unsupported("the softmax of opset 12 over several axes", "export with opset 13 or newer")
    layer.compute("Softmax", [layer.dequantized(0, "x")], 3, **layer.attributes)


def _concat(layer: _Layer) -> None:
    parts = [layer.dequantized(i, f"part_{(i - 2) // 3}") for i in range(2, len(layer.inputs), 3)]
    layer.compute("Concat", parts, 0, **layer.attributes)


EXPANSIONS: dict[str, Callable[[_Layer], None]] = {
    "QGemm": _gemm,
    "QLinearAdd": _binary("Add"),
    "QLinearAveragePool": _unary("AveragePool"),
    "QLinearConcat": _concat,
    "QLinearConv": _conv,
    "QLinearGlobalAveragePool": _unary("GlobalAveragePool"),
    "QLinearLeakyRelu": _unary("LeakyRelu"),
    "QLinearMatMul": _matmul,
    "QLinearMul": _binary("Mul"),
    "QLinearSigmoid": _unary("Sigmoid"),
    "QLinearSoftmax": _softmax,
}
