"""Choice of the register tile of a matrix product, by a cost model instead of measuring.

A tile holds `rows` pixels times `columns` vectors of output channels in registers. One step of its loop loads
`columns` vectors of weights, broadcasts the `taps` activations of each pixel and multiplies. The loop nest is

    for each panel (`columns` vectors of weights):      the panel stays in the nearest cache
        for each tile of pixels:                        activations stream

Pixels are cut into tiles of nearly equal size, larger first. Where that would take two sizes and one size wastes
less than 3 %, all tiles have one size and the last is shifted back so that it ends at the last pixel: pixels that
are computed twice get the same values, and the code is half as long.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from tvmq.kernels.builder import Expr, T, split
from tvmq.kernels.isa.generic import Instructions

SHIFT_WASTE = 0.03
BODY_PENALTY = 0.015  # of the time, for each further copy of the loop: code to compile and to fetch
MOST_ROWS, MOST_COLUMNS = 14, 7
L1_BYTES, L2_BYTES = 24 * 1024, 768 * 1024
# bytes per cycle from L1, L2 and beyond; from measurements on Zen 4 and Zen 5
L1_RATE, L2_RATE, L3_RATE = 128.0, 40.0, 25.0
TILE_CYCLES = 25.0  # start of a tile: addresses, initial sums, a mispredicted branch
EPILOGUE_CYCLES = 4.5  # one vector of sums to codes
LATENCY_CYCLES = 4.0  # of one dot; a tile of few accumulators waits for it


@dataclass(frozen=True)
class Tiling:
    """A cut of pixels x vectors into tiles.

    rows, columns  largest tile
    pixel_parts    [(size, count), ...] of the tiles along pixels
    panel_parts    [(size, count), ...] of the panels along vectors
    shifted        one size of pixel tile; the last tile ends at the last pixel and may overlap the one before
    """

    pixels: int
    rows: int
    columns: int
    pixel_parts: tuple[tuple[int, int], ...]
    panel_parts: tuple[tuple[int, int], ...]
    shifted: bool

    @property
    def tiles(self) -> int:
        """Number of tiles along pixels."""
        return sum(count for _, count in self.pixel_parts)

    @property
    def panels(self) -> int:
        """Number of panels."""
        return sum(count for _, count in self.panel_parts)

    def first_pixel(self, tile: Expr) -> Expr:
        """Where the part of the pixels begins that tiles tile, tile + 1, ... own (a tile may start before it)."""
        size = self.pixel_parts[-1][0]
        if self.shifted:
            return T.min(tile * size, self.pixels) if not isinstance(tile, int) else min(tile * size, self.pixels)
        larger = self.pixel_parts[0][1] if len(self.pixel_parts) == 2 else 0
        return tile * size + (min(tile, larger) if isinstance(tile, int) else T.min(tile, larger))


def choose_tiling(pixels: int, vectors: int, steps: int, ins: Instructions) -> Tiling:
    """Tiling of least modelled time.

    pixels   rows of the product
    vectors  vectors of output channels
    steps    steps of the inner loop
    """
    facts = (ins.registers - ins.dot_temporaries, ins.dot_cycles, ins.vector_bytes)
    return _choose(pixels, vectors, steps, *facts)


@lru_cache(maxsize=1024)
def _choose(
    pixels: int, vectors: int, steps: int, registers: int, dot_cycles: float, vector_bytes: int
) -> Tiling:
    best: tuple[float, Tiling] | None = None
    for columns in range(1, min(MOST_COLUMNS, vectors) + 1):
        for rows in range(1, min(MOST_ROWS, pixels) + 1):
            if (rows + 1) * columns > registers:
                break
            tiling = _cut(pixels, vectors, rows, columns)
            cost = _cost(tiling, vectors, steps, dot_cycles, vector_bytes)
            if best is None or cost < best[0]:
                best = cost, tiling
    assert best is not None, "one pixel and one vector always fit"
    return best[1]


def _cut(pixels: int, vectors: int, rows: int, columns: int) -> Tiling:
    parts = split(pixels, rows)
    tiles = -(-pixels // rows)
    shifted = len(parts) == 2 and tiles * parts[0][0] - pixels < SHIFT_WASTE * pixels
    if shifted:
        parts = [(parts[0][0], tiles)]
    panels = split(vectors, columns)
    return Tiling(pixels, parts[0][0], panels[0][0], tuple(parts), tuple(panels), shifted)


def _cost(tiling: Tiling, vectors: int, steps: int, dot_cycles: float, vector_bytes: int) -> float:
    """Modelled cycles."""
    total = 0.0
    weight_bytes = vectors * steps * vector_bytes
    for columns, panels in tiling.panel_parts:
        panel_bytes = columns * steps * vector_bytes
        rate = L1_RATE if panel_bytes <= L1_BYTES else L2_RATE if panel_bytes <= L2_BYTES else L3_RATE
        first_rate = L1_RATE if weight_bytes <= L1_BYTES else L2_RATE if weight_bytes <= L2_BYTES else L3_RATE
        for rows, tiles in tiling.pixel_parts:
            step = max(dot_cycles * rows * columns, (rows + columns) / 2, LATENCY_CYCLES)
            inner = steps * max(step, columns * vector_bytes / rate)
            first = steps * max(0.0, columns * vector_bytes / first_rate - step)
            tile = inner + EPILOGUE_CYCLES * rows * columns * dot_cycles / 0.5 + TILE_CYCLES
            total += panels * (tiles * tile + first)
    bodies = len(tiling.pixel_parts) * len(tiling.panel_parts)
    return total * (1 + BODY_PENALTY * (bodies - 1))
