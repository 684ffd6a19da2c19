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
from tvmq.codegen.kernels.attention.product_tile import begin_sums, multiply_tile, pad_columns
from tvmq.codegen.kernels.attention.shape import (
    BatchMatmul,
    check_product,
    is_product_of_codes,
    product_work,
)
from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.parts.builder import (
    Expr,
    FunctionBuilder,
    Register,
    over_range,
    store,
    store_first,
    workspace,
)
from tvmq.codegen.kernels.parts.epilogue import EpiloguePlan, plan_epilogue
from tvmq.codegen.kernels.parts.kernel_types import Dequantize, FixedRequantize, Isa, Kernel, Requantize
from tvmq.codegen.kernels.parts.loops import make_opaque, over_rows
from tvmq.codegen.kernels.parts.packing import PanelRun, panel_runs
from tvmq.codegen.kernels.parts.scaler import Parameters
from tvmq.codegen.kernels.parts.template import Template
from tvmq.codegen.kernels.parts.tiling import Product, choose_tiling

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
        return self.plan.constants(lambda values: pad_columns(values, self.product.columns, places))

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
        begin = make_opaque(product.a.begin(matrix, product.batch) + row * product.a.row)
        self.left.copy(self.a, begin, self.source, target)
        if self.with_row_sums:
            term = row_term(self.ins, self.source, target, self.pitch, self.right.zero)
            store(self.row_sums, number, term, 1)

    # ---- panels of b

    def _panel(self, matrix: Expr, first: Expr, run: PanelRun) -> None:
        """Columns from `first` of the product of one pair of matrices."""
        product, right = self.product, self.right
        packed = workspace(right.steps * run.columns * right.vector, self.ins.w_dtype)
        begin = make_opaque(product.b.begin(matrix, product.batch) + first * product.b.column)
        right.pack(self.b, begin, packed, 0, run.columns, run.channels)
        initial = right.column_terms(packed, 0, run.columns, self.left.zero)
        row = make_opaque(matrix * product.rows)
        target = make_opaque(product.y.begin(matrix, product.batch) + first)
        source = make_opaque(row * self.pitch if self.is_staged else product.a.begin(matrix, product.batch))

        def tile(begin_row: Expr, rows: int, _index: Expr) -> None:
            at = T.min(begin_row, product.rows - rows) if self.tiling.shifted else begin_row
            self._tile(make_opaque(at), rows, (packed, initial, row, source, target, first), run)

        over_range(list(self.tiling.pixel_parts), 0, self.tiling.tiles, tile)

    # ---- tiles

    def _tile(self, first_row: Expr, rows: int, panel: tuple[Any, ...], run: PanelRun) -> None:
        """Sums of some rows and the columns of a panel, then the epilogue."""
        packed, initial, matrix_row, source, target, first = panel
        term = (lambda i: self.row_sums[matrix_row + first_row + i]) if self.with_row_sums else None
        sums = begin_sums(self.ins, rows, initial, term)
        row_pitch = self.pitch if self.is_staged else self.product.a.row
        starts = [make_opaque(source + (first_row + i) * row_pitch) for i in range(rows)]
        multiply_tile(self.ins, sums, (self.source, starts), (packed, 0), self.right.steps)
        self._store(sums, make_opaque(target + first_row * self.product.y.row), first, run)

    def _store(self, sums: list[list[Register]], target: Expr, first: Expr, run: PanelRun) -> None:
        """Sums of a tile to y: as codes, as floats, or as they are."""
        lanes, scaler = self.ins.lanes, self.plan.scaler
        for column in range(run.columns):
            valid = min(lanes, run.channels - column * lanes)
            if valid <= 0:
                continue
            channel = first + column * lanes
            constants = () if scaler is None else scaler.load(self.channel_constants, channel, lanes)
            for row, line in enumerate(sums):
                value = self.plan.finish(self.ins, line[column].get(), constants)
                store_first(self.y, target + row * self.product.y.row + column * lanes, value, lanes, valid)


def choose_batch_matmul(
    product: BatchMatmul, step: Requantize | FixedRequantize | Dequantize | None, isa: Isa
) -> Kernel | None:
    """The kernel; None for what the template cannot read or add."""
    return batch_matmul(product, step, isa) if is_product_of_codes(product) else None
