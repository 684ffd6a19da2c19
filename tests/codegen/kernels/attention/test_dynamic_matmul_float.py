"""Float products of dynamic sizes: the bits of the kernel of fixed sizes, on all instruction sets; softmax of rows."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tests.codegen.kernels.attention.test_batch_matmul import dense
from tests.codegen.kernels.harness import levels, run_kernel
from tvmq import numerics
from tvmq.codegen.kernels.attention.batch_matmul_float import batch_matmul_float
from tvmq.codegen.kernels.attention.dynamic_matmul_float import (
    DynamicFloatMatmul,
    choose_dynamic_matmul_float,
    dynamic_matmul_float,
)
from tvmq.codegen.kernels.attention.shape import BatchMatmul
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.norm.softmax import softmax
from tvmq.tools.analysis.verification import unequal_bits

LEVELS = levels("avx2", "avx512vnni")
SIZES = (1, 3, 8, 9, 17, 40)
RANDOM = np.random.default_rng(0)


def fixed_result(a: np.ndarray, b: np.ndarray, level: str) -> np.ndarray:
    """The product by the kernel of these sizes."""
    y = (*a.shape[:-1], b.shape[-1])
    operands = (dense(shape, "float32") for shape in (a.shape, b.shape, y))
    sizes = BatchMatmul(a.shape[:-2], *a.shape[-2:], b.shape[-1], *operands, 0, 0)
    return run_kernel(batch_matmul_float(sizes, isa_named(level)), (a, b), level)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("level", LEVELS)
def test_bits_of_the_fixed_kernel(level: str) -> None:
    kernel = dynamic_matmul_float(DynamicFloatMatmul(("batch", 2), "rows", "depth", "columns"), isa_named(level))
    for number, (rows, columns) in enumerate(product(SIZES, SIZES)):
        batch, depth = 1 + number % 2, SIZES[number % len(SIZES)]
        a = RANDOM.standard_normal((batch, 2, rows, depth)).astype(np.float32)
        b = RANDOM.standard_normal((batch, 2, depth, columns)).astype(np.float32)
        values = run_kernel(kernel, [a, b], level, (batch, 2, rows, columns))
        assert not unequal_bits(values, fixed_result(a, b, level)).any(), (rows, depth, columns)


def test_without_depth_there_are_no_sums() -> None:
    assert choose_dynamic_matmul_float(DynamicFloatMatmul((), "rows", 0, 4), isa_named("avx2")) is None


@pytest.mark.thinned(2)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("axis", [-1, 1])
def test_softmax_of_dynamic_sizes(axis: int, level: str) -> None:
    kernel = softmax(("batch", "rows", "columns"), isa_named(level), axis)
    for sizes in product((1, 3), (1, 5, 33), (1, 15, 16, 50)):
        x = RANDOM.standard_normal(sizes).astype(np.float32) * 8
        x[..., -1:] = -np.inf
        assert not unequal_bits(run_kernel(kernel, [x], level, sizes), numerics.softmax(x, axis)).any(), sizes
