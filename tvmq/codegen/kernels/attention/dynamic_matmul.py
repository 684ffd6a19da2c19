"""dynamic_matmul: products of two tensors of 8-bit codes whose sizes only a run tells (attention over any length).

Computes   numerics.matmul of the centred codes, then requantize, dequantize or nothing, bit for bit
Layouts    see dynamic_panels.py
Loops      rows of a to scratch memory where `dot` cannot read them as they are; lines of a panel of b are interleaved
           as constant weights are, or its columns cut into steps
Depth      the last step has the last line of b several times, and the zero point of a for it: it adds nothing
Beside     batch_matmul, of fixed sizes
Registers  rows x columns sums + columns vectors of b + 1 of a
Rounding   none of sums; corrections of bytes that are not centred (see code_panels) wrap, their total does not

Tests: tests/codegen/kernels/attention/test_dynamic_scores.py
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from tvm import tirx
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.attention.code_panels import activations, weights
from tvmq.codegen.kernels.attention.dynamic_panels import DynamicProductTemplate, Matrix
from tvmq.codegen.kernels.attention.product_tile import multiply_tile, pad_columns
from tvmq.codegen.kernels.attention.shape import BatchMatmul, known_size
from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.isa.generic import Instructions
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    Register,
    bind,
    ceildiv,
    const,
    load,
    spread,
    store,
    vector_type,
    workspace,
    wrapping_operation,
)
from tvmq.codegen.kernels.parts.epilogue import plan_epilogue
from tvmq.codegen.kernels.parts.kernel_types import Dequantize, FixedRequantize, Isa, Kernel, Requantize
from tvmq.codegen.kernels.parts.loops import copy_elements, make_opaque, over_rows
from tvmq.codegen.kernels.parts.scaler import Parameters
from tvmq.codegen.kernels.parts.work import KernelWork
from tvmq.numerics.code_type import CODES_8

GRAIN = 100_000  # bytes that are copied in about 10 us
SLACK = 64  # elements behind the last row of the copy
DYNAMIC_MACS = 4.0  # multiply-accumulates in a cycle, for each tap of `dot`
Step = Requantize | FixedRequantize | Dequantize | None


def _work(product: BatchMatmul, ins: Instructions) -> KernelWork:
    """Work of a run whose dynamic sizes are all 1."""
    macs = math.prod(map(known_size, (*product.batch, product.rows, product.depth, product.columns)))
    return KernelWork("dynamic_matmul", 0.0, macs, True, lambda *_: macs / (DYNAMIC_MACS * ins.taps))


def dynamic_matmul(product: BatchMatmul, step: Step, isa: Isa) -> Kernel:
    """Kernel; parameters a, b, the multiplier or scale, y.

    step  what becomes of the sums, by one multiplier or scale; None leaves them as int32
    """
    template = _DynamicMatmulTemplate(product, step, instructions(isa))
    return template.kernel(template.constants(), _work(product, template.ins))


class _DynamicMatmulTemplate(DynamicProductTemplate):
    """Product of dynamic sizes; see the head of this file."""

    def __init__(self, product: BatchMatmul, step: Step, ins: Instructions) -> None:
        super().__init__(product, ins)
        self.plan = plan_epilogue(() if step is None else (step,))
        self.out_dtype = self.plan.out_dtype
        self.name = f"dynamic_matmul_{ins.name}_{self.tile_rows}x{self.tile_columns}"
        self.key = (self.name, product, self.plan.key)
        self.dtypes = product.a.dtype, product.b.dtype
        # as `dot` takes the codes
        self.a_zero = product.a_zero + ins.shift_of(product.a.dtype) if ins.takes_bytes else 0
        self.b_zero = product.b_zero - (128 if product.b.dtype == "uint8" else 0) if ins.takes_bytes else 0
        whole_steps = isinstance(product.depth, int) and product.depth % ins.taps == 0
        self.is_staged = not (whole_steps and ins.takes_bytes and product.a.dtype == ins.x_dtype and not self.b_zero)

    def constants(self) -> tuple[np.ndarray, ...]:
        """The multiplier or scale, a vector of it."""
        return self.plan.constants(lambda values: pad_columns(values, self.lanes, self.lanes))

    def constant_parameters(self) -> Parameters:
        return self.plan.constant_parameters(self.lanes)

    # ---- rows of a

    def prepare_rows(self) -> None:
        self.steps = ceildiv(self.depth, self.ins.taps)
        self.pitch = bind(self.steps * self.ins.taps)
        if not self.is_staged:
            return
        rows = bind(self.matrices * self.rows)
        self.source = workspace(rows * self.pitch + SLACK, self.ins.x_dtype)
        if self.b_zero:
            self.row_terms = workspace(rows, "int32")
        over_rows(rows, self.pitch, GRAIN, lambda: self._stage_row)

    def rows_of(self, matrix: Expr) -> tuple[Buffer, Expr, Expr]:
        if not self.is_staged:
            return super().rows_of(matrix)
        return self.source, make_opaque(matrix * self.rows * self.pitch), self.pitch

    def _stage_row(self, number: Expr) -> None:
        """Copy a row of a as `dot` takes it, and what its sums begin with: -b_zero * the sum of its centred codes."""
        ins, zero, kind = self.ins, self.product.a_zero, self.dtypes[0]
        matrix, row = T.floordiv(number, self.rows), T.floormod(number, self.rows)
        begin = make_opaque(self.a.begin(matrix, self.batch) + row * self.a.row)
        place = make_opaque(number * self.pitch)

        def codes(i: Expr, count: int) -> Expr:
            return activations(ins, load(self.buffers["a"], begin + i, vector_type(kind, count)), zero, count)

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
        store(self.row_terms, number, total.get() * const(-self.b_zero), 1)

    # ---- panels of b

    def pack(self, b: Matrix, first: Expr, vectors: int) -> tuple[Buffer, list[Register]]:
        """The panel, and a_zero * the sums of its columns."""
        buffer, begin, operand = b
        packed = workspace(self.steps * (vectors * self.lanes * self.ins.taps), self.ins.w_dtype)
        terms = [Register("int32", self.lanes) for _ in range(vectors)]
        for register in terms:
            register.set(spread(0, self.lanes))
        begin = make_opaque(begin + first * operand.column)
        in_columns = not (isinstance(operand.column, int) and operand.column == 1)
        if in_columns:
            self._pack_columns(packed, (buffer, begin, operand), vectors)
        else:
            self._pack_lines(packed, (buffer, begin, operand), terms)
        if in_columns and self.a_zero:
            with T.serial(0, self.steps) as step:
                for column, register in enumerate(terms):
                    self._add_term(register, load(packed, (step * vectors + column) * self.vector, self.vector_type))
        return packed, terms

    @property
    def vector(self) -> int:
        """Weights of a vector."""
        return int(self.lanes * self.ins.taps)

    @property
    def vector_type(self) -> str:
        return vector_type(self.ins.w_dtype, self.vector)

    def _add_term(self, register: Register, weight: Expr) -> None:
        register.set(self.ins.dot(register.get(), spread(self.a_zero, self.vector, self.ins.x_dtype), weight))

    def _over_steps(self, body: Callable[[Expr, list[Expr]], None]) -> None:
        """body(step, its lines of b) for all steps."""
        taps = self.ins.taps
        with T.serial(0, self.steps - 1) as step:
            body(step, [step * taps + tap for tap in range(taps)])
        last = make_opaque(self.steps - 1)
        body(last, [make_opaque(T.min(last * taps + tap, self.depth - 1)) for tap in range(taps)])

    def _pack_lines(self, packed: Buffer, b: Matrix, terms: list[Register]) -> None:
        """Interleave the lines of a panel that begins there."""
        buffer, begin, operand = b

        def pack(step: Expr, lines: list[Expr]) -> None:
            for column, register in enumerate(terms):
                places = [begin + line * operand.row + column * self.lanes for line in lines]
                weight = bind(interleave_weights(self.ins, [self._codes(buffer, at, self.lanes) for at in places]))
                store(packed, (step * len(terms) + column) * self.vector, weight, self.vector)
                if self.a_zero:
                    self._add_term(register, weight)

        self._over_steps(pack)

    def _pack_columns(self, packed: Buffer, b: Matrix, vectors: int) -> None:
        """Cut columns of neighbours into steps, one column after the other."""
        buffer, begin, operand = b
        taps, pitch = self.ins.taps, vectors * self.vector
        whole = bind(T.floordiv(self.depth, taps))
        with T.serial(0, vectors * self.lanes) as column:
            source, place = make_opaque(begin + column * operand.column), make_opaque(column * taps)
            with T.serial(0, whole) as step:
                store(packed, place + step * pitch, self._codes(buffer, source + step * taps, taps), taps)
            with T.serial(0, self.pitch - whole * taps) as tap:
                code = self._codes(buffer, source + T.min(whole * taps + tap, self.depth - 1), 1)
                store(packed, place + whole * pitch + tap, code, 1)

    def _codes(self, b: Buffer, offset: Expr, count: int) -> Expr:
        """Some of b's codes as `dot` takes weights."""
        codes = load(b, offset, vector_type(self.dtypes[1], count))
        return bind(weights(self.ins, codes, self.product.b_zero, count))

    # ---- tiles

    def tile(self, panel: tuple[Buffer, list[Register]], starts: tuple[Buffer, list[Expr]], row: Expr) -> list[Any]:
        packed, terms = panel
        sums = [[Register("int32", self.lanes) for _ in terms] for _ in starts[1]]
        for i, line in enumerate(sums):
            for register in line:
                begin = load(self.row_terms, row + i, "int32") if self.b_zero else 0
                register.set(spread(begin, self.lanes))
        multiply_tile(self.ins, sums, starts, (packed, 0), self.steps)
        names = self.constant_parameters()
        constants = self.plan.scaler.load([self.buffers[name] for name in names], 0, self.lanes) if names else ()

        def finish(register: Register, term: Register) -> Expr:
            total = register.get()
            if self.a_zero:
                total = wrapping_operation("sub", total, term.get(), self.lanes)
            return self.plan.finish(self.ins, total, constants)

        return [
            [lambda pair=pair: finish(*pair) for pair in zip(line, terms, strict=True)]
            for line in sums
        ]


def interleave_weights(ins: Instructions, lines: list[Expr]) -> Expr:
    """Vectors of `lanes` weights, one for each tap, as `dot` takes them: the taps of a lane side by side."""
    if len(lines) == 1:
        return lines[0]
    order = [const(i % ins.taps * ins.lanes + i // ins.taps) for i in range(ins.taps * ins.lanes)]
    return tirx.Shuffle(lines, order)


def choose_dynamic_matmul(product: BatchMatmul, step: Step, isa: Isa) -> Kernel | None:
    """The kernel; None for tensors that are no 8-bit codes."""
    return dynamic_matmul(product, step, isa) if {product.a.dtype, product.b.dtype} <= set(CODES_8) else None
