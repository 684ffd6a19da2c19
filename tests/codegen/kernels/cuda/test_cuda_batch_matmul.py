"""Products of two activations on GPUs against the definition."""

from __future__ import annotations

import numpy as np
import pytest

from tests.codegen.kernels.attention.test_batch_matmul import SHAPES, expected, step_for
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
    (batch, rows, depth, columns), transposed = ALL[number // 2], number % 2
    a_dtype, b_dtype = ("uint8", "int8", "uint8", "int8")[number % 4], ("uint8", "uint8", "int8", "int8")[number % 4]
    zeros = {"uint8": (0, 131, 255), "int8": (0, -128, 127)}
    a_zero, b_zero = zeros[a_dtype][number % 3], zeros[b_dtype][(number + 1) % 3]
    a, b = codes((*batch, rows, depth), a_dtype), codes((*batch, depth, columns), b_dtype, 1)
    stored = np.ascontiguousarray(np.swapaxes(b, -1, -2)) if transposed else b
    operand, y = dense(stored.shape, b_dtype, turned=bool(transposed)), dense((*batch, rows, columns), "")
    step = step_for(("sums", "floats", "codes", "floats of columns")[number % 4], columns, depth)
    product = BatchMatmul(batch, rows, depth, columns, dense(a.shape, a_dtype), operand, y, a_zero, b_zero)
    tile = [None, *MMA, *DP4A][number % (1 + len(MMA) + len(DP4A))]
    found = run_kernel(batch_matmul(product, step, 80, tile), (a, stored))
    np.testing.assert_array_equal(found, expected(numerics.matmul(a, b, a_zero=a_zero, b_zero=b_zero), step))


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("width", [20, 6])
def test_slices_of_one_tensor(width):
    """Queries and keys lie beside each other, head by head; the result goes between those of the other heads."""
    length, heads = 12, 3
    qkv = codes((2, length, 3, heads, width))
    strides, row = (length * 3 * heads * width, width), 3 * heads * width
    a = MatrixOperand(qkv.shape, "uint8", 0, strides, row, 1)
    b = MatrixOperand(qkv.shape, "uint8", heads * width, strides, 1, row)
    y = MatrixOperand((2, length, heads, length), "", 0, (length * heads * length, length), heads * length, 1)
    product = BatchMatmul((2, heads), length, width, length, a, b, y, 100, 90)
    found = run_kernel(batch_matmul(product, step_for("codes", length, width), 80), (qkv, qkv))
    q, k = (qkv[:, :, i].transpose(0, 2, 1, 3) for i in (0, 1))
    sums = numerics.matmul(q, np.swapaxes(k, -1, -2), a_zero=100, b_zero=90)
    wanted = expected(sums, step_for("codes", length, width))
    np.testing.assert_array_equal(found, wanted.transpose(0, 2, 1, 3))


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
    a, b = codes((3, 4, 9)), codes((9, 5), "int8")
    shared = MatrixOperand(b.shape, "int8", 0, (0,), 5, 1)
    product = BatchMatmul((3,), 4, 9, 5, dense(a.shape, "uint8"), shared, dense((3, 4, 5), ""), 12, 0)
    found = run_kernel(batch_matmul(product, None, 75), (a, b), 75)
    np.testing.assert_array_equal(found, numerics.matmul(a, b, a_zero=12))


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
