"""prelu kernels against the definition."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from tests.kernels.cases import Case, check, codes
from tests.kernels.harness import levels
from tvmq import numerics
from tvmq.kernels.elementwise.table import Prelu, prelu
from tvmq.kernels.isa import isa_named

SHAPES = [(1, 5, 8, 24), (2, 3, 7, 19), (1, 1, 1, 64), (1, 4, 4, 40)]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("level", levels("avx2", "avx512bw"))
@pytest.mark.parametrize("x_dtype,zero", [("uint8", 100), ("int8", -20)])
@pytest.mark.parametrize("shape", SHAPES)
def test_equals_the_definition(shape: tuple[int, ...], x_dtype: str, zero: int, level: str) -> None:
    x = codes(shape, x_dtype)
    slopes = np.random.default_rng(1).uniform(-1.5, 1.5, shape[-1])
    params = numerics.prelu_params(0.031, slopes, 0.04)
    expected = numerics.prelu(x, **params._asdict(), x_zero=zero, zero_point=90, dtype="uint8", qmin=3, qmax=240)
    step = Prelu(params.multiplier, params.shift, zero, 90, 3, 240, x_dtype=x_dtype)
    check(Case("prelu", partial(prelu, shape, params.slopes, step), (x,), expected), level)


def test_what_does_not_fit_has_no_kernel() -> None:
    step = Prelu(1, 0, 0, 0, 0, 255)
    slopes = np.ones(3, np.int32)
    assert prelu((1, 100, 3), slopes, step, isa_named("generic")) is None
    assert prelu((1, 2, 3), slopes, step, isa_named("avx2")) is None
    assert prelu((1, 100, 4), slopes, step, isa_named("avx2")) is None
