"""Choice of the register tile of a matrix product, by a cost model instead of measuring.

A tile holds `rows` pixels times `columns` vectors of output channels in registers. One step of its loop loads
`columns` vectors of weights, broadcasts the `taps` activations of each pixel and multiplies. The loop nest is

    for each panel (`columns` vectors of weights):      the panel stays in the nearest cache
        for each tile of pixels:                        activations stream

Pixels are cut into tiles of nearly equal size, larger first. Where that would take two sizes and one size
wastes less than 3 %, all tiles have one size and the last is shifted back so that it ends at the last pixel:
pixels that are computed twice get the same values, and the code is half as long.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from tvmq.kernels.builder import Expr, minimum, split
from tvmq.kernels.isa.generic import Instructions
from tvmq.kernels.packing import panel_pieces

SHIFT_WASTE = 0.03
# for each dot in the code, which is to be compiled and fetched: share of the time, and cycles
CODE_SHARE, CODE_CYCLES = 0.002, 10.0
MOST_ROWS, MOST_COLUMNS = 14, 7
L1_BYTES, L2_BYTES = 24 * 1024, 768 * 1024
# bytes per cycle from L1, L2 and beyond; from measurements on Zen 4 and Zen 5
L1_RATE, L2_RATE, L3_RATE = 128.0, 40.0, 25.0
TILE_CYCLES = 12.0  # start of a tile: addresses, initial sums, a mispredicted branch
EPILOGUE_CYCLES = {4: 16.0, 2: 9.0, 1: 5.0}  # so many vectors of sums to codes
# of a step, beside the dots: instructions that take issue slots
ROW_CYCLES, COLUMN_CYCLES, LOOP_CYCLES = 0.03, 0.1, 0.25
# where the pixels of a tile lie in several lines, each has an address of its own: to compute, and beyond
# FREE_ADDRESSES to fetch in every step
ADDRESS_CYCLES, FREE_ADDRESSES, FETCH_CYCLES = 3.0, 6, 0.15
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
        """First pixel that belongs to tile `tile` and no earlier one; `pixels` beyond the last tile."""
        if self.shifted:
            return minimum(tile * self.rows, self.pixels)
        return first_of_part(self.pixel_parts, tile)

    def first_vector(self, panel: Expr) -> Expr:
        """First vector of a panel; the number of vectors for the panel beyond the last."""
        return first_of_part(self.panel_parts, panel)


def first_of_part(parts: tuple[tuple[int, int], ...], index: Expr) -> Expr:
    """Where part `index` begins when parts are laid in a row: [(size, count), ...] as from `split`.

    >>> [first_of_part(((6, 2), (5, 1)), index) for index in range(4)]
    [0, 6, 12, 17]
    """
    size = parts[-1][0]
    larger = parts[0][1] if len(parts) == 2 else 0
    return index * size + minimum(index, larger) * (parts[0][0] - size)


def choose_tiling(pixels: int, vectors: int, steps: int, ins: Instructions, line: int = 0) -> Tiling:
    """Tiling of least modelled time.

    pixels   rows of the product
    vectors  vectors of output channels
    steps    steps of the inner loop
    line     so many pixels in turn lie at equal distances; 0 for all
    """
    facts = (ins.registers - ins.dot_temporaries, ins.dot_cycles, ins.vector_bytes)
    return _choose(pixels, vectors, steps, line or pixels, *facts)


@lru_cache(maxsize=1024)
def _choose(
    pixels: int, vectors: int, steps: int, line: int, registers: int, dot_cycles: float, vector_bytes: int
) -> Tiling:
    best: tuple[float, Tiling] | None = None
    for columns in range(1, min(MOST_COLUMNS, vectors) + 1):
        for rows in range(1, min(MOST_ROWS, pixels) + 1):
            if (rows + 1) * columns > registers:
                break
            tiling = _cut(pixels, vectors, rows, columns)
            cost = _cost(tiling, vectors, steps, line, dot_cycles, vector_bytes)
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


def _cost(tiling: Tiling, vectors: int, steps: int, line: int, dot_cycles: float, vector_bytes: int) -> float:
    """Modelled cycles."""
    total = 0.0
    weight_bytes = vectors * steps * vector_bytes
    for columns, panels in tiling.panel_parts:
        panel_bytes = columns * steps * vector_bytes
        rate = L1_RATE if panel_bytes <= L1_BYTES else L2_RATE if panel_bytes <= L2_BYTES else L3_RATE
        first_rate = L1_RATE if weight_bytes <= L1_BYTES else L2_RATE if weight_bytes <= L2_BYTES else L3_RATE
        for rows, tiles in tiling.pixel_parts:
            step = max(dot_cycles * rows * columns, (rows + columns) / 2, LATENCY_CYCLES)
            step += ROW_CYCLES * rows + COLUMN_CYCLES * columns + LOOP_CYCLES
            addresses = 1 if line % rows == 0 or line == tiling.pixels else rows
            step += FETCH_CYCLES * max(0, addresses - FREE_ADDRESSES)
            inner = steps * max(step, columns * vector_bytes / rate)
            first = steps * max(0.0, columns * vector_bytes / first_rate - step)
            tile = inner + _epilogue_cycles(rows, columns) + TILE_CYCLES + ADDRESS_CYCLES * addresses
            total += panels * (tiles * tile + first)
    code = sum(rows for rows, _ in tiling.pixel_parts) * sum(columns for columns, _ in tiling.panel_parts)
    return total * (1 + CODE_SHARE * code) + CODE_CYCLES * code


def _epilogue_cycles(rows: int, columns: int) -> float:
    return rows * sum(EPILOGUE_CYCLES[count] for _, count in panel_pieces(columns))
