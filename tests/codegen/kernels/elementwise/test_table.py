"""Kernels of tables: every code, and refusals; prelu kernels against the definition."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from tests.codegen.kernels.cases import Case, check, codes
from tests.codegen.kernels.harness import levels
from tests.codegen.kernels.table import LOOKUPS
from tvmq import numerics
from tvmq.codegen.kernels.elementwise.channel_prelu import PreluStep, prelu
from tvmq.codegen.kernels.elementwise.table import table
from tvmq.codegen.kernels.isa import isa_named
from tvmq.errors import BuildError


@pytest.mark.slow_cases("avx2")
@pytest.mark.parametrize("level", LOOKUPS)
def test_every_code(level: str) -> None:
    x, values = np.arange(256, dtype=np.uint8), np.random.default_rng(0).permutation(256).astype(np.uint8)
    check(Case("all", lambda isa: table(x.shape, "uint8", values, isa), (x,), values), level)


def test_tables_are_constants_and_no_part_of_the_key() -> None:
    isa, one, other = isa_named("generic"), np.zeros(256, np.uint8), np.ones(256, np.uint8)
    assert table((4,), "uint8", one, isa).key == table((4,), "uint8", other, isa).key
    assert table((4,), "int8", one, isa).key != table((4,), "uint8", one, isa).key


def test_other_types_are_refused() -> None:
    isa = isa_named("generic")
    with pytest.raises(BuildError, match="Got int16 and 256 of uint8"):
        table((4,), "int16", np.zeros(256, np.uint8), isa)
    with pytest.raises(BuildError, match="Got uint8 and 255 of uint8"):
        table((4,), "uint8", np.zeros(255, np.uint8), isa)


SHAPES = [(1, 5, 8, 24), (2, 3, 7, 19), (1, 1, 1, 64), (1, 4, 4, 40)]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("level", levels("avx2", "avx512bw"))
@pytest.mark.parametrize("x_dtype,zero", [("uint8", 100), ("int8", -20)])
@pytest.mark.parametrize("shape", SHAPES)
def test_equals_the_definition_of_prelu(shape: tuple[int, ...], x_dtype: str, zero: int, level: str) -> None:
    x = codes(shape, x_dtype)
    slopes = np.random.default_rng(1).uniform(-1.5, 1.5, shape[-1])
    params = numerics.prelu_params(0.031, slopes, 0.04)
    expected = numerics.prelu(x, **params._asdict(), x_zero=zero, zero_point=90, dtype="uint8", qmin=3, qmax=240)
    step = PreluStep(params.multiplier, params.shift, zero, 90, 3, 240, x_dtype=x_dtype)
    check(Case("prelu", partial(prelu, shape, params.slopes, step), (x,), expected), level)


def test_what_does_not_fit_has_no_kernel() -> None:
    step = PreluStep(1, 0, 0, 0, 0, 255)
    slopes = np.ones(3, np.int32)
    assert prelu((1, 100, 3), slopes, step, isa_named("generic")) is None
    assert prelu((1, 2, 3), slopes, step, isa_named("avx2")) is None
    assert prelu((1, 100, 4), slopes, step, isa_named("avx2")) is None
