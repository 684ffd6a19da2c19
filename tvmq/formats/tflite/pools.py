"""Pools and means.

TFLite's own averages have no scale of their own for the result and round codes, not differences from the zero point; a
depthwise convolution of ones has the module's arithmetic: an exact sum, and one requantize. Its weight needs a float32
scale, which 1 / count mostly is not: so one is searched for with which every sum that can occur gives the same code,
and all of these sums are tried.

Tests: tests/formats/tflite/test_to_tflite.py
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from tvm import relax

from tvmq.formats.exporting.core_writer import ints
from tvmq.formats.exporting.layouts import LAST, Ints, code_bounds
from tvmq.formats.tflite import arithmetic
from tvmq.formats.tflite.codes import TfliteTensor
from tvmq.formats.tflite.flatbuffer import Quantization
from tvmq.formats.tflite.products import PADDING, TfliteWindows, apply_padding, windows_of
from tvmq.formats.tflite.writer import Form, TfliteWriter
from tvmq.graph.operators import where
from tvmq.graph.operators.record import POOL
from tvmq.graph.view import const_value, shape_of
from tvmq.numerics.requantize import requantize
from tvmq.numerics.windows import both_sides

LARGEST_COUNT = 2**13  # of codes in a sum: all sums are tried, 255 for each of them


@dataclass(frozen=True)
class Average:
    """Sums under windows, of differences from the zero point; `shape` is that of the result with all its axes."""

    x: TfliteTensor
    windows: TfliteWindows
    shape: Ints

    def with_bias(self, writer: TfliteWriter, bias: np.ndarray) -> Average:
        """Refuse: averages get no bias."""
        raise writer.unsupported_error("a sum of a pool and a constant")

    def emit_requantize(self, writer: TfliteWriter, var: relax.Var, call: relax.Call) -> TfliteTensor:
        """A depthwise convolution of ones."""
        multiplier, shift = writer.requantize_constants(call)
        if multiplier.size != 1:
            raise writer.unsupported_error("an average with a scale for each channel")
        order = LAST[len(self.x.shape)]
        if shape_of(var) == self.shape:
            return writer.emit_with_activation(var, call, order, lambda y, act: self._write(writer, call, y, act))
        result = writer.codes_of(var, tuple(range(len(shape_of(var)))))
        target = writer.tensor_like(result, self.shape, order, f"{var.name}_kept")
        low, high = code_bounds(call, target.uint8_offset)
        pooled = self._write(writer, call, target, 0)
        if (low, high) != (-128, 127):
            target = writer.tensor_like(pooled, self.shape, order, f"{var.name}_bounded")
            pooled = writer.clip_codes(pooled, target, low, high)
        return writer.emit("RESHAPE", [pooled, writer.numbers(result.sizes, "shape")], result, version=1)

    def _write(self, writer: TfliteWriter, call: relax.Call, result: TfliteTensor, activation: int) -> TfliteTensor:
        channels, kernel = self.x.shape[1], self.windows.kernel
        scale, one = self._scale(writer, call, result)
        x, padding = apply_padding(writer, self.x, self.windows, self.x.zero)
        numbers = Quantization((scale,) * channels, 0, 3)
        weight = writer.file.constant(f"{writer.layer}.ones", np.full((1, *kernel, channels), one, np.int8), numbers)
        sums = Quantization((float(np.float32(np.float64(self.x.scale) * scale)),) * channels)
        bias = writer.file.constant(f"{writer.layer}.zeros", np.zeros(channels, np.int32), sums)
        return writer.emit(
            "DEPTHWISE_CONV_2D", [x, weight, bias], result, version=3, table="DepthwiseConv2DOptions",
            padding=PADDING[padding], stride_w=self.windows.strides[1], stride_h=self.windows.strides[0],
            depth_multiplier=1, fused_activation_function=activation, dilation_w_factor=1, dilation_h_factor=1,
        )  # fmt: skip

    def _scale(self, writer: TfliteWriter, call: relax.Call, result: TfliteTensor) -> tuple[float, int]:
        """A float32 scale and the weight's code with which all sums give the codes of the module."""
        count = math.prod(self.windows.kernel)
        if count > LARGEST_COUNT:
            raise writer.unsupported_error(f"an average of {count} values")
        sums = np.arange(count * (-128 - self.x.zero), count * (127 - self.x.zero) + 1)
        multiplier, shift = (const_value(arg).reshape(()) for arg in call.args[1:])
        low, high = code_bounds(call, result.uint8_offset)
        wanted = requantize(sums.astype(np.int32), multiplier, shift, zero_point=result.zero, mode="fixed_point",
                            rounding="DOUBLE", dtype="int8", qmin=low, qmax=high)  # fmt: skip
        s_x, s_y = np.float64(self.x.scale), np.float64(result.scale)
        factor = arithmetic.real_factor(multiplier, shift) * s_y / s_x
        for one in (1, 2, 3, 5, 7, 11, 64, 127):
            for scale in arithmetic.float32_neighbours(np.float32(factor / one)):
                constants = arithmetic.multiplier_of(np.asarray(s_x * np.float64(scale) / s_y))
                codes = arithmetic.multiply(sums * one, *constants) + result.zero
                if np.array_equal(np.clip(codes, low, high), wanted):
                    return float(scale), one
        raise writer.unsupported_error(f"an average of {count} values whose factor no float32 scale reproduces")


