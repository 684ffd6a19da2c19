"""batch_matmul: products of two tensors of 8-bit codes, both given at run time (attention), for every CPU.

Computes   numerics.matmul of the centred codes, then requantize, dequantize or nothing, bit for bit
Layouts    each operand is a batch of matrices inside a buffer, at any distances (see Operand): transposed, or a
           slice of a larger tensor; no copy is made to bring it into another order
Loops      rows of a to scratch memory where `dot` cannot read them as they are; parallel chunk: a panel (`columns`
           vectors of b's columns) of a pair of matrices, packed as constant weights are; then tiles of rows
Zero points  int16 levels (AVX2, AVX-512BW, generic) centre both operands as they copy them. VNNI multiplies codes as
           they are: -a_zero * (sum of b's column) and depth * a_zero * b_zero are in the initial sums of a panel,
           -b_zero * (sum of a's row) in those of a row
Needs      depth * 4 * 255 * 128 within int32 (MOST_DEPTH)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from tvm import tirx
from tvm.script.ir_builder import tirx as T

from tvmq.kernels.batch_matmul_shape import BatchMatmul, Operand, check_product
from tvmq.kernels.builder import (
    Buffer,
    Expr,
    Function,
    Register,
    bind,
    const,
    flat,
    load,
    over_range,
    spread,
    store,
    store_first,
    vector_type,
    workspace,
)
from tvmq.kernels.epilogue import EpiloguePlan, Parameters, plan_epilogue
from tvmq.kernels.isa import instructions
from tvmq.kernels.isa.generic import Instructions
from tvmq.kernels.loops import offset_of, opaque, over_lanes, over_rows
from tvmq.kernels.packing import PanelRun, panel_runs
from tvmq.kernels.tiling import Product, choose_tiling
from tvmq.kernels.types import Dequantize, Isa, Kernel, Requantize

SERIAL_MACS = 2_000_000  # about 10 us of one core: below, a parallel region costs more than it gains
GRAIN = 100_000  # bytes that are copied in about 10 us
SLACK = 64  # elements behind the last row of the copy


def batch_matmul(product: BatchMatmul, step: Requantize | Dequantize | None, isa: Isa) -> Kernel:
    """Kernel; parameters a, b, the multiplier or scale (one or one a column of b), y.

    step    what becomes of the sums; None leaves them as int32
    raises  BuildError for shapes, types or steps that do not fit
    """
    check_product(product)
    ins = instructions(isa)
    template = _Template(product, step, ins)
    name = f"batch_matmul_{ins.name}_{template.tiling.rows}x{template.tiling.columns}"
    func = template.prim_func(name)
    key = ("batch_matmul", product, ins.name, template.plan.key)
    return Kernel(name, func, template.constants(), key)


class _Template:
    """The PrimFunc of one product; see the head of this file."""

    def __init__(self, product: BatchMatmul, step: Requantize | Dequantize | None, ins: Instructions) -> None:
        self.product, self.ins = product, ins
        self.steps = -(-product.depth // ins.taps)
        self.vectors = -(-product.columns // ins.lanes)
        self.vector = ins.lanes * ins.taps
        self.tiling = choose_tiling(Product(product.rows, self.vectors, self.steps), ins)
        self.runs = panel_runs(self.tiling.panel_parts, product.columns, ins.lanes)
        self.plan: EpiloguePlan = plan_epilogue(() if step is None else (step,))
        # codes as `dot` takes them: raw where it multiplies bytes, centred where it multiplies int16
        self.raw = ins.x_dtype == "uint8"
        self.a_zero = product.a_zero + (128 if product.a.dtype == "int8" else 0)
        self.b_zero = product.b_zero - (128 if product.b.dtype == "uint8" else 0)
        self.with_row_sums = self.raw and self.b_zero != 0
        whole_steps = product.depth % ins.taps == 0
        self.staged = not (self.raw and whole_steps and product.a.dtype == "uint8" and not self.with_row_sums)
        self.pitch = (
            -(-self.steps * ins.taps // ins.vector_bytes) * ins.vector_bytes if self.raw else self.steps * ins.taps
        )
        self.matrices = math.prod(product.batch)

    def constants(self) -> tuple[np.ndarray, ...]:
        """Multiplier or scale for every column of whole vectors."""
        places = self.vectors * self.ins.lanes
        return self.plan.constants(lambda values: _padded(values, self.product.columns, places))

    def prim_func(self, name: str) -> Any:
        """The function."""
        product, places = self.product, self.vectors * self.ins.lanes
        parameters: Parameters = {"a": (product.a.shape, product.a.dtype), "b": (product.b.shape, product.b.dtype)}
        parameters |= self.plan.constant_parameters(places)
        parameters["y"] = (product.y.shape, self.plan.out_dtype)
        with Function(name, parameters) as function:
            self.a, self.b, *self.channel_constants, self.y = (flat(buffer) for buffer in function.buffers)
            self._body()
        return function.prim_func

    def _body(self) -> None:
        product = self.product
        self.source = self.a
        if self.staged:
            self.source = workspace(self.matrices * product.rows * self.pitch + SLACK, self.ins.x_dtype)
        if self.with_row_sums:
            self.row_sums = workspace(self.matrices * product.rows, "int32")
        if self.staged:
            over_rows(self.matrices * product.rows, self.pitch, GRAIN, lambda: self._stage_row)
        macs = self.matrices * product.rows * product.depth * product.columns
        for run in self.runs:
            jobs = self.matrices * run.count
            parallel = jobs > 1 and macs > SERIAL_MACS
            with (T.parallel if parallel else T.serial)(0, jobs) as job:
                matrix, panel = opaque(T.floordiv(job, run.count)), opaque(T.floormod(job, run.count))
                self._panel(matrix, opaque(panel * (run.columns * self.ins.lanes) + run.vector * self.ins.lanes), run)

    # ---- rows of a

    def _stage_row(self, number: Expr) -> None:
        """Copy a row of a as `dot` takes it, zeros behind it, and its sum."""
        product, ins = self.product, self.ins
        matrix, row = T.floordiv(number, product.rows), T.floormod(number, product.rows)
        source = opaque(self._begin(product.a, matrix) + row * product.a.row)
        target = opaque(number * self.pitch)
        lanes = ins.vector_bytes if self.raw else ins.vector_bytes // 2
        if self.pitch > product.depth:
            over_lanes(
                self.pitch,
                min(lanes, self.pitch),
                lambda i, n: store(self.source, target + i, spread(0, n, ins.x_dtype), n),
            )

        def piece(offset: Expr, count: int) -> None:
            codes = load(self.a, source + offset, vector_type(product.a.dtype, count))
            store(self.source, target + offset, self._activations(codes, count), count)

        over_lanes(product.depth, lanes, piece)
        if self.with_row_sums:
            store(self.row_sums, number, self._row_sum(target) * -self.b_zero, 1)

    def _activations(self, codes: Expr, count: int) -> Expr:
        """Codes of a as `dot` takes them."""
        if not self.raw:
            return T.Cast(vector_type("int16", count), codes) - spread(self.product.a_zero, count, "int16")
        if self.product.a.dtype == "uint8":
            return codes
        return T.bitwise_xor(T.reinterpret(vector_type("uint8", count), codes), spread(128, count, "uint8"))

    def _row_sum(self, begin: Expr) -> Expr:
        """Sum of the codes of a staged row, zeros behind it included."""
        ins = self.ins
        total = Register("int32", ins.lanes)
        total.set(spread(0, ins.lanes))
        ones = spread(1, ins.vector_bytes, "int8")
        with T.serial(0, self.pitch // ins.vector_bytes) as i:
            codes = load(self.source, begin + i * ins.vector_bytes, vector_type("uint8", ins.vector_bytes))
            total.set(ins.dot(total.get(), codes, ones))
        return _sum_of_lanes(bind(total.get()), ins.lanes)

    # ---- panels of b

    def _panel(self, matrix: Expr, first: Expr, run: PanelRun) -> None:
        """Columns from `first` of the product of one pair of matrices."""
        product, columns = self.product, run.columns
        packed = workspace(self.steps * columns * self.vector, self.ins.w_dtype)
        begin = self._begin(product.b, matrix)
        if product.b.row == 1:
            self._pack_columns(packed, opaque(begin + first * product.b.column), run)
        else:
            self._pack_rows(packed, opaque(begin + first), run)
        initial = self._initial_sums(packed, columns)
        row = opaque(matrix * product.rows)
        target = opaque(self._begin(product.y, matrix) + first)
        source = opaque(row * self.pitch) if self.staged else opaque(self._begin(product.a, matrix))

        def tile(begin_row: Expr, rows: int, _index: Expr) -> None:
            at = T.min(begin_row, product.rows - rows) if self.tiling.shifted else begin_row
            self._tile(opaque(at), rows, (packed, initial, row, source, target, first), run)

        over_range(list(self.tiling.pixel_parts), 0, self.tiling.tiles, tile)

    def _pack_columns(self, packed: Buffer, begin: Expr, run: PanelRun) -> None:
        """b's columns lie in one piece each: `taps` neighbours of a column at a time."""
        ins, product, columns = self.ins, self.product, run.columns
        whole = product.depth // ins.taps
        if run.channels < columns * ins.lanes:
            self._clear(packed, columns)
        with T.serial(0, run.channels) as channel:
            source = opaque(begin + channel * product.b.column)
            target = opaque(channel * ins.taps)
            with T.serial(0, whole) as step:
                codes = load(self.b, source + step * ins.taps, vector_type(product.b.dtype, ins.taps))
                store(packed, target + step * (columns * self.vector), self._weights(codes, ins.taps), ins.taps)
            if whole < self.steps:
                last = target + whole * (columns * self.vector)
                store(packed, last, spread(0, ins.taps, ins.w_dtype), ins.taps)
                for tap in range(product.depth - whole * ins.taps):
                    code = load(self.b, source + whole * ins.taps + tap, product.b.dtype)
                    store(packed, last + tap, self._weights(code, 1), 1)

    def _pack_rows(self, packed: Buffer, begin: Expr, run: PanelRun) -> None:
        """b's rows lie in one piece each: `taps` of them are interleaved."""
        ins, product, columns = self.ins, self.product, run.columns
        whole, left = divmod(product.depth, ins.taps)
        if run.channels < columns * ins.lanes:
            self._clear(packed, columns)
        with T.serial(0, whole) as step:
            self._interleave(
                packed,
                opaque(step * (columns * self.vector)),
                opaque(begin + step * (ins.taps * product.b.row)),
                ins.taps,
                run,
            )
        if left:
            self._interleave(packed, whole * columns * self.vector, begin + whole * ins.taps * product.b.row, left, run)

    def _interleave(self, packed: Buffer, target: Expr, source: Expr, rows: int, run: PanelRun) -> None:
        """One step of a panel from so many rows of b; missing ones are zero."""
        ins, product = self.ins, self.product
        for offset, count in _pieces(run.channels, ins.lanes):
            lines = [
                self._weights(
                    load(self.b, source + tap * product.b.row + offset, vector_type(product.b.dtype, count)), count
                )
                for tap in range(rows)
            ]
            lines = [bind(line) for line in lines]
            lines += [spread(0, count, ins.w_dtype)] * (ins.taps - rows)
            if count == 1 or ins.taps == 1:
                for tap, line in enumerate(lines):
                    store(packed, target + offset * ins.taps + tap, line, count)
                continue
            order = [const(place % ins.taps * count + place // ins.taps) for place in range(count * ins.taps)]
            store(packed, target + offset * ins.taps, tirx.Shuffle(lines, order), count * ins.taps)

    def _clear(self, packed: Buffer, columns: int) -> None:
        """Zeros, for the columns beyond the last one."""
        with T.serial(0, self.steps * columns) as i:
            store(packed, i * self.vector, spread(0, self.vector, self.ins.w_dtype), self.vector)

    def _weights(self, codes: Expr, count: int) -> Expr:
        """Codes of b as `dot` takes them."""
        if not self.raw:
            return T.Cast(vector_type("int16", count), codes) - spread(self.product.b_zero, count, "int16")
        if self.product.b.dtype == "int8":
            return codes
        flipped = T.bitwise_xor(codes, spread(128, count, "uint8"))
        return T.reinterpret(vector_type("int8", count), flipped)

    def _initial_sums(self, packed: Buffer, columns: int) -> list[Expr]:
        """What every row of a panel begins with, one vector for each of its columns."""
        ins, lanes = self.ins, self.ins.lanes
        if not self.raw:
            return [spread(0, lanes)] * columns
        constant = spread(self.product.depth * self.a_zero * self.b_zero, lanes)
        if self.a_zero == 0:
            return [constant] * columns
        sums = [Register("int32", lanes) for _ in range(columns)]
        for register in sums:
            register.set(spread(0, lanes))
        zeros = spread(self.a_zero, self.vector, "uint8")
        with T.serial(0, self.steps) as step:
            for column, register in enumerate(sums):
                at = (step * columns + column) * self.vector
                weights = load(packed, at, vector_type(ins.w_dtype, self.vector))
                register.set(ins.dot(register.get(), zeros, weights))
        return [bind(constant - register.get()) for register in sums]

    # ---- tiles

    def _tile(self, first_row: Expr, rows: int, panel: tuple[Any, ...], run: PanelRun) -> None:
        """Sums of some rows and the columns of a panel, then the epilogue."""
        packed, initial, matrix_row, source, target, first = panel
        ins, columns = self.ins, run.columns
        sums = [[Register("int32", ins.lanes) for _ in range(columns)] for _ in range(rows)]
        for i, line in enumerate(sums):
            extra = spread(self.row_sums[matrix_row + first_row + i], ins.lanes) if self.with_row_sums else None
            for register, value in zip(line, initial, strict=True):
                register.set(value if extra is None else value + extra)
        row_pitch = self.pitch if self.staged else self.product.a.row
        starts = [opaque(source + (first_row + i) * row_pitch) for i in range(rows)]
        kind = vector_type(ins.w_dtype, self.vector)
        with T.serial(0, self.steps) as step:
            at = step * (columns * self.vector)
            weights = [load(packed, at + column * self.vector, kind) for column in range(columns)]
            for line, start in zip(sums, starts, strict=True):
                x = ins.broadcast(self.source, start + step * ins.taps)
                for register, weight in zip(line, weights, strict=True):
                    register.set(ins.dot(register.get(), x, weight))
        self._store(sums, opaque(target + first_row * self.product.y.row), first, run)

    def _store(self, sums: list[list[Register]], target: Expr, first: Expr, run: PanelRun) -> None:
        """Sums of a tile to y: as codes, as floats, or as they are."""
        lanes = self.ins.lanes
        for column in range(run.columns):
            valid = min(lanes, run.channels - column * lanes)
            if valid <= 0:
                continue
            constants = self._load_constants(first + column * lanes)
            for row, line in enumerate(sums):
                value = self._finished(line[column].get(), constants)
                store_first(self.y, target + row * self.product.y.row + column * lanes, value, lanes, valid)

    def _load_constants(self, channel: Expr) -> tuple[Expr, ...]:
        scaler = self.plan.scaler
        return () if scaler is None else scaler.load(self.channel_constants, channel, self.ins.lanes)

    def _finished(self, total: Expr, constants: tuple[Expr, ...]) -> Expr:
        """One vector of results."""
        if self.plan.dequantizer is not None:
            return self.plan.dequantizer.reals(total, constants, self.ins.lanes)
        if self.plan.requantizer is None:
            return total
        return self.plan.requantizer.codes(self.ins, [total], [constants])

    def _begin(self, operand: Operand, matrix: Expr) -> Expr:
        """Element of the buffer at which a matrix begins."""
        return operand.offset + offset_of(matrix, self.product.batch, operand.batch)


def _pieces(channels: int, lanes: int) -> list[tuple[int, int]]:
    """(offset, count) that cover the channels of a panel: whole vectors, then powers of two.

    >>> _pieces(37, 16)
    [(0, 16), (16, 16), (32, 4), (36, 1)]
    """
    pieces, offset = [], 0
    while offset < channels:
        count = min(lanes, 1 << ((channels - offset).bit_length() - 1))
        pieces.append((offset, count))
        offset += count
    return pieces


def _sum_of_lanes(vector: Expr, lanes: int) -> Expr:
    """All lanes added."""
    while lanes > 1:
        lanes //= 2
        low, high = (tirx.Shuffle([vector], [const(begin + lane) for lane in range(lanes)]) for begin in (0, lanes))
        vector = bind(low + high)
    return vector


def _padded(values: np.ndarray, columns: int, places: int) -> np.ndarray:
    """One value or one a column, for every column of whole vectors."""
    result = np.zeros(places, np.asarray(values).dtype)
    result[:columns] = np.broadcast_to(np.ravel(values), columns)
    return result
