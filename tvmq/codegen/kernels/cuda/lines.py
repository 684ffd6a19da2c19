"""Matrices of codes that are given at run time, brought to shared memory as lines along the depth.

Lines    elements of a line are neighbours in memory: rows of a, or columns of a transposed b. Copied as they are
Crossed  neighbours in memory belong to neighbouring lines: columns of b as it stands. A thread reads four by four
         codes as four words and turns them with eight byte permutations; b that does not begin at words is read
         code by code

Beyond the depth stands zero on both sides, so that sums of a line are right too; beyond the last line anything.

Tests: tests/codegen/kernels/cuda/test_cuda_batch_matmul.py
"""

from __future__ import annotations

from collections.abc import Sequence

from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.attention.shape import MatrixOperand
from tvmq.codegen.kernels.cuda.builder import address, call, put, run, unroll, value_of, view_as_int32, where
from tvmq.codegen.kernels.cuda.output import aligned_bytes
from tvmq.codegen.kernels.cuda.tile import Tile
from tvmq.codegen.kernels.cuda.windows import LineCopies
from tvmq.codegen.kernels.parts.builder import Buffer, Expr


def begin_of(operand: MatrixOperand, batch: Sequence[int], matrix: Expr) -> Expr:
    """Offset of a matrix, by its number in the batch."""
    offset: Expr = operand.offset
    for size, stride in zip(reversed(batch), reversed(operand.batch), strict=True):
        if size > 1 and stride:
            offset = offset + T.floormod(matrix, size) * stride
        matrix = T.floordiv(matrix, size) if size > 1 else matrix
    return offset


def alignment(operand: MatrixOperand, pitch: int, *sizes: int) -> int:
    """Largest number of bytes up to 16 that divides where lines of that pitch begin, and the sizes."""
    return aligned_bytes(operand.offset, pitch, *operand.batch, *sizes)


