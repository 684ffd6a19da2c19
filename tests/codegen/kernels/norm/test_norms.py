"""Kernels of float sums against the definition; norms and softmax of infinities, NaN and denormals."""

from __future__ import annotations

import numpy as np
import pytest

from tests.codegen.kernels.cases import WIDTHS, Case, check
from tests.codegen.kernels.harness import levels, run_kernel
from tvmq import numerics
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.norm.float_sum import FloatSum, float_sum
from tvmq.codegen.kernels.norm.group_norm import GroupNorm, group_norm
from tvmq.codegen.kernels.norm.softmax import softmax

# lengths around the 16 lanes of the definition; neighbours around the lanes of vectors
SHAPES = [
    *((3, count, 1) for count in (1, 5, 15, 16, 17, 35, 384)),
    *((2, count, inner) for count, inner in ((1, 3), (7, 8), (16, 17), (33, 24), (49, 65), (100, 130))),
]


@pytest.mark.slow_cases(
    "(2, 49, 65)-generic", "(2, 49, 65)-avx2", "(2, 100, 130)-generic", "(2, 100, 130)-avx2", "(2, 16, 17)-generic",
    "(2, 16, 17)-avx2", "(2, 33, 24)-generic", "(2, 33, 24)-avx2",
)  # fmt: skip
@pytest.mark.parametrize("level", levels("generic", "avx2", "avx512bw"))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_equals_the_definition(shape: tuple[int, int, int], level: str) -> None:
    random = np.random.default_rng(0)
    x = (random.normal(size=shape) * 10 ** random.uniform(-3, 3, shape)).astype(np.float32)
    for mean in (False, True):
        total = run_kernel(float_sum(FloatSum(shape[:1], shape[1:2], shape[2], mean=mean), isa_named(level)), (x,), level)
        np.testing.assert_array_equal(total.view(np.int32), numerics.float_sum(x, [1], mean=mean).view(np.int32))


@pytest.mark.parametrize("inner", [1, 5])
def test_special_values(inner: int) -> None:
    x = np.ones((5, 19, inner), np.float32)
    x[0], x[1, 3], x[2, -1], x[3, 0], x[4, 2] = -0.0, np.inf, np.nan, 3e38, -np.inf
    x[3, 5], x[4, 9] = 3e38, np.inf
    total = run_kernel(float_sum(FloatSum(x.shape[:1], x.shape[1:2], x.shape[2]), isa_named("generic")), (x,), "generic")
    expected = numerics.float_sum(x, [1])
    np.testing.assert_array_equal(total, expected)
    assert np.signbit(total[0]).tolist() == np.signbit(expected[0]).tolist()


@pytest.mark.thinned(3)
@pytest.mark.parametrize("level", WIDTHS)
@pytest.mark.parametrize("centred", [True, False])
def test_rows_of_special_values(level: str, centred: bool) -> None:
    x = np.tile(np.float32([[0.0], [-0.0], [7], [1e-45], [3e38], [np.nan], [np.inf]]), 35)
    x[4:6, 1::2] *= np.float32(-1)
    gamma, beta = np.random.default_rng(0).normal(size=(2, 35)).astype(np.float32)
    gamma[0] = 0.0
    inputs = (x[..., None], gamma, beta) if centred else (x[..., None], gamma)
    expected = numerics.layer_norm(x, gamma, beta) if centred else numerics.rms_norm(x, gamma)
    norm = GroupNorm(7, 35, centred=centred)
    check(Case("special", lambda isa: group_norm(norm, isa), inputs, expected[..., None]), level)


@pytest.mark.slow
@pytest.mark.parametrize("level", WIDTHS)
def test_exp_over_its_whole_range(level: str) -> None:
    """Rows that begin with 0, the largest: the others are exp of their value, over the sum."""
    x = np.linspace(-90, 0, 40_000, dtype=np.float32).reshape(200, 200)
    x[:, 0] = 0
    check(Case("exp", lambda isa: softmax(x.shape, isa), (x,), numerics.softmax(x)), level)


@pytest.mark.parametrize("level", WIDTHS)
def test_rows_of_special_values_of_softmax(level: str) -> None:
    inf, nan, most = np.inf, np.nan, np.finfo(np.float32).max
    x = np.float32([[-inf] * 3, [nan] * 3, [inf, inf, 0], [nan, 0, 1], [most, -most, inf], [-0.0, 0.0, 1e-45]])
    check(Case("special", lambda isa: softmax(x.shape, isa), (x,), numerics.softmax(x)), level)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("level", levels("generic", "avx2", "avx512bw"))
def test_softmax_of_any_length(level: str) -> None:
    kernels = softmax(("rows", "length"), isa_named(level)), softmax(("rows", "length", 3), isa_named(level), 1)
    random = np.random.default_rng(0)
    for rows, length in ((1, 1), (3, 5), (2, 15), (5, 16), (4, 17), (2, 40), (1, 100), (30, 1000)):
        x = (random.normal(size=(rows, length, 3)) * 10).astype(np.float32)
        x[0, -1], x[-1, 0] = np.inf, np.nan
        flat = np.ascontiguousarray(x[..., 0])
        got = run_kernel(kernels[0], (flat,), level, flat.shape)
        assert got.tobytes() == numerics.softmax(flat, axis=-1).tobytes()
        assert run_kernel(kernels[1], (x,), level, x.shape).tobytes() == numerics.softmax(x, axis=1).tobytes()
