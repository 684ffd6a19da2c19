"""dynamic_matmul: products of two tensors of 8-bit codes whose sizes only a run tells (attention over any length).

Computes   numerics.matmul of the centred codes, int32, bit for bit
Layouts    a [*batch, rows, depth], b [*batch, depth, columns], y [*batch, rows, columns]; any size may be dynamic
Loops      parallel chunk: ROWS rows of one matrix, copied as `dot` takes them; vectors of columns, the last one shifted
           back; depth in steps of `taps`, whose lines of b are interleaved in registers
           fewer rows than ROWS are taken one by one, fewer columns than a vector as single numbers
Depth      the last step has the last line of b several times, and the zero point of a for it: it adds nothing
Beside     batch_matmul, of fixed sizes, packs panels of b once for all rows; here each ROWS rows interleave b anew
Registers  ROWS vectors of sums + 1 of b + 1 of a + 1 of the sums of b's columns
Rounding   none; corrections of bytes that are not centred (see code_panels) wrap, their total does not

Tests: tests/codegen/kernels/attention/test_dynamic_scores.py
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tvm import tirx
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.attention.code_panels import activations, weights
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
from tvmq.codegen.kernels.parts.loops import copy_elements, make_opaque
from tvmq.codegen.kernels.parts.scaler import Parameters
from tvmq.codegen.kernels.parts.template import Template
from tvmq.codegen.kernels.parts.work import KernelWork
from tvmq.numerics.code_type import CODES_8

ROWS = 8
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
        self.name = f"dynamic_matmul_{ins.name}"
        self.key = (self.name, product)
        a_zero, b_zero = product.zeros
        # as `dot` takes the codes
        self.a_zero = a_zero + ins.shift_of(product.dtypes[0]) if ins.takes_bytes else 0
        self.b_zero = b_zero - (128 if product.dtypes[1] == "uint8" else 0) if ins.takes_bytes else 0

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
        self.steps = bind(T.floordiv(self.depth + const(self.ins.taps - 1), self.ins.taps))
        self.pitch = bind(self.steps * self.ins.taps)
        branch(self.rows >= ROWS, lambda: self._chunks(ROWS), lambda: self._chunks(1))

    def _chunks(self, tile: int) -> None:
        blocks = ceildiv(self.rows, tile)
        with T.parallel(0, self.batch * blocks) as index:
            matrix = make_opaque(T.floordiv(index, blocks))
            first = make_opaque(T.min(T.floormod(index, blocks) * tile, self.rows - tile))
            branch(
                self.columns >= self.lanes,
                lambda: self._vectors(matrix, first, tile),
                lambda: self._numbers(matrix, first, tile),
            )

    def _vectors(self, matrix: Expr, first: Expr, tile: int) -> None:
        """All columns of some rows, vectors of them."""
        rows = workspace(tile * self.pitch, self.ins.x_dtype)
        places = [make_opaque(row * self.pitch) for row in range(tile)]
        begins = [self._copy_row(rows, places[row], matrix, first + row) for row in range(tile)]
        with T.serial(0, T.floordiv(self.columns + (self.lanes - 1), self.lanes)) as vector:
            column = make_opaque(T.min(vector * self.lanes, self.columns - self.lanes))
            sums = self._sums(rows, places, begins, make_opaque(matrix * self.depth * self.columns + column))
            for row, total in enumerate(sums):
                store(self.y, (matrix * self.rows + first + row) * self.columns + column, total, self.lanes)

    def _copy_row(self, rows: Buffer, place: Expr, matrix: Expr, row: Expr) -> Register:
        """Copy a row of a; what its sums begin with."""
        ins, (zero, _) = self.ins, self.product.zeros
        begin = make_opaque((matrix * self.rows + row) * self.depth)
        kind = self.product.dtypes[0]

        def codes(i: Expr, count: int) -> Expr:
            return activations(ins, load(self.a, begin + i, vector_type(kind, count)), zero, count)

        copy_elements(rows, place, self.depth, min(16, ins.vector_bytes), codes)
        with T.serial(0, self.pitch - self.depth) as i:
            store(rows, place + self.depth + i, const(self.a_zero, ins.x_dtype), 1)
        total = Register("int32", self.lanes)
        total.set(spread(0, self.lanes))
        if self.b_zero:
            ones = spread(1, ins.taps * self.lanes, ins.w_dtype)
            with T.serial(0, self.steps) as step:
                total.set(ins.dot(total.get(), ins.broadcast(rows, place + step * ins.taps), ones))
            # (sum of a - depth * a_zero) * -b_zero: below 2^31 as a sum of products of codes
            centred = total.get() - spread(self.pitch * self.a_zero, self.lanes)
            total.set(centred * spread(-self.b_zero, self.lanes))
        return total

    def _sums(self, rows: Buffer, places: list[Expr], begins: list[Register], b: Expr) -> list[Expr]:
        """Sums of a vector of columns for all copied rows; b: where the columns begin."""
        ins = self.ins
        sums = [Register("int32", self.lanes) for _ in places]
        for register, begin in zip(sums, begins, strict=True):
            register.set(begin.get())
        column = Register("int32", self.lanes)  # a_zero * sum of b's column
        column.set(spread(0, self.lanes))

        def add(step: Expr, lines: list[Expr]) -> None:
            weight = bind(interleave_weights(ins, [self._line(b + line * self.columns) for line in lines]))
            for register, place in zip(sums, places, strict=True):
                register.set(ins.dot(register.get(), ins.broadcast(rows, place + step * ins.taps), weight))
            if self.a_zero:
                zero = spread(self.a_zero, ins.taps * self.lanes, ins.x_dtype)
                column.set(ins.dot(column.get(), zero, weight))

        with T.serial(0, self.steps - 1) as step:
            add(step, [step * ins.taps + tap for tap in range(ins.taps)])
        last = make_opaque(self.steps - 1)
        add(last, [make_opaque(T.min(last * ins.taps + tap, self.depth - 1)) for tap in range(ins.taps)])
        if not self.a_zero:
            return [bind(register.get()) for register in sums]
        return [wrapping_operation("sub", register.get(), column.get(), self.lanes) for register in sums]

    def _line(self, offset: Expr) -> Expr:
        """A vector of b's codes as `dot` takes weights."""
        codes = load(self.b, offset, vector_type(self.product.dtypes[1], self.lanes))
        return bind(weights(self.ins, codes, self.product.zeros[1], self.lanes))

    def _numbers(self, matrix: Expr, first: Expr, tile: int) -> None:
        """All columns of some rows, one by one."""
        with T.serial(0, self.columns) as column:
            sums = [Register("int32", 1) for _ in range(tile)]
            for register in sums:
                register.set(const(0))
            begins = [bind((matrix * self.rows + first + row) * self.depth) for row in range(tile)]
            b_begin = bind(matrix * self.depth * self.columns + column)
            with T.serial(0, self.depth) as k:
                b = self._centred_code(self.b, b_begin + k * self.columns, 1)
                for begin, register in zip(begins, sums, strict=True):
                    register.set(register.get() + self._centred_code(self.a, begin + k, 0) * b)
            for row, register in enumerate(sums):
                store(self.y, (matrix * self.rows + first + row) * self.columns + column, register.get(), 1)

    def _centred_code(self, buffer: Buffer, offset: Expr, operand: int) -> Expr:
        """A code less its zero point, int32."""
        code = load(buffer, offset, self.product.dtypes[operand])
        return bind(T.Cast("int32", code) - const(self.product.zeros[operand]))


def interleave_weights(ins: Instructions, lines: list[Expr]) -> Expr:
    """Vectors of `lanes` weights, one for each tap, as `dot` takes them: the taps of a lane side by side."""
    if len(lines) == 1:
        return lines[0]
    order = [const(i % ins.taps * ins.lanes + i // ins.taps) for i in range(ins.taps * ins.lanes)]
    return tirx.Shuffle(lines, order)


def choose_dynamic_matmul(product: DynamicMatmul, isa: Isa) -> Kernel | None:
    """The kernel; None for tensors that are no 8-bit codes."""
    return dynamic_matmul(product, isa) if set(product.dtypes) <= set(CODES_8) else None
