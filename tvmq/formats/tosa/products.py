"""Convolutions and products in TOSA: int32 sums with a bias.

CONV2D computes sum(weight * (code - zero)) + bias, and what stands outside of the image is `zero`. The module
computes sum(weight * code) with a border of one code: that code is `zero` here, and the bias gets its share.

Tests: tests/formats/tosa/test_to_tosa.py
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from tvm import relax

from tvmq.formats.exporting import core_forms
from tvmq.formats.exporting.binding_writer import Table
from tvmq.formats.exporting.core import CoreConvolution, CoreConvTranspose, CoreTensor, MatrixProduct, SlidingWindows
from tvmq.formats.exporting.layouts import LAST, module_order, to_two_axes
from tvmq.formats.tosa.writer import TosaWriter
from tvmq.graph.view import is_const, shape_of


def cover_windows(writer: TosaWriter, x: CoreTensor, windows: SlidingWindows) -> tuple[CoreTensor, list[int]]:
    """The part of the image, channels last, that windows reach, as TOSA wants it, and its border as options."""
    x = writer.to_channels_last(x)
    shape = (*x.shape[:2], *windows.extent[4 - len(x.shape) :])
    x = x if x.shape == shape else writer.cut(x, [0] * len(shape), shape)
    return x, [side for pair in windows.border for side in pair]


def print_convolution(writer: TosaWriter, node: CoreConvolution, var: relax.Var) -> CoreTensor:
    """CONV2D, DEPTHWISE_CONV2D, or one CONV2D for each group and a CONCAT."""
    bias, weight, groups, windows = node.bias_around(writer, node.border), node.weight, node.groups, node.windows
    x, pad = cover_windows(writer, node.x, windows)
    options = [pad, list(windows.strides), list(windows.dilation)]
    result = CoreTensor("", node.shape, LAST[len(node.shape)], "int32")
    channels, filters = x.shape[1], len(weight) // groups
    if groups == channels > 1:
        order = weight.reshape(channels, filters, *weight.shape[2:]).transpose(2, 3, 0, 1)
        return _emit(writer, "DEPTHWISE_CONV2D", x, order, bias, node.border, result, options)
    parts, depth = [], channels // groups
    for group in range(groups):
        rows = slice(group * filters, (group + 1) * filters)
        begins = [0, group * depth, *[0] * (len(x.shape) - 2)]
        image = x if groups == 1 else writer.cut(x, begins, (x.shape[0], depth, *x.shape[2:]))
        part = replace(result, shape=(result.shape[0], filters, *result.shape[2:]))
        order = weight[rows].transpose(0, 2, 3, 1)
        parts.append(_emit(writer, "CONV2D", image, order, bias[rows], node.border, part, options))
    return parts[0] if groups == 1 else writer.emit("CONCAT", parts, result, 3)


def print_matrix_product(writer: TosaWriter, node: MatrixProduct, var: relax.Var) -> CoreTensor:
    """CONV2D of pixels, between two reshapes."""
    bias, x = node.bias_around(writer, node.zero), node.as_pixels(writer)
    result = CoreTensor("", (x.shape[0], len(node.weight), 1, 1), LAST[4], "int32")
    weight, options = node.weight.transpose(0, 2, 3, 1), [[0, 0, 0, 0], [1, 1], [1, 1]]
    return writer.reshape_elements(_emit(writer, "CONV2D", x, weight, bias, node.zero, result, options), node.shape)


def print_transposed(writer: TosaWriter, node: CoreConvTranspose, var: relax.Var) -> CoreTensor:
    """TRANSPOSE_CONV2D, whose border is what it puts around the result."""
    x = writer.to_channels_last(node.x)
    pad: list[int] = []
    axes = (to_two_axes(shape[2:]) for shape in (x.shape, node.shape))
    for size, count, stride, kernel, (before, _) in zip(
        *axes, node.strides, node.weight.shape[2:], node.sides, strict=True
    ):
        pad += [-before, count + before - (size - 1) * stride - kernel]
    result = CoreTensor("", node.shape, LAST[len(node.shape)], "int32")
    weight, bias = node.weight.transpose(1, 2, 3, 0), node.bias_around(writer, node.zero)
    return _emit(writer, "TRANSPOSE_CONV2D", x, weight, bias, node.zero, result, [pad, list(node.strides)])


def _emit(
    writer: TosaWriter,
    code: str,
    x: CoreTensor,
    weight: np.ndarray,
    bias: np.ndarray,
    zero: int,
    result: CoreTensor,
    options: list[list[int]],
) -> CoreTensor:
    constants = [writer.graph.constant(np.ascontiguousarray(array)) for array in (weight, bias)]
    numbers = [writer.number(zero, "int8"), writer.number(0, "int8")]
    return writer.emit(code, [x, *constants, *numbers], result, *options, False, writer.graph.schema.DType.INT32)


def product(writer: TosaWriter, var: relax.Var, call: relax.Call) -> MatrixProduct | CoreTensor:
    """matmul by a constant matrix; of two activations also tvmq.matmul: MATMUL."""
    own = hasattr(call.attrs, "a_zero")
    zeros = (int(call.attrs.a_zero), int(call.attrs.b_zero)) if own else (0, 0)
    x = writer.tensor(call.args[0])
    if is_const(call.args[1]) and zeros == (0, 0):
        return core_forms.matrix_product(writer, var, call, writer.zero(call.args[0].name, x.uint8_offset))
    y = writer.tensor(call.args[1])
    if len(x.shape) < 2 or x.shape[:-2] != y.shape[:-2] or (x.dtype, y.dtype) != ("int8", "int8"):
        raise writer.unsupported_error("a product of matrices with broadcasting")
    batch = math.prod(x.shape[:-2])
    sides = [writer.reshape(side, (batch, *side.shape[-2:])) for side in (x, y)]
    result = CoreTensor("", (batch, x.shape[-2], y.shape[-1]), module_order(3), "int32")
    numbers = [writer.number(zero - side.uint8_offset, "int8") for zero, side in zip(zeros, (x, y), strict=True)]
    return writer.reshape(writer.emit("MATMUL", [*sides, *numbers], result), shape_of(var))


FORMS: Table = {"matmul": product, "tvmq.matmul": product}
PRINTERS: Table = {
    CoreConvolution: print_convolution,
    MatrixProduct: print_matrix_product,
    CoreConvTranspose: print_transposed,
}
