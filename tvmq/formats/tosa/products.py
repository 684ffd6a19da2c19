"""Convolutions and products in TOSA: int32 sums with a bias.

CONV2D computes sum(weight * (code - zero)) + bias, and what stands outside of the picture is `zero`. The module
computes sum(weight * code) with a border of one code: that code is `zero` here, and the bias gets its share.

Tests: tests/formats/tosa/test_to_tosa.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from tvm import relax

from tvmq.formats.exporting.core_writer import ints
from tvmq.formats.exporting.layouts import LAST, Ints, module_order
from tvmq.formats.tosa.writer import Form, TosaTensor, TosaWriter
from tvmq.graph.view import const_value, is_const, shape_of
from tvmq.numerics.windows import both_sides

Sides = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class TosaPendingPad:
    """Codes with a border that is not written yet; `code` fills it, as a number of the graph."""

    tensor: TosaTensor
    width: Sides
    code: int

    def with_bias(self, writer: TosaWriter, bias: np.ndarray) -> TosaPendingPad:
        """Refuse: codes get no bias."""
        raise writer.unsupported_error("a sum of codes and a constant")

    def emit(self, writer: TosaWriter) -> TosaTensor:
        """PAD."""
        return writer.add_border(self.tensor, self.width, self.code)


def fit_windows(sizes: Ints, results: Ints, spans: Ints, strides: Ints, sides: Sides) -> tuple[Ints, Sides]:
    """(sizes, sides) that windows cover to the end, as TOSA wants them: what no window reaches is cut off.

    >>> fit_windows((8,), (4,), (3,), (2,), ((1, 1),)), fit_windows((8,), (3,), (3,), (2,), ((0, 0),))
    (((8,), ((1, 0),)), ((7,), ((0, 0),)))
    """
    kept, borders = [], []
    for size, count, span, stride, (before, _) in zip(sizes, results, spans, strides, sides, strict=True):
        after = (count - 1) * stride + span - size - before
        kept.append(size + min(after, 0))
        borders.append((before, max(after, 0)))
    return tuple(kept), tuple(borders)


def in_two(values: Sequence[int], fill: int = 1) -> list[int]:
    """Options of one axis as those of two."""
    return [fill] * (2 - len(values)) + [int(v) for v in values]


def cut(writer: TosaWriter, tensor: TosaTensor, sizes: Ints) -> TosaTensor:
    """The first elements of the spatial axes."""
    if tensor.shape[2:] == sizes:
        return tensor
    result = replace(tensor, shape=(*tensor.shape[:2], *sizes))
    begins = [0] * len(tensor.order)
    return writer.emit("SLICE", [tensor, writer.graph.numbers(begins), writer.graph.numbers(result.sizes)], result)


@dataclass(frozen=True)
class TosaConvolution:
    """Sums of a convolution over one or two axes; weight (filters, depth, spatial...), bias one for each filter."""

    x: TosaTensor
    weight: np.ndarray
    bias: np.ndarray
    shape: Ints
    strides: Ints
    dilation: Ints
    sides: Sides
    groups: int
    code: int

    def with_bias(self, writer: TosaWriter, bias: np.ndarray) -> TosaConvolution:
        """These sums with a constant added to each channel."""
        return replace(self, bias=writer.add_to_bias(self.bias, bias))

    def emit(self, writer: TosaWriter) -> TosaTensor:
        """CONV2D, DEPTHWISE_CONV2D, or one CONV2D for each group and a CONCAT."""
        kernel = self.weight.shape[2:]
        spans = tuple((k - 1) * d + 1 for k, d in zip(kernel, self.dilation, strict=True))
        sizes, sides = fit_windows(self.x.shape[2:], self.shape[2:], spans, self.strides, self.sides)
        x = cut(writer, writer.to_channels_last(self.x), sizes)
        pad = [side for pair in (*[(0, 0)] * (2 - len(sides)), *sides) for side in pair]
        options = [pad, in_two(self.strides), in_two(self.dilation), False, writer.graph.schema.DType.INT32]
        four = self.weight if self.weight.ndim == 4 else self.weight[:, :, None]
        share = (self.code + self.x.uint8_offset) * four.astype(np.int64).sum(axis=(1, 2, 3))
        bias = writer.to_int32_bias(self.bias + share)
        channels = self.x.shape[1]
        result = TosaTensor("", self.shape, LAST[len(self.shape)], "int32")
        if self.groups == channels > 1:
            each = len(four) // channels
            order = four.reshape(channels, each, *four.shape[2:]).transpose(2, 3, 0, 1)
            return _conv(writer, "DEPTHWISE_CONV2D", x, order, bias, self.code, result, options)
        parts = []
        for number in range(self.groups):
            depth, filters = channels // self.groups, len(four) // self.groups
            rows = slice(number * filters, (number + 1) * filters)
            part = replace(result, shape=(self.shape[0], filters, *self.shape[2:]))
            group = x if self.groups == 1 else _channels(writer, x, number * depth, depth)
            order = four[rows].transpose(0, 2, 3, 1)
            parts.append(_conv(writer, "CONV2D", group, order, bias[rows], self.code, part, options))
        return parts[0] if self.groups == 1 else writer.emit("CONCAT", parts, result, 3)


def _conv(
    writer: TosaWriter,
    code: str,
    x: TosaTensor,
    weight: np.ndarray,
    bias: np.ndarray,
    zero: int,
    result: TosaTensor,
    options: list[object],
) -> TosaTensor:
    constants = [writer.graph.constant(np.ascontiguousarray(array)) for array in (weight, bias)]
    return writer.emit(code, [x, *constants, writer.number(zero, "int8"), writer.number(0, "int8")], result, *options)


def _channels(writer: TosaWriter, x: TosaTensor, begin: int, count: int) -> TosaTensor:
    result = replace(x, shape=(x.shape[0], count, *x.shape[2:]))
    begins = [0] * (len(x.order) - 1) + [begin]
    return writer.emit("SLICE", [x, writer.graph.numbers(begins), writer.graph.numbers(result.sizes)], result)


def convolution(writer: TosaWriter, var: relax.Var, call: relax.Call) -> TosaConvolution:
    """nn.conv1d, nn.conv2d."""
    rank = len(shape_of(var)) - 2
    if not is_const(call.args[1]) or rank > 2 or const_value(call.args[1]).dtype != np.int8:
        raise writer.unsupported_error(f"a convolution over {rank} axes, or whose weight is not an int8 constant,")
    weight, value = const_value(call.args[1]), writer.values[call.args[0].name]
    if isinstance(value, TosaPendingPad) and not any(ints(call.attrs.padding)):
        x, sides, code = value.tensor, value.width[2:], value.code
    else:
        x, sides = writer.tensor(call.args[0]), both_sides(ints(call.attrs.padding), rank)
        code = -x.uint8_offset
    if x.dtype != "int8":
        raise writer.unsupported_error(f"a convolution of {x.dtype}")
    zeros = np.zeros(len(weight), np.int64)
    return TosaConvolution(x, weight, zeros, shape_of(var), ints(call.attrs.strides), ints(call.attrs.dilation), sides,
                       int(call.attrs.groups), code)  # fmt: skip


@dataclass(frozen=True)
class TosaConvTranspose:
    """Sums of a transposed convolution; weight (channels, filters, spatial...), `sides` are cut off the result."""

    x: TosaTensor
    weight: np.ndarray
    bias: np.ndarray
    shape: Ints
    strides: Ints
    sides: Sides
    zero: int

    def with_bias(self, writer: TosaWriter, bias: np.ndarray) -> TosaConvTranspose:
        """These sums with a constant added to each channel."""
        return replace(self, bias=writer.add_to_bias(self.bias, bias))

    def emit(self, writer: TosaWriter) -> TosaTensor:
        """TRANSPOSE_CONV2D, whose border is what it puts around the result."""
        four = self.weight if self.weight.ndim == 4 else self.weight[:, :, None]
        x, rank = writer.to_channels_last(self.x), len(self.strides)
        pad = [0, 0] * (2 - rank)
        for size, count, stride, kernel, (before, _) in zip(
            self.x.shape[2:], self.shape[2:], self.strides, self.weight.shape[2:], self.sides, strict=True
        ):
            pad += [-before, count + before - (size - 1) * stride - kernel]
        share = (self.zero + self.x.uint8_offset) * four.astype(np.int64).sum(axis=(0, 2, 3))
        bias = writer.to_int32_bias(self.bias + share)
        options = [pad, in_two(self.strides), False, writer.graph.schema.DType.INT32]
        result = TosaTensor("", self.shape, LAST[len(self.shape)], "int32")
        return _conv(writer, "TRANSPOSE_CONV2D", x, four.transpose(1, 2, 3, 0), bias, self.zero, result, options)


def transposed_convolution(writer: TosaWriter, var: relax.Var, call: relax.Call) -> TosaConvTranspose:
    """tvmq.conv_transpose."""
    attrs, rank = call.attrs, len(shape_of(var)) - 2
    if not is_const(call.args[1]) or rank > 2 or const_value(call.args[1]).dtype != np.int8:
        raise writer.unsupported_error(
            f"a transposed convolution over {rank} axes, or whose weight is not an int8 constant,"
        )
    if int(attrs.groups) != 1 or any(d != 1 for d in ints(attrs.dilation)):
        raise writer.unsupported_error("a grouped or dilated transposed convolution")
    x, weight = writer.tensor(call.args[0]), const_value(call.args[1])
    zeros, sides = np.zeros(weight.shape[1], np.int64), both_sides(ints(attrs.padding), rank)
    zero = int(attrs.zero_point) - x.uint8_offset
    return TosaConvTranspose(x, weight, zeros, shape_of(var), ints(attrs.strides), sides, zero)


@dataclass(frozen=True)
class TosaDense:
    """Rows by a constant matrix (depth, filters): CONV2D of pixels."""

    x: TosaTensor
    weight: np.ndarray
    bias: np.ndarray
    shape: Ints
    zero: int

    def with_bias(self, writer: TosaWriter, bias: np.ndarray) -> TosaDense:
        """These sums with a constant added to each column."""
        return replace(self, bias=writer.add_to_bias(self.bias, bias))

    def emit(self, writer: TosaWriter) -> TosaTensor:
        """CONV2D between two reshapes."""
        depth, filters = self.weight.shape
        rows = math.prod(self.x.shape) // depth
        pixels = writer.reshape(self.x, (rows, 1, 1, depth))
        share = (self.zero + self.x.uint8_offset) * self.weight.astype(np.int64).sum(axis=0)
        weight = self.weight.T.reshape(filters, 1, 1, depth)
        result = TosaTensor("", (rows, 1, 1, filters), module_order(4), "int32")
        options = [[0, 0, 0, 0], [1, 1], [1, 1], False, writer.graph.schema.DType.INT32]
        bias = writer.to_int32_bias(self.bias + share)
        sums = _conv(writer, "CONV2D", pixels, weight, bias, self.zero, result, options)
        return writer.reshape(sums, self.shape)


def product(writer: TosaWriter, var: relax.Var, call: relax.Call) -> TosaDense | TosaTensor:
    """matmul by a constant matrix; of two activations also tvmq.matmul: MATMUL."""
    own = hasattr(call.attrs, "a_zero")
    zeros = (int(call.attrs.a_zero), int(call.attrs.b_zero)) if own else (0, 0)
    x = writer.tensor(call.args[0])
    if is_const(call.args[1]) and zeros == (0, 0):
        weight = const_value(call.args[1])
        if weight.ndim != 2 or weight.dtype != np.int8 or x.dtype != "int8":
            raise writer.unsupported_error(f"a product of {x.dtype} codes with a {weight.dtype} constant")
        zero = writer.zero(call.args[0].name, x.uint8_offset)
        return TosaDense(x, weight, np.zeros(weight.shape[1], np.int64), shape_of(var), zero)
    y = writer.tensor(call.args[1])
    if len(x.shape) < 2 or x.shape[:-2] != y.shape[:-2] or (x.dtype, y.dtype) != ("int8", "int8"):
        raise writer.unsupported_error("a product of matrices with broadcasting")
    batch = math.prod(x.shape[:-2])
    sides = [writer.reshape(side, (batch, *side.shape[-2:])) for side in (x, y)]
    result = TosaTensor("", (batch, x.shape[-2], y.shape[-1]), module_order(3), "int32")
    numbers = [writer.number(zero - side.uint8_offset, "int8") for zero, side in zip(zeros, (x, y), strict=True)]
    return writer.reshape(writer.emit("MATMUL", [*sides, *numbers], result), shape_of(var))


def pad(writer: TosaWriter, var: relax.Var, call: relax.Call) -> TosaTensor | TosaPendingPad:
    """nn.pad: the border of the convolutions that read it, or an operator of its own."""
    tensor, flat = writer.tensor(call.args[0]), ints(call.attrs.pad_width)
    if str(call.attrs.pad_mode) != "constant" or min(flat) < 0:
        raise writer.unsupported_error(f"nn.pad with mode {call.attrs.pad_mode}")
    width = tuple(zip(flat[0::2], flat[1::2], strict=True))
    padded = TosaPendingPad(tensor, width, int(call.attrs.pad_value) - tensor.uint8_offset)
    return padded if writer.can_take_border(var.name, flat) else padded.emit(writer)


FORMS: dict[str, Form] = {
    "nn.conv1d": convolution,
    "nn.conv2d": convolution,
    "tvmq.conv_transpose": transposed_convolution,
    "matmul": product,
    "tvmq.matmul": product,
    "nn.pad": pad,
}