class Lines:
    """Copies of lines whose elements are neighbours.

    lines, pitch  how many there are, and elements from one to the next
    first         first line of the block; begin: where line 0 starts
    """

    def __init__(
        self, name: str, source: Buffer, tile: Tile, tile_lines: int, depth: int, lines: int, pitch: int, size: int
    ) -> None:
        self.name, self.source, self.tile = name, source, tile
        self.tile_lines, self.depth, self.lines, self.pitch, self.size = tile_lines, depth, lines, pitch, size

    def find(self, begin: Expr, first: Expr, thread: Expr) -> None:
        """Remember which part is this thread's."""
        self.copies = LineCopies(
            thread, self.tile.threads, self.tile_lines, self.tile.depth, max(self.size, 4), self.name
        )
        self.begin, self.first = value_of(f"{self.name}_begin", begin), first

    def copy(self, target: Buffer, base: Expr, step: Expr) -> None:
        """Copies of a step; base: where the piece begins in shared memory."""
        copies, name = self.copies, self.name
        at = value_of(f"{name}_at", step * self.tile.depth + copies.byte)
        within: Expr = True if self.depth % self.tile.depth == 0 else at < self.depth
        with where(copies.condition), unroll(copies.passes, "p") as p:
            line = copies.line + p * copies.stride
            source = self.begin + T.min(self.first + line, self.lines - 1) * self.pitch + at
            place = base + line * self.tile.pitch + copies.byte
            if self.size == 1:
                self._copy_bytes(target, place, source, at)
            elif within is True:
                run(f"tvmq_copy{self.size}", address(target, place), address(self.source, source))
            else:
                run(f"tvmq_copy{self.size}_or", address(target, place), address(self.source, source), within, 0)

    def _copy_bytes(self, target: Buffer, place: Expr, source: Expr, at: Expr) -> None:
        word: Expr = 0
        for index in range(4):
            read = T.Cast("int32", self.source[source + index]) & 255
            word = word | (T.if_then_else(at + index < self.depth, read, 0) << (8 * index))
        put(view_as_int32(target, self.tile.shared_bytes // 4), T.floordiv(place, 4), word)


class TransposedLines:
    """Copies of lines whose neighbours in memory belong to other lines; pitch: elements from one depth to the next."""

    def __init__(
        self, name: str, source: Buffer, tile: Tile, tile_lines: int, depth: int, lines: int, pitch: int, size: int
    ) -> None:
        self.name, self.source, self.tile = name, source, tile
        self.tile_lines, self.depth, self.lines, self.pitch = tile_lines, depth, lines, pitch
        self.side = 4 if size >= 4 else 1  # lines that a thread turns at a time

    def find(self, begin: Expr, first: Expr, thread: Expr) -> None:
        """Remember which part is this thread's: neighbouring threads have neighbouring lines."""
        across = self.tile_lines // self.side
        self.at_once = self.tile.threads // across  # groups of four depths
        self.groups = self.tile.depth // 4
        self.line = value_of(f"{self.name}_line", T.floormod(thread, across) * self.side)
        self.group = value_of(f"{self.name}_group", T.floordiv(thread, across))
        self.begin, self.first = value_of(f"{self.name}_begin", begin), first

    def copy(self, target: Buffer, base: Expr, step: Expr) -> None:
        """Copies of a step; base: where the piece begins in shared memory."""
        passes = max(1, self.groups // self.at_once)
        line = value_of(f"{self.name}_source", T.min(self.first + self.line, self.lines - self.side))
        memory = view_as_int32(target, self.tile.shared_bytes // 4)
        with where(True if self.at_once <= self.groups else self.group < self.groups), unroll(passes, "p") as p:
            group = value_of("group", self.group + p * self.at_once)
            at = value_of("at", step * self.tile.depth + group * 4)
            place = T.floordiv(base + self.line * self.tile.pitch, 4) + group
            for index, word in enumerate(self._turn_words(self.begin + line, at)):
                put(memory, place + index * (self.tile.pitch // 4), word)

    def _turn_words(self, begin: Expr, at: Expr) -> list[Expr]:
        """Words of four depths, one for each of the lines."""
        if self.side == 1:
            codes = [T.Cast("int32", self.source[begin + (at + i) * self.pitch]) & 255 for i in range(4)]
            safe = [T.if_then_else(at + i < self.depth, code, 0) << (8 * i) for i, code in enumerate(codes)]
            return [safe[0] | safe[1] | safe[2] | safe[3]]
        view = view_as_int32(self.source, int(self.source.shape[0]) // 4)
        rows = [value_of(f"row{i}", self._row(view, begin, at + i)) for i in range(4)]
        return turn_words(rows)

    def _row(self, view: Buffer, begin: Expr, at: Expr) -> Expr:
        read = view[T.floordiv(begin + at * self.pitch, 4)]
        return read if self.depth % self.tile.depth == 0 else T.if_then_else(at < self.depth, read, 0)


def turn_words(rows: Sequence[Expr]) -> list[Expr]:
    """Four words of four bytes, transposed."""

    def bytes_of(a: Expr, b: Expr, selector: int) -> Expr:
        return call("int32", "tvmq_bytes", a, b, selector)

    low = [value_of(f"low{i}", bytes_of(rows[2 * i], rows[2 * i + 1], 0x5140)) for i in range(2)]
    high = [value_of(f"high{i}", bytes_of(rows[2 * i], rows[2 * i + 1], 0x7362)) for i in range(2)]
    return [bytes_of(pair[0], pair[1], selector) for pair in (low, high) for selector in (0x5410, 0x7632)]


def make_right(
    name: str, source: Buffer, operand: MatrixOperand, tile: Tile, depth: int, columns: int
) -> Lines | TransposedLines:
    """The copies of the columns of a right operand."""
    if operand.row == 1:
        size = alignment(operand, operand.column, depth)
        return Lines(name, source, tile, tile.columns, depth, columns, operand.column, size)
    size = alignment(operand, operand.row, columns)
    return TransposedLines(name, source, tile, tile.columns, depth, columns, operand.row, size)
