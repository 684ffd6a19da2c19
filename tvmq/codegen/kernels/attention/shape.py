"""Descriptions of attention as one kernel, with the division of its rows, and of a product of two tensors of codes.

They have sizes, and where the elements of each operand lie.

Tests: tests/codegen/kernels/attention/test_attention.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tvmq.codegen.cost import Machine
from tvmq.codegen.kernels.attention.softmax_codes import LEAST_SCALE, MOST_ROWS
from tvmq.codegen.kernels.isa.generic import Instructions
from tvmq.codegen.kernels.parts.builder import Expr, FunctionBuilder, Shape
from tvmq.codegen.kernels.parts.float_vectors import CodeLimits
from tvmq.codegen.kernels.parts.kernel_types import NO_TILES, Tiles
from tvmq.codegen.kernels.parts.loops import offset_of
from tvmq.codegen.kernels.parts.tiling import Product, Tiling, choose_tiling, cycles
from tvmq.codegen.kernels.parts.work import KernelWork, on_machine, product_cycles
from tvmq.errors import BuildError
from tvmq.numerics.code_type import CODES_8

MOST_DEPTH = 16000  # depth * 4 * 255 * 128, the sum of all corrections, stays within int32


@dataclass(frozen=True)
class SizeProduct:
    """A distance that only a run tells: factor * the dynamic sizes of these names."""

    factor: int
    names: tuple[str, ...]


Size = Any  # a number, or the name of a dynamic size
Stride = Any  # a number or a SizeProduct


@dataclass(frozen=True)
class MatrixOperand:
    """A batch of matrices inside a buffer: element [index of the batch, i, j] lies at

    offset + sum of batch index * batch stride + i * row + j * column
    """

    shape: Shape
    dtype: str
    offset: int
    batch: tuple[Stride, ...]
    row: Stride
    column: Stride

    def begin(self, matrix: Expr, sizes: Sequence[Expr]) -> Expr:
        """Element of the buffer at which a matrix begins; sizes: those of the batch."""
        return self.offset + offset_of(matrix, sizes, self.batch)

    def in_run(self, function: FunctionBuilder) -> MatrixOperand:
        """The operand with distances that a kernel computes with, expressions of its dynamic sizes."""

        def distance(stride: Stride) -> Expr:
            return stride if isinstance(stride, int) else function.count((stride.factor, *stride.names))

        batch = tuple(map(distance, self.batch))
        return replace(self, batch=batch, row=distance(self.row), column=distance(self.column))


@dataclass(frozen=True)
class BatchMatmul:
    """Static description: y = a @ b for every index of the batch.

    batch   sizes of the leading axes, those of all three operands' batch strides
    a, y    one of their strides, `column`, is 1; of b it may also be `row`

    Kernels of dynamic sizes take their names for numbers.
    """

    batch: tuple[Size, ...]
    rows: Size
    depth: Size
    columns: Size
    a: MatrixOperand
    b: MatrixOperand
    y: MatrixOperand
    a_zero: int
    b_zero: int


def is_product_of_codes(product: BatchMatmul) -> bool:
    """True for what `check_product` lets pass."""
    try:
        check_product(product)
    except BuildError:
        return False
    return True


def check_product(product: BatchMatmul) -> None:
    """Refuse what the template cannot read or add."""
    sizes = (*product.batch, product.rows, product.depth, product.columns)
    if min(sizes) < 1 or product.depth > MOST_DEPTH:
        raise BuildError(f"kernels, batch_matmul: sizes must be positive, the depth at most {MOST_DEPTH}. Got {sizes}")
    if product.a.dtype not in CODES_8 or product.b.dtype not in CODES_8:
        raise BuildError(f"kernels, batch_matmul: takes 8-bit codes. Got {product.a.dtype} and {product.b.dtype}")
    if product.a.column != 1 or product.y.column != 1 or 1 not in (product.b.row, product.b.column):
        raise BuildError(
            "kernels, batch_matmul: elements of a row of a and y, and of a row or column of b, must be neighbours"
        )


MOST_BLOCK = 66  # rows
SCORE_BYTES = 32 * 1024  # of a block, that they stay in the nearest cache
BLOCK_CYCLES = 100.0  # start of a block
SOFTMAX_CYCLES, WAIT_CYCLES = 1.1, 150.0  # for each score; for a row's sums, which the rows of a group share


@dataclass(frozen=True)
class Attention:
    """Static description: y = quantize(softmax((q @ k) * score_scale + mask)) @ v for every index of the batch.

    Sizes of batch, rows and keys are numbers, or names of dynamic ones.

    batch       sizes of the leading axes, those of all operands' batch strides
    rows        of q and y
    keys        columns of k, rows of v
    depth       columns of q, rows of k
    columns     of v and y
    q, v, y     their stride `column` is 1; of k it may also be `row`, of v too
    mask        float32, added to the scores; its strides may be 0, the last one (of keys) is 1
    zeros       of q, k and v
    codes       of the softmax; `scale` is theirs
    """

    batch: tuple[Size, ...]
    rows: Size
    keys: Size
    depth: int
    columns: int
    q: MatrixOperand
    k: MatrixOperand
    v: MatrixOperand
    y: MatrixOperand
    mask: MatrixOperand | None
    zeros: tuple[int, int, int]
    codes: CodeLimits

    @property
    def known_batch(self) -> tuple[int, ...]:
        """The batch, dynamic sizes as 1."""
        return tuple(map(known_size, self.batch))

    @property
    def macs(self) -> int:
        """Products of both matrix products; dynamic sizes count as 1."""
        matrices = math.prod(self.known_batch)
        return matrices * known_size(self.rows) * known_size(self.keys) * (self.depth + self.columns)


def known_size(size: Size) -> int:
    """The size, 1 for a dynamic one."""
    return size if isinstance(size, int) else 1


def fits(shape: Attention, score_scale: float, code_scale: float) -> bool:
    """True for what `check_attention` lets pass."""
    try:
        check_attention(shape, score_scale, code_scale)
    except BuildError:
        return False
    return True


def check_attention(shape: Attention, score_scale: float, code_scale: float) -> None:
    """Refuse what the template cannot read or add, with a BuildError."""
    sizes = (*shape.batch, shape.rows, shape.keys, shape.depth, shape.columns)
    if min(map(known_size, sizes)) < 1 or max(shape.depth, known_size(shape.keys)) > MOST_DEPTH:
        raise BuildError(f"kernels, attention: sizes must be positive, depths at most {MOST_DEPTH}. Got {sizes}")
    types = (shape.q.dtype, shape.k.dtype, shape.v.dtype, shape.codes.dtype)
    if not set(types) <= set(CODES_8):
        raise BuildError(f"kernels, attention: takes 8-bit codes. Got {', '.join(types)}")
    neighbours = shape.q.column == shape.y.column == 1 and all(1 in (b.row, b.column) for b in (shape.k, shape.v))
    if not neighbours or (shape.mask is not None and shape.mask.column != 1):
        raise BuildError(
            "kernels, attention: elements of a row of q, y and mask, of one of k and v, must be neighbours"
        )
    if not (LEAST_SCALE <= code_scale <= 1 and 0 < score_scale < 2**64):
        raise BuildError(
            f"kernels, attention: scales must be positive, that of softmax within {LEAST_SCALE} and 1. "
            f"Got {score_scale} and {code_scale}"
        )
    if not shape.codes.qmin <= shape.codes.zero_point < shape.codes.qmax:
        raise BuildError(f"kernels, attention: softmax needs codes from zero_point up. Got {shape.codes}")


@dataclass(frozen=True)
class Cut:
    """Blocks of rows whose scores are kept, groups of them for softmax, and the tiles of both products in a block."""

    block: int
    group: int
    scores: Tiling
    result: Tiling


def choose_cut(rows: int, keys: int, depth: int, columns: int, ins: Instructions, tiles: Tiles = NO_TILES) -> Cut:
    """The cut of least modelled time; the last block is shifted back to end at the last row."""
    best: tuple[float, Cut] | None = None
    most = max(1, min(MOST_BLOCK, SCORE_BYTES // (4 * keys)))
    for block in range(1, min(most, rows) + 1):
        products = (
            Product(block, -(-keys // ins.lanes), -(-depth // ins.taps)),
            Product(block, -(-columns // ins.lanes), -(-keys // ins.taps)),
        )
        tilings = [choose_tiling(product, ins, tiles) for product in products]
        both = sum(cycles(product, tiling, ins) for product, tiling in zip(products, tilings, strict=True))
        group = max(size for size in range(1, MOST_ROWS + 1) if block % size == 0)
        softmax = block * (SOFTMAX_CYCLES * keys + WAIT_CYCLES / group)
        cost = -(-rows // block) * (both + softmax + BLOCK_CYCLES)
        if best is None or cost < best[0]:
            best = cost, Cut(block, group, *tilings)
    assert best is not None, "one row always fits"
    return best[1]


def matmul_cycles(
    batch: tuple[int, ...], rows: int, depth: int, columns: int, ins: Instructions, machine: Machine
) -> float:
    """Cycles of products of such matrices, both of which are packed."""
    ins = on_machine(ins, machine)
    packing = (rows + 4 * columns) * depth / 32
    return math.prod(batch) * (product_cycles(product_of(rows, depth, columns, ins), ins) + packing)


def product_of(rows: int, depth: int, columns: int, ins: Instructions) -> Product:
    """The product of two matrices in vectors and steps."""
    return Product(rows, -(-columns // ins.lanes), -(-depth // ins.taps))


def product_work(family: str, product: BatchMatmul, ins: Instructions) -> KernelWork:
    """Work of a kernel for that product, for the cost model."""
    sizes = product.rows, product.depth, product.columns
    return KernelWork(
        family,
        0.0,
        math.prod(product.batch) * math.prod(sizes),
        product.a.dtype != "float32",
        lambda machine, _: matmul_cycles(product.batch, *sizes, ins, machine),
        (product_of(*sizes, ins), ins),
    )


def attention_work(shape: Attention, ins: Instructions) -> KernelWork:
    """Both products, and softmax of the scores between them."""

    def cycles_of(machine: Machine, scale: float) -> float:
        batch, rows, keys = shape.known_batch, known_size(shape.rows), known_size(shape.keys)
        softmax = scale * SOFTMAX_CYCLES * math.prod(batch) * rows * keys
        sizes = (batch, rows, shape.depth, keys), (batch, rows, keys, shape.columns)
        return softmax + sum(matmul_cycles(*size, ins, machine) for size in sizes)

    return KernelWork("attention", 0.0, shape.macs, True, cycles_of)
