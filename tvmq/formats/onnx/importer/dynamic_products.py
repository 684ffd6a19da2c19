"""Products that onnxruntime quantizes at run time, of com.microsoft, in ONNX's own operators.

DynamicQuantizeMatMul    x w + b      DynamicQuantizeLinear(x), then as below
MatMulIntegerToFloat     codes in     MatMulInteger, Cast, times both scales, plus b; with constant scales of both
                                      operands DequantizeLinear and MatMul
DynamicQuantizeLSTM                   LSTM of the weights that the codes stand for; what it reads stays float

Tests: tests/formats/onnx/importer/test_contrib.py
"""

from __future__ import annotations

import numpy as np

from tvmq.formats.onnx.importer.layer import OnnxLayer


def dynamic_matmul(layer: OnnxLayer) -> None:
    """DynamicQuantizeMatMul(A, B, b_scale, b_zero_point, bias)."""
    codes, scale, zero = (f"{layer.node.name}/{role}" for role in ("a", "a_scale", "a_zero_point"))
    layer.emit("DynamicQuantizeLinear", [layer.inputs[0]], codes, codes)
    layer.nodes[-1].output.extend([scale, zero])
    weight, weight_scale, *rest = [*layer.inputs[1:], "", ""]
    _sum(layer, (codes, scale, zero), (weight, weight_scale, rest[0]), rest[1])


def matmul_to_float(layer: OnnxLayer) -> None:
    """MatMulIntegerToFloat(A, B, a_scale, b_scale, a_zero_point, b_zero_point, bias)."""
    a, b, a_scale, b_scale, a_zero, b_zero, bias, *_ = [*layer.inputs, "", "", ""]
    if layer.value(a_scale) is None or layer.value(b_scale) is None:
        _sum(layer, (a, a_scale, a_zero), (b, b_scale, b_zero), bias)
        return
    left = layer.dequantize([name for name in (a, a_scale, a_zero) if name], "a")
    right = layer.dequantize([name for name in (b, b_scale, b_zero) if name], "b", axis=-1)
    if not bias:
        layer.finish("MatMul", [left, right])
        return
    layer.finish("Add", [layer.compute("MatMul", [left, right], "product"), bias])


def product(layer: OnnxLayer, a: tuple[str, str, str], b: tuple[str, str, str]) -> str:
    """The product of two tensors of codes, scale and zero point in float32, by integers."""
    zeros = [a[2], b[2]] if b[2] else [a[2]]
    while zeros and not zeros[-1]:
        zeros.pop()
    sums = layer.compute("MatMulInteger", [a[0], b[0], *zeros], "sums")
    wide = layer.compute("Cast", [sums], "wide", to=1)
    return layer.compute("Mul", [wide, layer.compute("Mul", [a[1], b[1]], "scales")], "product")


def _sum(layer: OnnxLayer, a: tuple[str, str, str], b: tuple[str, str, str], bias: str) -> None:
    value = product(layer, a, b)
    layer.finish("Add", [value, bias]) if bias else layer.finish("Identity", [value])


def dynamic_lstm(layer: OnnxLayer) -> None:
    """DynamicQuantizeLSTM(X, W, R, B, lengths, h, c, P, W_scale, W_zero_point, R_scale, R_zero_point).

    W and R are transposed against LSTM's: (directions, inputs, gates * hidden); a scale for a direction or a column.
    """
    weights = []
    for role, index, scale in (("w", 1, 8), ("r", 2, 10)):
        parts = [layer.value(layer.inputs[i]) for i in (index, scale, scale + 1)]
        if any(part is None for part in parts):
            raise layer.unsupported_error("its weights or scales are not constants", "quantize constant weights only")
        codes, factor, zero = (np.asarray(part) for part in parts)
        shape = (len(codes), 1, -1)
        values = (codes.astype(np.int32) - zero.astype(np.int32).reshape(shape)) * factor.reshape(shape)
        weights.append(layer.constant(role, np.ascontiguousarray(values.transpose(0, 2, 1), np.float32)))
    inputs = [layer.inputs[0], *weights, *layer.inputs[3:8]]
    while not inputs[-1]:
        inputs.pop()
    layer.finish("LSTM", inputs, **layer.attributes)
    layer.nodes[-1].output.extend(layer.outputs[1:])


DYNAMIC = {
    "DynamicQuantizeLSTM": dynamic_lstm,
    "DynamicQuantizeMatMul": dynamic_matmul,
    "MatMulIntegerToFloat": matmul_to_float,
}
