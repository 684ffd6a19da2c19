"""How a product of two tensors of codes is described: sizes, and where the elements of each operand lie."""

from __future__ import annotations

from dataclasses import dataclass

from tvmq.errors import BuildError

MOST_DEPTH = 16000  # depth * 4 * 255 * 128, the sum of all corrections, stays within int32
CODES = ("uint8", "int8")


@dataclass(frozen=True)
class Operand:
    """A batch of matrices inside a buffer: element [index of the batch, i, j] lies at

    offset + sum of batch index * batch stride + i * row + j * column
    """

    shape: tuple[int, ...]
    dtype: str
    offset: int
    batch: tuple[int, ...]
    row: int
    column: int


@dataclass(frozen=True)
class BatchMatmul:
    """Static description: y = a @ b for every index of the batch.

    batch   sizes of the leading axes, those of all three operands' batch strides
    a, y    one of their strides, `column`, is 1; of b it may also be `row`
    """

    batch: tuple[int, ...]
    rows: int
    depth: int
    columns: int
    a: Operand
    b: Operand
    y: Operand
    a_zero: int
    b_zero: int


def check_product(product: BatchMatmul) -> None:
    """Refuse what the template cannot read or add."""
    sizes = (*product.batch, product.rows, product.depth, product.columns)
    if min(sizes) < 1 or product.depth > MOST_DEPTH:
        raise BuildError(f"kernels, batch_matmul: sizes must be positive, the depth at most {MOST_DEPTH}. Got {sizes}")
    if product.a.dtype not in CODES or product.b.dtype not in CODES:
        raise BuildError(f"kernels, batch_matmul: takes 8-bit codes. Got {product.a.dtype} and {product.b.dtype}")
    if product.a.column != 1 or product.y.column != 1 or 1 not in (product.b.row, product.b.column):
        raise BuildError(
            "kernels, batch_matmul: elements of a row of a and y, and of a row or column of b, must be neighbours"
        )
