"""Pools, sums and means in TOSA: exact int32 sums, by depthwise convolutions of ones and by REDUCE_SUM.

Tests: tests/formats/tosa/test_to_tosa.py
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tvm import relax

from tvmq.formats.exporting import core_forms
from tvmq.formats.exporting.binding_writer import Table, ints
from tvmq.formats.exporting.core import CoreMaxPool, CoreTensor
from tvmq.formats.exporting.layouts import LAST
from tvmq.formats.tosa.products import cover_windows
from tvmq.formats.tosa.writer import TosaWriter
from tvmq.graph.view import shape_of


def print_max_pool(writer: TosaWriter, node: CoreMaxPool, var: relax.Var) -> CoreTensor:
    """MAX_POOL2D, whose border is never the largest."""
    windows = node.windows
    if any(side >= k for pair, k in zip(windows.border, windows.kernel, strict=True) for side in pair):
        raise writer.unsupported_error("a pool with a window that lies wholly in its border")
    x, pad = cover_windows(writer, node.x, windows)
    mode = writer.graph.schema.NanPropagationMode.PROPAGATE
    result = replace(x, shape=shape_of(var))
    return writer.emit("MAX_POOL2D", [x], result, list(windows.kernel), list(windows.strides), pad, mode)


def sum_pool(writer: TosaWriter, var: relax.Var, call: relax.Call) -> CoreTensor:
    """tvmq.sum_pool: a depthwise convolution of ones."""
    node = core_forms.sum_pool(writer, var, call)
    windows, channels = node.windows, node.x.shape[1]
    x, pad = cover_windows(writer, node.x, windows)
    ones = writer.graph.constant(np.ones((*windows.kernel, channels, 1), np.int8))
    zeros = writer.graph.constant(np.zeros(channels, np.int32))
    result = CoreTensor("", node.shape, LAST[len(node.shape)], "int32")
    numbers = [writer.number(node.zero, "int8"), writer.number(0, "int8")]
    options = [pad, list(windows.strides), [1, 1], False, writer.graph.schema.DType.INT32]
    return writer.emit("DEPTHWISE_CONV2D", [x, ones, zeros, *numbers], result, *options)


def total(writer: TosaWriter, var: relax.Var, call: relax.Call) -> CoreTensor:
    """tvmq.sum: REDUCE_SUM along each axis."""
    x = writer.tensor(call.args[0])
    axes = sorted(axis % len(x.shape) for axis in ints(call.attrs.axes))
    sums = writer.to_int32(x, int(call.attrs.zero_point) - x.uint8_offset)
    for axis in axes:
        shape = tuple(1 if number == axis else size for number, size in enumerate(sums.shape))
        sums = writer.emit("REDUCE_SUM", [sums], replace(sums, shape=shape), sums.order.index(axis))
    if sums.shape == shape_of(var):
        return sums
    kept = [axis for axis in sums.order if axis is not None and axis not in axes]
    if kept == sorted(kept):  # the elements lie as the module has them
        return writer.reshape_elements(sums, shape_of(var))
    return writer.reshape(sums, shape_of(var))


FORMS: Table = {"tvmq.sum_pool": sum_pool, "tvmq.sum": total}
PRINTERS: Table = {CoreMaxPool: print_max_pool}
