"""The sums of one block: pieces of both sides come to shared memory while earlier ones are multiplied.

    pieces 0 .. stages - 2 on their way
    for each step: wait for its piece, all threads; send for the piece `stages - 1` ahead; multiply
    wait for nothing; shared memory is free

One barrier a step: the piece that is sent for goes where the last step has read, which all threads have left.

dp4a  a thread has 4 x 4 sums, rows and columns at distances of a fourth of the tile, so that eight threads in turn
      read eight lines in turn: 8 loads of 16 bytes for 64 dp4a
mma   a warp has fragments of 16 x 32 of its rows and 32 x 8 of its columns, four 8 x 16 matrices a load; with
      `slices` several warps have the same rows and columns, and each a part of the depth of every piece

Tests: tests/codegen/kernels/cuda/test_cuda_batch_matmul.py
"""

from __future__ import annotations

from collections.abc import Callable

from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.cuda.builder import (
    address,
    allocate_registers,
    call,
    put,
    reserve,
    run,
    synchronize,
    unroll,
    value_of,
    view_as_int32,
    where,
)
from tvmq.codegen.kernels.cuda.tile import THREAD_TILE, WARP, Tile
from tvmq.codegen.kernels.parts.builder import Buffer, Expr

# (where the piece begins in shared memory, step)
Copy = Callable[[Buffer, Expr, Expr], None]
Facts = list[Expr]  # constants of a column
# (row, column, neighbouring sums, facts of each of their columns)
Body = Callable[[Expr, Expr, list[Expr], list[Facts]], None]
SHORT = {"uint8": "u8", "int8": "s8"}


