"""Epilogues on a GPU: ties, ends of the exact conversions, products that leave int32, slopes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from tests.codegen.kernels.cuda.emulated import cuda_source, needs_compiler, run_kernel
from tests.codegen.kernels.harness import huge_multipliers
from tvmq import numerics
from tvmq.codegen.kernels.cuda.conv2d import conv2d
from tvmq.codegen.kernels.cuda.epilogue import LARGEST_EXACT, scale_sum
from tvmq.codegen.kernels.parts.builder import const
from tvmq.codegen.kernels.parts.epilogue import EpiloguePlan
from tvmq.codegen.kernels.parts.kernel_types import Conv2d, Dequantize, FixedRequantize, Kernel, Requantize
from tvmq.errors import BuildError
from tvmq.numerics.requantize_rule import ROUNDINGS

FILTERS, CODES = 24, 256
CONV = Conv2d(1, CODES, 1, 4, FILTERS)


def operands(reach: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, weight, bias whose sums are all codes around 0 and up to +-reach, and no more."""
    x = np.zeros((1, CODES, 1, 4), np.uint8)
    x[0, :, 0, 0] = np.arange(CODES)
    weight = np.zeros((FILTERS, 4, 1, 1), np.int8)
    weight[:, 0] = np.resize(np.int8([1, -1, 0, 2]), (FILTERS, 1, 1))
    bias = np.resize([0, -128, reach - 510, 255 - reach, 77], FILTERS).astype(np.int32)  # five: meet all weights
    return x, weight, bias


def definition(sums: np.ndarray, step: Requantize | FixedRequantize | Dequantize) -> np.ndarray:
    if isinstance(step, Dequantize):
        return numerics.dequantize(sums, step.scale, np.zeros(FILTERS, np.int32), axis=3)
    codes = {"zero_point": step.zero_point, "qmin": step.qmin, "qmax": step.qmax, "dtype": step.dtype, "axis": 3}
    if isinstance(step, FixedRequantize):
        return numerics.requantize(
            sums, step.multiplier, step.shift, mode="fixed_point", rounding=step.rounding, **codes
        )
    return numerics.requantize(sums, step.multiplier, negative_slope=step.negative_slope, **codes)


def check(step: Requantize | FixedRequantize | Dequantize, reach: int) -> Kernel:
    """The kernel with that step, whose result is that of the definition."""
    x, weight, bias = operands(reach)
    kernel = conv2d(CONV, weight, bias, 0, (step,), 80)
    sums = numerics.conv(x.transpose(0, 3, 1, 2), weight).transpose(0, 2, 3, 1) + bias
    np.testing.assert_array_equal(run_kernel(kernel, (x,)), definition(sums, step))
    return kernel


def multipliers(*values: float) -> np.ndarray:
    return np.resize(np.float32(values), FILTERS)


STEPS = [
    Requantize(multipliers(0.5, 0.25, 2**-14, 0.0371), 3, 0, 255),  # halves are ties
    Requantize(multipliers(0.5, 1.5, 2**-15, 0.9), 3, 1, 250, negative_slope=0.1),
    Requantize(multipliers(0.5, 1.0, 1e-5, 0.7), -128, -128, 127, "int8"),
    Requantize(multipliers(0.0, 1e-38, 3e38, 1e30), 7, -100, 127, "int8"),
    huge_multipliers(CONV),
    Dequantize(multipliers(0.1, 3.0, 1e-30, 2.0**100)),
]


@pytest.mark.slow
@pytest.mark.thinned(6)
@needs_compiler
@pytest.mark.parametrize("number", range(len(STEPS)))
@pytest.mark.parametrize("reach", [LARGEST_EXACT, 2**31 - 1])
def test_sums_of_all_sizes(reach, number):
    kernel = check(STEPS[number], reach)
    by_bits = "__int_as_float" in cuda_source(kernel.name, kernel.func)
    assert by_bits == (reach == LARGEST_EXACT)


FIXED = [
    ([2**30, 3 * 2**29, 2**31 - 1, 0], [0, -1, -12, -32, -40]),  # halves are ties, and what shifts to nothing
    ([2**30, 1073741825, 2**31 - 1], [0, 3, 9, 1]),  # shifts to the left, products beyond int64 among them
    ([2**31 - 1, 2**30 + 7], [31, 30, -20]),
]


@pytest.mark.slow
@pytest.mark.thinned(3)
@needs_compiler
@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("number", range(len(FIXED)))
def test_integer_requantize(number, rounding):
    multiplier, shift = (np.resize(np.int32(values), FILTERS) for values in FIXED[number])
    codes = (3, -120, 127, "int8") if number == 0 else (128, 1, 250, "uint8")
    kernel = check(FixedRequantize(multiplier, shift, rounding, *codes), 2**31 - 1)
    assert [str(array.dtype) for array in kernel.constants[2:]] == [
        ["int32", "int32"],
        ["int64", "int32", "int32"],
        ["int64", "int32", "int32"],
    ][number]
    assert "float" not in cuda_source(kernel.name, kernel.func).partition("__global__")[2]


def test_steps_that_cannot_follow_are_refused():
    _, weight, bias = operands(LARGEST_EXACT)
    step = FixedRequantize(np.ones(FILTERS, np.int32), np.zeros(FILTERS, np.int32), "UPWARD", 0, 0, 255)
    with pytest.raises(BuildError, match="FixedRequantize cannot follow a requantize step"):
        conv2d(CONV, weight, bias, 0, (step, step), 80)


def test_kernels_for_larger_sums_are_others():
    keys = []
    for reach in (LARGEST_EXACT, LARGEST_EXACT + 1):
        _, weight, bias = operands(reach)
        keys.append(conv2d(CONV, weight, bias, 0, STEPS[:1], 80).key)
    assert keys[0] != keys[1]


def test_a_step_without_expression_is_refused():
    @dataclass(frozen=True)
    class Other:
        step: Requantize

    with pytest.raises(BuildError, match="kernels, cuda: Other has no expression"):
        scale_sum(replace(EpiloguePlan(None, ()), requantizer=Other(STEPS[0])), const(1), [])
