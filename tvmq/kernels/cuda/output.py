"""From the sums of a block to memory.

int32 and float32 go straight from registers. Codes first go to shared memory, where all threads take them again in
the order of the output: what is read there for residual adds, and written, are whole words of neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass

from tvm.script.ir_builder import tirx as T

from tvmq.kernels.builder import Buffer, Expr
from tvmq.kernels.cuda.builder import both, put, synchronize, unrolled, value_of, where, words
from tvmq.kernels.cuda.epilogue import after_steps, byte_of, is_codes, other_names, scaled, word_of
from tvmq.kernels.cuda.product import BlockProduct
from tvmq.kernels.cuda.tile import Tile
from tvmq.kernels.epilogue import EpiloguePlan


@dataclass(frozen=True)
class Place:
    """Where a tile lies in the output.

    row, column       first row and column of the tile; columns count from those of the group
    rows, columns     how many there are
    pitch             elements from a row of the output to the next
    base              element of row 0, column 0
    channel           first of the tile's channels, in the constants as packed
    whole             True if every row begins at a word and ends with one
    """

    row: Expr
    column: Expr
    rows: int
    columns: int
    pitch: int
    base: Expr
    channel: Expr
    whole: bool


class Output:
    """Writes a tile; buffers: flat ones, by parameter name."""

    def __init__(self, tile: Tile, plan: EpiloguePlan, buffers: dict[str, Buffer], place: Place) -> None:
        self.tile, self.plan, self.buffers, self.place = tile, plan, buffers, place
        self.scale_names = list(plan.scaler.parameters(1)) if plan.scaler is not None else []

    def offset_of_column(self, column: Expr) -> Expr:
        """What is added to all sums of a column of the tile."""
        return self.buffers["bias"][self.place.channel + column]

    def offset_of_row(self, row: Expr) -> Expr:
        """What is added to all sums of a row of the tile."""
        return 0

    def write(self, product: BlockProduct) -> None:
        """All of it."""
        if not is_codes(self.plan):
            product.for_each(self._constants, self._store_number)
            return
        self._memory = product.memory
        product.for_each(self._constants, self._stage_code)
        synchronize()
        (self._copy_words if self.place.whole else self._copy_bytes)(product.thread)

    def _constants(self, column: Expr) -> list[Expr]:
        """The offset and the constants of the scale, of a column of the tile."""
        channel = self.place.channel + column
        offset = value_of("offset", self.offset_of_column(column))
        return [offset, *(value_of(f"{name}_", self.buffers[name][channel]) for name in self.scale_names)]

    def _scaled(self, total: Expr, row: Expr, constants: list[Expr]) -> Expr:
        offset, *rest = constants
        return scaled(self.plan, value_of("total", total + (offset + self.offset_of_row(row))), rest)

    def _exists(self, row: Expr, column: Expr) -> Expr:
        """False for what only fills the tile."""
        place, tile = self.place, self.tile
        whole_rows, whole_columns = place.rows % tile.rows == 0, place.columns % tile.columns == 0
        return both(
            True if whole_rows else place.row + row < place.rows,
            True if whole_columns else place.column + column < place.columns,
        )

    def _offset(self, row: Expr, column: Expr) -> Expr:
        place = self.place
        return place.base + (place.row + row) * place.pitch + place.column + column

    def _store_number(self, row: Expr, column: Expr, total: Expr, constants: list[Expr]) -> None:
        with where(self._exists(row, column)):
            put(self.buffers["y"], self._offset(row, column), self._scaled(total, row, constants))

    def _stage_code(self, row: Expr, column: Expr, total: Expr, constants: list[Expr]) -> None:
        code = self._scaled(total, row, constants)
        put(self._memory, row * self.tile.code_pitch + column, T.Cast("int8", code))

    def _copy_words(self, thread: Expr) -> None:
        """Four codes of neighbouring channels at a time."""
        tile, plan = self.tile, self.plan
        per_row, dtype = tile.columns // 4, plan.dtypes[0]
        codes = words(self._memory, tile.shared_bytes // 4, "shared")
        sizes = {name: int(self.buffers[name].shape[0]) // 4 for name in ("y", *dict(other_names(plan)))}
        views = {name: words(self.buffers[name], size) for name, size in sizes.items()}
        with unrolled(tile.rows * per_row // tile.threads, "i") as i:
            number = value_of("number", i * tile.threads + thread)
            row, column = T.floordiv(number, per_row), value_of("column", T.floormod(number, per_row) * 4)
            row = value_of("line", row)
            with where(self._exists(row, column)):
                at = value_of("at", T.floordiv(self._offset(row, column), 4))
                word = value_of("word", codes[T.floordiv(row * tile.code_pitch + column, 4)])
                if plan.steps:
                    others = [(value_of(f"{name}_word", views[name][at]), kind) for name, kind in other_names(plan)]
                    finished = [
                        value_of(
                            f"code{b}", self._finished(byte_of(word, b, dtype), [byte_of(w, b, k) for w, k in others])
                        )
                        for b in range(4)
                    ]
                    word = word_of(finished)
                put(views["y"], at, word)

    def _copy_bytes(self, thread: Expr) -> None:
        """One code at a time, where rows of the output do not begin at words."""
        tile, plan = self.tile, self.plan
        with T.serial(0, tile.rows * tile.columns // tile.threads) as i:
            number = value_of("number", i * tile.threads + thread)
            row, column = T.floordiv(number, tile.columns), T.floormod(number, tile.columns)
            row, column = value_of("line", row), value_of("column", column)
            with where(self._exists(row, column)):
                at = value_of("at", self._offset(row, column))
                byte = T.Cast("int32", self._memory[row * tile.code_pitch + column])
                code = value_of("byte", byte if plan.dtypes[0] == "int8" else byte & 255)
                others = [T.Cast("int32", self.buffers[name][at]) for name, _ in other_names(plan)]
                put(self.buffers["y"], at, T.Cast(plan.out_dtype, self._finished(code, others)))

    def _finished(self, code: Expr, others: list[Expr]) -> Expr:
        return after_steps(self.plan, self.buffers, code, others)
