"""batch_matmul_float: products of two float32 tensors, both given at run time (attention), for every CPU.

Computes   sum of a * b over the depth, in this order, one fused multiply-add a product (see float_vectors)
Layouts    as batch_matmul: matrices at any distances inside their buffers, so that transposed heads are not copied
Loops      parallel job: a panel (`columns` vectors of b's columns) of one pair of matrices, packed [depth][column];
           then tiles of rows of a, whose elements are broadcast from memory
Registers  rows x columns sums + columns vectors of b + 1 of a

Tests: tests/codegen/kernels/attention/test_batch_matmul.py
"""

from __future__ import annotations

import math

from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.attention.product_tile import multiply_tile
from tvmq.codegen.kernels.attention.shape import BatchMatmul, product_work
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
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
from tvmq.codegen.kernels.parts.float_vectors import float_vectors
from tvmq.codegen.kernels.parts.kernel_types import Isa, Kernel
from tvmq.codegen.kernels.parts.loops import make_opaque, over_lanes
from tvmq.codegen.kernels.parts.packing import PanelRun, panel_runs
from tvmq.codegen.kernels.parts.scaler import Parameters
from tvmq.codegen.kernels.parts.template import Template
from tvmq.codegen.kernels.parts.tiling import Product, choose_tiling
from tvmq.errors import BuildError

SERIAL_MACS = 500_000  # about 10 us of one core: below, a parallel region costs more than it gains


def batch_matmul_float(product: BatchMatmul, isa: Isa) -> Kernel:
    """Kernel; parameters a, b, y. The zero points of the product count for nothing.

    raises  BuildError for shapes or types that do not fit
    """
    sizes = (*product.batch, product.rows, product.depth, product.columns)
    dtypes = {operand.dtype for operand in (product.a, product.b, product.y)}
    if min(sizes) < 1 or dtypes != {"float32"}:
        got = f"{sizes}, {', '.join(sorted(dtypes))}"
        raise BuildError(f"kernels, batch_matmul_float: takes float32 of positive sizes. Got {got}")
    if product.a.column != 1 or product.y.column != 1 or 1 not in (product.b.row, product.b.column):
        raise BuildError(
            "kernels, batch_matmul_float: elements of a row of a and y, and of a row or column of b, must be neighbours"
        )
    template = _FloatMatmulTemplate(product, isa)
    return template.kernel((), product_work("batch_matmul_float", product, template.ins))


class _FloatMatmulTemplate(Template):
    """Product; see the head of this file."""

    def __init__(self, product: BatchMatmul, isa: Isa) -> None:
        self.product, self.ins = product, float_vectors(isa)
        self.lanes = self.ins.lanes
        vectors = -(-product.columns // self.lanes)
        self.tiling = choose_tiling(Product(product.rows, vectors, product.depth), self.ins, isa.tiles)
        self.runs = panel_runs(self.tiling.panel_parts, product.columns, self.lanes)
        self.name = f"batch_matmul_float_{self.ins.name}_{self.tiling.rows}x{self.tiling.columns}"
        self.key = ("batch_matmul_float", product, isa.name, self.tiling)

    def parameters(self) -> Parameters:
        return {name: (getattr(self.product, name).shape, "float32") for name in ("a", "b", "y")}

    def body(self, function: FunctionBuilder) -> None:
        self.a, self.b, self.y = self.buffers.values()
        for run in self.runs:
            self._jobs(run)

    def _jobs(self, run: PanelRun) -> None:
        """The panels of a run, of all matrices."""
        product = self.product
        matrices = math.prod(product.batch)
        jobs = matrices * run.count
        parallel = jobs > 1 and matrices * product.rows * product.depth * product.columns > SERIAL_MACS
        with (T.parallel if parallel else T.serial)(0, jobs) as job:
            matrix, panel = make_opaque(T.floordiv(job, run.count)), make_opaque(T.floormod(job, run.count))
            self._panel(matrix, make_opaque((panel * run.columns + run.vector) * self.lanes), run)

    def _panel(self, matrix: Expr, first: Expr, run: PanelRun) -> None:
        """Columns from `first` of the product of one pair of matrices."""
        product, width = self.product, run.columns * self.lanes
        packed = workspace(product.depth * width, "float32")
        if run.channels < width:
            over_lanes(
                product.depth * width,
                self.lanes,
                lambda i, n: store(packed, i, spread(0.0, n, "float32"), n),
            )
        (self._pack_rows if product.b.column == 1 else self._pack_columns)(packed, matrix, first, run)
        source, target = (make_opaque(operand.begin(matrix, product.batch)) for operand in (product.a, product.y))

        def tile(begin: Expr, rows: int, _index: Expr) -> None:
            row = make_opaque(T.min(begin, product.rows - rows) if self.tiling.shifted else begin)
            begins = make_opaque(source + row * product.a.row), make_opaque(target + row * product.y.row)
            self._tile(packed, *begins, first, rows, run)

        over_range(list(self.tiling.pixel_parts), 0, self.tiling.tiles, tile)

    def _pack_rows(self, packed: Buffer, matrix: Expr, first: Expr, run: PanelRun) -> None:
        """b's rows lie in one piece each."""
        begin, width = make_opaque(self.product.b.begin(matrix, self.product.batch) + first), run.columns * self.lanes
        with T.serial(0, self.product.depth) as step:
            source, target = make_opaque(begin + step * self.product.b.row), make_opaque(step * width)

            def piece(offset: Expr, count: int, source: Expr = source, target: Expr = target) -> None:
                store(packed, target + offset, load(self.b, source + offset, vector_type("float32", count)), count)

            over_lanes(run.channels, self.lanes, piece)

    def _pack_columns(self, packed: Buffer, matrix: Expr, first: Expr, run: PanelRun) -> None:
        """b's columns lie in one piece each: element by element, a step's columns next to each other."""
        product, width = self.product, run.columns * self.lanes
        begin = make_opaque(product.b.begin(matrix, product.batch) + first * product.b.column)
        with T.serial(0, product.depth) as step:
            with T.serial(0, run.channels) as channel:
                value = self.b[begin + channel * product.b.column + step]
                store(packed, step * width + channel, value, 1)

    def _tile(self, packed: Buffer, source: Expr, target: Expr, first: Expr, rows: int, run: PanelRun) -> None:
        """Some rows of the columns of a panel."""
        product, lanes = self.product, self.lanes
        sums = [[Register("float32", lanes) for _ in range(run.columns)] for _ in range(rows)]
        for line in sums:
            for register in line:
                register.set(spread(0.0, lanes, "float32"))
        starts = [make_opaque(source + i * product.a.row) for i in range(rows)]
        multiply_tile(self.ins, sums, (self.a, starts), (packed, 0), product.depth)
        for i, line in enumerate(sums):
            for column, register in enumerate(line):
                valid = min(lanes, run.channels - column * lanes)
                if valid > 0:
                    place = target + i * product.y.row + first + column * lanes
                    store_first(self.y, place, register.get(), lanes, valid)


def choose_batch_matmul_float(product: BatchMatmul, isa: Isa) -> Kernel | None:
    """The kernel; None for empty tensors and elements that are no neighbours."""
    if product.a.column != 1 or product.y.column != 1 or 1 not in (product.b.row, product.b.column):
        return None
    fits = min((*product.batch, product.rows, product.depth, product.columns)) >= 1
    return batch_matmul_float(product, isa) if fits else None
