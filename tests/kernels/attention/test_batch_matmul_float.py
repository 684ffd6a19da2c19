"""batch_matmul_float kernels: layouts and sizes against float64, and equal bits on all instruction sets that fuse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.kernels.cases import contiguous as dense
from tests.kernels.harness import levels, run_kernel
from tvmq.errors import BuildError
from tvmq.kernels.attention.batch_matmul_float import batch_matmul_float
from tvmq.kernels.attention.shape import BatchMatmul
from tvmq.kernels.isa import isa_named

LEVELS = levels("generic", "avx2", "avx512bw")
SHAPES = [((1,), 1, 1, 1), ((2, 3), 7, 32, 17), ((2,), 13, 66, 70), ((1,), 33, 31, 200)]


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


@pytest.mark.thinned(3)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: replace(p, rows=0), "takes float32 of positive sizes. Got .2, 0, 4, 5., float32"),
        (lambda p: replace(p, a=replace(p.a, dtype="int8")), "Got .2, 3, 4, 5., float32, int8"),
        (lambda p: replace(p, y=replace(p.y, column=2)), "must be neighbours"),
    ],
)
def test_refuses(change, message: str) -> None:
    product = case(((2,), 3, 4, 5), False)[0]
    with pytest.raises(BuildError, match=message):
        batch_matmul_float(change(product), isa_named("generic"))
