"""Products of two activations on GPUs against the definition."""

import numpy as np
import pytest

from tests.codegen.kernels.attention.test_batch_matmul import (
    PAIRS,
    SHAPES,
    random_product,
    shared_product,
    sliced_product,
    step_for,
)
from tests.codegen.kernels.cases import codes, dense
from tests.codegen.kernels.cuda.emulated import ARCHS, compiled, cuda_source, needs_compiler, needs_nvcc, run_kernel
from tvmq import numerics
from tvmq.codegen.kernels.attention.shape import BatchMatmul, MatrixOperand
from tvmq.codegen.kernels.cuda.batch_matmul import batch_matmul
from tvmq.codegen.kernels.cuda.choose import DP4A, MMA
from tvmq.codegen.kernels.parts.kernel_types import FixedRequantize
from tvmq.errors import BuildError

ALL = [*SHAPES, ((2,), 70, 197, 64), ((2,), 40, 64, 197)]


@pytest.mark.slow
@pytest.mark.thinned(6)
@needs_compiler
@pytest.mark.parametrize("number", range(2 * len(ALL)))
def test_equals_the_definition(number):
    pairs = [*PAIRS, ("int8", "int8")]
    product, arrays, step, result = random_product(ALL[number // 2], bool(number % 2), number, pairs)
    tile = [None, *MMA, *DP4A][number % (1 + len(MMA) + len(DP4A))]
    np.testing.assert_array_equal(run_kernel(batch_matmul(product, step, 80, tile), arrays), result)


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("width", [20, 6])
def test_slices_of_one_tensor(width):
    step = step_for("codes", 12, width)
    product, qkv, result = sliced_product(12, width, step)
    np.testing.assert_array_equal(run_kernel(batch_matmul(product, step, 80), (qkv, qkv)), result)


@pytest.mark.slow
@needs_compiler
def test_requantize_in_integers():
    a, b = codes((2, 9, 40)), codes((2, 40, 20), "int8", 1)
    product = BatchMatmul((2,), 9, 40, 20, dense(a.shape, "uint8"), dense(b.shape, "int8"), dense((2, 9, 20), ""), 7, 3)
    multiplier, shift = np.full(20, 1395864320, np.int32), np.resize(np.int32([-9, -8, -10]), 20)
    found = run_kernel(batch_matmul(product, FixedRequantize(multiplier, shift, "TONEAREST", 9, 0, 255), 80), (a, b))
    sums = numerics.matmul(a, b, a_zero=7, b_zero=3)
    options = {"mode": "fixed_point", "rounding": "TONEAREST", "zero_point": 9, "dtype": "uint8"}
    np.testing.assert_array_equal(found, numerics.requantize(sums, multiplier, shift, axis=2, **options))


@pytest.mark.slow
@needs_compiler
def test_one_matrix_for_all_of_the_batch():
    product, arrays, result = shared_product()
    np.testing.assert_array_equal(run_kernel(batch_matmul(product, None, 75), arrays, 75), result)


@pytest.mark.slow
@needs_nvcc
@pytest.mark.parametrize("arch", ARCHS)
def test_the_source_passes_nvcc_without_spills(arch, tmp_path):
    a, b, y = dense((12, 197, 64), "uint8"), dense((12, 64, 197), "int8"), dense((12, 197, 197), "")
    kernel = batch_matmul(BatchMatmul((12,), 197, 64, 197, a, b, y, 7, 8), step_for("codes", 197, 64), arch, MMA[0])
    source = cuda_source(kernel.name, kernel.func, arch)
    assert "tvmq_mma_u8s8(" in source and "tvmq_dp4a_s8u8(" in source  # columns of b are added up
    assert "0 bytes spill stores" in compiled(source, arch, tmp_path)[1]


def test_more_matrices_than_a_grid_has_rows_are_refused():
    square = MatrixOperand((70000, 4, 4), "uint8", 0, (16,), 4, 1)
    with pytest.raises(BuildError, match="70000 matrices and tiles of columns, a grid has at most 65535"):
        batch_matmul(BatchMatmul((70000,), 4, 4, 4, square, square, square, 0, 0), None, 80)
