"""stack_depth: slices of a volume under each window in depth, as channels of one picture; conv3d becomes conv2d.

Computes   y[n, o, p, (g, t, c)] = x[n, o * stride + t * dilation - before, p, (g, c)], `fill` outside of x
Loops      parallel chunks of output slices; taps; pixels; groups

Tests: tests/codegen/kernels/conv/test_subpixel.py
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tvm import tirx
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.parts.builder import Expr, FunctionBuilder, Shape, bind_size, const, flatten_buffer
from tvmq.codegen.kernels.parts.kernel_types import Isa, Kernel
from tvmq.codegen.kernels.parts.loops import copy_lanes, fill_lanes, make_opaque, over_rows
from tvmq.codegen.kernels.parts.work import KernelWork
from tvmq.errors import BuildError

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


def stack_depth(
    windows: DepthWindows, fill: float, isa: Isa, dtype: str = "uint8", sizes: Shape | None = None
) -> Kernel:
    """Kernel x (batch * depth, pixels, channels) -> y (batch * windows, pixels, taps * channels).

    sizes   batch, depth, pixels and windows where some are dynamic: names stand for those, `windows` has usual ones in
            their places, and the first axis of x and y is two: x (batch, depth, pixels, channels)
    raises  BuildError for windows that do not fit, or groups that do not divide the channels
    """
    if windows.windows < 1 or windows.channels % windows.groups:
        raise BuildError(f"kernels, stack_depth: {windows} fit no volume")
    itemsize = np.dtype(dtype).itemsize
    lanes = instructions(isa).vector_bytes // itemsize
    part, taps = windows.channels // windows.groups, windows.taps
    x_shape: Shape = (windows.batch * windows.depth, windows.pixels)
    y_shape: Shape = (windows.batch * windows.windows, windows.pixels)
    if sizes:
        x_shape, y_shape = sizes[:3], (sizes[0], sizes[3], sizes[2])
    parameters = {
        "x": ((*x_shape, windows.channels), dtype),
        "y": ((*y_shape, taps * windows.channels), dtype),
    }
    name = f"stack_depth_{isa.name}"
    with FunctionBuilder(name, parameters) as function:
        x, y = (flatten_buffer(buffer) for buffer in function.buffers)
        known = sizes or (windows.batch, windows.depth, windows.pixels, windows.windows)
        batch, depth, pixels, count = (
            make_opaque(function.sizes[size]) if isinstance(size, str) else size for size in known
        )
        slice_size = bind_size(pixels * windows.channels)
        filling = const(np.dtype(dtype).type(fill).item(), dtype)

        def runs(copy) -> None:  # type: ignore[no-untyped-def]
            """copy(run of channels of x, the same of y) for all pixels and groups."""
            with T.serial(0, pixels) as pixel, T.serial(0, windows.groups) as group:
                copy(
                    make_opaque(pixel * windows.channels + group * part),
                    make_opaque(pixel * (taps * windows.channels) + group * (taps * part)),
                )

        def row(number: Expr) -> None:
            if isinstance(count, int):
                image, first = T.floordiv(number, count), T.floormod(number, count)
            else:
                image = make_opaque(tirx.truncdiv(number, count))
                first = number - image * count
            start = make_opaque(first * windows.stride - windows.padding[0])
            target = make_opaque(number * (slice_size * taps))
            with T.serial(0, taps) as tap:
                index = make_opaque(start + tap * windows.dilation)
                place = make_opaque(target + tap * part)
                with T.If(T.And(index >= 0, index < depth)):
                    with T.Then():
                        source = make_opaque((image * depth + index) * slice_size)
                        runs(
                            lambda a, b: copy_lanes(y, make_opaque(place + b), x, make_opaque(source + a), part, lanes)
                        )
                    with T.Else():
                        runs(lambda _, b: fill_lanes(y, make_opaque(place + b), filling, part, lanes))

        over_rows(bind_size(batch * count), slice_size * taps * itemsize, GRAIN, lambda: row)
    key = ("stack_depth", windows, fill, dtype, isa.name, sizes)
    return Kernel(name, function.prim_func, (), key, work=KernelWork("stack_depth"))
