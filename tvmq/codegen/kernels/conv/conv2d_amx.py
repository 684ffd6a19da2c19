"""conv2d_amx: convolutions and products of 8-bit codes by matrix tiles (AMX): conv2d on tiles of 16 rows of 64 bytes.

Computes   as conv2d, bit for bit: `tdpbusd` adds int32 sums modulo 2^32, and the sum itself fits
Layouts    as conv2d. Windows of a chunk of pixels are gathered first, each a row of whole 64 bytes (im2col), unless the
           input has them: unpadded uint8 of 1 x 1. Weights are packed as of a 1 x 1 convolution of these rows: 16 steps
           of a vector are a tile. Those behind the end of a window are zeros, whatever stands in its row
Loops      as conv2d: chunk, panel (4 vectors of filters), tile of at most 32 pixels, 64 bytes of the windows
Registers  four tiles of sums; two of pixels, two of weights
Needs      amx-int8, and the permission of Linux (target/host.py)
Measured   benchmarks/kernels.py
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq import numerics
from tvmq.codegen.kernels.conv.conv2d import Integers, check_operands, make_kernel
from tvmq.codegen.kernels.conv.implicit_gemm import ConvLoops, Staged
from tvmq.codegen.kernels.conv.shape import ConvShape, ConvTile
from tvmq.codegen.kernels.conv.staging import SLACK, Stager
from tvmq.codegen.kernels.isa import amx, instructions
from tvmq.codegen.kernels.parts.builder import Buffer, Expr, Shape, bind, load, store, workspace
from tvmq.codegen.kernels.parts.kernel_types import Conv2d, Epilogue, Isa, Kernel
from tvmq.codegen.kernels.parts.packing import Packing
from tvmq.codegen.kernels.parts.tiling import Tiling, choose_tiling
from tvmq.numerics.code_type import CODES_8

MOST_PIXELS, COLUMNS = 2 * amx.ROWS, 4  # of a tile; vectors of a panel
LEAST_PIXELS, LEAST_DEPTH, LEAST_FILTERS = 6, 32, 32  # below, tiles are mostly empty
SHARE = 0.4  # of the time of conv2d, in the middle of what was measured
ROWS_AT_ONCE = 4  # of sums that become codes


@dataclass(frozen=True)
class GatheredShape(ConvShape):
    """The 1 x 1 convolution of gathered windows.

    windows  the convolution that they are of
    """

    windows: ConvShape | None = None

    @property
    def is_copied(self) -> bool:
        """True if windows are gathered."""
        assert self.windows is not None
        whole = self.windows.run % amx.ROW_BYTES == 0
        return not (whole and self.windows.is_pointwise and not self.windows.is_staged and self.windows.line == 0)

    @property
    def key(self) -> tuple[Any, ...]:
        """Parameters that the generated code depends on."""
        assert self.windows is not None
        return *super().key, self.windows.key


def conv2d_amx(
    conv: Conv2d,
    weight: np.ndarray,
    bias: np.ndarray,
    x_zero: int,
    epilogue: Epilogue,
    isa: Isa,
    buffers: tuple[Shape, Shape] | None = None,
) -> Kernel:
    """Kernel of a convolution of one group; parameters as of `conv2d`.

    buffers  shapes of x and y if they are not NHWC
    raises   BuildError for shapes, types or steps that do not fit
    """
    check_operands("conv2d_amx", conv, weight, bias)
    ins = instructions(isa)
    windows = ConvShape(conv, ins, x_zero)
    depth = -(-weight[0].size // amx.ROW_BYTES) * amx.ROW_BYTES
    gathered = np.zeros((conv.filters, depth, 1, 1), np.int8)
    gathered[:, : weight[0].size, 0, 0] = weight.transpose(0, 2, 3, 1).reshape(conv.filters, -1)
    product = Conv2d(1, 1, windows.pixels, depth, conv.filters, x_dtype=conv.x_dtype)
    shape = GatheredShape(product, ins, x_zero, windows=windows)
    shapes = buffers or ((conv.batch, conv.height, conv.width, conv.channels), conv.out_shape)
    loops = partial(TileProducts, windows=windows)
    tiling = tile_pixels(shape)
    kernel = make_kernel("conv2d_amx", shape, tiling, gathered, bias, epilogue, shapes, loops)
    assert kernel.work is not None
    direct = kernel.work.cycles
    # the tuner knows tiles of registers
    work = replace(kernel.work, family="conv2d", macs=conv.macs, tiled=None)
    work = replace(work, cycles=lambda *machine: SHARE * direct(*machine))
    permuted = kernel.template.plan.requantizer is not None
    packing = Packing(ins, weight.shape, 1, weight[0].size, tiling.panel_parts, permuted)
    recipe = {**packing.recipe(), "multiple": amx.ROW_BYTES // ins.taps}
    return replace(kernel, packed_from=(weight, recipe), work=work)


def fits_tiles(conv: Conv2d, weight: np.ndarray, isa: Isa) -> bool:
    """True for what matrix tiles compute, and are worth."""
    if not instructions(isa).has_matrix_tiles or conv.groups != 1 or conv.x_dtype not in CODES_8:
        return False
    pixels = conv.batch * conv.out_height * conv.out_width
    is_large = pixels >= LEAST_PIXELS and weight[0].size >= LEAST_DEPTH and conv.filters >= LEAST_FILTERS
    return is_large and not numerics.fits_int4(weight)


def tile_pixels(shape: ConvShape) -> Tiling:
    """Tiles of equally many pixels, the last one shifted back, and panels of 4 vectors.

    >>> [cut_evenly(pixels) for pixels in (20, 49, 196, 3136)]
    [(20, 1), (25, 2), (28, 7), (32, 98)]
    """
    rows, tiles = cut_evenly(shape.pixels)
    whole, left = divmod(shape.vectors, COLUMNS)
    panels = ((COLUMNS, whole), (left, 1)) if left else ((COLUMNS, whole),)
    parts = tuple(part for part in panels if all(part))
    is_shifted = rows * tiles != shape.pixels
    return Tiling(shape.pixels, rows, min(COLUMNS, shape.vectors), ((rows, tiles),), parts, is_shifted)


def cut_evenly(pixels: int) -> tuple[int, int]:
    """Pixels of a tile, and tiles."""
    tiles = -(-pixels // MOST_PIXELS)
    rows = -(-pixels // tiles)
    return rows, -(-pixels // rows)


class TileSum:
    """Sums of a pixel and a vector of filters, in scratch memory: as a Register is read."""

    def __init__(self, scratch: Buffer, place: Expr, bias: Expr) -> None:
        self._scratch, self._place, self._bias = scratch, place, bias

    def get(self) -> Expr:
        """The sum."""
        return bind(load(self._scratch, self._place, "int32x16") + self._bias)


def _copy_run(source: Buffer, begin: Expr, target: Buffer, to: Expr, count: int, slack: int) -> None:
    """target[to : to + count] = source[begin : begin + count]; slack: bytes that both have behind them."""
    lanes, done = amx.ROW_BYTES, 0
    while done < count:
        while lanes > count - done + slack:
            lanes //= 2
        vectors = (count - done) // lanes or 1
        if slack and done + vectors * lanes < count:
            vectors += 1
        with T.serial(0, vectors) as vector:
            offset = done + vector * lanes
            store(target, to + offset, load(source, begin + offset, f"uint8x{lanes}"), lanes)
        done += vectors * lanes


class TileProducts(Integers):
    """Convolution of gathered windows; see the head of this file.

    windows  the convolution that they are of
    """

    def __init__(self, *args: Any, windows: ConvShape) -> None:
        super().__init__(*args)
        tiling = choose_tiling(windows.product, windows.ins)
        self.windows = ConvLoops(self.name, windows, tiling, "int32", self.buffer_shapes)
        rows = self.tiling.rows
        first = -(-rows // 2) if rows > amx.ROWS else rows
        self.row_tiles = [(0, first)] if first == rows else [(0, first), (first, rows - first)]

    def _chunk(self, pixel_chunk: Expr, panel_chunk: Expr, staged: Staged | None) -> None:
        columns = self.tiling.columns
        self.scratch = workspace(self.tiling.rows * columns * self.ins.lanes, "int32")
        heights = [height for _, height in self.row_tiles]
        # sums, for each tile of pixels; pixels; weights
        rows = [heights[number * len(heights) // 4] for number in range(4)] + [heights[0], heights[-1], 16, 16]
        amx.configure(rows)
        super()._chunk(pixel_chunk, panel_chunk, staged)
        amx.release()

    def _stage(self, begin: Expr, end: Expr, ranges: list[tuple[int, int]]) -> Staged:
        """Rows of windows of output pixels begin .. end."""
        windows, depth = self.windows, self.conv.channels
        conv, shape = windows.conv, windows.shape
        source, origin, slack = self.x, 0, 0
        if shape.is_staged:
            source, origin = windows._copy(Stager(self.ins, self.x, conv, shape.x_zero), begin, end, ranges)
            slack = SLACK
        target = workspace(max(high - low for low, high in ranges) * depth + SLACK, "uint8")
        with T.serial(0, end - begin) as pixel:
            start = bind(windows._window(begin + pixel, 0) - origin)
            row = bind(pixel * depth)
            for number in range(conv.kernel[0] * shape.runs_per_row):
                line, column = divmod(number, shape.runs_per_row)
                inside = line * conv.dilation[0] * shape.row_pitch + column * conv.dilation[1] * conv.channels
                _copy_run(source, start + inside, target, row + number * shape.run, shape.run, slack)
        return target, bind(begin * depth), None

    def _tile(self, tile: ConvTile) -> None:
        """Sums of tiles in scratch memory, then codes."""
        columns, depth = tile.panel.columns, self.conv.channels
        begin = bind(self._window(tile.pixel, 0) - tile.origin)
        panel = bind(self._first_weight(tile))
        together = 4 // len(self.row_tiles)
        for first in range(0, columns, together):
            self._multiply(tile, (begin, panel), range(first, min(first + together, columns)), depth)
        lanes = self.ins.lanes
        channel = (tile.group * self.shape.vectors + tile.vector) * lanes

        def finish(row: Expr, rows: int) -> None:
            # loaded anew for each rows, or four vectors would be kept across code that needs all registers
            bias = [load(self.bias, channel + column * lanes, "int32x16") for column in range(columns)]
            sums = [
                [
                    TileSum(self.scratch, ((row + i) * columns + column) * lanes, bias[column])
                    for column in range(columns)
                ]
                for i in range(rows)
            ]
            self.store(replace(tile, pixel=bind(tile.pixel + row), rows=rows), sums)  # type: ignore[arg-type]

        whole, left = divmod(tile.rows, ROWS_AT_ONCE)
        with T.serial(0, whole) as index:
            finish(bind(index * ROWS_AT_ONCE), ROWS_AT_ONCE)
        if left:
            finish(whole * ROWS_AT_ONCE, left)

    def _multiply(self, tile: ConvTile, begins: tuple[Expr, Expr], columns: range, depth: int) -> None:
        """Sums of all pixels of a tile and some vectors of filters to scratch memory."""
        begin, panel = begins
        pitch, lanes = tile.panel.columns * self.vector, self.ins.lanes
        pairs = [(row, column) for row in range(len(self.row_tiles)) for column in range(len(columns))]
        sums = {pair: pair[0] * (4 // len(self.row_tiles)) + pair[1] for pair in pairs}
        for number in sums.values():
            amx.set_zero(number)
        with T.serial(0, depth // amx.ROW_BYTES) as step:
            for row, (first, _) in enumerate(self.row_tiles):
                amx.load_tile(4 + row, tile.source, begin + first * depth + step * amx.ROW_BYTES, depth)
            for number, column in enumerate(columns):
                weights = 6 + number % 2
                amx.load_tile(weights, self.weight, panel + step * (16 * pitch) + column * self.vector, pitch)
                for row in range(len(self.row_tiles)):
                    amx.multiply(sums[row, number], 4 + row, weights)
        for (row, number), register in sums.items():
            place = (self.row_tiles[row][0] * tile.panel.columns + columns[number]) * lanes
            amx.store_tile(register, self.scratch, place, 4 * tile.panel.columns * lanes)
