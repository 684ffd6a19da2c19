"""Kernels of float sums against the definition: equal bits for rows and columns, special values, every vector width."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels.harness import levels, run_kernel
from tvmq import numerics
from tvmq.kernels.isa import isa_named
from tvmq.kernels.norm.float_sum import FloatSum, float_sum

# lengths around the 16 lanes of the definition; neighbours around the lanes of vectors
SHAPES = [
    *((3, count, 1) for count in (1, 5, 15, 16, 17, 35, 384)),
    *((2, count, inner) for count, inner in ((1, 3), (7, 8), (16, 17), (33, 24), (49, 65), (100, 130))),
]


@pytest.mark.parametrize("level", levels("generic", "avx2", "avx512bw"))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_equals_the_definition(shape: tuple[int, int, int], level: str) -> None:
    random = np.random.default_rng(0)
    x = (random.normal(size=shape) * 10 ** random.uniform(-3, 3, shape)).astype(np.float32)
    for mean in (False, True):
        total = run_kernel(float_sum(FloatSum(*shape, mean=mean), isa_named(level)), (x,), level)
        np.testing.assert_array_equal(total.view(np.int32), numerics.float_sum(x, [1], mean=mean).view(np.int32))


@pytest.mark.parametrize("inner", [1, 5])
def test_special_values(inner: int) -> None:
    x = np.ones((5, 19, inner), np.float32)
    x[0], x[1, 3], x[2, -1], x[3, 0], x[4, 2] = -0.0, np.inf, np.nan, 3e38, -np.inf
    x[3, 5], x[4, 9] = 3e38, np.inf
    total = run_kernel(float_sum(FloatSum(*x.shape), isa_named("generic")), (x,), "generic")
    expected = numerics.float_sum(x, [1])
    np.testing.assert_array_equal(total, expected)
    assert np.signbit(total[0]).tolist() == np.signbit(expected[0]).tolist()
