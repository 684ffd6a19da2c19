"""conv2d for pictures of dynamic shape (rows, columns, number): loops of implicit_gemm over sizes that a run brings.

Computes   numerics.conv, then the epilogue, bit for bit; floats as conv2d_float
Loops      parallel bands of output rows; copy of the band's input where one is needed; panels; tiles of pixels, which
           run over the ends of rows, the last one of a band shifted back; fewer pixels than a tile one by one
Tiles      chosen by channels alone, for so many pixels that what is left over does not count
Padding    made in the copy; no tap is left out
Division   rounds towards 0, of numbers that are not negative: TVM writes the operands of a floor several times
Measured   64 channels at 96 x 128, int8: 1.16 times the time of fixed sizes
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from tvm import tirx
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.conv import conv2d, conv2d_float, conv2d_int16
from tvmq.codegen.kernels.conv.implicit_gemm import ConvLoops, Staged, TileBody
from tvmq.codegen.kernels.conv.shape import (
    CHUNKS,
    FAR_PIXELS,
    L2_BYTES,
    L2_PIXELS,
    SERIAL_MICROSECONDS,
    Chunks,
    ConvShape,
    ConvTile,
)
from tvmq.codegen.kernels.conv.staging import SLACK, Stager
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    FunctionBuilder,
    Register,
    Shape,
    bind,
    bind_size,
    branch,
    const,
    flatten_buffer,
    load,
    store,
    workspace,
)
from tvmq.codegen.kernels.parts.float_vectors import check_arrays, clip_of, float_vectors
from tvmq.codegen.kernels.parts.kernel_types import Conv2d, Epilogue, Isa, Kernel
from tvmq.codegen.kernels.parts.loops import make_opaque
from tvmq.codegen.kernels.parts.tiling import Product

USUAL_SIDE = 56  # rows and columns where only a run tells them: for the choice of instructions and for forecasts
PIXELS, LINE = 2520, 2521  # of the product that tiles are chosen for: a multiple of most tiles; one line, of no tile
FULL = 16  # filters of a group that fill a vector of sums
BAND_BYTES = L2_BYTES // 2  # of a band's input, beside its output


class DynamicConvShape(ConvShape):
    """A convolution of which some sizes are usual ones."""

    @property
    def remainders(self) -> None:
        """Places of remainders depend on sizes."""
        return

    @property
    def skips_rows(self) -> bool:
        """False: the rows that lie outside depend on sizes."""
        return False

    @property
    def is_staged(self) -> bool:
        """True also beside a copy of 16 bits, so that both begin with the same element."""
        return super().is_staged or self.has_int16_copy

    @property
    def product(self) -> Product:
        """Pixels of which each has an address of its own, which counts where runs are short."""
        return Product(PIXELS, self.vectors, self.steps, LINE if self.runs_per_row > 1 else PIXELS)


class DynamicConvLoops(ConvLoops):
    """The loops of a convolution whose pictures have dynamic sizes; x_sizes: batch, rows, columns, numbers or names."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.has_dynamic_shape, self.chunks = True, Chunks(self.tiling, 1, 1)
        shape = self.shape
        per_pixel = replace(shape.conv, batch=1, height=USUAL_SIDE, width=USUAL_SIDE)
        timed = replace(shape, conv=per_pixel)
        self.many = max(1, int(SERIAL_MICROSECONDS * timed.pixels / timed.microseconds))  # pixels, for several threads
        self.enough = L2_PIXELS if shape.weight_bytes <= L2_BYTES else FAR_PIXELS

    def _take_sizes(self, function: FunctionBuilder) -> None:
        """Take the sizes of the run in place of the usual ones."""
        batch, height, width = (
            size if isinstance(size, int) else function.sizes[size] for size in self.buffer_shapes[0][:3]
        )
        conv = replace(self.conv, batch=batch, height=height, width=width)
        self.columns, self.rows = (_windows(conv, axis) for axis in (1, 0))
        self.conv, self.shape = conv, replace(self.shape, conv=conv)
        self.pitch, self.height = bind_size(self.shape.row_pitch), bind_size(self.shape.padded_height)
        self.pixels = bind(batch * self.rows * self.columns)
        self.columns, self.rows = (bind(T.max(size, 1)) for size in (self.columns, self.rows))  # they divide
        self.lines = bind_size(batch * self.rows)

    def body(self, function: FunctionBuilder) -> None:
        self._take_sizes(function)
        # whole tiles, or single pixels where there are fewer
        rows = self.tiling.rows
        bands = self._count(rows)
        # memory is taken where a function begins, before all else: its size is an expression of those of the buffers
        most = bind(tirx.truncdiv(self.lines + (bands - 1), bands))
        span = (self.conv.kernel[0] - 1) * self.conv.dilation[0] + 1
        borders = (tirx.truncdiv(most, self.rows) + 3) * span
        self.copy_size = bind((most * self.conv.strides[0] + borders) * self.pitch + SLACK)
        self.columns, self.rows, self.pitch, self.height, self.lines, bands = (
            size if isinstance(size, int) else make_opaque(size)
            for size in (self.columns, self.rows, self.pitch, self.height, self.lines, bands)
        )
        with T.If(self.pixels >= rows):
            with T.Then():
                self._bands(bands, rows)
            with T.Else(), T.If(self.pixels > 0), T.Then():
                self._bands(1, 1)

    def _bands(self, bands: Expr, rows: int) -> None:
        self.least_pixels, lines = rows, self.lines

        def band(index: Expr) -> None:
            first = make_opaque(tirx.truncdiv(index * lines, bands))
            self._band(first, make_opaque(tirx.truncdiv((index + 1) * lines, bands)), rows)

        if rows == 1:
            band(0)
            return
        with T.parallel(0, bands) as index:  # also for one band: a call is less than what a second copy costs LLVM
            band(index)

    def _count(self, rows: int) -> Expr:
        """Bands of output rows: of a tile at least, of as many pixels as hide the reading of all weights, of no more
        than the second cache holds; where there is work for several threads as many as they share evenly."""
        bytes_of_row = self.pitch * self.conv.strides[0] * np.dtype(self.ins.x_dtype).itemsize
        least = bind(tirx.truncdiv(max(rows, self.enough) + self.columns - 1, self.columns))
        most = bind(T.max(tirx.truncdiv(BAND_BYTES, bytes_of_row), 1))
        shared = tirx.truncdiv(self.lines + (CHUNKS - 1), CHUNKS)
        most = bind(tirx.Select(self.pixels >= self.many, T.min(most, shared), most))
        return bind(T.max(tirx.truncdiv(self.lines, T.max(least, most)), 1))

    def _band(self, first: Expr, last: Expr, rows: int) -> None:
        """Output rows first .. last."""
        begin, end = make_opaque(first * self.columns), make_opaque(last * self.columns)
        staged = self._stage_rows(first, last)
        tiles = make_opaque(tirx.truncdiv(end - begin + (rows - 1), rows))

        def over_tiles(tile: TileBody) -> None:
            with T.serial(0, tiles) as index:
                tile(make_opaque(T.min(begin + index * rows, end - rows)), rows, index)

        with T.serial(0, self.conv.groups) as group:
            self.over_panels((0, self.tiling.panels), staged, group, over_tiles)
        self.finish_chunk(begin, end, (0, self.tiling.panels))

    def _stage_rows(self, first: Expr, last: Expr) -> Staged:
        """Copy what output rows first .. last read, where a copy is needed (see ConvLoops)."""
        if not self.shape.is_staged:
            return self.x, 0, None
        return *self._copy_rows(Stager(self.ins, self.x, self.conv, self.shape.x_zero), first, last), None

    def _copy_rows(self, stager: Stager, first: Expr, last: Expr) -> tuple[Buffer, Expr]:
        """A copy, padding included, of what output rows first .. last read, and the element that it begins with."""
        conv, pitch = self.conv, self.pitch
        low = make_opaque(self._input_row(first))
        high = make_opaque(self._input_row(last - 1) + (conv.kernel[0] - 1) * conv.dilation[0] + 1)
        target = workspace(self.copy_size, stager.dtype)
        stager.dynamic_rows(target, low, high - low, self.height, pitch)
        return target, make_opaque(low * pitch)

    def _input_row(self, line: Expr) -> Expr:
        """First row of all padded pictures that an output row reads."""
        down = self.conv.strides[0]
        if _is_one(self.conv.batch):
            return line * down
        image = make_opaque(tirx.truncdiv(line, self.rows))
        return image * self.height + (line - image * self.rows) * down

    def _starts(self, tile: ConvTile) -> list[Expr]:
        """Starts of windows: each from the first, where a tile meets one end of a row at most; else step by step."""
        conv, one_picture = self.conv, _is_one(self.conv.batch)
        step, down = conv.strides[1] * conv.channels, make_opaque(conv.strides[0] * self.pitch)
        line = make_opaque(tirx.truncdiv(tile.pixel, self.columns))
        column = make_opaque(tile.pixel - line * self.columns)
        row = line if one_picture else make_opaque(tirx.truncmod(line, self.rows))
        group = tile.group * self.shape.group_channels if conv.groups > 1 else 0
        place = make_opaque(self._input_row(line) * self.pitch + column * step + group - tile.origin)
        if tile.rows == 1:
            return [place]
        to_line = make_opaque(down - self.columns * step)
        to_picture = None if one_picture else make_opaque(self.height * self.pitch - self.rows * down)
        starts = [Register("int32", 1) for _ in range(tile.rows)]

        def at_once() -> None:
            leaves = 0 if to_picture is None else tirx.Select(row + 1 == self.rows, to_picture, 0)
            jump = make_opaque(to_line + leaves)
            for number, start in enumerate(starts):
                start.set(place + number * step + tirx.Select(column + number >= self.columns, jump, 0))

        branch(
            self.columns >= tile.rows,
            at_once,
            lambda: self._step_by_step(starts, (place, row, column), (step, to_line, to_picture)),
        )
        return [bind(start.get()) for start in starts]

    def _step_by_step(
        self, starts: list[Register], first: tuple[Expr, Expr, Expr], moves: tuple[Expr, Expr, Expr | None]
    ) -> None:
        """Set the starts of windows that cross ends of rows; first: start, row and column; moves: to the next pixel,
        and what is added to it at the end of a row and of a picture."""
        (place, row, column), (step, to_line, to_picture) = first, moves
        starts[0].set(place)
        for start in starts[1:]:
            column = make_opaque(column + 1)
            ends = column == self.columns
            place = make_opaque(place + step + tirx.Select(ends, to_line, 0))
            if to_picture is not None:
                row = make_opaque(row + tirx.Select(ends, 1, 0))
                leaves = row == self.rows
                place = make_opaque(place + tirx.Select(leaves, to_picture, 0))
                row = make_opaque(tirx.Select(leaves, 0, row))
            column = make_opaque(tirx.Select(ends, 0, column))
            start.set(place)


