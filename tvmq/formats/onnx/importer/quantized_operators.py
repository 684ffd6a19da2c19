"""Operators on quantized tensors (QLinearConv and its kind) as DequantizeLinear, the float operator, QuantizeLinear.

Before                                           After
    y = QLinearConv(x, w, bias)   'conv'             x_f = DequantizeLinear(x)               'conv/x'
                                                     w_f = DequantizeLinear(w, axis=0)       'conv/w'
                                                     b_f = DequantizeLinear(bias, s_x * s_w) 'conv/bias'
                                                     y_f = Conv(x_f, w_f, b_f)               'conv'
                                                     y = QuantizeLinear(y_f)                 'conv/y'

Also the operators of com.microsoft that onnxruntime's quantizer and optimizer write; channels-last ones are put between
two transposes. All nodes belong to the layer they came from.
"""

from __future__ import annotations

from collections.abc import Callable

from tvmq.formats.onnx.importer.fused_operators import rename
from tvmq.formats.onnx.importer.layer import OnnxLayer


def _conv(layer: OnnxLayer) -> None:
    x, w = layer.float_input(0, "x"), layer.float_input(3, "w", axis=0)
    layer.round_result("Conv", [x, w, *layer.bias(8, 1, 4)], 6, **layer.attributes)


def _gemm(layer: OnnxLayer) -> None:
    rows = bool(layer.attributes.get("transB", 0))
    a, b = layer.float_input(0, "a"), layer.float_input(3, "b", axis=0 if rows else 1)
    alpha = float(layer.attributes.get("alpha", 1.0))
    layer.round_result("Gemm", [a, b, *layer.bias(6, 1, 4, alpha)], 7, **layer.attributes)


def _binary(op_type: str, axis: int | None = None) -> Callable[[OnnxLayer], None]:
    return lambda layer: layer.round_result(op_type, [layer.float_input(0, "a"), layer.float_input(3, "b", axis)], 6)


def _unary(op_type: str) -> Callable[[OnnxLayer], None]:
    return lambda layer: layer.round_result(op_type, [layer.float_input(0, "x")], 3, **layer.attributes)


def _softmax(layer: OnnxLayer) -> None:
    if layer.attributes.pop("opset", 13) < 13 and layer.attributes.get("axis", 1) != -1:
        raise layer.unsupported_error("softmax over several axes is not supported", "export it with opset_version=13")
    layer.round_result("Softmax", [layer.float_input(0, "x")], 3, **layer.attributes)


def _concat(layer: OnnxLayer) -> None:
    parts = [layer.float_input(i, f"part_{(i - 2) // 3}") for i in range(2, len(layer.inputs), 3)]
    layer.round_result("Concat", parts, 0, **layer.attributes)


def _where(layer: OnnxLayer) -> None:
    layer.round_result("Where", [layer.inputs[0], layer.float_input(1, "x"), layer.float_input(4, "y")], 7)


def _channels_last(
    expand: Callable[[OnnxLayer], None], spatial: Callable[[OnnxLayer], int | None]
) -> Callable[[OnnxLayer], None]:
    """The expansion between two transposes where the attribute channels_last asks for it.

    spatial   number of spatial dimensions, None where it is unknown
    """

    def run(layer: OnnxLayer) -> None:
        last = layer.attributes.pop("channels_last", 0) or layer.node.op_type.startswith("Nhwc")
        if not last:
            expand(layer)
            return
        count = spatial(layer)
        if count is None:
            raise layer.unsupported_error("channels_last needs an input of known rank", "quantize it channels first")
        axes = range(1, count + 1)
        first = layer.compute("Transpose", [layer.inputs[0]], "channels_first", perm=[0, count + 1, *axes])
        result, layer.inputs[0], layer.outputs[0] = layer.outputs[0], first, f"{layer.node.name}/result"
        expand(layer)
        back = [0, *(axis + 1 for axis in axes), 1]
        layer.emit("Transpose", [layer.outputs[0]], result, f"{layer.node.name}/channels_last", perm=back)

    return run


def _of_weight(layer: OnnxLayer) -> int | None:
    weight = layer.value(layer.inputs[3])
    return None if weight is None else weight.ndim - 2


def _of_kernel(layer: OnnxLayer) -> int | None:
    return len(layer.attributes["kernel_shape"])


def _of_input(layer: OnnxLayer) -> int | None:
    rank = layer.rank(layer.inputs[0])
    return None if rank is None else rank - 2


QUANTIZED: dict[str, Callable[[OnnxLayer], None]] = {
    "NhwcMaxPool": _channels_last(rename("MaxPool"), _of_kernel),
    "QGemm": _gemm,
    "QLinearAdd": _binary("Add"),
    "QLinearAveragePool": _channels_last(_unary("AveragePool"), _of_kernel),
    "QLinearConcat": _concat,
    "QLinearConv": _channels_last(_conv, _of_weight),
    "QLinearGlobalAveragePool": _channels_last(_unary("GlobalAveragePool"), _of_input),
    "QLinearLeakyRelu": _unary("LeakyRelu"),
    "QLinearMatMul": _binary("MatMul", axis=-1),
    "QLinearMul": _binary("Mul"),
    "QLinearSigmoid": _unary("Sigmoid"),
    "QLinearSoftmax": _softmax,
    "QLinearWhere": _where,
}
