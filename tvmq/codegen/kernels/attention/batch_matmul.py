"""batch_matmul: products of two tensors of 8-bit codes, both given at run time (attention), for every CPU.

Computes   numerics.matmul of the centred codes, then requantize, dequantize or nothing, bit for bit
Layouts    each operand is a batch of matrices inside a buffer, at any distances (see MatrixOperand): transposed, or a
           slice of a larger tensor; no copy is made to bring it into another order
Loops      rows of a to scratch memory where `dot` cannot read them as they are; parallel chunk: a panel (`columns`
           vectors of b's columns) of a pair of matrices, packed as constant weights are; then tiles of rows
Zero points  int16 levels (AVX2, AVX-512BW, generic) centre both operands as they copy them. VNNI and Arm multiply
           codes as they are: -a_zero * (sum of b's column) and depth * a_zero * b_zero are in the initial sums of a
           panel, -b_zero * (sum of a's row) in those of a row
Needs      depth * 4 * 255 * 128 within int32 (MOST_DEPTH)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.attention.code_panels import CodePanels, CodeRows, row_term
from tvmq.codegen.kernels.attention.shape import (
    BatchMatmul,
    MatrixOperand,
    check_product,
    is_product_of_codes,
    product_work,
)
from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.parts.builder import (
    Expr,
    FunctionBuilder,
    Register,
    load,
    over_range,
    spread,
    store,
    store_first,
    vector_type,
    workspace,
)
from tvmq.codegen.kernels.parts.epilogue import EpiloguePlan, plan_epilogue
from tvmq.codegen.kernels.parts.loops import make_opaque, offset_of, over_rows
from tvmq.codegen.kernels.parts.packing import PanelRun, panel_runs
from tvmq.codegen.kernels.parts.scaler import Parameters
from tvmq.codegen.kernels.parts.template import Template
from tvmq.codegen.kernels.parts.tiling import Product, choose_tiling
from tvmq.codegen.kernels.parts.types import Dequantize, FixedRequantize, Isa, Kernel, Requantize

SERIAL_MACS = 2_000_000  # about 10 us of one core: below, a parallel region costs more than it gains
GRAIN = 100_000  # bytes that are copied in about 10 us
SLACK = 64  # elements behind the last row of the copy


def batch_matmul(product: BatchMatmul, step: Requantize | FixedRequantize | Dequantize | None, isa: Isa) -> Kernel:
    """Kernel; parameters a, b, the multiplier or scale (one or one a column of b), y.

    step    what becomes of the sums; None leaves them as int32
    raises  BuildError for shapes, types or steps that do not fit
    """
    check_product(product)
    template = _BatchMatmulTemplate(product, step, isa)
    return template.kernel(template.constants(), product_work("batch_matmul", product, template.ins))


class _BatchMatmulTemplate(Template):
    """Product; see the head of this file."""

    def __init__(self, product: BatchMatmul, step: Requantize | FixedRequantize | Dequantize | None, isa: Isa) -> None:
        self.product, self.ins = product, (ins := instructions(isa))
        self.vectors = -(-product.columns // ins.lanes)
        self.left = CodeRows(ins, product.a, product.depth, product.a_zero)
        self.right = CodePanels(ins, product.b, product.depth, product.b_zero)
        self.tiling = choose_tiling(Product(product.rows, self.vectors, self.right.steps), ins, isa.tiles)
        self.runs = panel_runs(self.tiling.panel_parts, product.columns, ins.lanes)
        self.plan: EpiloguePlan = plan_epilogue(() if step is None else (step,))
        self.with_row_sums = self.left.raw and self.right.zero != 0
        as_it_is = self.left.raw and product.a.dtype == ins.x_dtype and not self.with_row_sums
        self.is_staged = not (as_it_is and product.depth % ins.taps == 0)
        self.pitch = self.left.pitch
        self.matrices = math.prod(product.batch)
        self.name = f"batch_matmul_{ins.name}_{self.tiling.rows}x{self.tiling.columns}"
        self.key = ("batch_matmul", product, ins.name, self.plan.key, self.tiling)

    def constants(self) -> tuple[np.ndarray, ...]:
        """Multiplier or scale for every column of whole vectors."""
        places = self.vectors * self.ins.lanes
        return self.plan.constants(lambda values: _pad_columns(values, self.product.columns, places))

    def parameters(self) -> Parameters:
        product, places = self.product, self.vectors * self.ins.lanes
        parameters: Parameters = {"a": (product.a.shape, product.a.dtype), "b": (product.b.shape, product.b.dtype)}
        parameters |= self.plan.constant_parameters(places)
        return parameters | {"y": (product.y.shape, self.plan.out_dtype)}

    def body(self, function: FunctionBuilder) -> None:
        product = self.product
        self.a, self.b, *self.channel_constants, self.y = self.buffers.values()
        self.source = self.a
        if self.is_staged:
            self.source = workspace(self.matrices * product.rows * self.pitch + SLACK, self.ins.x_dtype)
        if self.with_row_sums:
            self.row_sums = workspace(self.matrices * product.rows, "int32")
        if self.is_staged:
            over_rows(self.matrices * product.rows, self.pitch, GRAIN, lambda: self._stage_row)
        macs = self.matrices * product.rows * product.depth * product.columns
        for run in self.runs:
            jobs = self.matrices * run.count
            parallel = jobs > 1 and macs > SERIAL_MACS
            with (T.parallel if parallel else T.serial)(0, jobs) as job:
                matrix, panel = make_opaque(T.floordiv(job, run.count)), make_opaque(T.floormod(job, run.count))
                first = make_opaque(panel * (run.columns * self.ins.lanes) + run.vector * self.ins.lanes)
                self._panel(matrix, first, run)

    # ---- rows of a

    def _stage_row(self, number: Expr) -> None:
        """Copy a row of a as `dot` takes it, zeros behind it, and its sum."""
        product = self.product
        matrix, row = T.floordiv(number, product.rows), T.floormod(number, product.rows)
        target = make_opaque(number * self.pitch)
        self.left.copy(self.a, make_opaque(self._begin(product.a, matrix) + row * product.a.row), self.source, target)
        if self.with_row_sums:
            term = row_term(self.ins, self.source, target, self.pitch, self.right.zero)
            store(self.row_sums, number, term, 1)

    # ---- panels of b

    def _panel(self, matrix: Expr, first: Expr, run: PanelRun) -> None:
        """Columns from `first` of the product of one pair of matrices."""
        product, right = self.product, self.right
        packed = workspace(right.steps * run.columns * right.vector, self.ins.w_dtype)
        begin = make_opaque(self._begin(product.b, matrix) + first * product.b.column)
        right.pack(self.b, begin, packed, 0, run.columns, run.channels)
        initial = right.column_terms(packed, 0, run.columns, self.left.zero)
        row = make_opaque(matrix * product.rows)
        target = make_opaque(self._begin(product.y, matrix) + first)
        source = make_opaque(row * self.pitch) if self.is_staged else make_opaque(self._begin(product.a, matrix))

        def tile(begin_row: Expr, rows: int, _index: Expr) -> None:
            at = T.min(begin_row, product.rows - rows) if self.tiling.shifted else begin_row
            self._tile(make_opaque(at), rows, (packed, initial, row, source, target, first), run)

        over_range(list(self.tiling.pixel_parts), 0, self.tiling.tiles, tile)

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
        row_pitch = self.pitch if self.is_staged else self.product.a.row
        starts = [make_opaque(source + (first_row + i) * row_pitch) for i in range(rows)]
        kind = vector_type(ins.w_dtype, self.right.vector)
        with T.serial(0, self.right.steps) as step:
            at = step * (columns * self.right.vector)
            weights = [load(packed, at + column * self.right.vector, kind) for column in range(columns)]
            for line, start in zip(sums, starts, strict=True):
                x = ins.broadcast(self.source, start + step * ins.taps)
                for register, weight in zip(line, weights, strict=True):
                    register.set(ins.dot(register.get(), x, weight))
        self._store(sums, make_opaque(target + first_row * self.product.y.row), first, run)

    def _store(self, sums: list[list[Register]], target: Expr, first: Expr, run: PanelRun) -> None:
        """Sums of a tile to y: as codes, as floats, or as they are."""
        lanes = self.ins.lanes
        for column in range(run.columns):
            valid = min(lanes, run.channels - column * lanes)
            if valid <= 0:
                continue
            constants = self._load_constants(first + column * lanes)
            for row, line in enumerate(sums):
                value = self._finish_sums(line[column].get(), constants)
                store_first(self.y, target + row * self.product.y.row + column * lanes, value, lanes, valid)

    def _load_constants(self, channel: Expr) -> tuple[Expr, ...]:
        scaler = self.plan.scaler
        return () if scaler is None else scaler.load(self.channel_constants, channel, self.ins.lanes)

    def _finish_sums(self, total: Expr, constants: tuple[Expr, ...]) -> Expr:
        """Results of a vector of sums."""
        if self.plan.dequantizer is not None:
            return self.plan.dequantizer.reals(total, constants, self.ins.lanes)
        if self.plan.requantizer is None:
            return total
        return self.plan.requantizer.codes(self.ins, [total], [constants])

    def _begin(self, operand: MatrixOperand, matrix: Expr) -> Expr:
        """Element of the buffer at which a matrix begins."""
        return operand.offset + offset_of(matrix, self.product.batch, operand.batch)


def _pad_columns(values: np.ndarray, columns: int, places: int) -> np.ndarray:
    """Pad constants, one or one a column, to every column of whole vectors."""
    result = np.zeros(places, np.asarray(values).dtype)
    result[:columns] = np.broadcast_to(np.ravel(values), columns)
    return result


def choose_batch_matmul(
    product: BatchMatmul, step: Requantize | FixedRequantize | Dequantize | None, isa: Isa
) -> Kernel | None:
    """The kernel; None for what the template cannot read or add."""
    return batch_matmul(product, step, isa) if is_product_of_codes(product) else None
