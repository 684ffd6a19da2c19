"""dynamic_matmul_float: products of two float32 tensors whose sizes only a run tells (attention over any length).

Computes   sum of a * b over the depth, in this order, one fused multiply-add a product (see float_vectors)
Layouts    see dynamic_panels.py; panels are packed [depth][column]
Beside     batch_matmul_float, of fixed sizes
Registers  rows x columns sums + columns vectors of b + 1 of a
"""

from __future__ import annotations

import math
from typing import Any

from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.attention.dynamic_panels import DynamicProductTemplate, Matrix
from tvmq.codegen.kernels.attention.product_tile import multiply_tile
from tvmq.codegen.kernels.attention.shape import BatchMatmul, known_size
from tvmq.codegen.kernels.parts.builder import Buffer, Expr, Register, load, spread, store, vector_type, workspace
from tvmq.codegen.kernels.parts.float_vectors import float_vectors
from tvmq.codegen.kernels.parts.kernel_types import Isa, Kernel
from tvmq.codegen.kernels.parts.loops import make_opaque
from tvmq.codegen.kernels.parts.work import KernelWork


def dynamic_matmul_float(product: BatchMatmul, isa: Isa) -> Kernel:
    """Kernel; parameters a, b, y. The zero points of the product count for nothing."""
    sizes = (*product.batch, product.rows, product.depth, product.columns)
    work = KernelWork("dynamic_matmul_float", 0.0, math.prod(map(known_size, sizes)), False)
    return _DynamicFloatMatmulTemplate(product, isa).kernel((), work)


class _DynamicFloatMatmulTemplate(DynamicProductTemplate):
    """Product of dynamic sizes; see the head of this file."""

    def __init__(self, product: BatchMatmul, isa: Isa) -> None:
        super().__init__(product, float_vectors(isa))
        self.name = f"dynamic_matmul_float_{self.ins.name}_{self.tile_rows}x{self.tile_columns}"
        self.key = ("dynamic_matmul_float", product, isa.name)

    def pack(self, b: Matrix, first: Expr, vectors: int) -> tuple[Buffer, list[Register]]:
        buffer, begin, operand = b
        width, kind = vectors * self.lanes, vector_type("float32", self.lanes)
        packed, begin = workspace(self.depth * width, "float32"), make_opaque(begin + first * operand.column)
        with T.serial(0, self.depth) as step:
            if isinstance(operand.column, int) and operand.column == 1:
                for column in range(0, width, self.lanes):
                    value = load(buffer, begin + step * operand.row + column, kind)
                    store(packed, step * width + column, value, self.lanes)
            else:
                with T.serial(0, width) as column:
                    value = load(buffer, begin + step * operand.row + column * operand.column, "float32")
                    store(packed, step * width + column, value, 1)
        return packed, [Register("float32", self.lanes)] * vectors

    def tile(self, panel: tuple[Buffer, list[Register]], starts: tuple[Buffer, list[Expr]], row: Expr) -> list[Any]:
        sums = [[Register("float32", self.lanes) for _ in panel[1]] for _ in starts[1]]
        for line in sums:
            for register in line:
                register.set(spread(0.0, self.lanes, "float32"))
        multiply_tile(self.ins, sums, starts, (panel[0], 0), self.depth)
        return [[register.get for register in line] for line in sums]


def choose_dynamic_matmul_float(product: BatchMatmul, isa: Isa) -> Kernel | None:
    """The kernel; None for a depth of 0, whose sums are no sums."""
    return dynamic_matmul_float(product, isa) if product.depth != 0 else None
