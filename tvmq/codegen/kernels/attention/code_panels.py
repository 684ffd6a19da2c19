"""Matrices of 8-bit codes brought into the order of `dot` while a kernel runs: rows of a, panels of b.

    rows     codes as `dot` takes activations: raw bytes where it multiplies bytes (of the other signedness as q + 128
             or q - 128), centred int16 otherwise; zeros behind the last one
    panels   as constant weights are packed (see packing): step by step, the vectors of the panel, `taps` codes a lane;
             columns and rows beyond the last are zero

Raw bytes are not centred: sum (a - a_zero) * (b - b_zero) is the sum of products, plus depth * a_zero * b_zero, less
a_zero * (sum of b's column), `column_terms`, less b_zero * (sum of a's row), `row_term`.

Tests: tests/codegen/kernels/attention/test_batch_matmul.py
"""

from __future__ import annotations

from collections.abc import Callable

from tvm import tirx
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.attention.shape import MatrixOperand
from tvmq.codegen.kernels.isa.generic import Instructions
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    Register,
    bind,
    branch,
    ceildiv,
    const,
    load,
    quotient,
    remainder,
    spread,
    store,
    vector_type,
)
from tvmq.codegen.kernels.parts.loops import make_opaque, over_lanes


class CodeRows:
    """Rows of a, the left side.

    pitch  elements from one copied row to the next, whole vectors of bytes
    zero   of the codes as they are copied
    """

    def __init__(self, ins: Instructions, operand: MatrixOperand, depth: int, zero: int) -> None:
        self.ins, self.operand, self.depth = ins, operand, depth
        self.raw = ins.takes_bytes
        self.zero = zero + ins.shift_of(operand.dtype)
        steps = -(-depth // ins.taps)
        self.pitch = -(-steps * ins.taps // ins.vector_bytes) * ins.vector_bytes if self.raw else steps * ins.taps

    def copy(self, source: Buffer, begin: Expr, target: Buffer, place: Expr) -> None:
        """target[place : place + pitch] = the row of a that begins at `begin`."""
        ins = self.ins
        lanes = ins.vector_bytes if self.raw else ins.vector_bytes // 2
        if self.pitch > self.depth:
            zeros = min(lanes, self.pitch)
            over_lanes(self.pitch, zeros, lambda i, n: store(target, place + i, spread(0, n, ins.x_dtype), n))

        def piece(offset: Expr, count: int) -> None:
            codes = load(source, begin + offset, vector_type(self.operand.dtype, count))
            store(target, place + offset, activations(self.ins, codes, self.zero_of_codes, count), count)

        over_lanes(self.depth, lanes, piece)

    @property
    def zero_of_codes(self) -> int:
        """Zero point as the tensor has it."""
        return self.zero - self.ins.shift_of(self.operand.dtype)


def activations(ins: Instructions, codes: Expr, zero: int, count: int) -> Expr:
    """Codes of a type with that zero point as `dot` takes activations."""
    dtype = str(codes.ty.dtype)
    if not ins.takes_bytes:
        return T.Cast(vector_type("int16", count), codes) - spread(zero, count, "int16")
    if dtype.startswith(ins.x_dtype):
        return codes
    flipped = T.bitwise_xor(T.reinterpret(vector_type("uint8", count), codes), spread(128, count, "uint8"))
    return T.reinterpret(vector_type(ins.x_dtype, count), flipped)


def weights(ins: Instructions, codes: Expr, zero: int, count: int) -> Expr:
    """Codes of a type with that zero point as `dot` takes weights."""
    dtype = str(codes.ty.dtype)
    if not ins.takes_bytes:
        return T.Cast(vector_type("int16", count), codes) - spread(zero, count, "int16")
    if dtype.startswith("int8"):
        return codes
    flipped = T.bitwise_xor(codes, spread(128, count, "uint8"))
    return T.reinterpret(vector_type("int8", count), flipped)


def row_term(ins: Instructions, rows: Buffer, begin: Expr, pitch: Expr, b_zero: int) -> Expr:
    """-b_zero * sum of a copied row of raw bytes, zeros behind it included."""
    total = Register("int32", ins.lanes)
    total.set(spread(0, ins.lanes))
    size = ins.lanes * ins.taps
    ones = spread(1, size, "int8")
    with T.serial(0, quotient(pitch, size)) as i:
        codes = load(rows, begin + i * size, vector_type(ins.x_dtype, size))
        total.set(ins.dot(total.get(), codes, ones))
    return _sum_of_lanes(bind(total.get()), ins.lanes) * -b_zero


class CodePanels:
    """Panels of b, the right side, [depth, columns].

    steps   of `dot` along the depth
    zero    of the codes as they are packed
    """

    def __init__(self, ins: Instructions, operand: MatrixOperand, depth: Expr, zero: int) -> None:
        self.ins, self.operand, self.depth = ins, operand, depth
        self.raw = ins.takes_bytes
        self.steps = ceildiv(depth, ins.taps)
        self.vector = ins.lanes * ins.taps
        self.zero = zero - (128 if operand.dtype == "uint8" else 0)
        self._zero_of_codes = zero

    def pack(self, source: Buffer, begin: Expr, target: Buffer, place: Expr, columns: Expr, channels: Expr) -> None:
        """target[place:] = a panel of `columns` vectors: `channels` columns of b, the first begins at `begin`."""
        if not isinstance(channels, int) or channels < columns * self.ins.lanes:
            with T.serial(0, self.steps * columns) as i:
                zeros = spread(0, self.vector, self.ins.w_dtype)
                store(target, place + i * self.vector, zeros, self.vector)
        if isinstance(self.operand.row, int) and self.operand.row == 1:
            self._pack_columns(source, begin, target, place, columns, channels)
        else:
            self._pack_rows(source, begin, target, place, columns, channels)

    def _pack_columns(
        self, source: Buffer, begin: Expr, target: Buffer, place: Expr, columns: Expr, channels: Expr
    ) -> None:
        """b's columns lie in one piece each: `taps` neighbours of a column at a time."""
        ins, whole = self.ins, quotient(self.depth, self.ins.taps)
        with T.serial(0, channels) as channel:
            column = make_opaque(begin + channel * self.operand.column)
            at = make_opaque(place + channel * ins.taps)
            with T.serial(0, whole) as step:
                codes = load(source, column + step * ins.taps, vector_type(self.operand.dtype, ins.taps))
                store(target, at + step * (columns * self.vector), self._weights(codes, ins.taps), ins.taps)

            def last_step(at: Expr = at, column: Expr = column) -> None:
                last = at + whole * (columns * self.vector)
                store(target, last, spread(0, ins.taps, ins.w_dtype), ins.taps)

                def code(tap: Expr) -> None:
                    code = load(source, column + whole * ins.taps + tap, self.operand.dtype)
                    store(target, last + tap, self._weights(code, 1), 1)

                _repeat(self.depth - whole * ins.taps, code)

            branch(whole < self.steps, last_step, lambda: None)

    def _pack_rows(
        self, source: Buffer, begin: Expr, target: Buffer, place: Expr, columns: Expr, channels: Expr
    ) -> None:
        """b's rows lie in one piece each: `taps` of them are interleaved."""
        whole, left = quotient(self.depth, self.ins.taps), remainder(self.depth, self.ins.taps)
        taps, row, step_size = self.ins.taps, self.operand.row, columns * self.vector
        with T.serial(0, whole) as step:
            at, lines = make_opaque(place + step * step_size), make_opaque(begin + step * (taps * row))
            self._interleave(source, lines, target, at, taps, channels)
        lines, at = begin + whole * taps * row, place + whole * step_size
        last = left if isinstance(left, int) else make_opaque(left)
        branch(left > 0, lambda: self._interleave(source, lines, target, at, last, channels), lambda: None)

    def _interleave(self, source: Buffer, begin: Expr, target: Buffer, place: Expr, rows: Expr, channels: Expr) -> None:
        """Pack a step of a panel from so many rows of b; missing ones are zero."""
        ins, operand = self.ins, self.operand

        def line(tap: int, offset: Expr, count: int) -> Expr:
            zeros = spread(0, count, ins.w_dtype)
            if isinstance(rows, int) and tap >= rows:
                return zeros
            number = tap if isinstance(rows, int) else T.min(tap, rows - 1)
            codes = load(source, begin + number * operand.row + offset, vector_type(operand.dtype, count))
            value = bind(self._weights(codes, count))
            return value if isinstance(rows, int) else bind(T.Select(tap < rows, value, zeros))

        def piece(offset: Expr, count: int) -> None:
            lines = [line(tap, offset, count) for tap in range(ins.taps)]
            if count == 1 or ins.taps == 1:
                for tap, value in enumerate(lines):
                    store(target, place + offset * ins.taps + tap, value, count)
                return
            order = [const(index % ins.taps * count + index // ins.taps) for index in range(count * ins.taps)]
            store(target, place + offset * ins.taps, tirx.Shuffle(lines, order), count * ins.taps)

        if isinstance(channels, int):
            for offset, count in code_pieces(channels, ins.lanes):
                piece(offset, count)
            return
        vectors = quotient(channels, ins.lanes)
        with T.serial(0, vectors) as i:
            piece(make_opaque(i * ins.lanes), ins.lanes)
        with T.serial(0, channels - vectors * ins.lanes) as i:
            piece(make_opaque(vectors * ins.lanes + i), 1)

    def _weights(self, codes: Expr, count: int) -> Expr:
        return weights(self.ins, codes, self._zero_of_codes, count)

    def column_term(self, packed: Buffer, place: Expr, columns: Expr, column: Expr, a_zero: int) -> Expr:
        """As `column_terms`, of one column of a panel that may have any number of them."""
        if not self.raw or a_zero == 0:
            return self.column_terms(packed, place, 1, a_zero)[0]
        ins, total = self.ins, Register("int32", self.ins.lanes)
        total.set(spread(0, ins.lanes))
        with T.serial(0, self.steps) as step:
            at = place + (step * columns + column) * self.vector
            vector = load(packed, at, vector_type(ins.w_dtype, self.vector))
            total.set(ins.dot(total.get(), spread(a_zero, self.vector, ins.x_dtype), vector))
        return bind(spread(self.depth * a_zero * self.zero, ins.lanes) - total.get())

    def column_terms(self, packed: Buffer, place: Expr, columns: int, a_zero: int) -> list[Expr]:
        """Start values of sums of a panel, for any row: a vector for each of its columns; a_zero as CodeRows has it."""
        ins, lanes = self.ins, self.ins.lanes
        if not self.raw:
            return [spread(0, lanes)] * columns
        if a_zero == 0:
            return [spread(0, lanes)] * columns
        constant = spread(self.depth * a_zero * self.zero, lanes)
        sums = [Register("int32", lanes) for _ in range(columns)]
        for register in sums:
            register.set(spread(0, lanes))
        zeros = spread(a_zero, self.vector, ins.x_dtype)
        with T.serial(0, self.steps) as step:
            for column, register in enumerate(sums):
                at = place + (step * columns + column) * self.vector
                vector = load(packed, at, vector_type(ins.w_dtype, self.vector))
                register.set(ins.dot(register.get(), zeros, vector))
        return [bind(constant - register.get()) for register in sums]


def code_pieces(channels: int, lanes: int) -> list[tuple[int, int]]:
    """(offset, count) that cover the channels of a panel: whole vectors, then powers of two.

    >>> code_pieces(37, 16)
    [(0, 16), (16, 16), (32, 4), (36, 1)]
    """
    pieces, offset = [], 0
    while offset < channels:
        count = min(lanes, 1 << ((channels - offset).bit_length() - 1))
        pieces.append((offset, count))
        offset += count
    return pieces


def _repeat(count: Expr, body: Callable[[Expr], None]) -> None:
    """body(i) for range(count): in a row, or in a loop where only a run knows the count."""
    if isinstance(count, int):
        for i in range(count):
            body(i)
        return
    with T.serial(0, count) as i:
        body(i)


def _sum_of_lanes(vector: Expr, lanes: int) -> Expr:
    """All lanes added."""
    while lanes > 1:
        lanes //= 2
        low, high = (tirx.Shuffle([vector], [const(begin + lane) for lane in range(lanes)]) for begin in (0, lanes))
        vector = bind(low + high)
    return vector
