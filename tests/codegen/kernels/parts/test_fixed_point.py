"""Requantize in integers after the sums of kernels: the bits of tvmq.numerics on every instruction set."""

from __future__ import annotations

import numpy as np
import pytest

from tests.codegen.kernels.harness import compare, levels, run_kernel
from tvmq import numerics
from tvmq.codegen.kernels.elementwise.convert import requantize
from tvmq.codegen.kernels.elementwise.multiply import multiply
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.parts.fixed_point import FixedRequantizer
from tvmq.codegen.kernels.parts.kernel_types import Conv2d, FixedRequantize
from tvmq.numerics.requantize_rule import ROUNDINGS

LEVELS = levels("generic", "avx2", "avxvnni", "avx512bw", "avx512vnni", "avx512vbmi")
INT32 = np.iinfo(np.int32)
FACTORS = {
    "pairs": ([0.0037, 0.2, 1e-9, 2.0**-12, 0.0], [0, 0, 0, 0, 0]),
    "general": ([0.0037, 0.7, 900.0, 2.0**-12, 0.0], [0, 0, 0, 0, 0]),
    "clips": ([0.0037, 2.0**29, 900.0, 2.0**-12, 0.4999], [0, 0, 0, 0, 0]),
}

EXTREMES = [
    ("powers", "UPWARD"), ("powers", "DOUBLE"), ("pairs", "TONEAREST"), ("pairs", "DOUBLE"), ("general", "UPWARD"),
    ("general", "DOUBLE"), ("clips", "UPWARD"), ("clips", "DOUBLE"),
]  # fmt: skip


def step_of(form: str, rounding: str, dtype: str, channels: int) -> FixedRequantize:
    """A step whose plan has that form."""
    if form == "powers":
        shift = np.resize(np.int32([-3, -7, 0, -11]), channels)
        multiplier = np.full(channels, 2**30, np.int32)
    else:
        multiplier, shift = numerics.fixed_point_parameters(np.resize(np.float32(FACTORS[form][0]), channels))
    limits = np.iinfo(dtype)
    zero = 0 if dtype == "int16" else 3
    return FixedRequantize(multiplier, shift, rounding, zero, int(limits.min) + 2, int(limits.max) - 1, dtype)


@pytest.mark.slow
@pytest.mark.thinned(18)
@pytest.mark.parametrize("name", LEVELS)
@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16"])
@pytest.mark.parametrize("form", ["powers", "pairs", "general", "clips"])
def test_convolutions(name: str, rounding: str, dtype: str, form: str) -> None:
    conv = Conv2d(1, 5, 7, 9, 75, (3, 3), (1, 1), (1, 1, 1, 1))
    compare(conv, name, (step_of(form, rounding, dtype, 75),), (), x_zero=5)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", LEVELS)
@pytest.mark.parametrize(("form", "rounding"), EXTREMES)
def test_extreme_sums(name: str, form: str, rounding: str) -> None:
    random = np.random.default_rng(0)
    sums = random.integers(INT32.min, INT32.max + 1, (40, 35)).astype(np.int32)
    sums[:3], sums[3:6] = INT32.min, INT32.max
    sums[6:30] >>= random.integers(0, 31, (24, 35)).astype(np.int32)
    step = step_of(form, rounding, "int8", 35)
    found = run_kernel(requantize(sums.shape, step, isa_named(name)), (sums,), name)
    own = {"zero_point": step.zero_point, "qmin": step.qmin, "qmax": step.qmax, "dtype": step.dtype}
    multiplier, shift = step.multiplier, step.shift
    expected = numerics.requantize(sums, multiplier, shift, axis=1, mode="fixed_point", rounding=step.rounding, **own)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", LEVELS)
def test_products(name: str) -> None:
    random = np.random.default_rng(1)
    a, b = random.integers(0, 256, (3, 5, 77)).astype(np.uint8), random.integers(0, 256, (3, 1, 77)).astype(np.uint8)
    step = FixedRequantize(np.int32([1395864320]), np.int32([-7]), "UPWARD", 7, 0, 255)
    kernel = multiply(a.shape, b.shape, step, isa_named(name), a_zero=3, b_zero=250)
    sums = numerics.multiply(a, b, a_zero=3, b_zero=250)
    expected = numerics.requantize(sums, 1395864320, -7, mode="fixed_point", zero_point=7, dtype="uint8")
    np.testing.assert_array_equal(run_kernel(kernel, (a, b), name), expected)


@pytest.mark.parametrize("form", ["powers", "pairs", "general"])
def test_the_form_follows_from_the_shifts(form: str) -> None:
    plan = FixedRequantizer.plan(step_of(form, "UPWARD", "uint8", 5), 2**20)
    assert plan.form == form and not plan.clips
    if form == "powers":  # sums without a bound could leave int32 with their halves
        assert FixedRequantizer.plan(plan.step, 2**31).form == "general"
        assert FixedRequantizer.plan(step_of(form, "DOUBLE", "uint8", 5), 2**20).form == "general"
