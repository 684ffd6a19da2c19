"""Convolutions of volumes, integer and float: the slices under each window in depth are channels of one picture.

So the kernel is that of conv2d, its bias, requantize, residual add and table included.
"""

from __future__ import annotations

import numpy as np
from tvm import relax

from tvmq.graph.view import const_value, dtype_of, shape_of
from tvmq.kernels.conv.choose import choose_convolution
from tvmq.kernels.conv.stack_depth import DepthWindows, stack_depth
from tvmq.kernels.parts.types import Conv2d
from tvmq.lower.lowerer import Lowerer
from tvmq.lower.patterns.chains import Chain
from tvmq.lower.rules.conv2d import padding_of, pair, takes
from tvmq.lower.rules.epilogue import finish_of


def lower(lowerer: Lowerer, chain: Chain) -> bool:
    """Two kernels for the chain; False for layouts and weights that are not ours."""
    view = lowerer.view
    call = view.value[chain.head]
    source, (before, after), pad_value = padding_of(view, chain)
    if not takes(call, dtype_of(view.var[source])):
        return False
    weight, groups = const_value(call.args[1]), int(call.attrs.groups)
    depth = DepthWindows(
        *sizes_of(lowerer, source),
        weight.shape[2],
        int(call.attrs.strides[0]),
        (before[0], after[0]),
        int(call.attrs.dilation[0]),
        groups,
    )
    height, width = shape_of(view.var[source])[3:]
    conv = Conv2d(
        depth.batch * depth.windows,
        height,
        width,
        depth.taps * depth.channels,
        weight.shape[0],
        kernel=pair(weight.shape[3:]),
        strides=pair(call.attrs.strides[1:]),
        padding=(before[1], before[2], after[1], after[2]),
        dilation=pair(call.attrs.dilation[1:]),
        groups=groups,
        x_dtype=dtype_of(view.var[source]),
    )
    finish = finish_of(view, chain, conv.filters)
    kernel = lowerer.choose(choose_convolution, conv, stacked_weight(weight), finish.bias, pad_value, finish.epilogue)
    if kernel is None:
        return False
    x = stack_slices(lowerer, source, depth, pad_value)
    others = [lowerer.reshaped(lowerer.nhwc(other), conv.out_shape, other) for other in finish.others]
    value = lowerer.call(kernel, [x, *others], conv.out_shape, dtype_of(view.var[finish.end]), f"{finish.end}_slices")
    shape = [depth.batch, depth.windows * conv.out_height, conv.out_width, conv.filters]
    lowerer.give_nhwc(finish.end, lowerer.reshaped(value, shape, finish.end))
    return True


def sizes_of(lowerer: Lowerer, name: str) -> tuple[int, int, int, int]:
    """(batch, depth, pixels, channels) of a volume."""
    batch, channels, depth, height, width = shape_of(lowerer.view.var[name])
    return batch, depth, height * width, channels


def stacked_weight(weight: np.ndarray) -> np.ndarray:
    """[out, in / groups, depth, rows, columns] with the depth among the channels, as stack_depth puts them."""
    return np.ascontiguousarray(weight.swapaxes(1, 2).reshape(weight.shape[0], -1, *weight.shape[3:]))


def stack_slices(lowerer: Lowerer, name: str, depth: DepthWindows, fill: float) -> relax.Expr:
    """Pictures (batch * windows, rows, columns, taps * channels) of a volume."""
    x, (height, width) = lowerer.nhwc(name), shape_of(lowerer.view.var[name])[3:]
    shape = [depth.batch * depth.windows, height, width, depth.taps * depth.channels]
    if depth.taps == depth.stride == 1 and not any(depth.padding):
        return lowerer.reshaped(x, shape, name)
    kernel = stack_depth(depth, fill, lowerer.isa, dtype_of(x))
    slices = lowerer.reshaped(x, [depth.batch * depth.depth, depth.pixels, depth.channels], name)
    flat = [shape[0], depth.pixels, shape[3]]
    return lowerer.reshaped(lowerer.call(kernel, [slices], flat, dtype_of(x), f"{name}_stacked"), shape, name)
