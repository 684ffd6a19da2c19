"""Sizes of a Winograd convolution on an instruction set, and the division of its work.

Modelled cycles of a Winograd convolution, beside those of the direct one (tiling.cycles).

Unit    cycles of the same fast CPU as in tiling: two 64-byte products a cycle. On CPUs that need twice as long for all
        64-byte operations both sides double, so that ratios hold.
Fitted  on Zen 4 with the shapes of benchmarks/kernels.py; see docs/speed.md

Tests: tests/codegen/kernels/winograd/test_winograd.py
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from tvmq.codegen.kernels.conv.conv2d import instructions_for
from tvmq.codegen.kernels.conv.shape import ConvShape
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.isa.generic import Instructions
from tvmq.codegen.kernels.parts.builder import Expr, split_evenly
from tvmq.codegen.kernels.parts.kernel_types import Conv2d, Tiles
from tvmq.codegen.kernels.parts.packing import panel_pieces
from tvmq.codegen.kernels.parts.tiling import EPILOGUE_CYCLES, L1_BYTES, L2_RATE, LATENCY_CYCLES, choose_tiling, cycles
from tvmq.codegen.kernels.winograd.scheme import Scheme

LINE = 64  # bytes of a cache line
# Divides evenly among 2, 3, 4 and 6 threads; fewer where a chunk would be too small to hide the reading of weights.
CHUNKS, CHUNK_TILES = (12, 6, 4, 2), 16
SERIAL_PRODUCTS = 3_000_000  # below that a parallel region gains nothing that one would notice


@dataclass(frozen=True)
class Extents:
    """Sizes that the loops count to: ints, or expressions of what a run brings.

    padded_height, row_pitch  rows of a picture with whole tiles and borders, and elements of such a row
    """

    batch: Expr
    out_height: Expr
    out_width: Expr
    tiles_high: Expr
    tiles_wide: Expr
    padded_height: Expr
    row_pitch: Expr


def is_one(size: Expr) -> bool:
    """True for a size that is known to be 1."""
    return isinstance(size, int) and size == 1


@dataclass(frozen=True)
class WinogradShape:
    """A 3 x 3 convolution cut into tiles of outputs; tiles of all pictures are counted through, row by row.

    rows, columns  of a register tile: tiles of outputs x vectors of output channels
    block          most tiles of outputs whose transformed input is held at a time; a multiple of rows
    """

    conv: Conv2d
    ins: Instructions
    x_zero: int
    scheme: Scheme
    rows: int
    columns: int
    block: int

    @property
    def tiles_high(self) -> int:
        """Tiles along a column of a picture."""
        return -(-self.conv.out_height // self.scheme.tile)

    @property
    def tiles_wide(self) -> int:
        """Tiles along a row of a picture."""
        return -(-self.conv.out_width // self.scheme.tile)

    @property
    def tiles(self) -> int:
        """Tiles of all pictures."""
        return self.conv.batch * self.tiles_high * self.tiles_wide

    @property
    def padded_conv(self) -> Conv2d:
        """The convolution with whole tiles: more padding below and on the right."""
        conv, (top, left, _, _) = self.conv, self.conv.padding
        below = self.scheme.tile * self.tiles_high + 2 - conv.height - top
        right = self.scheme.tile * self.tiles_wide + 2 - conv.width - left
        return replace(conv, padding=(top, left, below, right))

    @property
    def padded_height(self) -> int:
        """Rows of a padded picture."""
        return self.scheme.tile * self.tiles_high + 2

    @property
    def row_pitch(self) -> int:
        """Elements of a row of the padded picture."""
        return (self.scheme.tile * self.tiles_wide + 2) * self.conv.channels

    @property
    def extents(self) -> Extents:
        """Sizes that the loops count to."""
        conv, tiles = self.conv, (self.tiles_high, self.tiles_wide)
        return Extents(conv.batch, conv.out_height, conv.out_width, *tiles, self.padded_height, self.row_pitch)

    @property
    def steps(self) -> int:
        """Pairs of channels."""
        return -(-self.conv.channels // 2)

    @property
    def channel_lanes(self) -> int:
        """Channels that are transformed together."""
        return min(2 * self.ins.lanes, max(8, 1 << (self.conv.channels - 1).bit_length()))

    @property
    def tile_pitch(self) -> int:
        """int16 elements of a transformed tile at one position; channels beyond the last hold anything."""
        return -(-self.conv.channels // self.channel_lanes) * self.channel_lanes

    def position_pitch(self, tiles: int) -> int:
        """int16 elements from one position to the next for so many tiles: an odd number of cache lines.

        With an even number the streams of all positions would meet in a few sets of the cache.
        """
        return _odd_lines(tiles * self.tile_pitch * 2) // 2

    @property
    def product_pitch(self) -> int:
        """int32 elements of the products from one position to the next."""
        return _odd_lines(self.block * self.columns * self.ins.lanes * 4) // 4

    @property
    def vectors(self) -> int:
        """Vectors of output channels."""
        return -(-self.conv.filters // self.ins.lanes)

    @property
    def panel_parts(self) -> tuple[tuple[int, int], ...]:
        """Panels of vectors, as in tiling."""
        return tuple(split_evenly(self.vectors, self.columns))

    @property
    def panels(self) -> int:
        """Number of panels."""
        return sum(count for _, count in self.panel_parts)

    @property
    def products(self) -> int:
        """Products of int16."""
        return self.tiles * self.scheme.positions * self.conv.channels * self.conv.filters

    @cached_property
    def chunks(self) -> int:
        """Parallel parts of the tiles; 1 if there is too little work, or too few tiles."""
        if self.products < SERIAL_PRODUCTS:
            return 1
        return next((count for count in CHUNKS if self.tiles >= count * CHUNK_TILES), 1)

    @property
    def panel_chunks(self) -> int:
        """Parallel parts of the panels, where tiles are too few to be divided; all share one transformed input."""
        if self.chunks > 1 or self.products < SERIAL_PRODUCTS:
            return 1
        return min(self.panels, CHUNKS[0])

    @property
    def chunk_tiles(self) -> int:
        """Most tiles of a chunk; chunks are whole register tiles."""
        return min(self.tiles, -(-self.register_tiles // self.chunks) * self.rows)

    @property
    def register_tiles(self) -> int:
        """Register tiles along the tiles of outputs."""
        return -(-self.tiles // self.rows)

    @property
    def blocks(self) -> int:
        """Blocks of a chunk."""
        return -(-self.chunk_tiles // self.block)

    @property
    def key(self) -> tuple[Any, ...]:
        """Parameters that the generated code depends on."""
        return self.conv, self.ins.key, self.x_zero, self.scheme.tile, self.rows, self.columns, self.block


def _odd_lines(size: int) -> int:
    lines = -(-size // LINE)
    return LINE * (lines + 1 - lines % 2)


MOST_ROWS, MOST_COLUMNS = 8, 4
MOST_TILES = 32  # of a block; more are no faster, fewer read the weights more often (measured)
OPERATIONS = 4.0  # vector instructions that are issued in a cycle
AXIS_OPERATIONS = {4: (14.0, 17.0), 2: (4.0, 6.0)}  # of a transform of one line: input, output
TILE_CYCLES = 8.0  # start of a register tile
COPY_RATE = 24.0  # bytes a cycle of the copy with borders
FAR_BYTES = 768 * 1024  # more weights lie beyond the second cache
# Bytes a cycle from there, by the width of vectors, as their cycles differ. A third of what a kernel gets that runs
# alone: in a network the third cache has seen other weights since (14 x 14 x 512 of vgg11 lost what it won alone).
FAR_RATE = {64: 5.0, 32: 1.6}


@lru_cache(maxsize=1024)
def shape_for(conv: Conv2d, ins: Instructions, x_zero: int, scheme: Scheme) -> WinogradShape:
    """The shape with the tiles of least modelled time."""
    vectors = -(-conv.filters // ins.lanes)
    # columns as they come out when the vectors are dealt to panels
    widths = {split_evenly(vectors, columns)[0][0] for columns in range(1, MOST_COLUMNS + 1)}
    shapes = []
    for columns in sorted(widths):
        for rows in range(1, MOST_ROWS + 1):
            if (rows + 1) * columns > ins.registers - ins.dot_temporaries:
                break
            shape = WinogradShape(conv, ins, x_zero, scheme, rows, columns, rows)
            blocks = -(-shape.chunk_tiles // MOST_TILES)
            most = -(-shape.chunk_tiles // blocks)
            shapes.append(replace(shape, block=-(-most // rows) * rows))
    return min(shapes, key=winograd_cycles)


def winograd_cycles(shape: WinogradShape) -> float:
    """Time of the whole convolution on one core."""
    return sum(winograd_parts(shape).values())


def winograd_parts(shape: WinogradShape) -> dict[str, float]:
    """Cycles of each part of a convolution: copy, input and output transforms, products."""
    copied = shape.conv.batch * shape.padded_height * shape.row_pitch
    return {
        "copy": 2 * copied / COPY_RATE,
        "input": shape.tiles * _input_cycles(shape),
        "products": _product_cycles(shape),
        "output": shape.tiles * _output_cycles(shape),
    }


def direct_cycles(shape: WinogradShape, tiles: Tiles) -> float:
    """Time of the direct convolution on one core, with measured tiles."""
    ins = instructions_for(shape.conv, isa_named(shape.ins.name))
    direct = ConvShape(shape.conv, ins, shape.x_zero)
    copied = direct.data_bytes if direct.is_staged else 0
    share = ins.vector_bytes / shape.ins.vector_bytes  # half vectors take half the time on the CPU this was fitted on
    tiling = choose_tiling(direct.product, ins, tiles)
    return share * cycles(direct.product, tiling, ins) + 2 * copied / COPY_RATE


def _input_cycles(shape: WinogradShape) -> float:
    points = shape.scheme.points
    operations = 3 * points**2 + 2 * points * AXIS_OPERATIONS[shape.scheme.tile][0]
    return shape.tile_pitch / shape.channel_lanes * operations / OPERATIONS


def _output_cycles(shape: WinogradShape) -> float:
    """The output transform and the epilogue of a tile of outputs."""
    tile, points = shape.scheme.tile, shape.scheme.points
    operations = points**2 + (points + tile) * AXIS_OPERATIONS[tile][1] + 6 * tile**2
    pieces = [
        count * tile**2 * sum(EPILOGUE_CYCLES[piece] for _, piece in panel_pieces(columns))
        for columns, count in shape.panel_parts
    ]
    return shape.vectors * operations / OPERATIONS + sum(pieces)


def _product_cycles(shape: WinogradShape) -> float:
    ins, steps = shape.ins, shape.steps
    weight_bytes = shape.scheme.positions * steps * shape.vectors * ins.vector_bytes
    far = L2_RATE if weight_bytes <= FAR_BYTES else FAR_RATE[ins.vector_bytes]
    rows = max(1.0, shape.register_tiles / (shape.chunks * shape.blocks))  # register tiles of a block, on average
    total = 0.0
    for columns, panels in shape.panel_parts:
        step = _step_cycles(shape, columns)
        near = steps * columns * ins.vector_bytes <= L1_BYTES
        fetch = columns * ins.vector_bytes / far
        start = TILE_CYCLES + shape.rows * columns
        # the first register tile of a position waits for what the prefetch has not brought
        block = rows * (steps * step + start) + max(0.0, fetch - rows * step) * steps
        if not near:
            block = max(block, rows * steps * columns * ins.vector_bytes / L2_RATE)
        total += panels * block
    return total * shape.scheme.positions * shape.blocks * shape.chunks


def _step_cycles(shape: WinogradShape, columns: int) -> float:
    ins, rows = shape.ins, shape.rows
    row_cycles, column_cycles, loop_cycles = ins.step_cycles
    step = max(ins.dot_cycles * rows * columns, (rows + columns) / 2, LATENCY_CYCLES)
    return step + row_cycles * rows + column_cycles * columns + loop_cycles
