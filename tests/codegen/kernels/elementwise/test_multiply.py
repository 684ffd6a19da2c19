"""Kernels of products and residual sums: all pairs of codes, wide codes, refusals."""

from __future__ import annotations

import numpy as np
import pytest

from tests.codegen.kernels.cases import LEVELS, WIDTHS, Case, check, codes
from tvmq import numerics
from tvmq.codegen.kernels.elementwise.add import add
from tvmq.codegen.kernels.elementwise.multiply import multiply
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.parts.kernel_types import AddStep, Requantize
from tvmq.errors import BuildError


@pytest.mark.parametrize("level", WIDTHS)
def test_all_pairs_of_codes(level: str) -> None:
    bits = np.arange(256, dtype=np.uint8)
    a, b = np.repeat(bits, 256), np.tile(bits, 256)
    step = Requantize(np.float32(1 / 256), 128, 0, 255)
    expected = numerics.requantize(
        numerics.multiply(a, b, a_zero=100, b_zero=200), step.multiplier, zero_point=128, dtype="uint8"
    )
    make = lambda isa: multiply(a.shape, b.shape, step, isa, a_zero=100, b_zero=200)  # noqa: E731
    check(Case("all", make, (a, b), expected), level)


def test_what_does_not_fit_is_refused() -> None:
    isa, step = isa_named("generic"), Requantize(np.float32(0.5), 0, 0, 255)
    with pytest.raises(BuildError, match=r"\(1, 5\) does not broadcast to \(1, 1\); swap"):
        multiply((1, 1), (1, 5), step, isa, a_zero=0, b_zero=0)
    with pytest.raises(BuildError, match="Got int16, uint8"):
        multiply((4,), (4,), step, isa, a_zero=0, b_zero=0, a_dtype="int16")
    with pytest.raises(BuildError, match="one multiplier. Got uint8, uint8 and 2"):
        multiply((2,), (2,), Requantize(np.float32([1, 2]), 0, 0, 255), isa, a_zero=0, b_zero=0)


STEP = AddStep(*numerics.add_params(0.5, 7, 0.3, 11, 0.6), zero_point=5, qmin=0, qmax=255)


@pytest.mark.parametrize("level", LEVELS)
def test_all_pairs_of_codes_of_add(level: str) -> None:
    bits = np.arange(256, dtype=np.uint8)
    a, b = np.repeat(bits, 256), np.tile(bits, 256)
    expected = numerics.add(a, b, **numerics.add_params(0.5, 7, 0.3, 11, 0.6)._asdict(), zero_point=5, dtype="uint8")
    check(Case("all", lambda isa: add(a.shape, STEP, isa), (a, b), expected), level)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("scales", [(0.5, 0.3, 0.6), (40.0, 0.01, 0.011)])
def test_differences(level: str, scales: tuple[float, float, float]) -> None:
    """A negative multiplier, within int16 and beyond."""
    bits = np.arange(256, dtype=np.uint8)
    a, b = np.repeat(bits, 256), np.tile(bits.view(np.int8), 256)
    params = numerics.add_params(scales[0], 7, scales[1], -11, scales[2], subtract=True)
    step = AddStep(*params, zero_point=99, qmin=0, qmax=255, b_dtype="int8")
    expected = numerics.add(a, b, **params._asdict(), zero_point=99, dtype="uint8")
    check(Case("difference", lambda isa: add(a.shape, step, isa), (a, b), expected), level)


@pytest.mark.thinned(4)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    "dtypes", [("int16", "int16", "int16"), ("int16", "uint8", "int16"), ("int8", "int16", "uint8")]
)
@pytest.mark.parametrize("shape", [(3, 5), (129,), (2, 3, 40)])
def test_codes_of_16_bits(level: str, dtypes: tuple[str, str, str], shape: tuple[int, ...]) -> None:
    scales = (0.9, 0.7, 0.8) if dtypes[2] == "int16" else (0.9, 0.7, 200.0)
    params = numerics.add_params(scales[0], 0, scales[1], 3, scales[2], dtypes=dtypes[:2])
    step = AddStep(*params, zero_point=9, qmin=1, qmax=250, b_dtype=dtypes[1], dtype=dtypes[2])
    a, b = codes(shape, dtypes[0]), codes(shape, dtypes[1], 1)
    expected = numerics.add(a, b, **params._asdict(), zero_point=9, dtype=dtypes[2], qmin=1, qmax=250)
    check(Case("wide", lambda isa: add(shape, step, isa, dtypes[0]), (a, b), expected), level)


def test_what_cannot_be_exact_is_refused() -> None:
    isa = isa_named("generic")
    with pytest.raises(BuildError, match="codes of uint8, int8, int16. Got int32 and uint8"):
        add((4,), STEP, isa, "int32")
    with pytest.raises(BuildError, match="the sum can reach 2147483902, int32 ends at 2147483647"):
        add((4,), AddStep(1, 0, 2**31 - 1, 1, 0, 0, 255), isa)


def test_key_is_the_code() -> None:
    isa = isa_named("avx2")
    assert add((4, 4), STEP, isa).key == add((4, 4), STEP, isa).key
    assert add((4, 4), STEP, isa).key != add((4, 5), STEP, isa).key
    assert add((4, 4), STEP, isa).name == "add_avx2"
