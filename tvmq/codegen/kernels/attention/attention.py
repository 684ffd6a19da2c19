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

from collections.abc import Callable

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.attention.code_panels import CodePanels, CodeRows, row_term
from tvmq.codegen.kernels.attention.product_tile import begin_sums, multiply_tile, pad_columns
from tvmq.codegen.kernels.attention.shape import (
    Attention,
    MatrixOperand,
    attention_work,
    check_attention,
    choose_cut,
    fits,
)
from tvmq.codegen.kernels.attention.softmax_codes import SoftmaxCodes
from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.isa.generic import Instructions
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    FunctionBuilder,
    Register,
    load,
    over,
    over_range,
    spread,
    store,
    store_first,
    vector_type,
    workspace,
)
from tvmq.codegen.kernels.parts.epilogue import plan_epilogue
from tvmq.codegen.kernels.parts.float_vectors import LANES
from tvmq.codegen.kernels.parts.kernel_types import Dequantize, FixedRequantize, Isa, Kernel, Requantize, Tiles
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
    template = _AttentionTemplate(shape, step, instructions(isa), isa.tiles)
    scales = (np.array([scale], np.float32) for scale in (score_scale, code_scale))
    return template.kernel((*scales, *template.multipliers()), attention_work(shape, template.ins))


class _Side:
    """Right side of one of both products, in panels, and where they stand in scratch memory."""

    def __init__(
        self, ins: Instructions, operand: MatrixOperand, depth: int, columns: int, zero: int, tiling: Tiling
    ) -> None:
        self.panels, self.tiling = CodePanels(ins, operand, depth, zero), tiling
        self.runs = panel_runs(tiling.panel_parts, columns, ins.lanes)
        self.places = -(-columns // ins.lanes) * ins.lanes
        self.size = self.places // ins.lanes * self.panels.steps * self.panels.vector

    def allocate(self, matrices: int) -> None:
        """Scratch memory for the panels and the sums that their columns begin with, of all matrices."""
        self.packed = workspace(matrices * self.size, self.panels.ins.w_dtype)
        self.initial = workspace(matrices * self.places, "int32")


class _AttentionTemplate(Template):
    """Attention; see the head of this file."""

    def __init__(
        self, shape: Attention, step: Requantize | FixedRequantize | Dequantize, ins: Instructions, tiles: Tiles
    ) -> None:
        self.shape, self.ins = shape, ins
        self.cut = choose_cut(shape.rows, shape.keys, shape.depth, shape.columns, ins, tiles)
        self.plan = plan_epilogue((step,))
        self.raw = ins.takes_bytes
        q_zero, k_zero, v_zero = shape.zeros
        self.queries = CodeRows(ins, shape.q, shape.depth, q_zero)
        self.keys = _Side(ins, shape.k, shape.depth, shape.keys, k_zero, self.cut.scores)
        self.values = _Side(ins, shape.v, shape.keys, shape.columns, v_zero, self.cut.result)
        self.weight_zero = shape.codes.zero_point + ins.shift_of(shape.codes.dtype)
        # whole vectors of bytes, and all that the vectors of softmax cover
        self.weight_pitch = -(-shape.keys // 64) * 64
        self.blocks = -(-shape.rows // self.cut.block)
        self.name = f"attention_{ins.name}_{self.cut.block}"
        self.key = ("attention", shape, ins.name, self.plan.key, self.cut)

    def multipliers(self) -> tuple[np.ndarray, ...]:
        """Multiplier for every column of whole vectors."""
        return self.plan.constants(lambda values: pad_columns(values, self.shape.columns, self.values.places))

    def parameters(self) -> Parameters:
        shape = self.shape
        operands = {"q": shape.q, "k": shape.k, "v": shape.v}
        parameters: Parameters = {key: (operand.shape, operand.dtype) for key, operand in operands.items()}
        if shape.mask is not None:
            parameters["mask"] = (shape.mask.shape, "float32")
        parameters |= {"score_scale": ((1,), "float32"), "code_scale": ((1,), "float32")}
        parameters |= self.plan.constant_parameters(self.values.places)
        return parameters | {"y": (shape.y.shape, self.plan.out_dtype)}

    def body(self, function: FunctionBuilder) -> None:
        shape = self.shape
        offset = self.ins.shift_of(shape.codes.dtype) if self.raw else -shape.codes.zero_point
        self.softmax = SoftmaxCodes(shape.keys, shape.codes, self.buffers["code_scale"], self.ins.x_dtype, offset)
        parallel = shape.macs > SERIAL_MACS
        self.keys.allocate(shape.matrices)
        self.values.allocate(shape.matrices)
        q_zero = self.queries.zero
        self._each(shape.matrices, parallel, lambda matrix: self._pack(make_opaque(matrix), q_zero))
        chunks = min(self.blocks, max(1, MOST_JOBS // shape.matrices))

        def job(index: Expr) -> None:
            matrix, chunk = make_opaque(T.floordiv(index, chunks)), make_opaque(T.floormod(index, chunks))
            begin = make_opaque(T.floordiv(chunk * self.blocks, chunks))
            end = make_opaque(T.floordiv((chunk + 1) * self.blocks, chunks))
            self._chunk(matrix, begin, end)

        self._each(shape.matrices * chunks, parallel, job)

    def _each(self, count: int, parallel: bool, body: Callable[[Expr], None]) -> None:
        with (T.parallel if parallel and count > 1 else T.serial)(0, count) as index:
            body(index)

    # ---- k and v

    def _pack(self, matrix: Expr, q_zero: int) -> None:
        for side, name, zero in ((self.keys, "k", q_zero), (self.values, "v", self.weight_zero)):
            begin = make_opaque(side.panels.operand.begin(matrix, self.shape.batch))
            for run in side.runs:
                with T.serial(0, run.count) as panel:
                    self._pack_panel(side, self.buffers[name], begin, matrix, make_opaque(panel), run, zero)

    def _pack_panel(
        self, side: _Side, source: Buffer, begin: Expr, matrix: Expr, panel: Expr, run: PanelRun, zero: int
    ) -> None:
        panels, lanes = side.panels, self.ins.lanes
        vector = make_opaque(panel * run.columns + run.vector)
        place = make_opaque(matrix * side.size + vector * (panels.steps * panels.vector))
        first = make_opaque(begin + vector * (lanes * panels.operand.column))
        panels.pack(source, first, side.packed, place, run.columns, run.channels)
        terms = panels.column_terms(side.packed, place, run.columns, zero)
        for column, term in enumerate(terms):
            store(side.initial, matrix * side.places + (vector + column) * lanes, term, lanes)

    # ---- blocks of rows

    def _chunk(self, matrix: Expr, begin: Expr, end: Expr) -> None:
        """Blocks begin .. end of the rows of a matrix."""
        shape, block = self.shape, self.cut.block
        self.scores = workspace(block * self.softmax.pitch, "float32")
        self.weights = workspace(block * self.weight_pitch, self.ins.x_dtype)
        self.copied = workspace(block * self.queries.pitch, self.ins.x_dtype)
        self.terms = workspace(2 * block, "int32")
        if shape.mask is not None:
            self.mask = workspace(self.cut.group * self.softmax.pitch, "float32")
            fill_lanes(self.mask, 0, 0.0, self.cut.group * self.softmax.pitch, LANES)
            if shape.mask.row == 0:
                self._copy_mask(matrix, 0, 0)
        zero = spread(0, 64, self.ins.x_dtype)
        with T.serial(0, block * self.weight_pitch // 64) as i:
            store(self.weights, i * 64, zero, 64)
        with T.serial(0, end - begin) as index:
            first = make_opaque(T.min((begin + index) * block, shape.rows - block))
            self._block(matrix, first)

    def _copy_mask(self, matrix: Expr, row: Expr, place: int) -> None:
        mask = self.shape.mask
        assert mask is not None
        begin = make_opaque(mask.begin(matrix, self.shape.batch) + row * mask.row)
        copy_lanes(self.mask, place * self.softmax.pitch, self.buffers["mask"], begin, self.shape.keys, LANES)

    def _block(self, matrix: Expr, first: Expr) -> None:
        shape = self.shape
        self._copy_queries(make_opaque(shape.q.begin(matrix, shape.batch) + first * shape.q.row))
        self._tiles(self.keys, matrix, self.copied, self.queries.pitch, 0, self._store_scores)
        self._softmax(matrix, first)
        target = make_opaque(shape.y.begin(matrix, shape.batch) + first * shape.y.row)

        def store_result(sums: list[list[Register]], row: Expr, vector: Expr, run: PanelRun) -> None:
            self._store_result(sums, make_opaque(target + row * shape.y.row), vector, run)

        self._tiles(self.values, matrix, self.weights, self.weight_pitch, self.cut.block, store_result)

    def _copy_queries(self, begin: Expr) -> None:
        """Rows of q as `dot` takes them, and what their sums contribute."""
        pitch, zero = self.queries.pitch, self.keys.panels.zero
        with T.serial(0, self.cut.block) as row:
            self.queries.copy(
                self.buffers["q"], make_opaque(begin + row * self.shape.q.row), self.copied, make_opaque(row * pitch)
            )
        if self.raw and zero:
            self._row_terms(self.copied, pitch, zero, 0)

    def _row_terms(self, rows: Buffer, pitch: int, zero: int, first: int) -> None:
        """Store the share of a block's copied rows in the sums, at terms[first:]."""
        # in a loop of its own: what has just been written in pieces cannot be read as a whole for some cycles
        with T.serial(0, self.cut.block) as row:
            store(self.terms, row + first, row_term(self.ins, rows, make_opaque(row * pitch), pitch, zero), 1)

    def _softmax(self, matrix: Expr, first: Expr) -> None:
        """Codes of the scores, and what their sums contribute."""
        mask, softmax, zero = self.shape.mask, self.softmax, self.values.panels.zero

        def group(begin: Expr, rows: int) -> None:
            numbers = [make_opaque(begin + i) for i in range(rows)]
            masks: list[tuple[Buffer, Expr]] = []
            if mask is not None:
                for i in range(rows if mask.row else 0):
                    self._copy_mask(matrix, first + numbers[i], i)
                masks = [(self.mask, i * softmax.pitch if mask.row else 0) for i in range(rows)]
            scores = [make_opaque(number * softmax.pitch) for number in numbers]
            places = [make_opaque(number * self.weight_pitch) for number in numbers]
            softmax.rows(self.scores, scores, masks, self.weights, places)

        over([(self.cut.group, self.cut.block // self.cut.group)], group)
        if self.raw and zero:
            self._row_terms(self.weights, self.weight_pitch, zero, self.cut.block)

    # ---- tiles

    def _tiles(
        self,
        side: _Side,
        matrix: Expr,
        source: Buffer,
        pitch: int,
        first_term: int,
        finish: Callable[[list[list[Register]], Expr, Expr, PanelRun], None],
    ) -> None:
        """Sums of all rows of the block and all columns of one side; finish(sums, row, first vector, run)."""
        tiling = side.tiling
        for run in side.runs:
            with T.serial(0, run.count) as panel:
                vector = make_opaque(panel * run.columns + run.vector)

                def tile(row: Expr, rows: int, _index: Expr, vector: Expr = vector, run: PanelRun = run) -> None:
                    at = make_opaque(T.min(row, self.cut.block - rows) if tiling.shifted else row)
                    finish(
                        self._sums(side, matrix, (source, pitch, first_term), at, rows, vector, run), at, vector, run
                    )

                over_range(list(tiling.pixel_parts), 0, tiling.tiles, tile)

    def _sums(
        self,
        side: _Side,
        matrix: Expr,
        rows_of: tuple[Buffer, int, int],
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

    def _store_result(self, sums: list[list[Register]], target: Expr, vector: Expr, run: PanelRun) -> None:
        """Codes or floats of a tile of the result."""
        lanes = self.ins.lanes
        factors = [self.buffers[name] for name in self.plan.constant_parameters(self.values.places)]
        for column in range(run.columns):
            valid = min(lanes, run.channels - column * lanes)
            constants = self.plan.scaler.load(factors, (vector + column) * lanes, lanes)
            for i, line in enumerate(sums):
                value = self.plan.finish(self.ins, line[column].get(), constants)
                place = target + i * self.shape.y.row + (vector + column) * lanes
                store_first(self.buffers["y"], place, value, lanes, valid)


def choose_attention(
    shape: Attention, score_scale: float, code_scale: float, step: Requantize | FixedRequantize | Dequantize, isa: Isa
) -> Kernel | None:
    """The kernel; None for shapes, types and scales that do not fit."""
    return attention(shape, score_scale, code_scale, step, isa) if fits(shape, score_scale, code_scale) else None
