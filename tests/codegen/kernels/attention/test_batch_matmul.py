"""batch_matmul kernels against the definition: layouts, zero points, epilogues, every instruction set.

batch_matmul_float kernels: layouts and sizes against float64, and equal bits on all instruction sets that fuse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.codegen.kernels.cases import codes, dense
from tests.codegen.kernels.harness import levels, run_kernel
from tvmq import numerics
from tvmq.codegen.kernels.attention.batch_matmul import batch_matmul
from tvmq.codegen.kernels.attention.batch_matmul_float import batch_matmul_float
from tvmq.codegen.kernels.attention.shape import BatchMatmul, MatrixOperand
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.parts.kernel_types import Dequantize, Requantize
from tvmq.errors import BuildError

LEVELS = levels("generic", "avx2", "avxvnni", "avx512bw", "avx512vnni")
SHAPES = [
    ((1,), 1, 1, 1), ((2,), 3, 4, 5), ((2, 3), 7, 32, 17), ((3,), 5, 65, 32), ((1, 2), 13, 66, 70), ((1,), 9, 130, 100),
    ((4,), 33, 31, 64),
]  # fmt: skip


def step_for(kind: str, columns: int, depth: int) -> Requantize | Dequantize | None:
    multiplier = np.float32(1 / (60 * depth**0.5))
    if kind == "sums":
        return None
    if kind == "floats":
        return Dequantize(multiplier)
    if kind == "floats of columns":
        return Dequantize(np.linspace(0.1, 1, columns, dtype=np.float32))
    return Requantize(np.full(columns, multiplier), 120, 3, 250, "uint8")


PAIRS = [("uint8", "uint8"), ("int8", "uint8"), ("uint8", "int8")]


def random_product(shape: tuple, transposed: bool, number: int, pairs: Sequence[tuple[str, str]]) -> tuple:
    """A product of that number's types, zero points and epilogue; its stored operands, the epilogue, the result."""
    batch, rows, depth, columns = shape
    a_dtype, b_dtype = pairs[number % len(pairs)]
    zeros = {"uint8": (0, 131, 255), "int8": (0, -128, 127)}
    a_zero, b_zero = zeros[a_dtype][number % 3], zeros[b_dtype][(number + 1) % 3]
    a, b = codes((*batch, rows, depth), a_dtype), codes((*batch, depth, columns), b_dtype, 1)
    stored = np.ascontiguousarray(np.swapaxes(b, -1, -2)) if transposed else b
    operand, y = dense(stored.shape, b_dtype, turned=transposed), dense((*batch, rows, columns), "")
    step = step_for(("sums", "floats", "codes", "floats of columns")[number % 4], columns, depth)
    product = BatchMatmul(batch, rows, depth, columns, dense(a.shape, a_dtype), operand, y, a_zero, b_zero)
    return product, (a, stored), step, expected(numerics.matmul(a, b, a_zero=a_zero, b_zero=b_zero), step)


def sliced_product(length: int, width: int, step: Requantize | None = None) -> tuple[BatchMatmul, np.ndarray, np.ndarray]:
    """Queries and keys lie beside each other, head by head; the result goes between those of the other heads."""
    heads = 3
    qkv = codes((2, length, 3, heads, width))
    strides, row = (length * 3 * heads * width, width), 3 * heads * width
    a = MatrixOperand(qkv.shape, "uint8", 0, strides, row, 1)
    b = MatrixOperand(qkv.shape, "uint8", heads * width, strides, 1, row)
    y = MatrixOperand((2, length, heads, length), "", 0, (length * heads * length, length), heads * length, 1)
    q, k = (qkv[:, :, i].transpose(0, 2, 1, 3) for i in (0, 1))
    sums = numerics.matmul(q, np.swapaxes(k, -1, -2), a_zero=100, b_zero=90)
    product = BatchMatmul((2, heads), length, width, length, a, b, y, 100, 90)
    return product, qkv, expected(sums, step).transpose(0, 2, 1, 3)


def shared_product() -> tuple[BatchMatmul, tuple[np.ndarray, np.ndarray], np.ndarray]:
    """A product with one matrix for all of the batch."""
    a, b = codes((3, 4, 9)), codes((9, 5), "int8")
    shared = MatrixOperand(b.shape, "int8", 0, (0,), 5, 1)
    product = BatchMatmul((3,), 4, 9, 5, dense(a.shape, "uint8"), shared, dense((3, 4, 5), ""), 12, 0)
    return product, (a, b), numerics.matmul(a, b, a_zero=12)


def expected(sums: np.ndarray, step: Requantize | Dequantize | None) -> np.ndarray:
    if step is None:
        return sums
    if isinstance(step, Dequantize):
        axis = None if np.ndim(step.scale) == 0 else sums.ndim - 1
        return numerics.dequantize(sums, step.scale, np.zeros(np.shape(step.scale), np.int32), axis=axis)
    return numerics.requantize(sums, step.multiplier[0], zero_point=120, dtype="uint8", qmin=3, qmax=250)


@pytest.mark.slow_cases(
    "False-((1, 2), 13, 66, 70)-avx2", "True-((1,), 9, 130, 100)-avx2", "True-((4,), 33, 31, 64)-generic",
    "True-((2, 3), 7, 32, 17)-generic",
)  # fmt: skip
@pytest.mark.thinned(5)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("transposed", [False, True])
def test_equals_the_definition(shape: tuple, transposed: bool, level: str) -> None:
    product, arrays, step, result = random_product(shape, transposed, SHAPES.index(shape) + transposed, PAIRS)
    found = run_kernel(batch_matmul(product, step, isa_named(level)), arrays, level)
    np.testing.assert_array_equal(found, result)


