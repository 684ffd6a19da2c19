"""dynamic_matmul_float: products of two float32 tensors whose sizes only a run tells (attention over any length).

Computes   sum of a * b over the depth, in this order, one fused multiply-add a product (see float_vectors)
Layouts    a [*batch, rows, depth], b [*batch, depth, columns], y [*batch, rows, columns]; any size may be dynamic
Loops      parallel job: a panel of columns of one pair of matrices, packed [depth][column]: `columns` vectors as long
           as there are as many, then one vector, the last one shifted back; fewer columns have zeros behind them
           tiles of `rows` rows of a, the last one shifted back; fewer rows than a tile one by one
Beside     batch_matmul_float, of fixed sizes, reads and writes matrices at any distances
Registers  rows x columns sums + columns vectors of b + 1 of a

Tests: tests/codegen/kernels/attention/test_dynamic_matmul_float.py
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.attention.product_tile import multiply_tile
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    FunctionBuilder,
    Register,
    Shape,
    bind,
    branch,
    load,
    spread,
    store,
    vector_type,
    workspace,
)
from tvmq.codegen.kernels.parts.float_vectors import float_vectors
from tvmq.codegen.kernels.parts.kernel_types import Isa, Kernel
from tvmq.codegen.kernels.parts.loops import make_opaque
from tvmq.codegen.kernels.parts.scaler import Parameters
from tvmq.codegen.kernels.parts.template import Template
from tvmq.codegen.kernels.parts.tiling import Product, choose_tiling
from tvmq.codegen.kernels.parts.work import KernelWork

USUAL = 96, 64  # rows and depth for which tiles are chosen


@dataclass(frozen=True)
class DynamicFloatMatmul:
    """Sizes, numbers or names of dynamic ones."""

    batch: Shape
    rows: int | str
    depth: int | str
    columns: int | str


def dynamic_matmul_float(product: DynamicFloatMatmul, isa: Isa) -> Kernel:
    """Kernel; parameters a, b, y."""
    sizes = (*product.batch, product.rows, product.depth, product.columns)
    macs = math.prod(size for size in sizes if isinstance(size, int))
    work = KernelWork("dynamic_matmul_float", 0.0, macs, False)
    return _DynamicFloatMatmulTemplate(product, isa).kernel((), work)


class _DynamicFloatMatmulTemplate(Template):
    """Product of dynamic sizes; see the head of this file."""

    def __init__(self, product: DynamicFloatMatmul, isa: Isa) -> None:
        self.product, self.ins = product, float_vectors(isa)
        self.lanes = self.ins.lanes
        rows, depth = USUAL
        tiling = choose_tiling(Product(rows, rows // self.lanes, depth), self.ins)
        self.tile_rows, self.tile_columns = tiling.rows, tiling.columns
        self.name = f"dynamic_matmul_float_{self.ins.name}_{self.tile_rows}x{self.tile_columns}"
        self.key = ("dynamic_matmul_float", product, isa.name)

    def parameters(self) -> Parameters:
        p = self.product
        return {
            "a": ((*p.batch, p.rows, p.depth), "float32"),
            "b": ((*p.batch, p.depth, p.columns), "float32"),
            "y": ((*p.batch, p.rows, p.columns), "float32"),
        }

    def body(self, function: FunctionBuilder) -> None:
        p, (self.a, self.b, self.y) = self.product, self.buffers.values()
        sizes = (p.batch, (p.rows,), (p.depth,), (p.columns,))
        self.batch, self.rows, self.depth, self.columns = map(function.count, sizes)
        branch(self.columns >= self.lanes, self._panels, self._numbers)

    # ---- panels of whole vectors

    def _panels(self) -> None:
        width = self.tile_columns * self.lanes
        wide = bind(T.floordiv(self.columns, width))
        left = bind(self.columns - wide * width)
        panels = bind(wide + T.floordiv(left + (self.lanes - 1), self.lanes))
        with T.parallel(0, self.batch * panels) as job:
            matrix, panel = make_opaque(T.floordiv(job, panels)), make_opaque(T.floormod(job, panels))
            first = make_opaque(wide * width + (panel - wide) * self.lanes)
            branch(
                panel < wide,
                lambda: self._panel(matrix, make_opaque(panel * width), self.tile_columns),
                lambda: self._panel(matrix, make_opaque(T.min(first, self.columns - self.lanes)), 1),
            )

    def _panel(self, matrix: Expr, first: Expr, vectors: int) -> None:
        """Some vectors of columns from `first` of the product of one pair of matrices."""
        width, kind = vectors * self.lanes, vector_type("float32", self.lanes)
        packed = workspace(self.depth * width, "float32")
        begin = make_opaque(matrix * self.depth * self.columns + first)
        with T.serial(0, self.depth) as step:
            for vector in range(vectors):
                value = load(self.b, begin + step * self.columns + vector * self.lanes, kind)
                store(packed, step * width + vector * self.lanes, value, self.lanes)
        source, target = make_opaque(matrix * self.rows), make_opaque(matrix * self.rows * self.columns + first)

        def tiles(rows: int) -> None:
            with T.serial(0, T.floordiv(self.rows + (rows - 1), rows)) as tile:
                row = make_opaque(T.min(tile * rows, self.rows - rows))
                self._tile(packed, make_opaque(source + row), make_opaque(target + row * self.columns), rows, vectors)

        branch(self.rows >= self.tile_rows, lambda: tiles(self.tile_rows), lambda: tiles(1))

    def _tile(self, packed: Buffer, row: Expr, target: Expr, rows: int, vectors: int) -> None:
        sums = [[Register("float32", self.lanes) for _ in range(vectors)] for _ in range(rows)]
        for line in sums:
            for register in line:
                register.set(spread(0.0, self.lanes, "float32"))
        starts = [make_opaque((row + i) * self.depth) for i in range(rows)]
        multiply_tile(self.ins, sums, (self.a, starts), (packed, 0), self.depth)
        for i, line in enumerate(sums):
            for vector, register in enumerate(line):
                store(self.y, target + i * self.columns + vector * self.lanes, register.get(), self.lanes)

    # ---- fewer columns than a vector

    def _numbers(self) -> None:
        """A matrix of b at a time with zeros behind its columns, then rows of a."""
        lanes = self.lanes
        with T.parallel(0, self.batch) as matrix:
            packed, result = workspace(self.depth * lanes, "float32"), workspace(lanes, "float32")
            begin = make_opaque(matrix * self.depth * self.columns)
            with T.serial(0, self.depth) as step:
                store(packed, step * lanes, spread(0.0, lanes, "float32"), lanes)
                with T.serial(0, self.columns) as column:
                    value = load(self.b, begin + step * self.columns + column, "float32")
                    store(packed, step * lanes + column, value, 1)
            with T.serial(0, self.rows) as index:
                row, total = make_opaque(matrix * self.rows + index), Register("float32", lanes)
                total.set(spread(0.0, lanes, "float32"))
                multiply_tile(self.ins, [[total]], (self.a, [make_opaque(row * self.depth)]), (packed, 0), self.depth)
                store(result, 0, total.get(), lanes)
                with T.serial(0, self.columns) as column:
                    store(self.y, row * self.columns + column, load(result, column, "float32"), 1)


def choose_dynamic_matmul_float(product: DynamicFloatMatmul, isa: Isa) -> Kernel | None:
    """The kernel; None for a depth of 0, whose sums are no sums."""
    return dynamic_matmul_float(product, isa) if product.depth != 0 else None
