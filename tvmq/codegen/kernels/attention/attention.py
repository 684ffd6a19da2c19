"""attention: codes of q, k, v -> softmax of the scaled scores -> codes of the result, in one pass, for every CPU.

Computes   numerics.matmul, dequantize, (+ mask), softmax, quantize, matmul, requantize or dequantize, bit for bit
Layouts    each operand is a batch of matrices inside a buffer, at any distances (see MatrixOperand): heads are read
           from and written to where the dense layers around have them; no copy is made to bring them into order
Loops      parallel over matrices: k and v packed as constant weights are; parallel over matrices and blocks of rows:
           tiles of scores (floats in scratch memory, a block of rows at a time), their softmax as codes, tiles of the
           result. Scores never leave the nearest caches
Reads      k and v once for all blocks of rows, mask rows once a block (once a chunk if all rows have the same)
Needs      depth * 4 * 255 * 128 within int32 (MOST_DEPTH), for keys likewise; what softmax_codes needs
Measured   benchmarks/kernels.py --attention
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.attention.code_panels import CodePanels, CodeRows, row_term
from tvmq.codegen.kernels.attention.product_tile import begin_sums, multiply_tile, pad_columns
from tvmq.codegen.kernels.attention.shape import (
    Attention,
    Cut,
    MatrixOperand,
    attention_work,
    check_attention,
    choose_cut,
    fits,
)
from tvmq.codegen.kernels.attention.softmax_codes import Powers, SoftmaxCodes
from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.isa.generic import Instructions
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    FunctionBuilder,
    Register,
    bind,
    bind_size,
    ceildiv,
    load,
    over,
    over_range,
    quotient,
    spread,
    store,
    store_first,
    vector_type,
    workspace,
)
from tvmq.codegen.kernels.parts.epilogue import plan_epilogue
from tvmq.codegen.kernels.parts.float_vectors import LANES
from tvmq.codegen.kernels.parts.kernel_types import Dequantize, FixedRequantize, Isa, Kernel, Requantize
from tvmq.codegen.kernels.parts.loops import copy_lanes, fill_lanes, make_opaque
from tvmq.codegen.kernels.parts.packing import PanelRun, panel_runs
from tvmq.codegen.kernels.parts.scaler import Parameters
from tvmq.codegen.kernels.parts.template import Template
from tvmq.codegen.kernels.parts.tiling import Tiling

SERIAL_MACS = 2_000_000  # about 10 us of one core: below, a parallel region costs more than it gains
MOST_JOBS = 24  # divides evenly among few threads


def attention(
    shape: Attention, score_scale: float, code_scale: float, step: Requantize | FixedRequantize | Dequantize, isa: Isa
) -> Kernel:
    """Kernel; parameters q, k, v, the mask if there is one, both scales, the multiplier, y.

    score_scale  of the scores' sums; code_scale: of the softmax's codes
    step         what becomes of the sums of the result, codes or floats; one multiplier or scale, or one a column of v
    raises       BuildError for shapes, types or scales that do not fit
    """
    check_attention(shape, score_scale, code_scale)
    ins = instructions(isa)
    template = AttentionTemplate(
        shape, step, ins, choose_cut(shape.rows, shape.keys, shape.depth, shape.columns, ins, isa.tiles)
    )
    return template.attention_kernel(score_scale, code_scale)


class Side:
    """Right side of one of both products, in panels, and where they stand in scratch memory.

    columns  a number, or what only a run tells: then panels are whole ones, and one of those vectors that are left
    """

    def __init__(
        self, ins: Instructions, operand: MatrixOperand, depth: Expr, columns: Expr, zero: int, tiling: Tiling
    ) -> None:
        self.panels, self.tiling = CodePanels(ins, operand, depth, zero), tiling
        vectors = ceildiv(columns, ins.lanes)
        self.places = bind_size(vectors * ins.lanes)
        self.size = bind_size(vectors * self.panels.steps * self.panels.vector)
        if isinstance(columns, int):
            self.runs = self.packed_runs = panel_runs(tiling.panel_parts, columns, ins.lanes)
        else:
            self.runs = _dynamic_runs(vectors, tiling.columns, ins.lanes)
            self.packed_runs = _packed_runs(vectors, columns, tiling.columns, ins.lanes)

    def allocate(self, matrices: Expr) -> None:
        """Scratch memory for the panels and the sums that their columns begin with, of all matrices."""
        self.packed = workspace(matrices * self.size, self.panels.ins.w_dtype)
        self.initial = workspace(matrices * self.places, "int32")


def _dynamic_runs(vectors: Expr, columns: int, lanes: int) -> list[PanelRun]:
    """Panels of so many columns, then one of those that are left: code for each number of them, which 0 or 1 take."""
    whole = quotient(vectors, columns)
    last = bind(vectors - whole * columns)
    return [PanelRun(0, 0, columns, whole, columns * lanes)] + [
        PanelRun(whole, bind(whole * columns), left, T.Cast("int32", last == left), left * lanes)
        for left in range(1, columns)
    ]


def _packed_runs(vectors: Expr, channels: Expr, columns: int, lanes: int) -> list[PanelRun]:
    """Panels as they are packed: the last one apart if it is not full."""
    whole = bind(quotient(channels, columns * lanes))
    last, left = bind(vectors - whole * columns), bind(channels - whole * (columns * lanes))
    return [
        PanelRun(0, 0, columns, whole, columns * lanes),
        PanelRun(whole, bind(whole * columns), last, T.Cast("int32", last > 0), left),
    ]


class AttentionTemplate(Template):
    """Attention; see the head of this file."""

    rows: Expr
    batch: Sequence[Expr]
    matrices: Expr
    operands: Mapping[str, MatrixOperand]

    def __init__(
        self, shape: Attention, step: Requantize | FixedRequantize | Dequantize, ins: Instructions, cut: Cut
    ) -> None:
        self.shape, self.ins, self.cut = shape, ins, cut
        self.plan = plan_epilogue((step,))
        self.raw = ins.takes_bytes
        self.queries = CodeRows(ins, shape.q, shape.depth, shape.zeros[0])
        self.weight_zero = shape.codes.zero_point + ins.shift_of(shape.codes.dtype)
        self.columns = -(-shape.columns // ins.lanes) * ins.lanes
        self.block: Expr = cut.block
        self.name = f"attention_{ins.name}_{cut.block}"
        self.key = ("attention", shape, ins.name, self.plan.key, cut)

    def multipliers(self) -> tuple[np.ndarray, ...]:
        """Multiplier for every column of whole vectors."""
        return self.plan.constants(lambda values: pad_columns(values, self.shape.columns, self.columns))

    def attention_kernel(self, score_scale: float, code_scale: float) -> Kernel:
        """The kernel with these scales."""
        scales = (np.array([scale], np.float32) for scale in (score_scale, code_scale))
        return self.kernel((*scales, *self.multipliers()), attention_work(self.shape, self.ins))

    def parameters(self) -> Parameters:
        shape = self.shape
        operands = {"q": shape.q, "k": shape.k, "v": shape.v}
        parameters: Parameters = {key: (operand.shape, operand.dtype) for key, operand in operands.items()}
        if shape.mask is not None:
            parameters["mask"] = (shape.mask.shape, "float32")
        parameters |= {"score_scale": ((1,), "float32"), "code_scale": ((1,), "float32")}
        parameters |= self.plan.constant_parameters(self.columns)
        return parameters | {"y": (shape.y.shape, self.plan.out_dtype)}

    def body(self, function: FunctionBuilder) -> None:
        shape, ins = self.shape, self.ins
        self.rows, keys = function.count((shape.rows,)), self._count_keys(function)
        self.batch = [function.count((size,)) for size in shape.batch]
        self.matrices = bind_size(math.prod(self.batch))
        named = {"q": shape.q, "k": shape.k, "v": shape.v, "y": shape.y} | ({"mask": shape.mask} if shape.mask else {})
        self.operands = {name: operand.in_run(function) for name, operand in named.items()}
        self.keys = Side(ins, self.operands["k"], shape.depth, keys, shape.zeros[1], self.cut.scores)
        self.values = Side(ins, self.operands["v"], keys, shape.columns, shape.zeros[2], self.cut.result)
        # whole vectors of bytes, and all that the vectors of softmax cover
        self.weight_pitch = bind_size(ceildiv(keys, 64) * 64)
        self.softmax = self._softmax_of(keys)
        self.keys.allocate(self.matrices)
        self.values.allocate(self.matrices)
        q_zero = self.queries.zero
        self._pack_all(lambda matrix: self._pack(make_opaque(matrix), q_zero))
        blocks, chunks = self._cut_rows(keys)

        self._jobs(blocks, chunks)

    def _count_keys(self, function: FunctionBuilder) -> Expr:
        return function.count((self.shape.keys,))

    def _softmax_of(self, keys: Expr) -> Any:
        """Maker of codes of rows of scores; it has keys, has_dynamic_keys and pitch."""
        codes = self.shape.codes
        offset = self.ins.shift_of(codes.dtype) if self.raw else -codes.zero_point
        return SoftmaxCodes(keys, codes, self.buffers["code_scale"], self.ins.x_dtype, offset)

    def _jobs(self, blocks: Expr, chunks: Expr) -> None:
        """All chunks of blocks of rows of all matrices."""
        self._each(self.matrices * chunks, lambda index: self._chunk(index, blocks, chunks, is_job=True))

    def _cut_rows(self, keys: Expr) -> tuple[Expr, Expr]:
        """Blocks of rows of a matrix, and jobs that they are done in."""
        blocks = -(-self.rows // self.cut.block)
        return blocks, min(blocks, max(1, MOST_JOBS // self.matrices))

    def _each(self, count: Expr, body: Callable[[Expr], None]) -> None:
        with (T.parallel if self._is_parallel(count) else T.serial)(0, count) as index:
            body(index)

    def _is_parallel(self, jobs: Expr) -> bool:
        return jobs > 1 and self.shape.macs > SERIAL_MACS

    # ---- k and v

    def _pack_all(self, pack: Callable[[Expr], None]) -> None:
        self._each(self.matrices, pack)

    def _pack(self, matrix: Expr, q_zero: int) -> None:
        for side, name, zero in ((self.keys, "k", q_zero), (self.values, "v", self.weight_zero)):
            begin = make_opaque(side.panels.operand.begin(matrix, self.batch))
            for run in side.packed_runs:
                with T.serial(0, run.count) as panel:
                    self._pack_panel(side, self.buffers[name], begin, matrix, make_opaque(panel), run, zero)

    def _pack_panel(
        self, side: Side, source: Buffer, begin: Expr, matrix: Expr, panel: Expr, run: PanelRun, zero: int
    ) -> None:
        panels, lanes = side.panels, self.ins.lanes
        vector = make_opaque(panel * run.columns + run.vector)
        place = make_opaque(matrix * side.size + vector * (panels.steps * panels.vector))
        first = make_opaque(begin + vector * (lanes * panels.operand.column))
        panels.pack(source, first, side.packed, place, run.columns, run.channels)

        def keep(column: Expr, term: Expr) -> None:
            store(side.initial, matrix * side.places + (vector + column) * lanes, term, lanes)

        if isinstance(run.columns, int):
            for column, term in enumerate(panels.column_terms(side.packed, place, run.columns, zero)):
                keep(column, term)
        else:
            with T.serial(0, run.columns) as column:
                keep(column, panels.column_term(side.packed, place, run.columns, column, zero))

    # ---- blocks of rows

    def _chunk(self, index: Expr, blocks: Expr, chunks: Expr, *, is_job: bool) -> None:
        """A chunk of the blocks of rows of a matrix; a job has scratch memory of its own."""
        matrix, chunk = make_opaque(T.floordiv(index, chunks)), make_opaque(T.floormod(index, chunks))
        begin = make_opaque(T.floordiv(chunk * blocks, chunks))
        end = make_opaque(T.floordiv((chunk + 1) * blocks, chunks))
        if is_job:
            self._allocate()
        if self.shape.mask is not None and self.shape.mask.row == 0:
            self._copy_mask(matrix, 0, 0)
        if is_job:
            self._clear_weights()
        with T.serial(0, end - begin) as number:
            self._block(matrix, *self._begin_block(begin + number))

    def _allocate(self) -> None:
        """Scratch memory of a job."""
        rows, pitch = self.block, self.softmax.pitch
        self.scores = workspace((rows + self.cut.group if self.softmax.has_dynamic_keys else rows) * pitch, "float32")
        self.weights = workspace(rows * self.weight_pitch, self.ins.x_dtype)
        self.copied = workspace(self.cut.block * self.queries.pitch, self.ins.x_dtype)
        self.terms = workspace(2 * self.cut.block, "int32")
        self.powers: Powers | None = None
        if self.shape.mask is not None:
            self.mask = workspace(self.cut.group * pitch, "float32")
            fill_lanes(self.mask, 0, 0.0, self.cut.group * pitch, LANES)

    def _clear_weights(self) -> None:
        zero = spread(0, 64, self.ins.x_dtype)
        with T.serial(0, quotient(self.block * self.weight_pitch, 64)) as i:
            store(self.weights, i * 64, zero, 64)

    def _begin_block(self, number: Expr) -> tuple[Expr, Expr]:
        """First row of a block, and how many are computed."""
        return make_opaque(T.min(number * self.cut.block, self.rows - self.cut.block)), self.cut.block

    def _row_of_block(self, row: Expr) -> Expr:
        """The row of a block that is computed as this one."""
        return row

    def _copy_mask(self, matrix: Expr, row: Expr, place: int) -> None:
        mask = self.operands["mask"]
        begin = make_opaque(mask.begin(matrix, self.batch) + row * mask.row)
        copy_lanes(self.mask, place * self.softmax.pitch, self.buffers["mask"], begin, self.softmax.keys, LANES)

    def _block(self, matrix: Expr, first: Expr, rows: Expr) -> None:
        q, y = self.operands["q"], self.operands["y"]
        self._copy_queries(make_opaque(q.begin(matrix, self.batch) + first * q.row), rows)
        self._tiles(self.keys, matrix, (self.copied, self.queries.pitch, 0), rows, self._store_scores)
        self._softmax(matrix, first, rows)
        target = make_opaque(y.begin(matrix, self.batch) + first * y.row)

        def store_result(sums: list[list[Register]], row: Expr, vector: Expr, run: PanelRun) -> None:
            self._store_result(sums, self._places(target, row, len(sums)), vector, run)

        self._tiles(self.values, matrix, (self.weights, self.weight_pitch, self.cut.block), rows, store_result)

    def _places(self, target: Expr, row: Expr, rows: int) -> list[Expr]:
        """Where the rows of a tile of the result begin."""
        pitch = self.operands["y"].row
        begin = make_opaque(target + row * pitch)
        return [begin + i * pitch for i in range(rows)]

    def _copy_queries(self, begin: Expr, rows: Expr) -> None:
        """Rows of q as `dot` takes them, and what their sums contribute."""
        pitch, zero, source = self.queries.pitch, self.keys.panels.zero, self.operands["q"].row
        with T.serial(0, rows) as row:
            place = make_opaque(begin + self._row_of_block(row) * source)
            self.queries.copy(self.buffers["q"], place, self.copied, make_opaque(row * pitch))
        if self.raw and zero:
            self._row_terms((self.copied, pitch, 0), zero, rows)

    def _row_terms(self, rows_of: tuple[Buffer, Expr, Expr], zero: int, rows: Expr) -> None:
        """Store the share of a block's copied rows in the sums."""
        source, pitch, first = rows_of
        # in a loop of its own: what has just been written in pieces cannot be read as a whole for some cycles
        with T.serial(0, rows) as row:
            store(self.terms, row + first, row_term(self.ins, source, make_opaque(row * pitch), pitch, zero), 1)

    def _softmax(self, matrix: Expr, first: Expr, rows: Expr) -> None:
        """Codes of the scores, and what their sums contribute."""
        mask, softmax, zero = self.shape.mask, self.softmax, self.values.panels.zero
        count = quotient(rows, self.cut.group)

        def group(begin: Expr, rows: int) -> None:
            numbers = [make_opaque(begin + i) for i in range(rows)]
            masks: list[tuple[Buffer, Expr]] = []
            if mask is not None:
                for i in range(rows if mask.row else 0):
                    self._copy_mask(matrix, first + self._row_of_block(numbers[i]), i)
                masks = [(self.mask, i * softmax.pitch if mask.row else 0) for i in range(rows)]
            scores = [make_opaque(number * softmax.pitch) for number in numbers]
            places = [make_opaque(number * self.weight_pitch) for number in numbers]
            softmax.rows(self.scores, scores, masks, self.weights, places, self.powers)

        over([(self.cut.group, count)], group)
        if self.raw and zero:
            self._row_terms((self.weights, self.weight_pitch, self.cut.block), zero, rows)

    # ---- tiles

    def _tiles(
        self,
        side: Side,
        matrix: Expr,
        rows_of: tuple[Buffer, Expr, Expr],
        rows: Expr,
        finish: Callable[[list[list[Register]], Expr, Expr, PanelRun], None],
    ) -> None:
        """Sums of all rows of the block and all columns of one side; finish(sums, row, first vector, run)."""
        for run in side.runs:
            with T.serial(0, run.count) as panel:
                vector = make_opaque(panel * run.columns + run.vector)

                def tile(at: Expr, rows: int, vector: Expr = vector, run: PanelRun = run) -> None:
                    finish(self._sums(side, matrix, rows_of, at, rows, vector, run), at, vector, run)

                self._over_tiles(side.tiling, rows, tile)

    def _over_tiles(self, tiling: Tiling, rows: Expr, tile: Callable[[Expr, int], None]) -> None:
        """tile(first row, rows) for all tiles of a block of so many rows."""

        def body(row: Expr, size: int, _index: Expr) -> None:
            tile(make_opaque(T.min(row, self.cut.block - size) if tiling.shifted else row), size)

        over_range(list(tiling.pixel_parts), 0, tiling.tiles, body)

    def _sums(
        self,
        side: Side,
        matrix: Expr,
        rows_of: tuple[Buffer, Expr, Expr],
        row: Expr,
        rows: int,
        vector: Expr,
        run: PanelRun,
    ) -> list[list[Register]]:
        """Sums of one tile."""
        ins, panels, columns = self.ins, side.panels, run.columns
        source, pitch, first_term = rows_of
        kind = vector_type("int32", ins.lanes)
        begins = [
            load(side.initial, matrix * side.places + (vector + column) * ins.lanes, kind) for column in range(columns)
        ]
        has_terms = self.raw and panels.zero
        sums = begin_sums(ins, rows, begins, (lambda i: self.terms[first_term + row + i]) if has_terms else None)
        starts = [make_opaque((row + i) * pitch) for i in range(rows)]
        place = make_opaque(matrix * side.size + vector * (panels.steps * panels.vector))
        multiply_tile(ins, sums, (source, starts), (side.packed, place), panels.steps)
        return sums

    def _store_scores(self, sums: list[list[Register]], row: Expr, vector: Expr, run: PanelRun) -> None:
        """Scores of a tile: sums times their scale."""
        lanes = self.ins.lanes
        scale = spread(self.buffers["score_scale"][0], lanes)
        for i, line in enumerate(sums):
            place = make_opaque((row + i) * self.softmax.pitch + vector * lanes)
            for column, register in enumerate(line):
                score = T.Cast(vector_type("float32", lanes), register.get()) * scale
                store(self.scores, place + column * lanes, score, lanes)

    def _store_result(self, sums: list[list[Register]], begins: list[Expr], vector: Expr, run: PanelRun) -> None:
        """Codes or floats of a tile of the result."""
        lanes = self.ins.lanes
        factors = [self.buffers[name] for name in self.plan.constant_parameters(self.columns)]
        for column in range(run.columns):
            valid = min(lanes, run.channels - column * lanes)
            constants = self.plan.scaler.load(factors, (vector + column) * lanes, lanes)
            for begin, line in zip(begins, sums, strict=True):
                value = self.plan.finish(self.ins, line[column].get(), constants)
                store_first(self.buffers["y"], begin + (vector + column) * lanes, value, lanes, valid)


def choose_attention(
    shape: Attention, score_scale: float, code_scale: float, step: Requantize | FixedRequantize | Dequantize, isa: Isa
) -> Kernel | None:
    """The kernel; None for shapes, types and scales that do not fit."""
    return attention(shape, score_scale, code_scale, step, isa) if fits(shape, score_scale, code_scale) else None
