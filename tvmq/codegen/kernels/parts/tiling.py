"""Choice of the register tile of a matrix product, by a cost model instead of measuring.

A tile holds `rows` pixels times `columns` vectors of output channels in registers. One step of its loop loads
`columns` vectors of weights, broadcasts the `taps` activations of each pixel and multiplies. The loop nest is

    for each panel (`columns` vectors of weights):      the panel stays in the nearest cache
        for each tile of pixels:                        activations stream

Pixels are cut into tiles of nearly equal size, larger first. Where that would take two sizes and one size
wastes less than 3 %, all tiles have one size and the last is shifted back so that it ends at the last pixel:
pixels that are computed twice get the same values, and the code is half as long.

Tiles that were measured on a machine (`Isa.tiles`) are taken instead of those that the model of cycles would choose.

All tiles of a product give the same bits: sums of integers are exact, and sums of floats are made in the order of the
products whatever the tile. So a table of tiles is about speed alone.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace
from functools import lru_cache

from tvmq.codegen.kernels.isa.generic import Instructions
from tvmq.codegen.kernels.parts.builder import Expr, minimum, split_evenly
from tvmq.codegen.kernels.parts.kernel_types import NO_TILES, Tile, Tiles
from tvmq.codegen.kernels.parts.packing import panel_pieces

SHIFT_WASTE = 0.03
# for each dot in the code, which is to be compiled and fetched: share of the time, and cycles
CODE_SHARE, CODE_CYCLES = 0.003, 10.0
MOST_ROWS, MOST_COLUMNS = 14, 7
L1_BYTES, L2_BYTES = 24 * 1024, 768 * 1024
# bytes per cycle from L1, L2 and beyond; from measurements on Zen 4 and Zen 5
L1_RATE, L2_RATE, L3_RATE = 128.0, 40.0, 25.0
TILE_CYCLES = 12.0  # start of a tile: addresses, initial sums, a mispredicted branch
EPILOGUE_CYCLES = {4: 16.0, 2: 9.0, 1: 5.0}  # so many vectors of sums to codes
STREAM_COLUMNS = 0.5  # beyond the first cache one column reaches 2/3 of the rate of many
# where the pixels of a tile lie in several lines, each has an address of its own: to compute, and beyond
# FREE_ADDRESSES to fetch in every step
ADDRESS_CYCLES, FREE_ADDRESSES, FETCH_CYCLES = 8.0, 6, 0.15
LATENCY_CYCLES = 4.0  # of one dot; a tile of few accumulators waits for it


@dataclass(frozen=True)
class Product:
    """Sizes of a product: pixels x (steps * taps) x (vectors * lanes).

    line  so many pixels in turn lie at equal distances in memory; 0 for all
    """

    pixels: int
    vectors: int
    steps: int
    line: int = 0


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
    """Start of part `index` when parts are laid in a row: [(size, count), ...] as from `split_evenly`.

    >>> [first_of_part(((6, 2), (5, 1)), index) for index in range(4)]
    [0, 6, 12, 17]
    """
    size = parts[-1][0]
    larger = parts[0][1] if len(parts) == 2 else 0
    return index * size + minimum(index, larger) * (parts[0][0] - size)


def choose_tiling(product: Product, ins: Instructions, tiles: Tiles = NO_TILES) -> Tiling:
    """Tiling that was measured to be best (see performance/tuning.py), else that of least modelled time."""
    tile = tiles.get(product_key(product, ins))
    if isinstance(tiles, BlockTiles) and product.pixels in tiles.samples:
        return _tiling_of_block(product, ins, tiles)
    if tile is not None and fits(product, *tile, ins):
        return cut_tiles(product, *tile)
    return best_tilings(product, ins)[0]


class BlockTiles(dict[str, Tile]):
    """Tiles for code of several rows beside that of one: products have the panels that they have for a single row.

    So both read the same packed weights, which are stored once: of blocks of samples of a row each, and of any number
    of rows beside single tokens of a language model.

    samples  numbers of rows of such products
    """

    def __init__(self, tiles: Tiles, samples: Set[int]) -> None:
        super().__init__(tiles)
        self.samples = samples


def _tiling_of_block(product: Product, ins: Instructions, tiles: Tiles) -> Tiling:
    """The tiling of least modelled time among those with the panels of one row."""
    columns = choose_tiling(replace(product, pixels=1), ins, dict(tiles)).columns
    tilings = (tiling for tiling in best_tilings(product, ins, MOST_ROWS * MOST_COLUMNS) if tiling.columns == columns)
    return next(tilings, cut_tiles(product, 1, columns))


def product_key(product: Product, ins: Instructions) -> str:
    """Key of a measured tile: all that the loops of a product depend on.

    >>> from tvmq.codegen.kernels.isa import level
    >>> product_key(Product(49, 32, 128), level("avx2"))
    'avx2 int16 49 32 128 0'
    """
    return f"{ins.name} {ins.x_dtype} {product.pixels} {product.vectors} {product.steps} {product.line}"


def fits(product: Product, rows: int, columns: int, ins: Instructions) -> bool:
    """True for a tile that the registers hold and the product fills."""
    inside = 1 <= columns <= min(MOST_COLUMNS, product.vectors) and 1 <= rows <= min(MOST_ROWS, product.pixels)
    return inside and ins.tile_registers(rows, columns) <= ins.registers


@lru_cache(maxsize=1024)
def best_tilings(product: Product, ins: Instructions, count: int = 1) -> tuple[Tiling, ...]:
    """The different tilings of least modelled time, best first."""
    costs: dict[Tiling, float] = {}
    for columns in range(1, min(MOST_COLUMNS, product.vectors) + 1):
        for rows in range(1, min(MOST_ROWS, product.pixels) + 1):
            if not fits(product, rows, columns, ins):
                break
            tiling = cut_tiles(product, rows, columns)
            costs.setdefault(tiling, _weigh(cycles(product, tiling, ins), tiling))
    return tuple(sorted(costs, key=lambda tiling: costs[tiling])[:count])


def cut_tiles(product: Product, rows: int, columns: int) -> Tiling:
    """Tiling by tiles of at most rows x columns."""
    parts = split_evenly(product.pixels, rows)
    tiles = -(-product.pixels // rows)
    shifted = len(parts) == 2 and tiles * parts[0][0] < (1 + SHIFT_WASTE) * product.pixels
    if shifted:
        parts = [(parts[0][0], tiles)]
    panels = split_evenly(product.vectors, columns)
    return Tiling(product.pixels, parts[0][0], panels[0][0], tuple(parts), tuple(panels), shifted)


def _weigh(total: float, tiling: Tiling) -> float:
    """Modelled time, code size weighed in."""
    code = sum(rows for rows, _ in tiling.pixel_parts) * sum(columns for columns, _ in tiling.panel_parts)
    return total * (1 + CODE_SHARE * code) + CODE_CYCLES * code


def cycles(product: Product, tiling: Tiling, ins: Instructions) -> float:
    """Modelled time of the loops in cycles of one core."""
    steps, total = product.steps, 0.0
    row_cycles, column_cycles, loop_cycles = ins.step_cycles
    weight_bytes = product.vectors * steps * ins.vector_bytes
    for columns, panels in tiling.panel_parts:
        step_bytes = columns * ins.vector_bytes
        far = _rate(weight_bytes, columns)
        near = _rate(steps * step_bytes, columns)
        for rows, tiles in tiling.pixel_parts:
            addresses = 1 if product.line in (0, product.pixels) or product.line % rows == 0 else rows
            whole_rows = -(-rows // ins.row_step) * ins.row_step
            step = max(ins.dot_cycles * whole_rows * columns, (rows + columns) / 2, LATENCY_CYCLES)
            step += row_cycles * rows + column_cycles * columns + loop_cycles
            step += FETCH_CYCLES * max(0, addresses - FREE_ADDRESSES)
            rest = TILE_CYCLES + ADDRESS_CYCLES * addresses
            rest += rows * sum(EPILOGUE_CYCLES[count] for _, count in panel_pieces(columns))
            # the first tile of a panel brings its weights from afar
            dots = max(step, step_bytes / far) + (tiles - 1) * max(step, step_bytes / near)
            total += panels * (steps * dots + tiles * rest)
    return total


def _rate(size: int, columns: int) -> float:
    """Bytes per cycle of reading so many bytes again and again, by panels of so many vectors."""
    if size <= L1_BYTES:
        return L1_RATE
    return (L2_RATE if size <= L2_BYTES else L3_RATE) * columns / (columns + STREAM_COLUMNS)
