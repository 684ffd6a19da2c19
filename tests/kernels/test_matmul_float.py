"""matmul_float and dense_float against float64, within their rounding; equal bits on every vector width."""

from __future__ import annotations

import numpy as np
import pytest
from float_kernels import LEVELS, assert_close, run, threads

from tvmq.errors import BuildError
from tvmq.kernels.isa import isa_named
from tvmq.kernels.matmul_float import dense_float, matmul_float
from tvmq.kernels.types import Clip

# batch, m, k, n
SHAPES = [(1, 1, 1, 1), (2, 7, 5, 3), (3, 13, 20, 65), (1, 1, 30, 100), (4, 6, 16, 64), (1, 197, 9, 70)]


def random(*shape: int) -> np.ndarray:
    """float32 numbers of many magnitudes."""
    generator = np.random.default_rng(sum(shape))
    return (generator.normal(size=shape) * np.exp(generator.uniform(-3, 3, shape))).astype(np.float32)


def exact(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Product in float64, and of magnitudes."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    return a @ b, np.abs(a) @ np.abs(b)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_two_inputs(shape, level):
    batch, m, k, n = shape
    a, b = random(batch, m, k), random(batch, k, n)
    got = run(matmul_float(*shape, isa_named(level)), level, a, b)
    assert_close(got, *exact(a, b), terms=k)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("m, k, n", [(1, 30, 100), (17, 40, 10), (50, 64, 130)])
def test_dense(m, k, n, level):
    a, b, bias = random(m, k), random(k, n), random(n)
    got = run(dense_float(m, b, bias, (), isa_named(level)), level, a)
    product, magnitudes = exact(a, b)
    assert_close(got, product + bias, magnitudes + np.abs(bias), terms=k)


@pytest.mark.isa("avx512bw")
def test_equal_bits_on_both_vector_widths_with_both_makers_and_on_two_threads():
    batch, m, k, n = 2, 100, 64, 70
    a, b = random(batch, m, k), random(batch, k, n)
    narrow = run(matmul_float(batch, m, k, n, isa_named("avx2")), "avx2", a, b)
    with threads(2):
        wide = run(matmul_float(batch, m, k, n, isa_named("avx512bw")), "avx512bw", a, b)
    np.testing.assert_array_equal(narrow, wide)
    kernel = dense_float((5, m // 5), b[0], None, (), isa_named("avx2"))
    dense = run(kernel, "avx2", a[0].reshape(5, m // 5, k))
    np.testing.assert_array_equal(dense.reshape(m, n), narrow[0])


def test_dense_with_clip():
    a, b = random(9, 12), random(12, 20)
    plain, clipped = (
        run(dense_float(9, b, None, steps, isa_named("generic")), "generic", a) for steps in ((), (Clip(0.0, 2.0),))
    )
    np.testing.assert_array_equal(clipped, np.clip(plain, 0, 2))


def test_refusals():
    isa = isa_named("avx2")
    with pytest.raises(BuildError, match="is empty"):
        matmul_float(1, 2, 0, 3, isa)
    with pytest.raises(BuildError, match="must be a matrix"):
        dense_float(1, random(3), None, (), isa)
    with pytest.raises(BuildError, match="weights must be float32"):
        dense_float(1, random(3, 4).astype(np.float16), None, (), isa)
    with pytest.raises(BuildError, match=r"bias must be float32 \(4,\)"):
        dense_float(1, random(3, 4), random(3), (), isa)
