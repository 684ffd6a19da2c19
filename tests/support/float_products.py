"""Integer products of an ONNX model, written out in float operators by their specification.

On CPUs without VNNI onnxruntime adds pairs of integer products in 16 bits, which saturate: what its integer kernels give
there is no truth. Its float kernels are exact where every product and sum stays below 2**24, as in the models of tests:

    QLinearConv(x, ..., w, ..., y_scale, y_zero)    QuantizeLinear(Conv(DequantizeLinear(x), DequantizeLinear(w)))
    MatMulInteger(a, b, a_zero, b_zero)             Cast(MatMul(Cast(a) - Cast(a_zero), Cast(b) - Cast(b_zero)), int32)

Operators of com.microsoft likewise, by onnxruntime's documentation of contrib operators. A model whose products lie between
DequantizeLinear and QuantizeLinear needs `run_in_float` alone: without graph optimizations they are float products.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MICROSOFT = "com.microsoft"


def run_in_float(model: onnx.ModelProto, feed: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """Results of onnxruntime with every product computed by float kernels."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    written = write_products_in_float(model).SerializeToString()
    return onnxruntime.InferenceSession(written, options, providers=["CPUExecutionProvider"]).run(None, dict(feed))


def write_products_in_float(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy of the model without products of integers; names of results stay."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    nodes = list(copy.graph.node)
    del copy.graph.node[:]
    for number, node in enumerate(nodes):
        writer = WRITERS.get(node.op_type)
        if writer is None:
            copy.graph.node.append(node)
            continue
        writing = _Writing(node, f"float_{number}")
        writer(writing)
        copy.graph.node.extend(writing.nodes)
    return copy


class _Writing:
    """The nodes that take the place of one node."""

    def __init__(self, node: onnx.NodeProto, prefix: str) -> None:
        self.node, self.prefix = node, prefix
        self.nodes: list[onnx.NodeProto] = []
        self.attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}

    def input(self, index: int) -> str:
        """Name of an input; empty where it is left out."""
        return self.node.input[index] if index < len(self.node.input) else ""

    def add(self, op_type: str, inputs: list[str], result: str = "", domain: str = "", **attributes: object) -> str:
        """Append a node and give the name of its result."""
        result = result or f"{self.prefix}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, inputs, [result], domain=domain, **attributes))
        return result

    def constant(self, value: np.ndarray) -> str:
        """A constant of the node's own."""
        return self.add("Constant", [], value=numpy_helper.from_array(value))

    def dequantize(self, x: str, scale: str, zero: str, axis: int = 1) -> str:
        """DequantizeLinear."""
        return self.add("DequantizeLinear", [x, scale, *([zero] if zero else [])], axis=axis)

    def centre(self, x: str, zero: str, axis: int | None = None) -> str:
        """Codes minus their zero point, as floats; zero points along `axis` of 4 dimensions where it is given."""
        x = self.add("Cast", [x], to=TensorProto.FLOAT)
        if not zero:
            return x
        zero = self.add("Cast", [zero], to=TensorProto.FLOAT)
        if axis is not None:
            zero = self.add("Reshape", [zero, self.constant(np.int64([-1 if i == axis else 1 for i in range(4)]))])
        return self.add("Sub", [x, zero])


def _write_conv(writing: _Writing) -> None:
    name, attributes = writing.node.output[0], dict(writing.attributes)
    channels_last = attributes.pop("channels_last", 0)
    x = writing.dequantize(*(writing.input(i) for i in range(3)))
    x = writing.add("Transpose", [x], perm=[0, 3, 1, 2]) if channels_last else x
    w = writing.dequantize(*(writing.input(i) for i in range(3, 6)), axis=0)
    bias = []
    if writing.input(8):
        scale = writing.add("Mul", [writing.input(1), writing.input(4)])
        bias = [writing.add("Mul", [writing.add("Cast", [writing.input(8)], to=TensorProto.FLOAT), scale])]
    y = writing.add("Conv", [x, w, *bias], **attributes)
    y = writing.add("Transpose", [y], perm=[0, 2, 3, 1]) if channels_last else y
    writing.add("QuantizeLinear", [y, writing.input(6), writing.input(7)], name)


def _write_matmul(writing: _Writing) -> None:
    a, b = (writing.dequantize(*(writing.input(3 * i + j) for j in range(3)), axis=1) for i in (0, 1))
    y = writing.add("MatMul", [a, b])
    writing.add("QuantizeLinear", [y, writing.input(6), writing.input(7)], writing.node.output[0])


