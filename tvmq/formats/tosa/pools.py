"""Pools, sums and means in TOSA: exact int32 sums, by depthwise convolutions of ones and by REDUCE_SUM.

Tests: tests/formats/tosa/test_to_tosa.py
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tvm import relax

from tvmq.formats.exporting.core_writer import ints
from tvmq.formats.exporting.layouts import LAST, arrange_sizes
from tvmq.formats.tosa.products import cut, fit_windows, in_two
from tvmq.formats.tosa.writer import Form, TosaTensor, TosaWriter
from tvmq.graph.operators import where
from tvmq.graph.operators.record import POOL
from tvmq.graph.view import shape_of
from tvmq.numerics.windows import both_sides


def max_pool(writer: TosaWriter, var: relax.Var, call: relax.Call) -> TosaTensor:
    """nn.max_pool1d, nn.max_pool2d: MAX_POOL2D, whose border is never the largest."""
    attrs, x, rank = call.attrs, writer.tensor(call.args[0]), len(shape_of(var)) - 2
    if rank > 2 or not str(attrs.layout).startswith("NC") or any(d != 1 for d in ints(attrs.dilation)):
        raise writer.unsupported_error(f"a dilated pool, or a pool over {rank} axes,")
    kernel, strides = ints(attrs.pool_size), ints(attrs.strides)
    sizes, sides = fit_windows(x.shape[2:], shape_of(var)[2:], kernel, strides, both_sides(ints(attrs.padding), rank))
    if any(side >= k for pair, k in zip(sides, kernel, strict=True) for side in pair):
        raise writer.unsupported_error("a pool with a window that lies wholly in its border")
    x = cut(writer, writer.to_channels_last(x), sizes)
    pad = [side for pair in (*[(0, 0)] * (2 - rank), *sides) for side in pair]
    result = replace(x, shape=shape_of(var))
    mode = writer.graph.schema.NanPropagationMode.PROPAGATE
    return writer.emit("MAX_POOL2D", [x], result, in_two(kernel), in_two(strides), pad, mode)


def sum_pool(writer: TosaWriter, var: relax.Var, call: relax.Call) -> TosaTensor:
    """tvmq.sum_pool: a depthwise convolution of ones."""
    attrs, x, rank = call.attrs, writer.tensor(call.args[0]), len(shape_of(var)) - 2
    kernel, strides = ints(attrs.kernel), ints(attrs.strides)
    if rank > 2 or x.dtype != "int8":
        raise writer.unsupported_error(f"a pool over {rank} axes of {x.dtype}")
    sizes, sides = fit_windows(x.shape[2:], shape_of(var)[2:], kernel, strides, both_sides(ints(attrs.padding), rank))
    x, channels = cut(writer, writer.to_channels_last(x), sizes), x.shape[1]
    pad = [side for pair in (*[(0, 0)] * (2 - rank), *sides) for side in pair]
    ones = writer.graph.constant(np.ones((*in_two(kernel), channels, 1), np.int8))
    zeros = writer.graph.constant(np.zeros(channels, np.int32))
    result = TosaTensor("", shape_of(var), LAST[rank + 2], "int32")
    numbers = [writer.number(int(attrs.zero_point) - x.uint8_offset, "int8"), writer.number(0, "int8")]
    options = [pad, in_two(strides), [1, 1], False, writer.graph.schema.DType.INT32]
    return writer.emit("DEPTHWISE_CONV2D", [x, ones, zeros, *numbers], result, *options)


def total(writer: TosaWriter, var: relax.Var, call: relax.Call) -> TosaTensor:
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
        sizes = arrange_sizes(shape_of(var), tuple(range(len(kept))))
        return TosaTensor(writer.reshape_elements(sums, sizes), shape_of(var), tuple(range(len(kept))), "int32")
    return writer.reshape(sums, shape_of(var))


FORMS: dict[str, Form] = {
    **dict.fromkeys(where(kind=POOL, commutes_with_quantize=True), max_pool),
    "tvmq.sum_pool": sum_pool,
    "tvmq.sum": total,
}
