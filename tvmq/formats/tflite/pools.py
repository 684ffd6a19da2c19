"""Pools and means.

TFLite's own averages have no scale of their own for the result and round codes, not differences from the zero point; a
depthwise convolution of ones has the module's arithmetic: an exact sum, and one requantize. Its weight needs a float32
scale, which 1 / count mostly is not: so one is searched for with which every sum that can occur gives the same code,
and all of these sums are tried.

Tests: tests/formats/tflite/test_to_tflite.py
"""

from __future__ import annotations

import math

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.formats.exporting import core_forms
from tvmq.formats.exporting.binding_writer import Table, ints
from tvmq.formats.exporting.core import CoreMaxPool, CoreTensor, SumPool, windows_of
from tvmq.formats.exporting.layouts import LAST, code_bounds, module_order
from tvmq.formats.tflite import arithmetic
from tvmq.formats.tflite.flatbuffer import Quantization
from tvmq.formats.tflite.products import apply_padding
from tvmq.formats.tflite.writer import NONE, TfliteWriter
from tvmq.graph.view import const_value, shape_of

LARGEST_COUNT = 2**13  # of codes in a sum: all sums are tried, 255 for each of them


def print_average(writer: TfliteWriter, node: SumPool, var: relax.Var, call: relax.Call) -> CoreTensor:
    """A depthwise convolution of ones."""
    multiplier, _ = writer.requantize_constants(call)
    if multiplier.size != 1:
        raise writer.unsupported_error("an average with a scale for each channel")
    order = LAST[len(node.x.shape)]
    if shape_of(var) == node.shape:
        return writer.emit_with_activation(var, call, order, lambda y, act: _write(writer, node, call, y, act))
    result = writer.codes_of(var, module_order(len(shape_of(var))))
    target = writer.tensor_like(result, node.shape, order, f"{var.name}_kept")
    low, high = code_bounds(call, target.uint8_offset)
    pooled = _write(writer, node, call, target, NONE)
    if (low, high) != (-128, 127):
        target = writer.tensor_like(pooled, node.shape, order, f"{var.name}_bounded")
        pooled = writer.clip_codes(pooled, target, low, high)
    return writer.emit("RESHAPE", [pooled, writer.numbers(result.sizes, "shape")], result, version=1)


def _write(writer: TfliteWriter, node: SumPool, call: relax.Call, result: CoreTensor, activation: int) -> CoreTensor:
    windows, channels = node.windows, node.x.shape[1]
    scale, one = _find_scale(writer, node, call, result)
    x, padding = apply_padding(writer, node.x, windows, node.x.zero)
    codes = Quantization((scale,) * channels, 0, 3)
    ones = np.full((1, *windows.kernel, channels), one, np.int8)
    weight = writer.file.constant(f"{writer.layer}.ones", ones, codes)
    sums = Quantization((float(np.float32(np.float64(node.x.scale) * scale)),) * channels)
    bias = writer.file.constant(f"{writer.layer}.zeros", np.zeros(channels, np.int32), sums)
    return writer.emit(
        "DEPTHWISE_CONV_2D", [x, weight, bias], result, version=3, table="DepthwiseConv2DOptions",
        padding=padding, stride_w=windows.strides[1], stride_h=windows.strides[0], depth_multiplier=1,
        fused_activation_function=activation, dilation_w_factor=1, dilation_h_factor=1,
    )  # fmt: skip


def _find_scale(writer: TfliteWriter, node: SumPool, call: relax.Call, result: CoreTensor) -> tuple[float, int]:
    """A float32 scale and the weight's code with which all sums give the codes of the module."""
    count = math.prod(node.windows.kernel)
    if count > LARGEST_COUNT:
        raise writer.unsupported_error(f"an average of {count} values")
    sums = np.arange(count * (-128 - node.x.zero), count * (127 - node.x.zero) + 1)
    multiplier, shift = (const_value(arg).reshape(()) for arg in call.args[1:])
    low, high = code_bounds(call, result.uint8_offset)
    wanted = np.clip(arithmetic.multiply(sums, multiplier, shift) + result.zero, low, high)
    s_x, s_y = np.float64(node.x.scale), np.float64(result.scale)
    factor = numerics.real_factor(multiplier, shift, mode="fixed_point") * s_y / s_x
    for one in (1, 2, 3, 5, 7, 11, 64, 127):
        for scale in arithmetic.float32_neighbours(np.float32(factor / one)):
            constants = arithmetic.multiplier_of(np.asarray(s_x * np.float64(scale) / s_y))
            codes = arithmetic.multiply(sums * one, *constants) + result.zero
            if np.array_equal(np.clip(codes, low, high), wanted):
                return float(scale), one
    raise writer.unsupported_error(f"an average of {count} values whose factor no float32 scale reproduces")


def sum_pool(writer: TfliteWriter, var: relax.Var, call: relax.Call) -> SumPool:
    """tvmq.sum_pool."""
    return _check_zero(writer, core_forms.sum_pool(writer, var, call))


def total(writer: TfliteWriter, var: relax.Var, call: relax.Call) -> SumPool:
    """tvmq.sum over all spatial axes: one window."""
    x = writer.tensor(call.args[0])
    rank, axes = len(x.shape), sorted(axis % len(x.shape) for axis in ints(call.attrs.axes))
    if rank not in LAST or axes != list(range(2, rank)):
        raise writer.unsupported_error(f"a sum over axes {axes} of {rank}")
    ones = (1,) * (rank - 2)
    shape = (*x.shape[:2], *ones)
    windows = windows_of(x, shape, x.shape[2:], ones, (0,) * len(ones))
    return _check_zero(writer, SumPool(x, windows, shape, int(call.attrs.zero_point) - x.uint8_offset))


def _check_zero(writer: TfliteWriter, node: SumPool) -> SumPool:
    if node.zero != node.x.zero:
        raise writer.unsupported_error("a sum of differences from a number other than the zero point")
    return node


def print_max_pool(writer: TfliteWriter, node: CoreMaxPool, var: relax.Var) -> CoreTensor:
    """MAX_POOL_2D; a border that TFLite has no name for holds the lowest code."""
    windows = node.windows
    x, padding = apply_padding(writer, node.x, windows, -128, -128)
    result = writer.codes_of(var, x.order, x)
    return writer.emit(
        "MAX_POOL_2D", [x], result, table="Pool2DOptions", padding=padding,
        stride_w=windows.strides[1], stride_h=windows.strides[0], filter_width=windows.kernel[1],
        filter_height=windows.kernel[0], fused_activation_function=NONE,
    )  # fmt: skip


FORMS: Table = {"tvmq.sum_pool": sum_pool, "tvmq.sum": total}
SUMS: Table = {SumPool: print_average}
PRINTERS: Table = {CoreMaxPool: print_max_pool}
