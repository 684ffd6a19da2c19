"""Convolutions and products of matrices: int32 sums with a bias, which the requantize that reads them turns into codes.

TFLite computes sum(weight * (code - zero_point)) + bias, the module sum(weight * code) + bias', where bias' holds the
zero point's share; so the file's bias is bias' plus that share. The scale of a weight stands in the requantize,
multiplied by s_x / s_y: it is the float32 that gives these very constants again.

Tests: tests/formats/tflite/test_to_tflite.py
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from tvm import relax

from tvmq.formats.exporting.core_writer import ints
from tvmq.formats.exporting.layouts import LAST, Ints, Order, module_order
from tvmq.formats.exporting.scale_search import find_scales
from tvmq.formats.tflite import arithmetic
from tvmq.formats.tflite.codes import TfliteTensor
from tvmq.formats.tflite.flatbuffer import Quantization
from tvmq.formats.tflite.writer import Form, TfliteWriter
from tvmq.graph.view import const_value, is_const, shape_of
from tvmq.numerics.windows import both_sides

PADDING = {"SAME": 0, "VALID": 1}


@dataclass(frozen=True)
class TflitePendingPad:
    """Codes with a border that is not written yet: a convolution may have it as its padding.

    width   (before, after) of each axis of the module
    code    what stands in the border, an int8
    """

    codes: TfliteTensor
    width: tuple[tuple[int, int], ...]
    code: int


@dataclass(frozen=True)
class TfliteWindows:
    """How windows slide over the spatial axes of pictures with channels last: rows, then columns.

    sizes    of the picture, border not counted
    results  number of windows
    sides    border: (before, after)
    """

    sizes: Ints
    results: Ints
    kernel: Ints
    strides: Ints
    dilation: Ints
    sides: tuple[tuple[int, int], ...]

    @property
    def spans(self) -> Ints:
        """Elements from a window's first to its last along each axis."""
        return tuple((k - 1) * d + 1 for k, d in zip(self.kernel, self.dilation, strict=True))

    @property
    def reached_border(self) -> tuple[tuple[int, int], ...]:
        """The border that windows reach: what is cut off at the end is left out."""
        borders = []
        for size, count, stride, span, (before, after) in zip(
            self.sizes, self.results, self.strides, self.spans, self.sides, strict=True
        ):
            borders.append((before, min(after, max((count - 1) * stride + span - size - before, 0))))
        return tuple(borders)

    @property
    def padding(self) -> str | None:
        """SAME or VALID of TFLite where one of them has this border; None where it must be written."""
        if not any(side for sides in self.reached_border for side in sides):
            return "VALID"
        for size, count, stride, span, sides in zip(
            self.sizes, self.results, self.strides, self.spans, self.reached_border, strict=True
        ):
            total = max((-(-size // stride) - 1) * stride + span - size, 0)
            if count != -(-size // stride) or sides != (total // 2, total - total // 2):
                return None
        return "SAME"


def windows_of(sizes: Ints, results: Ints, kernel: Ints, strides: Ints, dilation: Ints,
               sides: tuple[tuple[int, int], ...]) -> TfliteWindows:  # fmt: skip
    """Windows over one or two axes as windows over two."""
    if len(sizes) == 1:
        return TfliteWindows((1, *sizes), (1, *results), (1, *kernel), (1, *strides), (1, *dilation), ((0, 0), *sides))
    return TfliteWindows(sizes, results, kernel, strides, dilation, sides)


@dataclass(frozen=True)
class TfliteConvolution:
    """Sums of a convolution, or of a dense layer where `windows` is None.

    weight     of the module; a convolution's is (filters, depth, spatial...), a dense layer's (depth, filters)
    bias       int64, one for each filter, as in the module
    code       what stands in the border, an int8
    """

    x: TfliteTensor
    weight: np.ndarray
    bias: np.ndarray
    windows: TfliteWindows | None = None
    groups: int = 1
    code: int = 0

    @property
    def filters(self) -> int:
        """Output channels."""
        return int(self.weight.shape[0] if self.windows else self.weight.shape[1])

    def with_bias(self, writer: TfliteWriter, bias: np.ndarray) -> TfliteConvolution:
        """These sums with a constant added."""
        return replace(self, bias=writer.add_to_bias(self.bias, bias))

    def emit_requantize(self, writer: TfliteWriter, var: relax.Var, call: relax.Call) -> TfliteTensor:
        """CONV_2D or DEPTHWISE_CONV_2D."""
        scales = weight_scales(writer, self.x, var, call)
        order: Order = LAST[len(self.x.shape)] if self.windows else module_order(len(self.x.shape))
        return writer.emit_with_activation(var, call, order, lambda y, act: self._write(writer, y, act, scales))

    def _bias(self, writer: TfliteWriter) -> np.ndarray:
        """The file's bias: the module's, and what the zero point adds."""
        axis = 0 if self.windows else 1
        rest = tuple(a for a in range(self.weight.ndim) if a != axis)
        zero = self.x.zero + self.x.uint8_offset
        return writer.to_int32_bias(self.bias + zero * self.weight.astype(np.int64).sum(axis=rest))

    def _write(self, writer: TfliteWriter, result: TfliteTensor, activation: int, scales: np.ndarray) -> TfliteTensor:
        name = writer.layer
        bias_scale = (np.float64(self.x.scale) * scales.astype(np.float64)).astype(np.float32)
        bias = writer.file.constant(f"{name}.bias", self._bias(writer), quantization_of(bias_scale, 0))
        if self.windows is None:
            return self._emit_dense(writer, result, activation, scales, bias)
        x, padding = apply_padding(writer, self.x, self.windows, self.code)
        four = self.weight[:, :, None] if self.weight.ndim == 3 else self.weight
        options = {
            "padding": PADDING[padding],
            "stride_w": self.windows.strides[1],
            "stride_h": self.windows.strides[0],
            "fused_activation_function": activation,
            "dilation_w_factor": self.windows.dilation[1],
            "dilation_h_factor": self.windows.dilation[0],
        }
        channels = self.x.shape[1]
        if self.groups == channels > 1:
            place = writer.file.constant(f"{name}.weight", _transpose(four, (1, 2, 3, 0)), quantization_of(scales, 3))
            return writer.emit("DEPTHWISE_CONV_2D", [x, place, bias], result, version=3, table="DepthwiseConv2DOptions",
                             depth_multiplier=self.filters // channels, **options)  # fmt: skip
        place = writer.file.constant(f"{name}.weight", _transpose(four, (0, 2, 3, 1)), quantization_of(scales, 0))
        return writer.emit("CONV_2D", [x, place, bias], result, version=3, table="Conv2DOptions", **options)

    def _emit_dense(
        self, writer: TfliteWriter, result: TfliteTensor, activation: int, scales: np.ndarray, bias: int
    ) -> TfliteTensor:
        """The rows of a dense layer as pixels of a convolution.

        Of FULLY_CONNECTED there are two definitions: tflite-micro rounds twice, the reference of LiteRT once; and of
        one scale for the whole weight both round its product with that of the input to float32.
        """
        x = writer.to_module_order(self.x)
        rows, depth = math.prod(x.shape[:-1]), x.shape[-1]
        x = writer.reshape_elements(x, (rows, 1, 1, depth), f"{writer.layer}_pixels")
        weight = np.ascontiguousarray(self.weight.T).reshape(self.filters, 1, 1, depth)
        place = writer.file.constant(f"{writer.layer}.weight", weight, quantization_of(scales, 0))
        y = writer.tensor_like(result, (rows, 1, 1, self.filters), module_order(4), f"{writer.layer}_made")
        options = {"stride_w": 1, "stride_h": 1, "dilation_w_factor": 1, "dilation_h_factor": 1}
        y = writer.emit("CONV_2D", [x, place, bias], y, version=3, table="Conv2DOptions", padding=PADDING["VALID"],
                         fused_activation_function=activation, **options)  # fmt: skip
        return writer.emit("RESHAPE", [y, writer.numbers(result.sizes, "shape")], result, version=1)


def apply_padding(writer: TfliteWriter, x: TfliteTensor, windows: TfliteWindows, code: int) -> tuple[TfliteTensor, str]:
    """The image that windows slide over, with its border written unless TFLite's padding has it."""
    x = writer.to_channels_last(x)
    padding = windows.padding
    if padding == "VALID" or (padding == "SAME" and code == x.zero):
        return x, padding
    sides = windows.reached_border[2 - (len(x.shape) - 2) :]
    return writer.add_border(x, ((0, 0), (0, 0), *sides), code, f"{writer.layer}_bordered"), "VALID"


def _transpose(weight: np.ndarray, order: Ints) -> np.ndarray:
    return np.ascontiguousarray(weight.transpose(order))


def weight_scales(writer: TfliteWriter, x: TfliteTensor, var: relax.Var, call: relax.Call) -> np.ndarray:
    """Scales of a weight from which a kernel computes the constants of the requantize."""
    multiplier, shift = writer.requantize_constants(call)
    s_x, s_y = np.float64(x.scale), np.float64(np.float32(writer.scales[var.name][0]))

    def fits(scale: np.ndarray) -> np.ndarray:
        constants = arithmetic.multiplier_of(s_x * scale / s_y)
        return np.asarray((constants[0] == multiplier) & (constants[1] == shift))

    scales, matches = find_scales(arithmetic.real_factor(multiplier, shift) * s_y / s_x, fits)
    if not matches.all():
        raise writer.unsupported_error("a weight whose scale is not a float32 number")
    return scales


def quantization_of(scales: np.ndarray, axis: int) -> Quantization:
    """Scales without zero points along an axis."""
    return Quantization(tuple(float(scale) for scale in scales.ravel()), 0, axis)


def convolution(writer: TfliteWriter, var: relax.Var, call: relax.Call) -> TfliteConvolution:
    """nn.conv1d, nn.conv2d."""
    if not is_const(call.args[1]):
        raise writer.unsupported_error("a convolution whose weight is computed")
    weight, rank = const_value(call.args[1]), len(shape_of(var)) - 2
    if rank > 2 or weight.dtype != np.int8:
        raise writer.unsupported_error(f"a convolution over {rank} axes with {weight.dtype} weights")
    value = writer.values[call.args[0].name]
    own = both_sides(ints(call.attrs.padding), rank)
    if isinstance(value, TflitePendingPad):
        x, sides, code = value.codes, value.width[2:], value.code
    else:
        x = writer.codes(call.args[0])
        sides, code = own, -x.uint8_offset
    windows = windows_of(x.shape[2:], shape_of(var)[2:], weight.shape[2:], ints(call.attrs.strides),
                         ints(call.attrs.dilation), sides)  # fmt: skip
    zeros = np.zeros(len(weight), np.int64)
    return TfliteConvolution(x, weight, zeros, windows, int(call.attrs.groups), code)


def product(writer: TfliteWriter, var: relax.Var, call: relax.Call) -> TfliteConvolution:
    """matmul with a constant matrix."""
    if not is_const(call.args[1]) or const_value(call.args[1]).ndim != 2:
        raise writer.unsupported_error("a product of two activations")
    weight = const_value(call.args[1])
    if weight.dtype != np.int8 or len(shape_of(call.args[0])) < 2:
        raise writer.unsupported_error(f"a product with {weight.dtype} weights")
    return TfliteConvolution(writer.codes(call.args[0]), weight, np.zeros(weight.shape[1], np.int64))


def pad(writer: TfliteWriter, var: relax.Var, call: relax.Call) -> TfliteTensor | TflitePendingPad:
    """nn.pad: the border of the convolutions that read it, or an operator of its own."""
    codes = writer.codes(call.args[0])
    flat = ints(call.attrs.pad_width)
    width = tuple(zip(flat[0::2], flat[1::2], strict=True))
    if str(call.attrs.pad_mode) != "constant" or min(flat) < 0:
        raise writer.unsupported_error(f"nn.pad with mode {call.attrs.pad_mode}")
    code = int(call.attrs.pad_value) - codes.uint8_offset
    if writer.can_take_border(var.name, flat):
        return TflitePendingPad(codes, width, code)
    return writer.add_border(codes, width, code, var.name)


FORMS: dict[str, Form] = {
    "nn.conv1d": convolution,
    "nn.conv2d": convolution,
    "matmul": product,
    "nn.pad": pad,
}
