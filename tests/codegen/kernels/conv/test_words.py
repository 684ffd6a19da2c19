"""Convolutions and products of 16-bit codes against the definition: conv2d and depthwise, every instruction set."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.codegen.kernels.conv.test_conv2d import SHAPES
from tests.codegen.kernels.harness import conv_operands, expected_conv, levels, run_kernel
from tvmq.codegen.kernels.conv.choose import choose_convolution
from tvmq.codegen.kernels.conv.matmul import matmul
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.parts.kernel_types import Conv2d, Dequantize, Epilogue, Requantize

LEVELS = levels("generic", "avx2", "avxvnni", "avx512bw", "avx512vnni", "avx512vbmi")
CHANNELS = (2, 3, 7, 40, 90, 64, 33, 130)  # of depthwise convolutions: around narrow and wide vectors


def epilogue_of(conv: Conv2d, number: int) -> Epilogue:
    """Sums, codes of 16 bits, of 8, or floats."""
    factors = np.resize(np.float32([1e-3, 3e-4, 2.0**-12]), conv.filters)
    wide, narrow = Requantize(factors, 0, -32767, 32767, "int16"), Requantize(factors / 100, 3, 0, 255)
    return [(), (wide,), (narrow,), (Dequantize(factors),)][number % 4]


def check(conv: Conv2d, name: str, number: int) -> None:
    """Assert that the kernel that is chosen gives the bits of the definition."""
    x, weight, bias = conv_operands(conv)
    epilogue = epilogue_of(conv, number)
    kernel = choose_convolution(conv, weight, bias, 0, epilogue, isa_named(name))
    assert kernel is not None
    found = run_kernel(kernel, (x,), name)
    np.testing.assert_array_equal(found, expected_conv(conv, (x, weight, bias), 0, epilogue, ()))


@pytest.mark.slow_cases("13-generic", "27-generic", "6-generic", "7-avx2", "28-avx2")
@pytest.mark.thinned(8)
@pytest.mark.parametrize("name", LEVELS)
@pytest.mark.parametrize("number", range(len(SHAPES)))
def test_convolutions(name: str, number: int) -> None:
    check(replace(SHAPES[number], x_dtype="int16"), name, number)


@pytest.mark.slow_cases("12-generic", "26-generic")
@pytest.mark.thinned(8)
@pytest.mark.parametrize("name", LEVELS)
@pytest.mark.parametrize("number", range(0, len(SHAPES), 2))
def test_depthwise_convolutions(name: str, number: int) -> None:
    count = CHANNELS[number // 2 % len(CHANNELS)]
    conv = replace(SHAPES[number], x_dtype="int16", channels=count, filters=count, groups=count)
    check(conv, name, 1 + number // 2)


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", LEVELS)
def test_dynamic_rows(name: str) -> None:
    conv = Conv2d(1, 5, 1, 37, 50, x_dtype="int16")
    x, weight, bias = conv_operands(conv)
    matrix, rows = np.ascontiguousarray(weight.reshape(50, 37).T), x.reshape(5, 37)
    kernel = matmul(("n",), 37, 50, matrix, bias, (), isa_named(name), x_dtype="int16")
    expected = rows.astype(np.int32) @ matrix.astype(np.int32) + bias
    np.testing.assert_array_equal(run_kernel(kernel, (rows,), name), expected)


def test_sums_at_the_ends_of_int32() -> None:
    conv = Conv2d(1, 4, 4, 512, 16, x_dtype="int16")
    x, weight, bias = np.full((1, 4, 4, 512), -(2**15), np.int16), np.zeros((16, 512, 1, 1), np.int8), np.zeros(16, "i")
    weight[:8], weight[8:] = 127, -127  # 2^31 would be 128 in each of 512
    kernel = choose_convolution(conv, weight, bias, 0, (), isa_named("generic"))
    assert kernel is not None
    expected = expected_conv(conv, (x, weight, bias), 0, (), ())
    np.testing.assert_array_equal(run_kernel(kernel, (x,), "generic"), expected)
    assert abs(int(expected.max())) > 2**30
