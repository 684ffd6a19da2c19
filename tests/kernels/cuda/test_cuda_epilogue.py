"""What follows the sums on a GPU: ties, ends of the exact conversions, products that leave int32, slopes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from tests.kernels.cuda.emulated import needs_compiler, run_kernel
from tests.kernels.cuda.nvcc import cuda_source
from tests.kernels.harness import huge_multipliers
from tvmq import numerics
from tvmq.errors import BuildError
from tvmq.kernels.builder import const
from tvmq.kernels.cuda.conv2d import conv2d
from tvmq.kernels.cuda.epilogue import LARGEST_EXACT, scaled
from tvmq.kernels.epilogue import EpiloguePlan
from tvmq.kernels.types import Conv2d, Dequantize, Kernel, Requantize

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


def check(step: Requantize | Dequantize, reach: int) -> Kernel:
    """The kernel with that step, whose result is that of the definition."""
    x, weight, bias = operands(reach)
    kernel = conv2d(CONV, weight, bias, 0, (step,), 80)
    sums = numerics.conv(x.transpose(0, 3, 1, 2), weight).transpose(0, 2, 3, 1) + bias
    if isinstance(step, Dequantize):
        wanted = numerics.dequantize(sums, step.scale, np.zeros(FILTERS, np.int32), axis=3)
    else:
        codes = {"zero_point": step.zero_point, "qmin": step.qmin, "qmax": step.qmax, "dtype": step.dtype}
        wanted = numerics.requantize(sums, step.multiplier, axis=3, negative_slope=step.negative_slope, **codes)
    np.testing.assert_array_equal(run_kernel(kernel, (x,)), wanted)
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


@needs_compiler
@pytest.mark.parametrize("number", range(len(STEPS)))
@pytest.mark.parametrize("reach", [LARGEST_EXACT, 2**31 - 1])
def test_sums_of_all_sizes(reach, number):
    kernel = check(STEPS[number], reach)
    by_bits = "__int_as_float" in cuda_source(kernel.name, kernel.func)
    assert by_bits == (reach == LARGEST_EXACT)


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
        scaled(replace(EpiloguePlan(None, ()), requantizer=Other(STEPS[0])), const(1), [])
