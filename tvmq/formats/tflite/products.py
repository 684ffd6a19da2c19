"""Convolutions and products of matrices: int32 sums with a bias, printed with their requantize.

TFLite computes sum(weight * (code - zero_point)) + bias, the module sum(weight * code) + bias', where bias' holds the
zero point's share; so the file's bias is bias' plus that share. The scale of a weight stands in the requantize,
multiplied by s_x / s_y: it is the float32 that gives these very constants again.

Tests: tests/formats/tflite/test_to_tflite.py
"""

from __future__ import annotations

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.formats.exporting import core_forms
from tvmq.formats.exporting.binding_writer import Table
from tvmq.formats.exporting.core import (
    CoreConvolution,
    CoreConvTranspose,
    CoreTensor,
    MatrixProduct,
    Slice,
    SlidingWindows,
    WeightedSum,
)
from tvmq.formats.exporting.layouts import LAST, code_bounds, module_order, to_two_axes
from tvmq.formats.exporting.scale_search import find_scales
from tvmq.formats.tflite import arithmetic
from tvmq.formats.tflite.flatbuffer import Quantization
from tvmq.formats.tflite.moves import print_slice
from tvmq.formats.tflite.writer import TfliteWriter
from tvmq.graph.view import const_value, is_const, shape_of

SAME, VALID = 0, 1  # of the schema's Padding


