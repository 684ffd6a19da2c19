"""Convolutions and products in TOSA: int32 sums with a bias.

CONV2D computes sum(weight * (code - zero)) + bias, and what stands outside of the picture is `zero`. The module
computes sum(weight * code) with a border of one code: that code is `zero` here, and the bias gets its share.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from tvm import relax

from tvmq.exporters.core_walk import ints
from tvmq.exporters.layouts import LAST, Ints, plain
from tvmq.exporters.tosa.walk import Form, Tensor, Walk
from tvmq.graph.view import const_value, is_const, shape_of
from tvmq.numerics.windows import both_sides

Sides = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class PendingPad:
    """Codes with a border that is not written yet; `code` fills it, as a number of the graph."""

    tensor: Tensor
    width: Sides
    code: int

    def plus(self, walk: Walk, bias: np.ndarray) -> PendingPad:
        """Refuse: codes get no bias."""
        raise walk.refused("a sum of codes and a constant")

    def emit(self, walk: Walk) -> Tensor:
        """PAD."""
        return walk.add_border(self.tensor, self.width, self.code)


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


def cut(walk: Walk, tensor: Tensor, sizes: Ints) -> Tensor:
    """The first elements of the spatial axes."""
    if tensor.shape[2:] == sizes:
        return tensor
    result = replace(tensor, shape=(*tensor.shape[:2], *sizes))
    begins = [0] * len(tensor.order)
    return walk.emit("SLICE", [tensor, walk.graph.numbers(begins), walk.graph.numbers(result.sizes)], result)


@dataclass(frozen=True)
class Convolution:
    """Sums of a convolution over one or two axes; weight (filters, depth, spatial...), bias one for each filter."""

    x: Tensor
    weight: np.ndarray
    bias: np.ndarray
    shape: Ints
    strides: Ints
    dilation: Ints
    sides: Sides
    groups: int
    code: int

    def plus(self, walk: Walk, bias: np.ndarray) -> Convolution:
        """These sums with a constant added to each channel."""
        return replace(self, bias=walk.added_bias(self.bias, bias))

    def emit(self, walk: Walk) -> Tensor:
        """CONV2D, DEPTHWISE_CONV2D, or one CONV2D for each group and a CONCAT."""
        kernel = self.weight.shape[2:]
        spans = tuple((k - 1) * d + 1 for k, d in zip(kernel, self.dilation, strict=True))
        sizes, sides = fit_windows(self.x.shape[2:], self.shape[2:], spans, self.strides, self.sides)
        x = cut(walk, walk.last(self.x), sizes)
        pad = [side for pair in (*[(0, 0)] * (2 - len(sides)), *sides) for side in pair]
        options = [pad, in_two(self.strides), in_two(self.dilation), False, walk.graph.schema.DType.INT32]
        four = self.weight if self.weight.ndim == 4 else self.weight[:, :, None]
        bias = walk.int32_bias(self.bias + (self.code + self.x.moved) * four.astype(np.int64).sum(axis=(1, 2, 3)))
        channels = self.x.shape[1]
        result = Tensor("", self.shape, LAST[len(self.shape)], "int32")
        if self.groups == channels > 1:
            each = len(four) // channels
            order = four.reshape(channels, each, *four.shape[2:]).transpose(2, 3, 0, 1)
            return _conv(walk, "DEPTHWISE_CONV2D", x, order, bias, self.code, result, options)
        parts = []
        for number in range(self.groups):
            depth, filters = channels // self.groups, len(four) // self.groups
            rows = slice(number * filters, (number + 1) * filters)
            part = replace(result, shape=(self.shape[0], filters, *self.shape[2:]))
            group = x if self.groups == 1 else _channels(walk, x, number * depth, depth)
            order = four[rows].transpose(0, 2, 3, 1)
            parts.append(_conv(walk, "CONV2D", group, order, bias[rows], self.code, part, options))
        return parts[0] if self.groups == 1 else walk.emit("CONCAT", parts, result, 3)


def _conv(
    walk: Walk,
    code: str,
    x: Tensor,
    weight: np.ndarray,
    bias: np.ndarray,
    zero: int,
    result: Tensor,
    options: list[object],
) -> Tensor:
    constants = [walk.graph.constant(np.ascontiguousarray(array)) for array in (weight, bias)]
    return walk.emit(code, [x, *constants, walk.number(zero, "int8"), walk.number(0, "int8")], result, *options)


def _channels(walk: Walk, x: Tensor, begin: int, count: int) -> Tensor:
    result = replace(x, shape=(x.shape[0], count, *x.shape[2:]))
    begins = [0] * (len(x.order) - 1) + [begin]
    return walk.emit("SLICE", [x, walk.graph.numbers(begins), walk.graph.numbers(result.sizes)], result)


def convolution(walk: Walk, var: relax.Var, call: relax.Call) -> Convolution:
    """nn.conv1d, nn.conv2d."""
    rank = len(shape_of(var)) - 2
    if not is_const(call.args[1]) or rank > 2 or const_value(call.args[1]).dtype != np.int8:
        raise walk.refused(f"a convolution of {rank} axes, or with a weight that is no constant of int8,")
    weight, value = const_value(call.args[1]), walk.values[call.args[0].name]
    if isinstance(value, PendingPad) and not any(ints(call.attrs.padding)):
        x, sides, code = value.tensor, value.width[2:], value.code
    else:
        x, sides = walk.tensor(call.args[0]), both_sides(ints(call.attrs.padding), rank)
        code = -x.moved
    if x.dtype != "int8":
        raise walk.refused(f"a convolution of {x.dtype}")
    zeros = np.zeros(len(weight), np.int64)
    return Convolution(x, weight, zeros, shape_of(var), ints(call.attrs.strides), ints(call.attrs.dilation), sides,
                       int(call.attrs.groups), code)  # fmt: skip


@dataclass(frozen=True)
class ConvTranspose:
    """Sums of a transposed convolution; weight (channels, filters, spatial...), `sides` are cut off the result."""

    x: Tensor
    weight: np.ndarray
    bias: np.ndarray
    shape: Ints
    strides: Ints
    sides: Sides
    zero: int

    def plus(self, walk: Walk, bias: np.ndarray) -> ConvTranspose:
        """These sums with a constant added to each channel."""
        return replace(self, bias=walk.added_bias(self.bias, bias))

    def emit(self, walk: Walk) -> Tensor:
        """TRANSPOSE_CONV2D, whose border is what it puts around the result."""
        four = self.weight if self.weight.ndim == 4 else self.weight[:, :, None]
        x, rank = walk.last(self.x), len(self.strides)
        pad = [0, 0] * (2 - rank)
        for size, count, stride, kernel, (before, _) in zip(
            self.x.shape[2:], self.shape[2:], self.strides, self.weight.shape[2:], self.sides, strict=True
        ):
            pad += [-before, count + before - (size - 1) * stride - kernel]
        bias = walk.int32_bias(self.bias + (self.zero + self.x.moved) * four.astype(np.int64).sum(axis=(0, 2, 3)))
        options = [pad, in_two(self.strides), False, walk.graph.schema.DType.INT32]
        result = Tensor("", self.shape, LAST[len(self.shape)], "int32")
        return _conv(walk, "TRANSPOSE_CONV2D", x, four.transpose(1, 2, 3, 0), bias, self.zero, result, options)


def transposed_convolution(walk: Walk, var: relax.Var, call: relax.Call) -> ConvTranspose:
    """tvmq.conv_transpose."""
    attrs, rank = call.attrs, len(shape_of(var)) - 2
    if not is_const(call.args[1]) or rank > 2 or const_value(call.args[1]).dtype != np.int8:
        raise walk.refused(f"a transposed convolution of {rank} axes, or with a weight that is no constant of int8,")
    if int(attrs.groups) != 1 or any(d != 1 for d in ints(attrs.dilation)):
        raise walk.refused("a transposed convolution in groups or with dilation")
    x, weight = walk.tensor(call.args[0]), const_value(call.args[1])
    zeros, sides = np.zeros(weight.shape[1], np.int64), both_sides(ints(attrs.padding), rank)
    zero = int(attrs.zero_point) - x.moved
    return ConvTranspose(x, weight, zeros, shape_of(var), ints(attrs.strides), sides, zero)


@dataclass(frozen=True)
class Dense:
    """Rows by a constant matrix (depth, filters): CONV2D of pixels."""

    x: Tensor
    weight: np.ndarray
    bias: np.ndarray
    shape: Ints
    zero: int

    def plus(self, walk: Walk, bias: np.ndarray) -> Dense:
        """These sums with a constant added to each column."""
        return replace(self, bias=walk.added_bias(self.bias, bias))

    def emit(self, walk: Walk) -> Tensor:
        """CONV2D between two reshapes."""
        depth, filters = self.weight.shape
        rows = math.prod(self.x.shape) // depth
        pixels = walk.viewed(self.x, (rows, 1, 1, depth))
        share = (self.zero + self.x.moved) * self.weight.astype(np.int64).sum(axis=0)
        weight = self.weight.T.reshape(filters, 1, 1, depth)
        result = Tensor("", (rows, 1, 1, filters), plain(4), "int32")
        options = [[0, 0, 0, 0], [1, 1], [1, 1], False, walk.graph.schema.DType.INT32]
        sums = _conv(walk, "CONV2D", pixels, weight, walk.int32_bias(self.bias + share), self.zero, result, options)
        return walk.viewed(sums, self.shape)


def product(walk: Walk, var: relax.Var, call: relax.Call) -> Dense | Tensor:
    """matmul by a constant matrix; of two activations also tvmq.matmul: MATMUL."""
    own = hasattr(call.attrs, "a_zero")
    zeros = (int(call.attrs.a_zero), int(call.attrs.b_zero)) if own else (0, 0)
    x = walk.tensor(call.args[0])
    if is_const(call.args[1]) and zeros == (0, 0):
        weight = const_value(call.args[1])
        if weight.ndim != 2 or weight.dtype != np.int8 or x.dtype != "int8":
            raise walk.refused(f"a product of {x.dtype} with a constant of {weight.dtype}")
        zero = walk.zero(call.args[0].name, x.moved)
        return Dense(x, weight, np.zeros(weight.shape[1], np.int64), shape_of(var), zero)
    y = walk.tensor(call.args[1])
    if len(x.shape) < 2 or x.shape[:-2] != y.shape[:-2] or (x.dtype, y.dtype) != ("int8", "int8"):
        raise walk.refused("a product of matrices that broadcast")
    batch = math.prod(x.shape[:-2])
    sides = [walk.viewed(side, (batch, *side.shape[-2:])) for side in (x, y)]
    result = Tensor("", (batch, x.shape[-2], y.shape[-1]), plain(3), "int32")
    numbers = [walk.number(zero - side.moved, "int8") for zero, side in zip(zeros, (x, y), strict=True)]
    return walk.viewed(walk.emit("MATMUL", [*sides, *numbers], result), shape_of(var))


def pad(walk: Walk, var: relax.Var, call: relax.Call) -> Tensor | PendingPad:
    """nn.pad: the border of the convolutions that read it, or an operator of its own."""
    tensor, flat = walk.tensor(call.args[0]), ints(call.attrs.pad_width)
    if str(call.attrs.pad_mode) != "constant" or min(flat) < 0:
        raise walk.refused(f"nn.pad of mode {call.attrs.pad_mode}")
    width = tuple(zip(flat[0::2], flat[1::2], strict=True))
    padded = PendingPad(tensor, width, int(call.attrs.pad_value) - tensor.moved)
    return padded if walk.takes_border(var.name, flat) else padded.emit(walk)


FORMS: dict[str, Form] = {
    "nn.conv1d": convolution,
    "nn.conv2d": convolution,
    "tvmq.conv_transpose": transposed_convolution,
    "matmul": product,
    "tvmq.matmul": product,
    "nn.pad": pad,
}
