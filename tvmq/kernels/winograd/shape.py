"""Sizes of a Winograd convolution on an instruction set, and the division of its work."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from tvmq.kernels.isa.generic import Instructions
from tvmq.kernels.parts.builder import split_evenly
from tvmq.kernels.parts.types import Conv2d
from tvmq.kernels.winograd.scheme import Scheme

LINE = 64  # bytes of a cache line
# Divides evenly among 2, 3, 4 and 6 threads; fewer where a chunk would be too small to hide the reading of weights.
CHUNKS, CHUNK_TILES = (12, 6, 4, 2), 16
SERIAL_PRODUCTS = 3_000_000  # below that a parallel region gains nothing that one would notice


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
    def padded(self) -> Conv2d:
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
        """What the code depends on."""
        return self.conv, self.ins.name, self.x_zero, self.scheme.tile, self.rows, self.columns, self.block


def _odd_lines(size: int) -> int:
    lines = -(-size // LINE)
    return LINE * (lines + 1 - lines % 2)