def _windows(conv: Conv2d, axis: int) -> Expr:
    """Output rows (0) or columns (1)."""
    size = (conv.height, conv.width)[axis]
    room = size + conv.padding[axis] + conv.padding[axis + 2] - (conv.kernel[axis] - 1) * conv.dilation[axis] - 1
    down = conv.strides[axis]
    return room // down + 1 if isinstance(room, int) else bind(T.max(tirx.truncdiv(room, down) + 1, 0))


def _is_one(size: Expr) -> bool:
    return isinstance(size, int) and size == 1


class _DynamicIntegers(DynamicConvLoops, conv2d.Integers):
    """Loops of a convolution of codes whose sizes only a run tells."""


class _DynamicLanes(DynamicConvLoops, conv2d_int16.Lanes):
    """Loops of a convolution in int16 lanes whose sizes only a run tells; each run computes the places of taps."""

    def _take_sizes(self, function: FunctionBuilder) -> None:
        super()._take_sizes(function)
        rows_and_offsets, count = flatten_buffer(self.buffers["entries"]), self.sizes[1]
        down = make_opaque(self.pitch * self.conv.dilation[0])
        self._places = workspace(count, "int32")
        with T.serial(0, count) as i:
            entry = load(rows_and_offsets, i, "int32")
            row = bind(T.shift_right(entry, const(conv2d_int16.ROW_BITS)))
            store(self._places, i, row * down + T.bitwise_and(entry, const((1 << conv2d_int16.ROW_BITS) - 1)), 1)

    def offsets(self) -> Buffer:
        """Offsets of the entries from the start of a window."""
        return self._places

    def _stage_rows(self, first: Expr, last: Expr) -> Staged:
        source, self._origin, _ = super()._stage_rows(first, last)
        return source, 0, (self._copy_rows(self.widener, first, last)[0], 0) if self.shape.has_int16_copy else None

    def windows(self, tile: ConvTile) -> list[Expr]:
        """Starts of windows, in both copies."""
        return self._starts(replace(tile, origin=self._origin))


