"""Float products of dynamic sizes: the bits of the kernel of fixed sizes, on all instruction sets."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.codegen.kernels.attention.test_batch_matmul import dense
from tests.codegen.kernels.harness import levels, run_kernel
from tvmq.codegen.kernels.attention.batch_matmul_float import batch_matmul_float
from tvmq.codegen.kernels.attention.dynamic_matmul_float import choose_dynamic_matmul_float, dynamic_matmul_float
from tvmq.codegen.kernels.attention.shape import BatchMatmul, MatrixOperand
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.lower.strides import contiguous_view
from tvmq.tools.analysis.verification import unequal_bits

LEVELS = levels("avx2", "avx512vnni")
SIZES = (1, 3, 8, 9, 17, 40)
RANDOM = np.random.default_rng(0)


def product_of(
    batch: tuple[Any, ...],
    rows: Any,
    depth: Any,
    columns: Any,
    dtypes: tuple[str, str] = ("float32", "float32"),
    zeros: tuple[int, int] = (0, 0),
) -> BatchMatmul:
    """Dense operands of numbers and dynamic sizes."""

    def operand(shape: tuple[Any, ...], dtype: str) -> MatrixOperand:
        *steps, row, column = contiguous_view("", shape).strides
        return MatrixOperand(shape, dtype, 0, tuple(steps), row, column)

    a, b = operand((*batch, rows, depth), dtypes[0]), operand((*batch, depth, columns), dtypes[1])
    return BatchMatmul(batch, rows, depth, columns, a, b, operand((*batch, rows, columns), dtypes[0]), *zeros)


def fixed_result(a: np.ndarray, b: np.ndarray, level: str) -> np.ndarray:
    """The product by the kernel of these sizes."""
    y = (*a.shape[:-1], b.shape[-1])
    operands = (dense(shape, "float32") for shape in (a.shape, b.shape, y))
    sizes = BatchMatmul(a.shape[:-2], *a.shape[-2:], b.shape[-1], *operands, 0, 0)
    return run_kernel(batch_matmul_float(sizes, isa_named(level)), (a, b), level)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("level", LEVELS)
def test_bits_of_the_fixed_kernel(level: str) -> None:
    kernel = dynamic_matmul_float(product_of(("batch", 2), "rows", "depth", "columns"), isa_named(level))
    for number, (rows, columns) in enumerate(product(SIZES, SIZES)):
        batch, depth = 1 + number % 2, SIZES[number % len(SIZES)]
        a = RANDOM.standard_normal((batch, 2, rows, depth)).astype(np.float32)
        b = RANDOM.standard_normal((batch, 2, depth, columns)).astype(np.float32)
        values = run_kernel(kernel, [a, b], level, (batch, 2, rows, columns))
        assert not unequal_bits(values, fixed_result(a, b, level)).any(), (rows, depth, columns)


def test_without_depth_there_are_no_sums() -> None:
    assert choose_dynamic_matmul_float(product_of((), "rows", 0, 4), isa_named("avx2")) is None
