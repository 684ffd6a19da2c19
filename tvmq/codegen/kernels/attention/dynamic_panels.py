"""Products of two tensors whose sizes only a run tells: columns cut into panels, rows into tiles, for codes and floats.

Layouts  operands are batches of matrices at any distances (see MatrixOperand), which may be products of dynamic sizes;
         neighbours: the elements of a row of a and of y, and those of a row or of a column of b
Loops    parallel job: a panel of columns of one pair of matrices, packed: `columns` vectors as long as there are as
         many, then one vector, the last of either shifted back; fewer columns than a vector are copied to whole ones
         tiles of `rows` rows of a, the last one shifted back; fewer rows than a tile one by one

Tests: tests/codegen/kernels/attention/test_dynamic_matmul_float.py
"""

from __future__ import annotations

import math
from typing import Any

from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.attention.shape import BatchMatmul, MatrixOperand
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    FunctionBuilder,
    Register,
    bind,
    bind_size,
    branch,
    ceildiv,
    const,
    load,
    quotient,
    spread,
    store,
    workspace,
)
from tvmq.codegen.kernels.parts.loops import make_opaque
from tvmq.codegen.kernels.parts.scaler import Parameters
from tvmq.codegen.kernels.parts.template import Template
from tvmq.codegen.kernels.parts.tiling import Product, choose_tiling

USUAL = 96, 64  # rows and depth for which tiles are chosen
Matrix = tuple[Buffer, Expr, MatrixOperand]  # a buffer, where the matrix begins in it, and its distances


class DynamicProductTemplate(Template):
    """Product of dynamic sizes; a subclass packs panels and computes tiles. See the head of this file.

    out_dtype  of y
    """

    out_dtype = "float32"

    def __init__(self, product: BatchMatmul, ins: Any) -> None:
        self.product, self.ins, self.lanes = product, ins, ins.lanes
        rows, depth = USUAL
        tiling = choose_tiling(Product(rows, -(-rows // ins.lanes), depth // ins.taps), ins)
        self.tile_rows, self.tile_columns = tiling.rows, tiling.columns

    def constant_parameters(self) -> Parameters:
        """Parameters between b and y."""
        return {}

    def parameters(self) -> Parameters:
        a, b, y = (getattr(self.product, name) for name in ("a", "b", "y"))
        inputs = {"a": (a.shape, a.dtype), "b": (b.shape, b.dtype)}
        return inputs | self.constant_parameters() | {"y": (y.shape, self.out_dtype)}

    def body(self, function: FunctionBuilder) -> None:
        p = self.product
        self.batch = [function.count((size,)) for size in p.batch]
        self.rows, self.depth, self.columns = (function.count((size,)) for size in (p.rows, p.depth, p.columns))
        self.matrices = bind_size(math.prod(self.batch))
        self.a, self.b, self.y = (operand.in_run(function) for operand in (p.a, p.b, p.y))
        self.prepare_rows()
        branch(self.columns >= self.lanes, self._wide_matrices, self._narrow_matrices)

    def prepare_rows(self) -> None:
        """Copy the rows of a before the panels, where `dot` cannot read them as they are."""

    def rows_of(self, matrix: Expr) -> tuple[Buffer, Expr, Expr]:
        """The rows of a matrix of a as tiles read them: a buffer, where they begin, and their distance."""
        return self.buffers["a"], make_opaque(self.a.begin(matrix, self.batch)), self.a.row

    def pack(self, b: Matrix, first: Expr, vectors: int) -> tuple[Buffer, list[Register]]:
        """A panel of vectors of the columns of b from `first`, and what a tile needs to know of each."""
        raise NotImplementedError

    def tile(self, panel: tuple[Buffer, list[Register]], starts: tuple[Buffer, list[Expr]], row: Expr) -> list[Any]:
        """Vectors of the result for rows that begin there and the columns of a panel, [row][column]; row: its number"""
        raise NotImplementedError

    def _wide_matrices(self) -> None:
        """Panels of b as it is."""
        width = self.tile_columns * self.lanes
        vectors = bind_size(ceildiv(self.columns, self.lanes))
        wide = make_opaque(T.if_then_else(const(0) + self.columns >= width, quotient(vectors, self.tile_columns), 0))
        panels = bind(wide + (vectors - wide * self.tile_columns))
        with T.parallel(0, self.matrices * panels) as job:
            matrix, panel = make_opaque(T.floordiv(job, panels)), make_opaque(T.floormod(job, panels))

            def at(first: Expr, vectors: int) -> None:
                b, y = (
                    (self.buffers[name], make_opaque(operand.begin(matrix, self.batch)), operand)
                    for name, operand in (("b", self.b), ("y", self.y))
                )
                self._panel(matrix, b, y, first, vectors)

            narrow = make_opaque(wide * width + (panel - wide) * self.lanes)
            branch(
                panel < wide,
                lambda: at(make_opaque(T.min(panel * width, self.columns - width)), self.tile_columns),
                lambda: at(make_opaque(T.min(narrow, self.columns - self.lanes)), 1),
            )

    def _narrow_matrices(self) -> None:
        """Fewer columns than a vector: by copies of b and y whose lines are vectors."""
        with T.parallel(0, self.matrices) as matrix:
            b, y = (
                MatrixOperand((), dtype, 0, (), self.lanes, 1) for dtype in (self.product.b.dtype, self.out_dtype)
            )
            copied, result = workspace(self.depth * self.lanes, b.dtype), workspace(self.rows * self.lanes, y.dtype)
            source, target = (make_opaque(operand.begin(matrix, self.batch)) for operand in (self.b, self.y))
            with T.serial(0, self.depth) as line:
                store(copied, line * self.lanes, spread(0, self.lanes, b.dtype), self.lanes)
                with T.serial(0, self.columns) as i:
                    place = source + line * self.b.row + i * self.b.column
                    store(copied, line * self.lanes + i, load(self.buffers["b"], place, b.dtype), 1)
            self._panel(matrix, (copied, 0, b), (result, 0, y), 0, 1)
            with T.serial(0, self.rows) as line:
                with T.serial(0, self.columns) as i:
                    value = load(result, line * self.lanes + i, y.dtype)
                    store(self.buffers["y"], target + line * self.y.row + i, value, 1)

    def _panel(self, matrix: Expr, b: Matrix, y: Matrix, first: Expr, vectors: int) -> None:
        """Some vectors of columns from `first` of the product of one pair of matrices."""
        panel = self.pack(b, first, vectors)
        source, begin, pitch = self.rows_of(matrix)
        target = make_opaque(y[1] + first)

        def tiles(rows: int) -> None:
            with T.serial(0, T.floordiv(self.rows + (rows - 1), rows)) as number:
                row = make_opaque(T.min(number * rows, self.rows - rows))
                starts = [make_opaque(begin + (row + i) * pitch) for i in range(rows)]
                values = self.tile(panel, (source, starts), bind(matrix * self.rows + row))
                at = make_opaque(target + row * y[2].row)
                for i, line in enumerate(values):
                    for column, value in enumerate(line):
                        store(y[0], at + i * y[2].row + column * self.lanes, value(), self.lanes)

        branch(self.rows >= self.tile_rows, lambda: tiles(self.tile_rows), lambda: tiles(1))
