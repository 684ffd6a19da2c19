"""Transposed convolutions, integer and float: all phases of the result as one convolution, then spread over pixels.

The convolution has the kernels of conv2d, with bias, requantize, table or clip; see kernels/conv/subpixel.py.

A dynamic size makes a convolution of any size, if the result's is its multiple by the stride, and so many more.

Tests: tests/passes/test_convolutions.py
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tvm import relax
from tvm.sym import Analyzer

from tvmq import numerics
from tvmq.codegen.kernels.conv.choose import choose_convolution
from tvmq.codegen.kernels.conv.dynamic_pictures import USUAL_SIDE, usual_convolution
from tvmq.codegen.kernels.conv.stack_depth import DepthWindows
from tvmq.codegen.kernels.conv.subpixel import SubpixelAxis, subpixel_channels, subpixel_weights
from tvmq.codegen.kernels.move.depth_to_space import Spread, depth_to_space, join_slices
from tvmq.codegen.kernels.parts.kernel_types import CODE_LIMITS, FixedRequantize, Requantize
from tvmq.codegen.kernels.parts.packing import packed_from
from tvmq.codegen.lower.lowerer import Lowerer
from tvmq.codegen.lower.patterns.chains import Chain
from tvmq.codegen.lower.rules.conv2d import pair, stack_slices, stacked_weight, usual_volume
from tvmq.codegen.lower.rules.epilogue import finish_of
from tvmq.graph.sizes import Dim, is_number, name_dynamic_sizes
from tvmq.graph.view import const_value, dtype_of, is_const, op_name, rank_of

INT32 = np.iinfo(np.int32)
# spatial axes -> layout of the kernel
KERNEL_LAYOUTS = {1: "IOW", 2: "IOHW", 3: "IODHW"}


@dataclass(frozen=True, eq=False)
class _Phases:
    """A transposed convolution as one of phases; axes are depth, rows, columns."""

    weight: np.ndarray
    axes: list[SubpixelAxis]
    groups: int
    zero_point: int

    @property
    def filters(self) -> np.ndarray:
        """Weight of the convolution, [channels, in / groups, depth, rows, columns]."""
        return subpixel_weights(self.weight, self.axes, self.groups)

    def moves(self) -> tuple[list[int], tuple[int, ...], tuple[int, ...]]:
        """How `filters`, the depth among the channels, are made where all phases have equal taps; see `packed_from`."""
        taps = [size for axis in self.axes for size in (axis.kernel, axis.stride)]
        shape = [self.groups, len(self.weight) // self.groups, self.weight.shape[1], *taps]
        return shape, (0, 4, 6, 8, 2, 3, 1, 5, 7), (3, 5, 7)

    def channels(self, values: np.ndarray) -> np.ndarray:
        """Values of the output channels for those of the convolution."""
        return subpixel_channels(values, self.axes, self.groups)

    def bias(self, bias: np.ndarray | None) -> np.ndarray | None:
        """Bias of the convolution; int64 if one leaves int32.

        The sums of the operator hold zero_point * w for all taps, those of a phase only for its own.
        """
        if self.weight.dtype == np.float32:
            return None if bias is None else self.channels(bias)
        all_taps = numerics.filters_first(self.weight, self.groups).astype(np.int64)
        wanted = self.zero_point * _sums(all_taps) + (0 if bias is None else bias)
        total = self.channels(wanted) - self.zero_point * _sums(self.filters.astype(np.int64))
        fits = INT32.min <= total.min() and total.max() <= INT32.max
        return total.astype(np.int32) if fits else total

    def step(self, step: Any) -> Any:
        """A step of the epilogue with one multiplier for each channel of the convolution."""
        if isinstance(step, FixedRequantize):
            return replace(step, multiplier=self.channels(step.multiplier), shift=self.channels(step.shift))
        return replace(step, multiplier=self.channels(step.multiplier)) if isinstance(step, Requantize) else step

    def spread(self, batch: int, size: tuple[int, int, int], channels: int) -> Spread:
        """How the channels of the convolution become pixels."""
        depth, rows, columns = self.axes
        return Spread(
            batch,
            size,
            channels,
            (depth.stride, rows.stride, columns.stride),
            (depth.out, rows.out, columns.out),
            (depth.offset, rows.offset, columns.offset),
            self.groups,
        )


def lower(lowerer: Lowerer, chain: Chain) -> bool:
    """A convolution and a spread for the chain; False for layouts and weights that are not ours."""
    view = lowerer.view
    call = view.value[chain.head]
    source = call.args[0].name
    if not _takes(call, dtype_of(view.var[source])):
        return False
    phases = _phases(call)
    if phases is None:
        return False
    filters, (_, rows, columns) = phases.filters, phases.axes
    finish = finish_of(view, chain, phases.weight.shape[1] * phases.groups)
    bias = phases.bias(finish.bias)
    if bias is not None and bias.dtype == np.int64:
        return False
    x, windows = _slices(lowerer, source, phases)
    *pictures, channels = list(x.ty.shape)
    blocks = [pictures[0], *(axis.blocks(size) for axis, size in zip((rows, columns), pictures[1:], strict=True))]
    sizes = name_dynamic_sizes([*pictures, *blocks])
    conv = usual_convolution(
        sizes[:3],
        int(channels),
        len(filters),
        kernel=pair(filters.shape[3:]),
        padding=(rows.before, columns.before, rows.after, columns.after),
        groups=phases.groups,
        x_dtype=dtype_of(x),
    )
    epilogue = tuple(phases.step(step) for step in finish.epilogue)
    operands = conv, stacked_weight(filters), bias, phases.zero_point, epilogue
    is_fixed = all(isinstance(size, int) for size in sizes)
    kernel = lowerer.choose(choose_convolution, *operands, sizes=None if is_fixed else sizes)
    if kernel is None:
        return False
    if not is_fixed:
        dtype = dtype_of(view.var[finish.end])
        sums = lowerer.call(kernel, [x], [*blocks, conv.filters], dtype, f"{finish.end}_phases")
        _spread_dynamic(lowerer, finish.end, sums, phases, windows)
        return True
    if all(axis.kernel * axis.stride == axis.taps for axis in phases.axes):
        kernel = packed_from(kernel, phases.weight, *phases.moves())
    dtype = dtype_of(view.var[finish.end])
    sums = lowerer.call(kernel, [x], conv.out_shape, dtype, f"{finish.end}_phases")
    spread = phases.spread(conv.batch // windows, (windows, conv.out_height, conv.out_width), conv.filters)
    give_spread(lowerer, finish.end, sums, spread)
    return True


def _spread_dynamic(lowerer: Lowerer, name: str, x: relax.Expr, phases: _Phases, windows: Dim) -> None:
    """`name`, of dynamic sizes, is x with its channels spread over pixels; windows: slices of x that are one volume."""
    batch, channels, *out = _read_sizes(lowerer.view.var[name].ty.shape)
    _, rows, columns, filters = _read_sizes(x.ty.shape)
    out, (windows,) = [1] * (3 - len(out)) + out, _read_sizes([windows])
    number, *sizes = name_dynamic_sizes([batch, windows, rows, columns, *out])
    depth, down, across = phases.axes
    spread = Spread(
        number, (sizes[0], sizes[1], sizes[2]), filters, (depth.stride, down.stride, across.stride),
        (sizes[3], sizes[4], sizes[5]), (depth.offset, down.offset, across.offset), phases.groups,
    )  # fmt: skip
    kernel = depth_to_space(spread, lowerer.isa, dtype_of(x))
    x = lowerer.reshape(x, join_slices((batch, windows, rows, columns, filters)), f"{name}_slices")
    y = lowerer.call(kernel, [x], join_slices((batch, *out, channels)), dtype_of(x), name)
    lowerer.give_nhwc(name, lowerer.reshape(y, [batch, out[0] * out[1], out[2], channels], name))


def _read_sizes(shape: Iterable[Any]) -> list[Any]:
    """Dimensions with those that are known as ints."""
    return [int(size) if is_number(size) else size for size in shape]


def give_spread(lowerer: Lowerer, name: str, x: relax.Expr, spread: Spread) -> None:
    """`name` is x with its channels spread over pixels."""
    kernel = depth_to_space(spread, lowerer.isa, dtype_of(x))
    depth, rows, columns = spread.out
    slices = [spread.batch * depth, rows, columns, spread.out_channels]
    value = lowerer.call(kernel, [x], slices, dtype_of(x), name)
    lowerer.give_nhwc(name, lowerer.reshape(value, [spread.batch, depth * rows, columns, spread.out_channels], name))


def _takes(call: relax.Call, x_dtype: str) -> bool:
    if not is_const(call.args[1]) or x_dtype not in (*CODE_LIMITS, "float32"):
        return False
    if op_name(call) != "tvmq.conv_transpose" and call.attrs.kernel_layout != KERNEL_LAYOUTS[rank_of(call) - 2]:
        return False
    return dtype_of(call.args[1]) == ("float32" if x_dtype == "float32" else "int8")


def _phases(call: relax.Call) -> _Phases | None:
    """The phases; None for results that are no multiple of a dynamic size and so many more."""
    attrs, weight = call.attrs, const_value(call.args[1])
    missing = 5 - weight.ndim
    sides = zip(list(call.args[0].ty.shape)[2:], list(call.ty.shape)[2:], attrs.strides, strict=True)
    sizes = [size for side in sides if (size := _usual_sizes(*side)) is not None]
    if len(sizes) < 3 - missing:
        return None
    axes = [
        SubpixelAxis(size, out, taps, int(stride), int(padding), int(dilation))
        for (size, out), taps, stride, padding, dilation in zip(
            sizes, weight.shape[2:], attrs.strides, list(attrs.padding)[: 3 - missing], attrs.dilation, strict=True,
        )
    ]  # fmt: skip
    return _Phases(
        weight.reshape(*weight.shape[:2], *[1] * missing, *weight.shape[2:]),
        [SubpixelAxis(1, 1, 1, 1, 0, 1)] * missing + axes,
        int(attrs.groups),
        int(attrs.zero_point) if op_name(call) == "tvmq.conv_transpose" else 0,
    )


def _usual_sizes(size: Dim, out: Dim, stride: Any) -> tuple[int, int] | None:
    """Size of an axis and of its result; a usual one and its result where only a run tells."""
    if is_number(size) and is_number(out):
        return int(size), int(out)
    more = Analyzer().simplify(out - size * int(stride))
    return (USUAL_SIDE, USUAL_SIDE * int(stride) + int(more)) if is_number(more) else None


def _slices(lowerer: Lowerer, source: str, phases: _Phases) -> tuple[relax.Expr, Dim]:
    """Pictures that the convolution reads, and how many of them are one volume."""
    batch, channels, *volume = lowerer.view.var[source].ty.shape
    if len(volume) < 3:
        return lowerer.nhwc(source), 1
    axis, usual = phases.axes[0], usual_volume(batch, volume, channels)
    depth = DepthWindows(*usual, axis.kernel, padding=(axis.before, axis.after), groups=phases.groups)
    windows = axis.blocks(_read_sizes(volume)[0])
    return stack_slices(lowerer, source, depth, phases.zero_point, windows), windows


def _sums(filters: np.ndarray) -> np.ndarray:
    return np.asarray(filters.reshape(len(filters), -1).sum(axis=1))
