"""Kernels of pools: the shape of the result, and refusals."""

from __future__ import annotations

import numpy as np
import pytest

from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.parts.kernel_types import AddStep, Requantize
from tvmq.codegen.kernels.pool import global_sum, max_pool, sum_pool
from tvmq.codegen.kernels.pool_windows import Pool2d
from tvmq.errors import BuildError


def test_out_shape() -> None:
    assert Pool2d(2, 7, 9, 30, (3, 2), (2, 3), (1, 1, 0, 0), ceil_mode=True).out_shape == (2, 4, 4, 30)


def test_what_does_not_fit_is_refused() -> None:
    isa, pool = isa_named("generic"), Pool2d(1, 4, 4, 8, (2, 2))
    with pytest.raises(BuildError, match="max_pool: takes int8 or uint8 or float32. Got int16"):
        max_pool(pool, isa, "int16")
    with pytest.raises(BuildError, match=r"give an output of shape \(1, 0, 0, 8\)"):
        max_pool(Pool2d(1, 4, 4, 8, (5, 5)), isa)
    with pytest.raises(BuildError, match="sums can reach"):
        global_sum((1, 3000, 3000, 1), (), isa)
    with pytest.raises(BuildError, match=r"factors must have shape \(3, 3\)"):
        sum_pool(pool, (), isa, factors=np.ones((2, 3), np.int32))
    steps = (Requantize(np.float32([1]), 0, 0, 255), AddStep(1, 1, 0, 1, 0, 0, 255))
    with pytest.raises(BuildError, match="one requantize step can follow. Got 2 steps"):
        sum_pool(pool, steps, isa)
