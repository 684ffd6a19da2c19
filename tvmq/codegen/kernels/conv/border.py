"""add_border: a border of one pixel around pictures, as a 1 x 1 convolution makes it of padding.

Computes   numpy.pad in mode "constant", with a constant for each channel
Layouts    NHWC
Loops      parallel chunks of output rows; pixels of the border one by one, the row inside in vectors
Measured   benchmarks/latency.py: with it, squeezenet1_1's last convolution computes 169 pixels instead of 225

Tests: tests/codegen/kernels/conv/test_subpixel.py
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.parts.builder import Expr, FunctionBuilder, flatten_buffer
from tvmq.codegen.kernels.parts.kernel_types import Isa, Kernel
from tvmq.codegen.kernels.parts.loops import copy_lanes, make_opaque, over_rows
from tvmq.codegen.kernels.parts.work import KernelWork
from tvmq.errors import BuildError
from tvmq.numerics.code_type import CODES_8

GRAIN = 200_000  # bytes in about 10 us


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
        x, border, y = (flatten_buffer(buffer) for buffer in function.buffers)

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
    return add_border(shape, padding, pixel, isa) if str(pixel.dtype) in CODES_8 else None
