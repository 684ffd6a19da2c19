"""Expands operators that onnxruntime's optimizer fused (com.microsoft) into the original ones.

Before                                           After
    y = FusedConv(x, w, b, "Relu")   'conv'          a = Conv(x, w, b)                       'conv/Conv'
                                                     y = Relu(a)                             'conv'

Tests: tests/formats/onnx/importer/test_contrib.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tvmq.formats.onnx.importer.layer import OnnxLayer

ACTIVATIONS: dict[str, tuple[str, ...]] = {  # and what their parameters are called
    "Relu": (), "Sigmoid": (), "Tanh": (), "LeakyRelu": ("alpha",), "HardSigmoid": ("alpha", "beta"), "Clip": (),
}  # fmt: skip


def _activate(layer: OnnxLayer, x: str, name: str, parameters: list[float]) -> None:
    """Emit the result of the layer: its activation of x."""
    if not name:
        layer.finish("Identity", [x])
    elif name not in ACTIVATIONS:
        raise layer.unsupported_error(f"activation {name} is not supported", f"use one of {', '.join(ACTIVATIONS)}")
    elif name == "Clip":
        bounds = [layer.number(role, value) for role, value in zip(("low", "high"), parameters, strict=False)]
        layer.finish("Clip", [x, *bounds])
    else:
        named: dict[str, Any] = dict(zip(ACTIVATIONS[name], parameters, strict=False))
        layer.finish(name, [x], **named)


def _own_attributes(layer: OnnxLayer, *others: str) -> dict[str, Any]:
    """The attributes of the operator without its activation's."""
    mine = [name for name in layer.attributes if not name.startswith("activation") and name not in others]
    return {name: layer.attributes[name] for name in mine}


def fused_conv(layer: OnnxLayer) -> None:
    """FusedConv(X, W, B, Z): activation(conv(X) + Z)."""
    x = layer.compute("Conv", [name for name in layer.inputs[:3] if name], "Conv", **_own_attributes(layer))
    x = layer.compute("Add", [x, layer.inputs[3]], "Add") if layer.has_input(3) else x
    _activate(layer, x, layer.text("activation"), list(layer.attributes.get("activation_params", ())))


def fused_gemm(layer: OnnxLayer) -> None:
    """FusedGemm: activation(Gemm)."""
    x = layer.compute("Gemm", [name for name in layer.inputs if name], "Gemm", **_own_attributes(layer))
    parameters = [layer.attributes[f"activation_{name}"] for name in ("alpha", "beta", "gamma")
             if f"activation_{name}" in layer.attributes]  # fmt: skip
    _activate(layer, x, layer.text("activation"), parameters)


def fused_matmul(layer: OnnxLayer) -> None:
    """FusedMatMul: alpha * A B with either operand transposed, see `_transpose_operand`."""
    sides = [_transpose_operand(layer, index, name) for index, name in enumerate("AB")]
    alpha = float(layer.attributes.get("alpha", 1.0))
    if alpha == 1:
        layer.finish("MatMul", sides)
    else:
        layer.finish("Mul", [layer.compute("MatMul", sides, "MatMul"), layer.number("alpha", alpha)])


def _transpose_operand(layer: OnnxLayer, index: int, name: str) -> str:
    """An operand; transBatch brings its first dimension behind the batches, trans swaps the last two then."""
    swaps, moves = (bool(layer.attributes.get(f"{what}{name}", 0)) for what in ("trans", "transBatch"))
    rank = layer.rank(layer.inputs[index]) if swaps or moves else 0
    if rank is None:
        raise layer.unsupported_error(f"the rank of its input {index} is unknown", "fix the input shapes with shape=")
    axes = list(range(rank))
    if rank < 2:
        return layer.inputs[index]
    axes = [*axes[1:-1], 0, axes[-1]] if moves else axes
    axes = [*axes[:-2], axes[-1], axes[-2]] if swaps else axes
    return layer.compute("Transpose", [layer.inputs[index]], f"Transpose_{index}", perm=axes)


def _add_bias(layer: OnnxLayer) -> str:
    return layer.compute("Add", layer.inputs[:2], "Add") if layer.has_input(1) else layer.inputs[0]


def gelu(layer: OnnxLayer) -> None:
    """Gelu(x), BiasGelu(x, bias): x / 2 * (1 + erf(x / sqrt(2)))."""
    x = _add_bias(layer)
    part = layer.compute("Erf", [layer.compute("Div", [x, layer.number("root", np.sqrt(2))], "Div")], "Erf")
    _gate(layer, x, part)


def fast_gelu(layer: OnnxLayer) -> None:
    """FastGelu(x, bias): x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))."""
    x = _add_bias(layer)
    cube = layer.compute("Mul", [layer.compute("Mul", [x, x], "square"), x], "cube")
    bent = layer.compute("Add", [x, layer.compute("Mul", [cube, layer.number("third", 0.044715)], "Mul_0")], "Add_0")
    inner = layer.compute("Mul", [bent, layer.number("root", np.sqrt(2 / np.pi))], "Mul_1")
    _gate(layer, x, layer.compute("Tanh", [inner], "Tanh"))