def _write_gemm(writing: _Writing) -> None:
    a = writing.dequantize(*(writing.input(i) for i in range(3)))
    b = writing.dequantize(*(writing.input(i) for i in range(3, 6)), axis=0 if writing.attributes.get("transB") else 1)
    bias = []
    if writing.input(6):
        scale = writing.add("Mul", [writing.input(1), writing.input(4)])
        bias = [writing.add("Mul", [writing.add("Cast", [writing.input(6)], to=TensorProto.FLOAT), scale])]
    y = writing.add("Gemm", [a, b, *bias], **writing.attributes)
    writing.add("QuantizeLinear", [y, writing.input(7), writing.input(8)], writing.node.output[0])


def _write_integer_matmul(writing: _Writing) -> None:
    a, b = (writing.centre(writing.input(i), writing.input(i + 2)) for i in (0, 1))
    writing.add("Cast", [writing.add("MatMul", [a, b])], writing.node.output[0], to=TensorProto.INT32)


def _write_integer_conv(writing: _Writing) -> None:
    x, w = writing.centre(writing.input(0), writing.input(2)), writing.centre(writing.input(1), writing.input(3), 0)
    writing.add(
        "Cast", [writing.add("Conv", [x, w], **writing.attributes)], writing.node.output[0], to=TensorProto.INT32
    )


def _write_product_to_float(writing: _Writing) -> None:
    """MatMulIntegerToFloat: a, b, a_scale, b_scale, a_zero, b_zero, bias."""
    a, b = (writing.centre(writing.input(i), writing.input(i + 4)) for i in (0, 1))
    _write_scaled(writing, writing.add("MatMul", [a, b]), writing.input(2), writing.input(3), writing.input(6))


def _write_dynamic_product(writing: _Writing) -> None:
    """DynamicQuantizeMatMul: a, b, b_scale, b_zero, bias."""
    codes, scale, zero = (f"{writing.prefix}_{kind}" for kind in ("codes", "scale", "zero"))
    writing.nodes.append(helper.make_node("DynamicQuantizeLinear", [writing.input(0)], [codes, scale, zero]))
    a, b = writing.centre(codes, zero), writing.centre(writing.input(1), writing.input(3))
    _write_scaled(writing, writing.add("MatMul", [a, b]), scale, writing.input(2), writing.input(4))


def _write_scaled(writing: _Writing, sums: str, a_scale: str, b_scale: str, bias: str) -> None:
    scale = writing.add("Mul", [a_scale, b_scale])
    y = writing.add("Mul", [sums, scale], "" if bias else writing.node.output[0])
    if bias:
        writing.add("Add", [y, bias], writing.node.output[0])


def _write_attention(writing: _Writing) -> None:
    """QAttention: x, w, bias, x_scale, w_scale, mask, x_zero, w_zero."""
    x = writing.dequantize(writing.input(0), writing.input(3), writing.input(6))
    w = writing.dequantize(writing.input(1), writing.input(4), writing.input(7))
    inputs = [x, w, writing.input(2), *([writing.input(5)] if writing.input(5) else [])]
    writing.add("Attention", inputs, writing.node.output[0], MICROSOFT, **writing.attributes)


def _write_lstm(writing: _Writing) -> None:
    """DynamicQuantizeLSTM: those of LSTM, then w_scale, w_zero, r_scale, r_zero; weights (directions, in, 4 * hidden)."""
    weights = [writing.dequantize(writing.input(i), writing.input(j), "", axis=0) for i, j in ((1, 8), (2, 10))]
    turned = [writing.add("Transpose", [w], perm=[0, 2, 1]) for w in weights]
    inputs = [writing.input(0), *turned, *(writing.input(i) for i in range(3, 8))]
    writing.nodes.append(helper.make_node("LSTM", inputs, list(writing.node.output), **writing.attributes))


WRITERS: dict[str, Callable[[_Writing], None]] = {
    "QLinearConv": _write_conv,
    "QLinearMatMul": _write_matmul,
    "QGemm": _write_gemm,
    "MatMulInteger": _write_integer_matmul,
    "ConvInteger": _write_integer_conv,
    "MatMulIntegerToFloat": _write_product_to_float,
    "DynamicQuantizeMatMul": _write_dynamic_product,
    "QAttention": _write_attention,
    "DynamicQuantizeLSTM": _write_lstm,
}