class _DynamicFloats(DynamicConvLoops, conv2d_float.Floats):
    """Loops of a convolution of floats whose sizes only a run tells."""


def dynamic_convolution(
    conv: Conv2d,
    sizes: Shape,
    weight: np.ndarray,
    bias: np.ndarray | None,
    x_zero: int,
    epilogue: Epilogue,
    isa: Isa,
    codes: tuple[int, int] | None = None,
) -> Kernel:
    """Kernel as conv2d, in int16 lanes where that is faster (see conv2d_int16), and conv2d_float.

    conv    of usual sizes (see usual_convolution)
    sizes   batch, rows and columns of x, then of y: numbers, and names of what only a run tells
    codes   lowest and highest code of x; None: all of the type
    """
    buffers: tuple[Shape, Shape] = (*sizes[:3], conv.channels), (*sizes[3:], conv.filters)
    if conv.x_dtype == "float32":
        check_arrays("conv2d_float", weight, weight.shape, bias, conv.filters)
        shape = DynamicConvShape(conv, float_vectors(isa), 0)
        tiling, bounds = conv2d_float.choose_float_tiling(shape, isa.tiles), clip_of(epilogue, "conv2d_float")
        return conv2d_float.make_kernel(
            "dynamic_conv2d_float", shape, tiling, bounds, weight, bias, buffers, loops=_DynamicFloats
        )
    bias = np.zeros(conv.filters, np.int32) if bias is None else bias
    conv2d.check_operands("conv2d", conv, weight, bias)
    lanes = _DynamicLanes, DynamicConvShape
    folded, note = conv2d_int16.lane_kernel(
        "dynamic_conv2d", conv, weight, bias, x_zero, epilogue, isa, codes, buffers, forms=lanes
    )
    if folded is not None:
        return folded
    conv, weight = merge_groups(conv, weight)
    shape = DynamicConvShape(conv, conv2d.instructions_for(conv, isa), x_zero)
    tiling = conv2d.choose_tiling(shape.product, shape.ins, isa.tiles)
    kernel = conv2d.make_kernel(
        "dynamic_conv2d", shape, tiling, weight, bias, epilogue, buffers, loops=_DynamicIntegers
    )
    return replace(kernel, note=note)


def merge_groups(conv: Conv2d, weight: np.ndarray) -> tuple[Conv2d, np.ndarray]:
    """Convolution of the same sums in fewer groups, of at most FULL filters, with zeros between those that are joined.

    A depthwise convolution has one filter in a group, and a vector of sums has a lane for each filter of a group.
    """
    filters, groups = conv.filters // conv.groups, conv.groups
    joined = max((m for m in range(1, FULL // filters + 1) if groups % m == 0), default=1)
    if joined == 1:
        return conv, weight
    channels = weight.shape[1]
    wide = np.zeros((conv.filters, joined * channels, *weight.shape[2:]), weight.dtype)
    for number, rows in enumerate(weight):
        begin = number // filters % joined * channels
        wide[number, begin : begin + channels] = rows
    return replace(conv, groups=groups // joined), wide


def usual_convolution(sizes: Shape, channels: int, filters: int, **options: Any) -> Conv2d:
    """The convolution at usual sizes where x has dynamic ones; sizes: batch, rows, columns."""
    usual = zip(sizes, (1, USUAL_SIDE, USUAL_SIDE), strict=True)
    batch, height, width = (size if isinstance(size, int) else known for size, known in usual)
    return Conv2d(batch, height, width, channels, filters, **options)
