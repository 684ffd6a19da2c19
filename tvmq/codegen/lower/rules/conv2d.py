"""Convolutions of pictures, lines and volumes, integer and float, of fixed or dynamic sizes, as one kernel.

padding   is made inside of the kernel; that of a 1 x 1 convolution is one pixel, known beforehand, which another kernel
          puts around
behind    bias, requantize, residual add, table or clip belong to the kernel
volumes   the slices under each window in depth become channels of one picture

Tests: tests/codegen/lower/test_convolutions.py
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.codegen.kernels.conv.border import choose_border
from tvmq.codegen.kernels.conv.choose import choose_convolution
from tvmq.codegen.kernels.conv.dynamic_pictures import USUAL_SIDE, usual_convolution
from tvmq.codegen.kernels.conv.stack_depth import DepthWindows, stack_depth
from tvmq.codegen.kernels.parts.kernel_types import CODE_LIMITS, Conv2d, Requantize, TableStep
from tvmq.codegen.kernels.parts.packing import packed_from
from tvmq.codegen.lower.code_range import code_range
from tvmq.codegen.lower.lowerer import Lowerer
from tvmq.codegen.lower.patterns.chains import Chain
from tvmq.codegen.lower.rules.epilogue import Finish, finish_of
from tvmq.codegen.lower.rules.shape import nhwc_shape
from tvmq.graph.sizes import Dim, is_number, name_dynamic_sizes
from tvmq.graph.view import View, const_value, dtype_of, is_const, op_name


def bordered_convolution(
    lowerer: Lowerer, conv: Conv2d, weight: np.ndarray, x_zero: int, source: str, finish: Finish
) -> bool:
    """Convolution of the picture alone, then its border; False, and nothing is emitted, for other convolutions."""
    pixel = _border(conv, weight, x_zero, finish)
    if pixel is None:
        return False
    inner = replace(conv, padding=(0, 0, 0, 0))
    around = lowerer.choose(choose_border, inner.out_shape, conv.padding, pixel)
    kernel = lowerer.choose(choose_convolution, inner, weight, finish.bias, x_zero, finish.epilogue)
    if kernel is None or around is None:
        return False
    dtype = str(pixel.dtype)
    x = lowerer.call(kernel, [lowerer.nhwc(source)], inner.out_shape, dtype, f"{finish.end}_inner")
    lowerer.give_nhwc(finish.end, lowerer.call(around, [x], conv.out_shape, dtype, finish.end))
    return True


def _border(conv: Conv2d, weight: np.ndarray, x_zero: int, finish: Finish) -> np.ndarray | None:
    """Codes of a pixel of padding; None unless the convolution is 1 x 1, in integers, and pads."""
    steps = finish.epilogue
    fits = conv.kernel == conv.strides == conv.dilation == (1, 1) and conv.groups == 1 and any(conv.padding)
    if not fits or conv.x_dtype == "float32" or not steps or finish.bias is None:
        return None
    if not isinstance(steps[0], Requantize) or not all(isinstance(step, TableStep) for step in steps[1:]):
        return None
    # the bias holds -x_zero times this sum; an exact int32, as all sums of the layer are
    sums = finish.bias.astype(np.int64) + x_zero * weight.astype(np.int64).sum(axis=(1, 2, 3))
    first = steps[0]
    codes = numerics.requantize(
        sums.astype(np.int32), first.multiplier, zero_point=first.zero_point, axis=0, qmin=first.qmin, qmax=first.qmax,
        dtype=first.dtype, negative_slope=first.negative_slope,
    )  # fmt: skip
    for step in steps[1:]:
        codes = numerics.table(codes, step.values)
    return np.asarray(codes)


LAYOUTS = (("NCW", "OIW"), ("NCHW", "OIHW"), ("NCDHW", "OIDHW"))


def lower(lowerer: Lowerer, chain: Chain) -> bool:
    """Lower a convolution and its chain to one kernel; False for layouts, weights and channels that are not ours."""
    view = lowerer.view
    call = view.value[chain.head]
    source, padding, pad_value = padding_of(view, chain)
    x_dtype = dtype_of(view.var[source])
    if not has_template(call, x_dtype):
        return False
    if not is_number(view.var[source].ty.shape[1]):
        return False
    weight = const_value(call.args[1])
    weight = weight.reshape(*weight.shape[:2], *pair(weight.shape[2:]))
    finish = finish_of(view, chain, len(weight))
    x = lowerer.nhwc(source)
    out = nhwc_shape(lowerer, finish.end)
    sizes = name_dynamic_sizes([*list(x.ty.shape)[:3], *out[:3]])
    before, after = (pair(side, 0) for side in padding)
    conv = usual_convolution(
        sizes[:3],
        int(x.ty.shape[3]),
        len(weight),
        kernel=weight.shape[2:],
        strides=pair(call.attrs.strides),
        padding=(*before, *after),
        dilation=pair(call.attrs.dilation),
        groups=int(call.attrs.groups),
        x_dtype=x_dtype,
    )
    fixed = all(isinstance(size, int) for size in sizes)
    if fixed and bordered_convolution(lowerer, conv, weight, pad_value, source, finish):
        return True
    int4 = lowerer.int4_weights.get(chain.head) if fixed else None
    codes = None if x_dtype == "float32" else code_range(view, view.var[source])
    operands = conv, weight, finish.bias, pad_value, finish.epilogue
    kernel = lowerer.choose(choose_convolution, *operands, int4=int4, codes=codes, sizes=None if fixed else sizes)
    if kernel is None:
        return False
    inputs = [x, *(lowerer.nhwc(other) for other in finish.others)]
    lowerer.give_nhwc(finish.end, lowerer.call(kernel, inputs, out, dtype_of(view.var[finish.end]), finish.end))
    return True


def has_template(call: relax.Call, x_dtype: str) -> bool:
    """True for a constant weight and layouts and types that the templates know."""
    layouts = (str(call.attrs.data_layout), str(call.attrs.kernel_layout))
    if layouts not in LAYOUTS or not is_const(call.args[1]) or x_dtype not in (*CODE_LIMITS, "float32"):
        return False
    return dtype_of(call.args[1]) == ("float32" if x_dtype == "float32" else "int8")


def pair(values: Iterable[int], missing: int = 1) -> tuple[int, int]:
    """(rows, columns) of an option; `missing` for the rows of a line."""
    *rows, columns = (int(value) for value in values)
    return (rows[0] if rows else missing), columns


def padding_of(view: View, chain: Chain) -> tuple[str, tuple[list[int], list[int]], int]:
    """Input of the chain, total padding (befores, afters) of its spatial axes and the value of the border."""
    call = view.value[chain.head]
    own = [int(p) for p in call.attrs.padding]
    spatial = len(own) // 2
    if chain.members[0] == chain.head:
        return call.args[0].name, (own[:spatial], own[spatial:]), 0
    pad = view.value[chain.members[0]]
    width = [int(w) for w in pad.attrs.pad_width]
    assert op_name(pad) == "nn.pad" and not any(own) and not any(width[:4])
    value = int(np.float64(pad.attrs.pad_value))
    return pad.args[0].name, (width[4::2], width[5::2]), value


def lower_volume(lowerer: Lowerer, chain: Chain) -> bool:
    """Two kernels for the chain; False for layouts and weights that are not ours."""
    view = lowerer.view
    call = view.value[chain.head]
    source, (before, after), pad_value = padding_of(view, chain)
    if not has_template(call, dtype_of(view.var[source])):
        return False
    weight, groups = const_value(call.args[1]), int(call.attrs.groups)
    if not is_number(view.var[source].ty.shape[1]):
        return False
    finish = finish_of(view, chain, weight.shape[0])
    batch, channels, *volume = view.var[source].ty.shape
    windows, out_height, out_width = list(view.var[finish.end].ty.shape)[2:]
    slices = batch * windows
    sizes = name_dynamic_sizes([slices, *volume[1:], slices, out_height, out_width])
    depth = DepthWindows(
        *usual_volume(batch, volume, channels),
        weight.shape[2],
        int(call.attrs.strides[0]),
        (before[0], after[0]),
        int(call.attrs.dilation[0]),
        groups,
    )
    conv = usual_convolution(
        sizes[:3],
        depth.taps * depth.channels,
        weight.shape[0],
        kernel=pair(weight.shape[3:]),
        strides=pair(call.attrs.strides[1:]),
        padding=(before[1], before[2], after[1], after[2]),
        dilation=pair(call.attrs.dilation[1:]),
        groups=groups,
        x_dtype=dtype_of(view.var[source]),
    )
    operands = conv, stacked_weight(weight), finish.bias, pad_value, finish.epilogue
    fixed = all(isinstance(size, int) for size in sizes)
    kernel = lowerer.choose(choose_convolution, *operands, sizes=None if fixed else sizes)
    if kernel is None:
        return False
    kernel = packed_from(kernel, weight, weight.shape, (0, 2, 1, 3, 4))
    x = stack_slices(lowerer, source, depth, pad_value, windows)
    out = [slices, out_height, out_width, conv.filters]
    others = [lowerer.reshape(lowerer.nhwc(other), out, other) for other in finish.others]
    value = lowerer.call(kernel, [x, *others], out, dtype_of(view.var[finish.end]), f"{finish.end}_slices")
    shape = [batch, windows * out_height, out_width, conv.filters]
    lowerer.give_nhwc(finish.end, lowerer.reshape(value, shape, finish.end))
    return True


def usual_volume(batch: Dim, volume: Sequence[Dim], channels: Dim) -> tuple[int, int, int, int]:
    """(batch, depth, pixels, channels) of a volume, with usual numbers for what only a run tells."""
    depth, height, width = (int(size) if is_number(size) else USUAL_SIDE for size in volume)
    return int(batch) if is_number(batch) else 1, depth, height * width, int(channels)


def stacked_weight(weight: np.ndarray) -> np.ndarray:
    """[out, in / groups, depth, rows, columns] with the depth among the channels, as stack_depth puts them."""
    return np.ascontiguousarray(weight.swapaxes(1, 2).reshape(weight.shape[0], -1, *weight.shape[3:]))


def stack_slices(lowerer: Lowerer, name: str, depth: DepthWindows, fill: float, windows: Dim) -> relax.Expr:
    """Pictures (batch * windows, rows, columns, taps * channels) of a volume.

    depth   of usual sizes where some are dynamic; windows: how many there are
    """
    x, (batch, _, slices, height, width) = lowerer.nhwc(name), lowerer.view.var[name].ty.shape
    shape = [batch * windows, height, width, depth.taps * depth.channels]
    if depth.taps == depth.stride == 1 and not any(depth.padding):
        return lowerer.reshape(x, shape, name)
    sizes = name_dynamic_sizes([batch, slices, height * width, windows])
    if all(isinstance(size, int) for size in sizes):
        kernel = stack_depth(depth, fill, lowerer.isa, dtype_of(x))
        slice_shape, flat = [batch * slices, depth.pixels, depth.channels], [shape[0], depth.pixels, shape[3]]
    else:
        kernel = stack_depth(depth, fill, lowerer.isa, dtype_of(x), sizes)
        slice_shape = [batch, slices, height * width, depth.channels]
        flat = [batch, windows, height * width, shape[3]]
    x = lowerer.reshape(x, slice_shape, name)
    return lowerer.reshape(lowerer.call(kernel, [x], flat, dtype_of(x), f"{name}_stacked"), shape, name)