@pytest.mark.thinned(5)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("a_zero", [0, 7, 255])
@pytest.mark.parametrize("b_zero", [0, 128, 255])
def test_every_zero_point(a_zero: int, b_zero: int, level: str) -> None:
    a, b = codes((2, 6, 70)), codes((2, 70, 20), seed=3)
    product = BatchMatmul(
        (2,), 6, 70, 20, dense(a.shape, "uint8"), dense(b.shape, "uint8"), dense((2, 6, 20), ""), a_zero, b_zero
    )
    found = run_kernel(batch_matmul(product, None, isa_named(level)), (a, b), level)
    np.testing.assert_array_equal(found, numerics.matmul(a, b, a_zero=a_zero, b_zero=b_zero))


@pytest.mark.slow
@pytest.mark.thinned(5)
@pytest.mark.parametrize("level", LEVELS)
def test_slices_of_one_tensor(level: str) -> None:
    product, qkv, result = sliced_product(11, 20)
    np.testing.assert_array_equal(run_kernel(batch_matmul(product, None, isa_named(level)), (qkv, qkv), level), result)


@pytest.mark.thinned(5)
@pytest.mark.parametrize("level", LEVELS)
def test_one_matrix_for_all_of_the_batch(level: str) -> None:
    product, arrays, result = shared_product()
    np.testing.assert_array_equal(run_kernel(batch_matmul(product, None, isa_named(level)), arrays, level), result)


@pytest.mark.parametrize(("changed", "words"), [
    ({"depth": 20000}, "the depth at most 16000"),
    ({"rows": 0}, "sizes must be positive"),
    ({"a": MatrixOperand((2, 2), "int16", 0, (0,), 2, 1)}, "takes 8-bit codes. Got int16"),
    ({"a": MatrixOperand((2, 2), "uint8", 0, (0,), 1, 2)}, "must be neighbours"),
    ({"b": MatrixOperand((4, 4), "uint8", 0, (0,), 8, 2)}, "must be neighbours"),
])  # fmt: skip
def test_what_does_not_fit_is_refused(changed: dict, words: str) -> None:
    square = MatrixOperand((2, 2), "uint8", 0, (0,), 2, 1)
    named = {"batch": (1,), "rows": 2, "depth": 2, "columns": 2, "a": square, "b": square, "y": square}
    with pytest.raises(BuildError, match=words):
        batch_matmul(BatchMatmul(**{**named, "a_zero": 0, "b_zero": 0, **changed}), None, isa_named("avx2"))


FLOAT_LEVELS = levels("generic", "avx2", "avx512bw")
FLOAT_SHAPES = [((1,), 1, 1, 1), ((2, 3), 7, 32, 17), ((2,), 13, 66, 70), ((1,), 33, 31, 200)]


def case(shape: tuple, transposed: bool) -> tuple[BatchMatmul, np.ndarray, np.ndarray, np.ndarray]:
    """The product, its stored operands, and the result in float64."""
    batch, rows, depth, columns = shape
    random = np.random.default_rng(depth)
    a = random.normal(size=(*batch, rows, depth)).astype(np.float32)
    b = random.normal(size=(*batch, depth, columns)).astype(np.float32)
    stored = np.ascontiguousarray(np.swapaxes(b, -1, -2)) if transposed else b
    operands = dense(a.shape, "float32"), dense(stored.shape, "float32", turned=transposed)
    product = BatchMatmul(batch, rows, depth, columns, *operands, dense((*batch, rows, columns), "float32"), 0, 0)
    return product, a, stored, a.astype(np.float64) @ b


@pytest.mark.slow_cases("((2,), 13, 66, 70)-True-generic", "((1,), 33, 31, 200)-False-avx2")
@pytest.mark.thinned(3)
@pytest.mark.parametrize("level", FLOAT_LEVELS)
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("shape", FLOAT_SHAPES, ids=str)
def test_close_to_float64_and_equal_where_products_fuse(shape: tuple, transposed: bool, level: str) -> None:
    product, a, b, expected = case(shape, transposed)
    found = run_kernel(batch_matmul_float(product, isa_named(level)), (a, b), level)
    room = shape[2] * 2.0**-23 * np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=room)
    if level == "avx512bw":
        other = run_kernel(batch_matmul_float(product, isa_named("avx2")), (a, b), "avx2")
        np.testing.assert_array_equal(found, other)


def test_a_matrix_for_all_of_the_batch() -> None:
    """A batch stride of 0 reads the same matrix again."""
    product, a, b, _ = case(((3,), 5, 8, 20), False)
    same = replace(product, b=replace(product.b, batch=(0,)))
    found = run_kernel(batch_matmul_float(same, isa_named("generic")), (a, b), "generic")
    np.testing.assert_allclose(found, a.astype(np.float64) @ b[:1], atol=1e-5)


@pytest.mark.parametrize(("change", "message"), [
    (lambda p: replace(p, rows=0), "takes float32 of positive sizes. Got .2, 0, 4, 5., float32"),
    (lambda p: replace(p, a=replace(p.a, dtype="int8")), "Got .2, 3, 4, 5., float32, int8"),
    (lambda p: replace(p, y=replace(p.y, column=2)), "must be neighbours"),
])  # fmt: skip
def test_refuses(change, message: str) -> None:
    product = case(((2,), 3, 4, 5), False)[0]
    with pytest.raises(BuildError, match=message):
        batch_matmul_float(change(product), isa_named("generic"))
