"""Copies in front of a convolution that make a simpler one of it: `stack_depth` and `add_border`.

stack_depth: slices of a volume under each window in depth, as channels of one picture; conv3d becomes conv2d.

Computes   y[n, o, p, (g, t, c)] = x[n, o * stride + t * dilation - before, p, (g, c)], `fill` outside of x
Loops      parallel chunks of output slices; taps; pixels; groups

add_border: border of one pixel around pictures, as a 1 x 1 convolution makes it of padding.

Computes   numpy.pad in mode "constant", with a constant for each channel
Layouts    NHWC
Loops      parallel chunks of output rows; pixels of the border one by one, the row inside in vectors
Measured   benchmarks/latency.py: with it, squeezenet1_1's last convolution computes 169 pixels instead of 225
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.errors import BuildError
from tvmq.kernels.isa import instructions
from tvmq.kernels.parts.builder import Expr, FunctionBuilder, const, flatten
from tvmq.kernels.parts.loops import copy_lanes, fill_lanes, make_opaque, over_rows
from tvmq.kernels.parts.types import Isa, Kernel
from tvmq.kernels.parts.work import KernelWork

GRAIN = 200_000  # bytes in about 10 us


@dataclass(frozen=True)
class DepthWindows:
    """Windows over the depth of (batch, depth, pixels, channels); padding is (before, after)."""

    batch: int
    depth: int
    pixels: int
    channels: int
    taps: int
    stride: int = 1
    padding: tuple[int, int] = (0, 0)
    dilation: int = 1
    groups: int = 1

    @property
    def windows(self) -> int:
        """Slices of the result."""
        span = (self.taps - 1) * self.dilation + 1
        return (self.depth + sum(self.padding) - span) // self.stride + 1


def stack_depth(windows: DepthWindows, fill: float, isa: Isa, dtype: str = "uint8") -> Kernel:
    """Kernel x (batch * depth, pixels, channels) -> y (batch * windows, pixels, taps * channels).

    raises  BuildError for windows that do not fit, or groups that do not divide the channels
    """
    if windows.windows < 1 or windows.channels % windows.groups:
        raise BuildError(f"kernels, stack_depth: {windows} fit no volume")
    itemsize = np.dtype(dtype).itemsize
    lanes = instructions(isa).vector_bytes // itemsize
    part, taps = windows.channels // windows.groups, windows.taps
    slice_size = windows.pixels * windows.channels
    parameters = {
        "x": ((windows.batch * windows.depth, windows.pixels, windows.channels), dtype),
        "y": ((windows.batch * windows.windows, windows.pixels, taps * windows.channels), dtype),
    }
    name = f"stack_depth_{isa.name}"
    with FunctionBuilder(name, parameters) as function:
        x, y = (flatten(buffer) for buffer in function.buffers)
        filling = const(np.dtype(dtype).type(fill).item(), dtype)

        def runs(copy) -> None:  # type: ignore[no-untyped-def]
            """copy(run of channels of x, the same of y) for all pixels and groups."""
            with T.serial(0, windows.pixels) as pixel, T.serial(0, windows.groups) as group:
                copy(
                    make_opaque(pixel * windows.channels + group * part),
                    make_opaque(pixel * (taps * windows.channels) + group * (taps * part)),
                )

        def row(number: Expr) -> None:
            image, first = T.floordiv(number, windows.windows), T.floormod(number, windows.windows)
            start = make_opaque(first * windows.stride - windows.padding[0])
            target = make_opaque(number * (slice_size * taps))
            with T.serial(0, taps) as tap:
                index = make_opaque(start + tap * windows.dilation)
                place = make_opaque(target + tap * part)
                with T.If(T.And(index >= 0, index < windows.depth)):
                    with T.Then():
                        source = make_opaque((image * windows.depth + index) * slice_size)
                        runs(
                            lambda a, b: copy_lanes(y, make_opaque(place + b), x, make_opaque(source + a), part, lanes)
                        )
                    with T.Else():
                        runs(lambda _, b: fill_lanes(y, make_opaque(place + b), filling, part, lanes))

        over_rows(windows.batch * windows.windows, slice_size * taps * itemsize, GRAIN, lambda: row)
    return Kernel(
        name, function.prim_func, (), ("stack_depth", windows, fill, dtype, isa.name), work=KernelWork("stack_depth")
    )


def add_border(shape: Sequence[int], padding: tuple[int, int, int, int], pixel: np.ndarray, isa: Isa) -> Kernel:
    """Kernel x (N, H, W, C) -> x with the constant `pixel` (C) around each picture.

    padding  rows and columns of the border: top, left, bottom, right
    raises   BuildError for another shape or a negative border
    """
    batch, height, width, channels = (int(extent) for extent in shape)
    dtype, (top, left, bottom, right) = str(pixel.dtype), padding
    if pixel.shape != (channels,) or min(padding) < 0:
        raise BuildError(
            f"kernels, frame: takes a pixel of {channels} channels and a border of no negative size. "
            f"Got {pixel.shape} and {padding} instead"
        )
    rows, columns = top + height + bottom, left + width + right
    lanes = instructions(isa).vector_bytes // pixel.itemsize
    name = f"frame_{isa.name}"
    parameters = {"x": ((batch, height, width, channels), dtype), "pixel": ((channels,), dtype)}
    with FunctionBuilder(name, parameters | {"y": ((batch, rows, columns, channels), dtype)}) as function:
        x, border, y = (flatten(buffer) for buffer in function.buffers)

        def pixels(begin: Expr, count: int) -> None:
            if count:
                with T.serial(0, count) as i:
                    copy_lanes(y, make_opaque(begin + i * channels), border, 0, channels, lanes)

        def row(number: Expr) -> None:
            image, line = T.floordiv(number, rows), make_opaque(T.floormod(number, rows) - top)
            begin, inner = make_opaque(number * (columns * channels)), width * channels
            with T.If(T.And(line >= 0, line < height)):
                with T.Then():
                    pixels(begin, left)
                    source = make_opaque((image * height + line) * inner)
                    copy_lanes(y, begin + left * channels, x, source, inner, lanes)
                    pixels(begin + (left + width) * channels, right)
                with T.Else():
                    pixels(begin, columns)

        over_rows(batch * rows, columns * channels * pixel.itemsize, GRAIN, lambda: row)
    key = ("frame", tuple(shape), padding, dtype, isa.name)
    return Kernel(name, function.prim_func, (np.ascontiguousarray(pixel),), key, work=KernelWork("frame"))


def choose_border(
    shape: Sequence[int], padding: tuple[int, int, int, int], pixel: np.ndarray, isa: Isa
) -> Kernel | None:
    """The kernel of a border of one pixel; None for other types than 8-bit codes."""
    return add_border(shape, padding, pixel, isa) if str(pixel.dtype) in ("uint8", "int8") else None