def _gate(layer: OnnxLayer, x: str, part: str) -> None:
    whole = layer.compute("Add", [part, layer.number("one", 1)], "Add_1")
    layer.finish("Mul", [layer.compute("Mul", [x, whole], "Mul_2"), layer.number("half", 0.5)])


def quick_gelu(layer: OnnxLayer) -> None:
    """QuickGelu: x * sigmoid(alpha * x)."""
    alpha = layer.number("alpha", layer.attributes.get("alpha", 1.702))
    inner = layer.compute("Mul", [layer.inputs[0], alpha], "Mul")
    layer.finish("Mul", [layer.inputs[0], layer.compute("Sigmoid", [inner], "Sigmoid")])


def layer_norm_nodes(layer: OnnxLayer, x: str, gamma: str, beta: str, default: float) -> None:
    """Emit the first result of the layer: the layer norm of x over its last axis."""
    epsilon = float(layer.attributes.get("epsilon", default))
    if layer.opset >= 17:
        layer.finish("LayerNormalization", [x, gamma, *([beta] if beta else [])], axis=-1, epsilon=epsilon)
        return
    mean = layer.compute("ReduceMean", [x], "mean", axes=[-1], keepdims=1)
    apart = layer.compute("Sub", [x, mean], "Sub")
    _normalize(layer, apart, gamma, beta, epsilon)


def _normalize(layer: OnnxLayer, x: str, gamma: str, beta: str, epsilon: float) -> None:
    """x divided by the root of its mean square, times gamma, plus beta."""
    square = layer.compute("Mul", [x, x], "square")
    axes = [layer.vector("axes", -1)] if layer.opset >= 18 else []
    power = layer.compute("ReduceMean", [square, *axes], "power", keepdims=1, **({} if axes else {"axes": [-1]}))
    root = layer.compute("Sqrt", [layer.compute("Add", [power, layer.number("epsilon", epsilon)], "Add_power")], "Sqrt")
    unit = layer.compute("Div", [x, root], "Div")
    if beta:
        layer.finish("Add", [layer.compute("Mul", [unit, gamma], "Mul"), beta])
    else:
        layer.finish("Mul", [unit, gamma])


def _refuse_statistics(layer: OnnxLayer) -> None:
    if layer.has_output(1) or layer.has_output(2):
        raise layer.unsupported_error("its outputs for mean and deviation are not supported", "use only the first")


def skip_layer_norm(layer: OnnxLayer) -> None:
    """SkipLayerNormalization(x, skip, gamma, beta, bias); its fourth result is the sum before the norm."""
    _refuse_statistics(layer)
    x = _add_skip(layer, 4)
    layer_norm_nodes(layer, x, layer.inputs[2], layer.inputs[3] if layer.has_input(3) else "", 1e-12)


def skip_rms_norm(layer: OnnxLayer) -> None:
    """SkipSimplifiedLayerNormalization(x, skip, gamma, bias)."""
    _refuse_statistics(layer)
    _normalize(layer, _add_skip(layer, 3), layer.inputs[2], "", float(layer.attributes.get("epsilon", 1e-12)))


def _add_skip(layer: OnnxLayer, bias: int) -> str:
    x = layer.compute("Add", layer.inputs[:2], "skip")
    x = layer.compute("Add", [x, layer.inputs[bias]], "bias") if layer.has_input(bias) else x
    if layer.has_output(3):
        layer.finish("Identity", [x], output=3)
    return x


def rms_norm(layer: OnnxLayer) -> None:
    """SimplifiedLayerNormalization(x, scale) over the last axis."""
    axis, rank = layer.attributes.get("axis", -1), layer.rank(layer.inputs[0])
    if layer.has_output(1) or (axis != -1 and (rank is None or axis != rank - 1)):
        raise layer.unsupported_error(f"axis {axis} or a second output", "normalize the last axis, use only one output")
    _normalize(layer, layer.inputs[0], layer.inputs[1], "", float(layer.attributes.get("epsilon", 1e-5)))


def rename(op_type: str) -> Callable[[OnnxLayer], None]:
    """Expansion to the operator of the same meaning in ONNX's own domain."""

    def run(layer: OnnxLayer) -> None:
        layer.finish(op_type, layer.inputs, **layer.attributes)
        layer.nodes[-1].output.extend(layer.outputs[1:])

    return run


FUSED: dict[str, Callable[[OnnxLayer], None]] = {
    "BiasGelu": gelu,
    "DequantizeLinear": rename("DequantizeLinear"),
    "FastGelu": fast_gelu,
    "FusedConv": fused_conv,
    "FusedGemm": fused_gemm,
    "FusedMatMul": fused_matmul,
    "Gelu": gelu,
    "QuantizeLinear": rename("QuantizeLinear"),
    "QuickGelu": quick_gelu,
    "SimplifiedLayerNormalization": rms_norm,
    "SkipLayerNormalization": skip_layer_norm,
    "SkipSimplifiedLayerNormalization": skip_rms_norm,
    "TransposeMatMul": fused_matmul,
}