class BlockProduct:
    """Sums of a tile; see the head of this file."""

    def __init__(self, tile: Tile, dtypes: tuple[str, str], memory: Buffer, thread: Expr) -> None:
        self.tile, self.memory, self.thread = tile, memory, thread
        self.kinds = SHORT[dtypes[0]] + SHORT[dtypes[1]]
        self.sums = allocate_registers("sums", tile.sums)
        self.right = tile.stages * tile.rows * tile.pitch  # where the pieces of the right side begin
        if tile.mma:
            self._lay_out_warps()
        else:
            self.row = value_of("row_of_thread", T.floordiv(thread, tile.columns // THREAD_TILE))
            self.column = value_of("column_of_thread", T.floormod(thread, tile.columns // THREAD_TILE))

    def _lay_out_warps(self) -> None:
        tile, warps = self.tile, self.tile.warps[0] * self.tile.warps[1]
        warp, self.lane = T.floordiv(self.thread, WARP), value_of("lane", T.floormod(self.thread, WARP))
        self.slice = 0 if tile.slices == 1 else value_of("slice", T.floordiv(warp, warps))
        warp = value_of("warp", warp if tile.slices == 1 else T.floormod(warp, warps))
        self.row = value_of("row_of_warp", T.floormod(warp, tile.warps[0]) * tile.warp_rows)
        self.column = value_of("column_of_warp", T.floordiv(warp, tile.warps[0]) * tile.warp_columns)

    def left_piece(self, stage: Expr) -> Expr:
        """Offset of the rows of a stage in shared memory."""
        return stage * (self.tile.rows * self.tile.pitch)

    def right_piece(self, stage: Expr) -> Expr:
        """Offset of the columns of a stage in shared memory."""
        return self.right + stage * (self.tile.columns * self.tile.pitch)

    def run(self, steps: int, copy_left: Copy, copy_right: Copy, visit: Callable[[Expr], None] | None = None) -> None:
        """All steps; visit(stage): further work on a piece while it is in shared memory."""
        stages = self.tile.stages
        ahead = stages - 1

        def send(step: Expr) -> None:
            stage = step if isinstance(step, int) or stages == 1 else value_of("next", T.floormod(step, stages))
            copy_left(self.memory, self.left_piece(stage), step)
            copy_right(self.memory, self.right_piece(stage), step)

        with unroll(self.tile.sums, "i") as i:
            put(self.sums, i, 0)
        for step in range(ahead):
            if step < steps:
                send(step)
            run("tvmq_copy_commit")
        with T.serial(0, steps) as index:
            step = value_of("step", index + 0)
            run(f"tvmq_copy_wait_{stages - 2}")
            synchronize()
            with where(step + ahead < steps):
                send(value_of("coming", step + ahead))
            run("tvmq_copy_commit")
            stage = value_of("stage", T.floormod(step, stages))
            self._multiply(stage)
            if visit is not None:
                visit(stage)
        run("tvmq_copy_wait_0")
        synchronize()
        if self.tile.slices > 1:
            self._add_slices()

    def _add_slices(self) -> None:
        """The first slice takes the sums of the others, by way of shared memory."""
        tile = self.tile
        memory = view_as_int32(self.memory, tile.shared_bytes // 4)
        place = value_of("place", T.floormod(self.thread, tile.slice_threads))
        with where(self.slice > 0), unroll(tile.sums, "i") as i:
            number = (self.slice - 1) * tile.sums + i
            put(memory, number * tile.slice_threads + place, self.sums[i])
        synchronize()
        with where(self.slice == 0), unroll(tile.slices - 1, "other") as other, unroll(tile.sums, "i") as i:
            number = other * tile.sums + i
            put(self.sums, i, self.sums[i] + memory[number * tile.slice_threads + place])
        synchronize()

    def _multiply(self, stage: Expr) -> None:
        left, right = value_of("left_piece", self.left_piece(stage)), value_of("right_piece", self.right_piece(stage))
        (self._multiply_matrices if self.tile.mma else self._multiply_words)(left, right)

    # ---- dp4a

    def _multiply_words(self, left: Expr, right: Expr) -> None:
        tile, side = self.tile, THREAD_TILE
        memory = view_as_int32(self.memory, tile.shared_bytes // 4)
        a, b = allocate_registers("a", 4 * side), allocate_registers("b", 4 * side)
        with T.serial(0, tile.depth // 16) as k:
            for target, base, first, distance in (
                (a, left, self.row, tile.rows // side),
                (b, right, self.column, tile.columns // side),
            ):
                with unroll(side, "i") as i:
                    word = T.floordiv(base, 4) + (first + i * distance) * (tile.pitch // 4) + k * 4
                    T.buffer_store(target, memory.vload([word], "int32x4"), [T.ramp(i * 4, 1, 4)])
            with unroll(side, "i") as i, unroll(side, "j") as j, unroll(4, "w") as w:
                total = self.sums[i * side + j]
                dot = call("int32", f"tvmq_dp4a_{self.kinds}", a[i * 4 + w], b[j * 4 + w], total)
                put(self.sums, i * side + j, dot)

    # ---- tensor cores

    def _multiply_matrices(self, left: Expr, right: Expr) -> None:
        tile, lane = self.tile, self.lane
        rows, columns = tile.warp_rows // 16, tile.warp_columns // 8
        a, b = allocate_registers("a", 4 * rows), allocate_registers("b", 2 * columns)
        reserve(a, 4 * rows)
        reserve(b, 2 * columns)
        # lines 0-15 twice: their first 16 bytes, then the next 16
        a_line = self.row + T.floormod(lane, 16)
        a_byte = T.floordiv(lane, 16) * 16
        # lines 0-7 twice, then lines 8-15 twice
        b_line = self.column + T.floormod(lane, 8) + T.floordiv(lane, 16) * 8
        b_byte = T.floormod(T.floordiv(lane, 8), 2) * 16
        each = tile.depth // 32 // tile.slices
        with unroll(each, "turn") as turn:
            k = value_of("k", turn + self.slice * each)
            for target, base, line, byte, count in (
                (a, left, a_line, a_byte, rows),
                (b, right, b_line, b_byte, columns // 2),
            ):
                with unroll(count, "i") as i:
                    offset = base + (line + i * 16) * tile.pitch + k * 32 + byte
                    run("tvmq_matrices", address(target, i * 4), address(self.memory, offset))
            with unroll(rows, "i") as i, unroll(columns, "j") as j:
                pieces = address(self.sums, (i * columns + j) * 4), address(a, i * 4), address(b, j * 2)
                run(f"tvmq_mma_{self.kinds}", *pieces)

    # ---- afterwards

    @property
    def neighbours(self) -> int:
        """Sums of a thread that lie beside each other in a row of the tile."""
        return 2 if self.tile.mma else 1

    def for_each(self, column_of: Callable[[Expr], Facts], body: Body) -> None:
        """body(row, column, sums, facts) for all sums of the thread, `neighbours` of a row at a time.

        row, column  within the tile, of the first of the sums
        facts        column_of(column) for the column of each of the sums
        """
        if self.tile.mma:
            with where(True if self.tile.slices == 1 else self.slice == 0):
                self._for_each_fragment(column_of, body)
            return
        tile, side = self.tile, THREAD_TILE
        with unroll(side, "j") as j:
            column = value_of("column", self.column + j * (tile.columns // side))
            facts = column_of(column)
            with unroll(side, "i") as i:
                line = value_of("line", self.row + i * (tile.rows // side))
                body(line, column, [self.sums[i * side + j]], [facts])

    def _for_each_fragment(self, column_of: Callable[[Expr], Facts], body: Body) -> None:
        tile, lane = self.tile, self.lane
        rows, columns = tile.warp_rows // 16, tile.warp_columns // 8
        with unroll(columns, "j") as j:
            column = value_of("column", self.column + j * 8 + T.floormod(lane, 4) * 2)
            facts = [column_of(column), column_of(column + 1)]
            with unroll(rows, "i") as i, unroll(2, "lower") as lower:
                line = value_of("line", self.row + i * 16 + lower * 8 + T.floordiv(lane, 4))
                first = (i * columns + j) * 4 + lower * 2
                body(line, column, [self.sums[first], self.sums[first + 1]], facts)
