"""dynamic_matmul: products of two tensors of 8-bit codes whose sizes only a run tells (attention over any length).

Computes   numerics.matmul of the centred codes, int32, bit for bit
Layouts    a [*batch, rows, depth], b [*batch, depth, columns], y [*batch, rows, columns]; any size may be dynamic
Loops      rows of a to scratch memory where `dot` cannot read them as they are; parallel job: a panel of columns of
           one pair of matrices, its lines interleaved as constant weights are: `columns` vectors as long as there are
           as many, then one vector, the last one shifted back; tiles of `rows` rows of a, the last one shifted back
           fewer rows than a tile are taken one by one, fewer columns than a vector are copied to a vector a line
Depth      the last step has the last line of b several times, and the zero point of a for it: it adds nothing
Beside     batch_matmul, of fixed sizes, reads and writes matrices at any distances and does what follows the sums
Registers  rows x columns sums + columns vectors of b + 1 of a
Rounding   none; corrections of bytes that are not centred (see code_panels) wrap, their total does not

Tests: tests/codegen/kernels/attention/test_dynamic_scores.py
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tvm import tirx
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.attention.code_panels import activations, weights
from tvmq.codegen.kernels.attention.product_tile import multiply_tile
from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.isa.generic import Instructions
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    FunctionBuilder,
    Register,
    bind,
    branch,
    ceildiv,
    const,
    load,
    spread,
    store,
    vector_type,
    workspace,
    wrapping_operation,
)
from tvmq.codegen.kernels.parts.kernel_types import Isa, Kernel
from tvmq.codegen.kernels.parts.loops import copy_elements, make_opaque, over_rows
from tvmq.codegen.kernels.parts.scaler import Parameters
from tvmq.codegen.kernels.parts.template import Template
from tvmq.codegen.kernels.parts.tiling import Product, choose_tiling
from tvmq.codegen.kernels.parts.work import KernelWork
from tvmq.numerics.code_type import CODES_8

USUAL = 96, 64  # rows and depth for which tiles are chosen
GRAIN = 100_000  # bytes that are copied in about 10 us
SLACK = 64  # elements behind the last row of the copy
Size = int | str


@dataclass(frozen=True)
class DynamicMatmul:
    """Sizes, numbers or names of dynamic ones; types and zero points of both operands."""

    batch: tuple[Size, ...]
    rows: Size
    depth: Size
    columns: Size
    dtypes: tuple[str, str]
    zeros: tuple[int, int]


DYNAMIC_MACS = 4.0  # multiply-accumulates in a cycle, for each tap of `dot`


def _work(product: DynamicMatmul, ins: Instructions) -> KernelWork:
    """Work of a run whose dynamic sizes are all 1."""
    sizes = (*product.batch, product.rows, product.depth, product.columns)
    macs = math.prod(size for size in sizes if isinstance(size, int))
    return KernelWork("dynamic_matmul", 0.0, macs, True, lambda *_: macs / (DYNAMIC_MACS * ins.taps))


def dynamic_matmul(product: DynamicMatmul, isa: Isa) -> Kernel:
    """Kernel; parameters a, b, y."""
    ins = instructions(isa)
    return _DynamicMatmulTemplate(product, ins).kernel((), _work(product, ins))


class _DynamicMatmulTemplate(Template):
    """Product of dynamic sizes; see the head of this file."""

    def __init__(self, product: DynamicMatmul, ins: Instructions) -> None:
        self.product, self.ins, self.lanes = product, ins, ins.lanes
        rows, depth = USUAL
        tiling = choose_tiling(Product(rows, -(-rows // ins.lanes), depth // ins.taps), ins)
        self.tile_rows, self.tile_columns = tiling.rows, tiling.columns
        self.name = f"dynamic_matmul_{ins.name}_{self.tile_rows}x{self.tile_columns}"
        self.key = (self.name, product)
        a_zero, b_zero = product.zeros
        # as `dot` takes the codes
        self.a_zero = a_zero + ins.shift_of(product.dtypes[0]) if ins.takes_bytes else 0
        self.b_zero = b_zero - (128 if product.dtypes[1] == "uint8" else 0) if ins.takes_bytes else 0
        whole_steps = isinstance(product.depth, int) and product.depth % ins.taps == 0
        self.is_staged = not (whole_steps and ins.takes_bytes and product.dtypes[0] == ins.x_dtype and not self.b_zero)

    def parameters(self) -> Parameters:
        p = self.product
        return {
            "a": ((*p.batch, p.rows, p.depth), p.dtypes[0]),
            "b": ((*p.batch, p.depth, p.columns), p.dtypes[1]),
            "y": ((*p.batch, p.rows, p.columns), "int32"),
        }

    def body(self, function: FunctionBuilder) -> None:
        p, (self.a, self.b, self.y) = self.product, self.buffers.values()
        sizes = (p.batch, (p.rows,), (p.depth,), (p.columns,))
        self.batch, self.rows, self.depth, self.columns = map(function.count, sizes)
        self.steps = ceildiv(self.depth, self.ins.taps)
        self.pitch = bind(self.steps * self.ins.taps)
        rows, width = bind(self.batch * self.rows), self.tile_columns * self.lanes
        self.source = self.a
        if self.is_staged:
            self.source = workspace(rows * self.pitch + SLACK, self.ins.x_dtype)
            if self.b_zero:
                self.row_terms = workspace(rows, "int32")
            over_rows(rows, self.pitch, GRAIN, lambda: self._stage_row)
        branch(self.columns >= self.lanes, lambda: self._wide_matrices(width), self._narrow_matrices)

    # ---- rows of a

    def _stage_row(self, row: Expr) -> None:
        """Copy a row of a as `dot` takes it, and what its sums begin with: -b_zero * the sum of its centred codes."""
        ins, (zero, _), kind = self.ins, self.product.zeros, self.product.dtypes[0]
        begin, place = make_opaque(row * self.depth), make_opaque(row * self.pitch)

        def codes(i: Expr, count: int) -> Expr:
            return activations(ins, load(self.a, begin + i, vector_type(kind, count)), zero, count)

        copy_elements(self.source, place, self.depth, min(16, ins.vector_bytes), codes)
        with T.serial(0, self.pitch - self.depth) as i:
            store(self.source, place + self.depth + i, const(self.a_zero, ins.x_dtype), 1)
        if not self.b_zero:
            return
        total = Register("int32", 1)
        total.set(const(0))
        with T.serial(0, self.pitch) as i:
            code = T.Cast("int32", load(self.source, place + i, ins.x_dtype))
            total.set(total.get() + (code - const(self.a_zero)))
        store(self.row_terms, row, total.get() * const(-self.b_zero), 1)

    # ---- panels of b

    def _wide_matrices(self, width: int) -> None:
        """Panels of b as it is."""
        b, y = (self.b, self.columns), (self.y, self.columns)
        wide = bind(T.floordiv(self.columns, width))
        panels = bind(wide + T.floordiv(self.columns - wide * width + (self.lanes - 1), self.lanes))
        with T.parallel(0, self.batch * panels) as job:
            matrix, panel = make_opaque(T.floordiv(job, panels)), make_opaque(T.floormod(job, panels))

            def at(first: Expr, vectors: int) -> None:
                places = matrix * self.depth * self.columns + first, matrix * self.rows * self.columns + first
                self._panel(make_opaque(matrix * self.rows), b, y, tuple(map(make_opaque, places)), vectors)

            narrow = make_opaque(wide * width + (panel - wide) * self.lanes)
            branch(
                panel < wide,
                lambda: at(make_opaque(panel * width), self.tile_columns),
                lambda: at(make_opaque(T.min(narrow, self.columns - self.lanes)), 1),
            )

    def _narrow_matrices(self) -> None:
        """Fewer columns than a vector: by copies of b and y whose lines are vectors."""
        with T.parallel(0, self.batch) as matrix:
            b = workspace(self.depth * self.lanes, self.product.dtypes[1])
            y = workspace(self.rows * self.lanes, "int32")
            begin, row = make_opaque(matrix * self.depth * self.columns), make_opaque(matrix * self.rows)
            with T.serial(0, self.depth) as line:
                store(b, line * self.lanes, spread(0, self.lanes, self.product.dtypes[1]), self.lanes)
                with T.serial(0, self.columns) as i:
                    code = load(self.b, begin + line * self.columns + i, self.product.dtypes[1])
                    store(b, line * self.lanes + i, code, 1)
            self._panel(row, (b, self.lanes), (y, self.lanes), (0, 0), 1)
            with T.serial(0, self.rows) as line:
                with T.serial(0, self.columns) as i:
                    store(self.y, (row + line) * self.columns + i, load(y, line * self.lanes + i, "int32"), 1)

    def _panel(
        self, row: Expr, b: tuple[Buffer, Expr], y: tuple[Buffer, Expr], places: tuple[Expr, ...], vectors: int
    ) -> None:
        """Some vectors of columns of the product of one pair of matrices.

        row     of all rows of a, the matrix's first
        b, y    and how far their lines lie apart; places: where the panel begins in each
        """
        packed = workspace(self.steps * (vectors * self.lanes * self.ins.taps), self.ins.w_dtype)
        terms = self._pack(packed, b, places[0], vectors)

        def tiles(rows: int) -> None:
            with T.serial(0, T.floordiv(self.rows + (rows - 1), rows)) as tile:
                first = make_opaque(T.min(tile * rows, self.rows - rows))
                self._tile(packed, terms, make_opaque(row + first), y, make_opaque(places[1] + first * y[1]), rows)

        branch(self.rows >= self.tile_rows, lambda: tiles(self.tile_rows), lambda: tiles(1))

    def _pack(self, packed: Buffer, b: tuple[Buffer, Expr], begin: Expr, vectors: int) -> list[Register]:
        """Interleave the lines of a panel that begins there; a_zero * the sums of its columns."""
        ins, vector = self.ins, self.lanes * self.ins.taps
        terms = [Register("int32", self.lanes) for _ in range(vectors)]
        for register in terms:
            register.set(spread(0, self.lanes))

        def pack(step: Expr, lines: list[Expr]) -> None:
            for column, register in enumerate(terms):
                places = [begin + line * b[1] + column * self.lanes for line in lines]
                weight = bind(interleave_weights(ins, [self._line(b[0], place) for place in places]))
                store(packed, (step * vectors + column) * vector, weight, vector)
                if self.a_zero:
                    register.set(ins.dot(register.get(), spread(self.a_zero, vector, ins.x_dtype), weight))

        with T.serial(0, self.steps - 1) as step:
            pack(step, [step * ins.taps + tap for tap in range(ins.taps)])
        last = make_opaque(self.steps - 1)
        pack(last, [make_opaque(T.min(last * ins.taps + tap, self.depth - 1)) for tap in range(ins.taps)])
        return terms

    def _line(self, b: Buffer, offset: Expr) -> Expr:
        """A vector of b's codes as `dot` takes weights."""
        codes = load(b, offset, vector_type(self.product.dtypes[1], self.lanes))
        return bind(weights(self.ins, codes, self.product.zeros[1], self.lanes))

    def _tile(
        self, packed: Buffer, terms: list[Register], row: Expr, y: tuple[Buffer, Expr], target: Expr, rows: int
    ) -> None:
        """Sums of some rows and the columns of a panel."""
        sums = [[Register("int32", self.lanes) for _ in terms] for _ in range(rows)]
        for i, line in enumerate(sums):
            for register in line:
                begin = load(self.row_terms, row + i, "int32") if self.b_zero else 0
                register.set(spread(begin, self.lanes))
        starts = [make_opaque((row + i) * self.pitch) for i in range(rows)]
        multiply_tile(self.ins, sums, (self.source, starts), (packed, 0), self.steps)
        for i, line in enumerate(sums):
            for column, (register, term) in enumerate(zip(line, terms, strict=True)):
                total = register.get()
                if self.a_zero:
                    total = wrapping_operation("sub", total, term.get(), self.lanes)
                store(y[0], target + i * y[1] + column * self.lanes, total, self.lanes)


def interleave_weights(ins: Instructions, lines: list[Expr]) -> Expr:
    """Vectors of `lanes` weights, one for each tap, as `dot` takes them: the taps of a lane side by side."""
    if len(lines) == 1:
        return lines[0]
    order = [const(i % ins.taps * ins.lanes + i // ins.taps) for i in range(ins.taps * ins.lanes)]
    return tirx.Shuffle(lines, order)


def choose_dynamic_matmul(product: DynamicMatmul, isa: Isa) -> Kernel | None:
    """The kernel; None for tensors that are no 8-bit codes."""
    return dynamic_matmul(product, isa) if set(product.dtypes) <= set(CODES_8) else None
