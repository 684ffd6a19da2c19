"""Depthwise conv2d: float32, NHWC, one filter a channel, for every instruction set.

Computes   bias + sum of x * w over kernel row, kernel column, in this order, then clip
Rounding   as in conv2d_float
Loops      parallel chunk of output rows, row, vector of channels, tile of pixels, kernel row; an input column
           is loaded once for all pixels of the tile that read it
Padding    none is made: kernel rows outside of the picture are left out by loop bounds, kernel columns by
           writing the first and the last tiles out, where each pixel's position is known
Registers  8 sums + kernel columns weights + 1 activations
Measured   Zen 4, one core: 3 x 3 at 5-6 G outputs/s, 5 x 5 at 2.7-3.3 (AVX-512; 50-80 G products/s)
Channels   the last vector ends at the last channel and may overlap the one before; both store equal values
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.depthwise.weights import order_weights
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    FunctionBuilder,
    Register,
    Shape,
    bind,
    load,
    split_evenly,
    store,
)
from tvmq.codegen.kernels.parts.float_vectors import FloatVectors, check_arrays, clip, clip_of, float_vectors
from tvmq.codegen.kernels.parts.kernel_types import Clip, Conv2d, Epilogue, Isa, Kernel
from tvmq.codegen.kernels.parts.scaler import Parameters
from tvmq.codegen.kernels.parts.template import Template
from tvmq.codegen.kernels.parts.work import KernelWork
from tvmq.errors import BuildError

CHUNKS = 12  # of the rows: divides evenly among 1, 2, 3, 4 and 6 threads
SERIAL_MACS = 200_000  # about 10 us of one core: below, a parallel region costs more than it gains
MOST_PIXELS = 8
MACS = 10.0  # multiply-accumulates in a cycle (64-byte vectors)


def depthwise_float(conv: Conv2d, weight: np.ndarray, bias: np.ndarray | None, epilogue: Epilogue, isa: Isa) -> Kernel:
    """Kernel of a float convolution with groups = channels = filters; padding is zero.

    weight    float32 [channels, 1, kernel rows, kernel columns]
    bias      float32 [channels] or None
    epilogue  () or one Clip
    raises    BuildError for shapes, types or steps that do not fit
    """
    return make_kernel(FloatLoops, conv, weight, bias, epilogue, isa)


def make_kernel(
    loops: type[FloatLoops],
    conv: Conv2d,
    weight: np.ndarray,
    bias: np.ndarray | None,
    epilogue: Epilogue,
    isa: Isa,
    **options: Any,
) -> Kernel:
    """Kernel with these loops; options: further arguments of theirs."""
    _check(conv)
    check_arrays("depthwise_float", weight, (conv.channels, 1, *conv.kernel), bias, conv.channels)
    bounds, vectors = clip_of(epilogue, "depthwise_float"), float_vectors(isa).limit_lanes(conv.channels)
    channels = _vector_channels(conv.channels, vectors.lanes)
    start = np.zeros(conv.channels, np.float32) if bias is None else bias
    recipe: dict[str, Any] = {
        "shape": [conv.channels, 1, *map(int, conv.kernel)], "dtype": "float32",
        "variants": [[column] for column in range(conv.kernel[1])],
        "blocks": [[list(range(vectors.lanes)), channels[:, 0].tolist()]],
    }  # fmt: skip
    # [vector, kernel row, kernel column, lane]
    packed = order_weights(weight, recipe["variants"], recipe["blocks"], "float32")
    template = loops(conv, vectors, bounds, isa, **options)
    constants = (packed, start[channels].reshape(-1))
    total = math.prod(conv.out_shape) * math.prod(conv.kernel)
    work = KernelWork("depthwise_float", 0.0, conv.macs, cycles=lambda _, scale: scale * total / MACS)
    return template.kernel(constants, work, packed_from=(weight, recipe))


def _check(conv: Conv2d) -> None:
    if conv.x_dtype != "float32":
        raise BuildError(f"kernels, depthwise_float: takes float32 input. Got {conv.x_dtype}")
    if not conv.groups == conv.channels == conv.filters or min(conv.out_shape) < 1:
        raise BuildError(
            f"kernels, depthwise_float: {conv.channels} channels and {conv.filters} filters in {conv.groups} "
            f"groups give an output of shape {conv.out_shape}; this is no depthwise convolution"
        )


def _vector_channels(channels: int, lanes: int) -> np.ndarray:
    """Channel in [vector, lane]."""
    first = np.minimum(np.arange(0, channels, lanes), channels - lanes)
    return first[:, None] + np.arange(lanes)


@dataclass(frozen=True)
class RowOfVector:
    """An output row of one vector of channels.

    kernel_rows     first and end of those that meet the picture
    source, target  elements where its first window would begin without padding at the left, and where it is stored
    """

    vector: Expr
    kernel_rows: tuple[Expr, Expr]
    source: Expr
    target: Expr


class FloatLoops(Template):
    """Depthwise convolution; see the head of this file.

    x_shape, y_shape   as the parameters have them: sizes, or names of what only a run tells
    height, width, out_height, out_width  what the loops count to: ints, or expressions of what a run brings
    """

    height: Expr
    width: Expr
    out_height: Expr
    out_width: Expr

    def __init__(self, conv: Conv2d, vectors: FloatVectors, bounds: Clip, isa: Isa) -> None:
        self.conv, self.vectors, self.bounds = conv, vectors, bounds
        self.count = -(-conv.channels // vectors.lanes)
        self.name = f"depthwise_float_{isa.name}_{split_evenly(conv.out_width, MOST_PIXELS)[0][0]}x1"
        self.key = ("depthwise_float", conv, isa.name, bounds)
        self.x_shape: Shape = (conv.batch, conv.height, conv.width, conv.channels)
        self.y_shape: Shape = conv.out_shape
        self.height, self.width = conv.height, conv.width
        self.out_height, self.out_width = conv.out_height, conv.out_width

    def parameters(self) -> Parameters:
        conv, packed = self.conv, self.count * self.vectors.lanes
        return {
            "x": (self.x_shape, "float32"),
            "weight": ((packed * math.prod(conv.kernel),), "float32"),
            "bias": ((packed,), "float32"),
            "y": (self.y_shape, "float32"),
        }

    def body(self, function: FunctionBuilder) -> None:
        rows = self.conv.batch * self.conv.out_height
        chunks = min(CHUNKS, rows) if self.conv.macs > SERIAL_MACS else 1
        with (T.parallel if chunks > 1 else T.serial)(0, chunks) as chunk:
            self._chunk(chunk, rows, chunks)

    def bind_buffers(self, buffers: dict[str, Buffer]) -> None:
        super().bind_buffers(buffers)
        self.x, self.weight, self.bias, self.y = self.buffers.values()

    def _chunk(self, index: Expr, rows: int, chunks: int) -> None:
        """A share of the rows of all pictures."""
        first, end = (bind(T.floordiv((index + i) * rows, chunks)) for i in (0, 1))
        with T.serial(first, end) as row, T.serial(0, self.count) as vector:
            self.row(bind(row), bind(vector))

    def place_of(self, row: Expr) -> tuple[Expr, Expr]:
        """The picture of a row, and its number in there."""
        return T.floordiv(row, self.out_height), T.floormod(row, self.out_height)

    def row(self, row: Expr, vector: Expr) -> None:
        """Compute an output row of one vector of channels; a row counts through all pictures."""
        conv, lanes = self.conv, self.vectors.lanes
        picture, line = self.place_of(row)
        top, image = bind(line * conv.strides[0] - conv.padding[0]), picture * self.height
        channel = bind(T.min(vector * lanes, conv.channels - lanes))
        # kernel rows first .. end meet the picture
        step = conv.dilation[0]
        first = bind(T.max(T.floordiv(step - 1 - top, step), 0))
        end = bind(T.min(T.floordiv(self.height - top + step - 1, step), conv.kernel[0]))
        source = bind((image + top) * (self.width * conv.channels) + channel)
        target = bind(row * (self.out_width * conv.channels) + channel)
        self.tiles(RowOfVector(vector, (first, end), source, target))

    def tiles(self, row: RowOfVector) -> None:
        """All tiles of a row."""
        for begin, size, count in self._tiles():
            with T.serial(0, count) as index:
                pixel = bind(index * size + begin) if count > 1 else begin
                self.tile(pixel, size, row)

    def _tiles(self) -> list[tuple[int, int, int]]:
        """[(first pixel, pixels, tiles), ...]: tiles that touch padding alone, the others in equal runs."""
        runs: list[list[Any]] = []
        pixel = 0
        for size, count in split_evenly(self.conv.out_width, MOST_PIXELS):
            for _ in range(count):
                inside = not self._touches_padding(pixel, size)
                if inside and runs and runs[-1][3] and runs[-1][1] == size:
                    runs[-1][2] += 1
                else:
                    runs.append([pixel, size, 1, inside])
                pixel += size
        return [(begin, size, count) for begin, size, count, _ in runs]

    def _touches_padding(self, pixel: int, size: int) -> bool:
        conv = self.conv
        low = pixel * conv.strides[1] - conv.padding[1]
        high = low + (size - 1) * conv.strides[1] + (conv.kernel[1] - 1) * conv.dilation[1]
        return low < 0 or high >= conv.width

    def tile(self, pixel: Expr, size: int, row: RowOfVector, *, tests_columns: bool = False) -> None:
        """`size` neighbouring pixels.

        pixel          a number where the tile touches padding, unless
        tests_columns  each input column is read behind a test whether it lies inside of the picture
        """
        conv, vectors = self.conv, self.vectors
        lanes, (height, width) = vectors.lanes, conv.kernel
        start = load(self.bias, row.vector * lanes, vectors.kind)
        sums = [Register("float32", lanes) for _ in range(size)]
        for register in sums:
            register.set(start)
        left = pixel * conv.strides[1] - conv.padding[1]
        with T.serial(*row.kernel_rows) as kernel_row:
            line = bind(row.source + kernel_row * (conv.dilation[0] * self.width * conv.channels))
            taps = bind((row.vector * height + kernel_row) * (width * lanes))
            weights = [load(self.weight, taps + i * lanes, vectors.kind) for i in range(width)]
            for column, readers in self._readers(size).items():
                if isinstance(left, int) and not 0 <= left + column < conv.width:
                    continue
                place = line + (left + column) * conv.channels
                if not tests_columns:
                    self._add_products(sums, weights, place, readers)
                    continue
                with T.If(T.And(left + column >= 0, left + column < self.width)), T.Then():
                    self._add_products(sums, weights, place, readers)
        for i, register in enumerate(sums):
            value = clip(register.get(), self.bounds, lanes)
            store(self.y, row.target + (pixel + i) * conv.channels, value, lanes)

    def _add_products(
        self, sums: list[Register], weights: list[Expr], place: Expr, readers: list[tuple[int, int]]
    ) -> None:
        """Add the products of an input column to the pixels that read it."""
        x = load(self.x, place, self.vectors.kind)
        for reader, kernel_column in readers:
            sums[reader].set(self.vectors.dot(sums[reader].get(), x, weights[kernel_column]))

    def _readers(self, size: int) -> dict[int, list[tuple[int, int]]]:
        """Input column, from the left end of the tile -> [(pixel, kernel column), ...] that read it."""
        conv = self.conv
        readers: dict[int, list[tuple[int, int]]] = {}
        for pixel in range(size):
            for kernel_column in range(conv.kernel[1]):
                column = pixel * conv.strides[1] + kernel_column * conv.dilation[1]
                readers.setdefault(column, []).append((pixel, kernel_column))
        return dict(sorted(readers.items()))
