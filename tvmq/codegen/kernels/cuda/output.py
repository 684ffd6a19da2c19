"""Output of a block: its sums to memory.

int32 and float32 go straight from registers. Codes first go to shared memory, where all threads take them again in
the order of the output: what is read there for residual adds, and written, are whole words of neighbours.

Tests: tests/codegen/kernels/cuda/test_cuda_batch_matmul.py
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.cuda.builder import (
    allocate_registers,
    join_conditions,
    move,
    put,
    synchronize,
    unroll,
    value_of,
    view_as_int16,
    view_as_int32,
    where,
)
from tvmq.codegen.kernels.cuda.epilogue import after_steps, byte_of, is_codes, other_names, pair_of, scale_sum, word_of
from tvmq.codegen.kernels.cuda.product import BlockProduct, Facts
from tvmq.codegen.kernels.cuda.tile import Tile
from tvmq.codegen.kernels.parts.builder import Buffer, Expr
from tvmq.codegen.kernels.parts.epilogue import EpiloguePlan

WORD = 4  # bytes


def aligned_bytes(*sizes: int) -> int:
    """Largest of 16, 8, 4 and 1 that divides all sizes.

    >>> aligned_bytes(64, 48), aligned_bytes(64, 20), aligned_bytes(6)
    (16, 4, 1)
    """
    common = math.gcd(16, *sizes)
    return common if common >= WORD else 1


@dataclass(frozen=True)
class OutputPlace:
    """Place of a tile in the output.

    row, column       first row and column of the tile; columns count from those of the group
    rows, columns     how many there are
    pitch             elements from a row of the output to the next
    base              element of row 0, column 0
    channel           first of the tile's channels, in the constants as packed
    aligned           bytes, up to 16, at whose multiples every row of codes begins and ends
    is_exact          float32 holds every sum: none is beyond LARGEST_EXACT
    """

    row: Expr
    column: Expr
    rows: int
    columns: int
    pitch: int
    base: Expr
    channel: Expr
    aligned: int
    is_exact: bool


class Output:
    """Writes a tile; buffers: flat ones, by parameter name."""

    def __init__(self, tile: Tile, plan: EpiloguePlan, buffers: dict[str, Buffer], place: OutputPlace) -> None:
        self.tile, self.plan, self.buffers, self.place = tile, plan, buffers, place
        self.scale_names = list(plan.scaler.parameters(1)) if plan.scaler is not None else []

    def offset_of_column(self, column: Expr) -> Expr:
        """Value added to all sums of a column of the tile."""
        return self.buffers["bias"][self.place.channel + column]

    def offset_of_row(self, row: Expr) -> Expr:
        """Value added to all sums of a row of the tile."""
        return 0

    def write(self, product: BlockProduct) -> None:
        """Write the whole tile."""
        if not is_codes(self.plan):
            product.for_each(self._constants, self._store_numbers)
            return
        self._memory = product.memory
        product.for_each(self._constants, self._stage_codes)
        synchronize()
        if self.place.aligned < WORD:
            self._copy_bytes(product.thread)
        else:
            self._copy_words(product.thread, self.place.aligned // WORD)

    def _constants(self, column: Expr) -> list[Expr]:
        """The offset and the constants of the scale, of a column of the tile."""
        channel = self.place.channel + column
        offset = value_of("offset", self.offset_of_column(column))
        return [offset, *(value_of(f"{name}_", self.buffers[name][channel]) for name in self.scale_names)]

    def _scale_sum(self, total: Expr, row: Expr, constants: list[Expr]) -> Expr:
        offset, *rest = constants
        total = value_of("total", total + (offset + self.offset_of_row(row)))
        return scale_sum(self.plan, total, rest, self.place.is_exact)

    def _exists(self, row: Expr, column: Expr) -> Expr:
        """False for what only fills the tile."""
        place, tile = self.place, self.tile
        whole_rows, whole_columns = place.rows % tile.rows == 0, place.columns % tile.columns == 0
        return join_conditions(
            True if whole_rows else place.row + row < place.rows,
            True if whole_columns else place.column + column < place.columns,
        )

    def _offset(self, row: Expr, column: Expr) -> Expr:
        place = self.place
        return place.base + (place.row + row) * place.pitch + place.column + column

    def _store_numbers(self, row: Expr, column: Expr, totals: list[Expr], facts: list[Facts]) -> None:
        for index, (total, constants) in enumerate(zip(totals, facts, strict=True)):
            with where(self._exists(row, column + index)):
                number = self._scale_sum(total, row, constants)
                put(self.buffers["y"], self._offset(row, column + index), number)

    def _stage_codes(self, row: Expr, column: Expr, totals: list[Expr], facts: list[Facts]) -> None:
        codes = [self._scale_sum(total, row, constants) for total, constants in zip(totals, facts, strict=True)]
        place = row * self.tile.code_pitch + column
        if len(codes) == 1:
            put(self._memory, place, T.Cast("int8", codes[0]))
        else:
            put(view_as_int16(self._memory, self.tile.shared_bytes // 2), T.floordiv(place, 2), pair_of(*codes))

    def _copy_words(self, thread: Expr, size: int) -> None:
        """`size` words of four codes of neighbouring channels at a time."""
        tile, plan = self.tile, self.plan
        per_row = tile.columns // (WORD * size)
        count = tile.rows * per_row
        codes = view_as_int32(self._memory, tile.shared_bytes // WORD)
        sizes = {name: int(self.buffers[name].shape[0]) // WORD for name in ("y", *dict(other_names(plan)))}
        views = {name: view_as_int32(self.buffers[name], size) for name, size in sizes.items()}
        pieces = {name: allocate_registers(f"{name}_piece", size) for name in views}
        with unroll(-(-count // tile.threads), "i") as i:
            number = value_of("number", i * tile.threads + thread)
            row, column = T.floordiv(number, per_row), value_of("column", T.floormod(number, per_row) * (WORD * size))
            row = value_of("line", row)
            enough = True if count % tile.threads == 0 else number < count
            with where(join_conditions(enough, self._exists(row, column))):
                at = value_of("at", T.floordiv(self._offset(row, column), WORD))
                move(pieces["y"], 0, codes, T.floordiv(row * tile.code_pitch + column, WORD), size)
                for name, _ in other_names(plan):
                    move(pieces[name], 0, views[name], at, size)
                if plan.steps:
                    self._finish_words(pieces, size)
                move(views["y"], at, pieces["y"], 0, size)

    def _finish_words(self, pieces: dict[str, Buffer], size: int) -> None:
        """Add and Table steps over all codes of some words."""
        dtype = self.plan.dtypes[0]
        with unroll(size, "word") as word:
            others = [(pieces[name][word], kind) for name, kind in other_names(self.plan)]
            finished = []
            for byte in range(WORD):
                code = byte_of(pieces["y"][word], byte, dtype)
                code = self._finish_code(code, [byte_of(other, byte, kind) for other, kind in others])
                finished.append(value_of(f"code{byte}", code))
            put(pieces["y"], word, word_of(finished))

    def _copy_bytes(self, thread: Expr) -> None:
        """Copy single codes, where rows of the output do not begin at words."""
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
                put(self.buffers["y"], at, T.Cast(plan.out_dtype, self._finish_code(code, others)))

    def _finish_code(self, code: Expr, others: list[Expr]) -> Expr:
        return after_steps(self.plan, self.buffers, code, others)