def _named_padding(windows: SlidingWindows) -> int | None:
    """SAME or VALID of TFLite where one of them has the border of these windows; None where it must be written."""
    if not any(side for sides in windows.border for side in sides):
        return VALID
    for size, count, stride, span, sides in zip(
        windows.sizes, windows.results, windows.strides, windows.spans, windows.border, strict=True
    ):
        total = max((-(-size // stride) - 1) * stride + span - size, 0)
        if count != -(-size // stride) or sides != (total // 2, total - total // 2):
            return None
    return SAME


def apply_padding(
    writer: TfliteWriter, x: CoreTensor, windows: SlidingWindows, code: int, own: int | None = None
) -> tuple[CoreTensor, int]:
    """The image that windows slide over, with a border of `code` unless TFLite's padding has it.

    own  code of TFLite's padding; None for the zero point
    """
    x, padding = writer.to_channels_last(x), _named_padding(windows)
    if padding == VALID or (padding == SAME and code == (x.zero if own is None else own)):
        return x, padding
    sides = windows.border[4 - len(x.shape) :]
    return writer.add_border(x, ((0, 0), (0, 0), *sides), code, f"{writer.layer}_bordered"), VALID


def print_convolution(writer: TfliteWriter, node: CoreConvolution, var: relax.Var, call: relax.Call) -> CoreTensor:
    """CONV_2D or DEPTHWISE_CONV_2D."""
    scales, order = _weight_scales(writer, node.x, var, call), LAST[len(node.shape)]
    return writer.emit_with_activation(
        var, call, order, lambda y, act: _write_convolution(writer, node, scales, y, act)
    )


def print_matrix_product(writer: TfliteWriter, node: MatrixProduct, var: relax.Var, call: relax.Call) -> CoreTensor:
    """CONV_2D of pixels."""
    scales, order = _weight_scales(writer, node.x, var, call), module_order(len(node.shape))
    return writer.emit_with_activation(var, call, order, lambda y, act: _write_matrix(writer, node, scales, y, act))


def _write_convolution(
    writer: TfliteWriter, node: CoreConvolution, scales: np.ndarray, result: CoreTensor, activation: int
) -> CoreTensor:
    windows, channels = node.windows, node.x.shape[1]
    bias = _bias(writer, node, scales)
    x, padding = apply_padding(writer, node.x, windows, node.border)
    options = {
        "padding": padding,
        "stride_w": windows.strides[1],
        "stride_h": windows.strides[0],
        "fused_activation_function": activation,
        "dilation_w_factor": windows.dilation[1],
        "dilation_h_factor": windows.dilation[0],
    }
    if node.groups == channels > 1:
        weight = _constant_weight(writer, node.weight.transpose(1, 2, 3, 0), scales, 3)
        return writer.emit("DEPTHWISE_CONV_2D", [x, weight, bias], result, version=3, table="DepthwiseConv2DOptions",
                           depth_multiplier=len(node.weight) // channels, **options)  # fmt: skip
    weight = _constant_weight(writer, node.weight.transpose(0, 2, 3, 1), scales, 0)
    return writer.emit("CONV_2D", [x, weight, bias], result, version=3, table="Conv2DOptions", **options)


def _write_matrix(
    writer: TfliteWriter, node: MatrixProduct, scales: np.ndarray, result: CoreTensor, activation: int
) -> CoreTensor:
    """Rows of a matrix as pixels of a convolution.

    Of FULLY_CONNECTED there are two definitions: tflite-micro rounds twice, the reference of LiteRT once; and of
    one scale for the whole weight both round its product with that of the input to float32.
    """
    bias, x = _bias(writer, node, scales), node.as_pixels(writer)
    weight = _constant_weight(writer, node.weight.transpose(0, 2, 3, 1), scales, 0)
    y = writer.tensor_like(result, (x.shape[0], 1, 1, len(node.weight)), module_order(4), f"{writer.layer}_made")
    writer.emit("CONV_2D", [x, weight, bias], y, version=3, table="Conv2DOptions", padding=VALID,
                fused_activation_function=activation, stride_w=1, stride_h=1, dilation_w_factor=1,
                dilation_h_factor=1)  # fmt: skip
    return writer.emit("RESHAPE", [y, writer.numbers(result.sizes, "shape")], result, version=1)


def print_transposed(writer: TfliteWriter, node: CoreConvTranspose, var: relax.Var, call: relax.Call) -> CoreTensor:
    """TRANSPOSE_CONV, a slice where padding cuts off something that TFLite's does not, and bounds of codes."""
    scales, rank = _weight_scales(writer, node.x, var, call), len(node.shape)
    result, padding, sides = writer.codes_of(var, LAST[rank]), _named_crop(node), node.sides[4 - rank :]
    shape = node.shape
    if padding == VALID:
        shape = (*shape[:2], *(n + before + after for n, (before, after) in zip(shape[2:], sides, strict=True)))
    codes = writer.tensor_like(result, shape, result.order, f"{var.name}_full")
    inputs: list[CoreTensor | int] = [
        writer.numbers(codes.sizes, "sizes"),
        _constant_weight(writer, node.weight.transpose(1, 2, 3, 0), scales, 0),
        writer.to_channels_last(node.x),
        _bias(writer, node, scales),
    ]
    writer.emit("TRANSPOSE_CONV", inputs, codes, version=3, table="TransposeConvOptions", padding=padding,
                stride_w=node.strides[1], stride_h=node.strides[0])  # fmt: skip
    if shape != result.shape:
        begins = (0, 0, *(before for before, _ in sides))
        bounds = [(begin, begin + size, 1) for begin, size in zip(begins, result.shape, strict=True)]
        codes = print_slice(writer, Slice(codes, bounds, result.shape, f"{var.name}_cut"), var)
    low, high = code_bounds(call, result.uint8_offset)
    return codes if (low, high) == (-128, 127) else writer.clip_codes(codes, result, low, high)


def _named_crop(node: CoreConvTranspose) -> int:
    """SAME where TFLite then crops as the module does; else VALID, which crops nothing."""
    axes = (to_two_axes(shape[2:]) for shape in (node.x.shape, node.shape))
    for size, count, stride, kernel, side in zip(*axes, node.strides, node.weight.shape[2:], node.sides, strict=True):
        total = (size - 1) * stride + kernel - count
        if total < 0 or side != (total // 2, total - total // 2) or -(-count // stride) != size:
            return VALID
    return SAME


def _bias(writer: TfliteWriter, node: WeightedSum, scales: np.ndarray) -> int:
    scale = (np.float64(node.x.scale) * scales.astype(np.float64)).astype(np.float32)
    return writer.file.constant(f"{writer.layer}.bias", node.bias_around(writer, node.x.zero), _scales_along(scale, 0))


def _constant_weight(writer: TfliteWriter, weight: np.ndarray, scales: np.ndarray, axis: int) -> int:
    return writer.file.constant(f"{writer.layer}.weight", np.ascontiguousarray(weight), _scales_along(scales, axis))


def _scales_along(scales: np.ndarray, axis: int) -> Quantization:
    return Quantization(tuple(float(scale) for scale in scales.ravel()), 0, axis)


def _weight_scales(writer: TfliteWriter, x: CoreTensor, var: relax.Var, call: relax.Call) -> np.ndarray:
    """Scales of a weight from which a kernel computes the constants of the requantize."""
    multiplier, shift = writer.requantize_constants(call)
    s_x, s_y = np.float64(x.scale), np.float64(np.float32(writer.scales[var.name][0]))

    def fits(scale: np.ndarray) -> np.ndarray:
        constants = arithmetic.multiplier_of(s_x * scale / s_y)
        return np.asarray((constants[0] == multiplier) & (constants[1] == shift))

    scales, matches = find_scales(numerics.real_factor(multiplier, shift, mode="fixed_point") * s_y / s_x, fits)
    if not matches.all():
        raise writer.unsupported_error("a weight whose scale is not a float32 number")
    return scales


def matrix_product(writer: TfliteWriter, var: relax.Var, call: relax.Call) -> MatrixProduct:
    """matmul with a constant matrix."""
    if not is_const(call.args[1]) or const_value(call.args[1]).ndim != 2:
        raise writer.unsupported_error("a product of two activations")
    if len(shape_of(call.args[0])) < 2:
        raise writer.unsupported_error("a product of a vector")
    return core_forms.matrix_product(writer, var, call, writer.tensor(call.args[0]).zero)


def transposed_convolution(writer: TfliteWriter, var: relax.Var, call: relax.Call) -> CoreConvTranspose:
    """tvmq.conv_transpose."""
    node = core_forms.transposed_convolution(writer, var, call)
    if node.zero != node.x.zero:
        raise writer.unsupported_error(
            "a transposed convolution that puts a code other than the zero point between pixels"
        )
    return node


FORMS: Table = {"matmul": matrix_product, "tvmq.conv_transpose": transposed_convolution}
SUMS: Table = {
    CoreConvolution: print_convolution,
    MatrixProduct: print_matrix_product,
    CoreConvTranspose: print_transposed,
}