def sum_pool(writer: TfliteWriter, var: relax.Var, call: relax.Call) -> Average:
    """tvmq.sum_pool."""
    x, rank = writer.codes(call.args[0]), len(shape_of(var)) - 2
    _check_zero(writer, x, call)
    windows = windows_of(x.shape[2:], shape_of(var)[2:], ints(call.attrs.kernel), ints(call.attrs.strides),
                         (1,) * rank, both_sides(ints(call.attrs.padding), rank))  # fmt: skip
    return Average(x, windows, shape_of(var))


def total(writer: TfliteWriter, var: relax.Var, call: relax.Call) -> Average:
    """tvmq.sum over all spatial axes."""
    x = writer.codes(call.args[0])
    _check_zero(writer, x, call)
    rank, axes = len(x.shape), sorted(axis % len(x.shape) for axis in ints(call.attrs.axes))
    if rank not in LAST or axes != list(range(2, rank)):
        raise writer.unsupported_error(f"a sum over axes {axes} of {rank}")
    ones = (1,) * (rank - 2)
    windows = windows_of(x.shape[2:], ones, x.shape[2:], ones, ones, ((0, 0),) * (rank - 2))
    return Average(x, windows, (*x.shape[:2], *ones))


def _check_zero(writer: TfliteWriter, x: TfliteTensor, call: relax.Call) -> None:
    if int(call.attrs.zero_point) - x.uint8_offset != x.zero:
        raise writer.unsupported_error("a sum of differences from a number other than the zero point")


def max_pool(writer: TfliteWriter, var: relax.Var, call: relax.Call) -> TfliteTensor:
    """nn.max_pool1d, nn.max_pool2d."""
    attrs, x, rank = call.attrs, writer.codes(call.args[0]), len(shape_of(var)) - 2
    if rank > 2 or not str(attrs.layout).startswith("NC") or any(d != 1 for d in ints(attrs.dilation)):
        raise writer.unsupported_error(f"a dilated pool, or a pool over {rank} axes")
    far = 2**16  # what rounding up reaches beyond the border is cut by `reached_border`
    sides = tuple((before, far) for before, _ in both_sides(ints(attrs.padding), rank))
    windows = windows_of(x.shape[2:], shape_of(var)[2:], ints(attrs.pool_size), ints(attrs.strides), (1,) * rank, sides)
    padding = windows.padding
    x = writer.to_channels_last(x)
    if padding is None:
        x, padding = apply_padding(writer, x, windows, -128)
    result = writer.codes_of(var, x.order, x)
    return writer.emit(
        "MAX_POOL_2D", [x], result, table="Pool2DOptions", padding=PADDING[padding],
        stride_w=windows.strides[1], stride_h=windows.strides[0], filter_width=windows.kernel[1],
        filter_height=windows.kernel[0], fused_activation_function=0,
    )  # fmt: skip


FORMS: dict[str, Form] = {
    **dict.fromkeys(where(kind=POOL, commutes_with_quantize=True), max_pool),
    "tvmq.sum_pool": sum_pool,
    "tvmq.sum": total,
}
