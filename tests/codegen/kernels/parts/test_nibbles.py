"""Kernels that read weights two to a byte: the definition's bits, with and without unpacking a panel first."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.codegen.kernels.harness import conv_operands, expected_conv, levels, requantize_for, run_kernel
from tvmq import numerics
from tvmq.codegen.kernels.conv.conv2d import conv2d
from tvmq.codegen.kernels.conv.conv2d_float import conv2d_float
from tvmq.codegen.kernels.conv.matmul import matmul
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.parts.kernel_types import Clip, Conv2d
from tvmq.codegen.kernels.parts.packing import Int4Weights

LEVELS = levels("generic", "avx2", "avx512bw", "avx512vnni")
SHAPES: list[tuple[tuple[int | str, ...], int, int]] = [
    ((1,), 65, 200),  # one tile: unpacked as it is read
    ((3,), 17, 19),
    ((70,), 33, 130),  # tiles share what was unpacked
]
CONVOLUTIONS = {
    "3 x 3": Conv2d(1, 7, 6, 5, 40, kernel=(3, 3), padding=(1, 1, 1, 1)),
    "grouped": Conv2d(2, 5, 5, 12, 20, kernel=(3, 3), groups=4),
    "parallel": Conv2d(1, 28, 28, 40, 72, kernel=(3, 3), padding=(1, 1, 1, 1), x_dtype="int8"),
}


def narrow(weight: np.ndarray) -> np.ndarray:
    """All sixteen codes, the ends most often."""
    return np.clip(weight.astype(np.int32) // 12, -8, 7).astype(np.int8)


@pytest.mark.thinned(4)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("shape", SHAPES)
def test_matmul(level: str, shape: tuple) -> None:
    (rows,), depth, columns = shape
    random = np.random.default_rng(0)
    x = random.integers(0, 256, (rows, depth)).astype(np.uint8)
    weight = narrow(random.integers(-128, 128, (depth, columns)).astype(np.int8))
    bias = random.integers(-999, 999, columns).astype(np.int32)
    kernel = matmul(rows, depth, columns, weight, bias, (), isa_named(level))
    assert kernel.name.endswith("_w4") and kernel.constants[0].dtype == np.uint8
    np.testing.assert_array_equal(run_kernel(kernel, (x,), level), numerics.matmul(x, weight) + bias)


@pytest.mark.slow
@pytest.mark.thinned(4)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("rows", [1, 40])
def test_matmul_of_dynamic_rows(level: str, rows: int) -> None:
    random = np.random.default_rng(1)
    x = random.integers(0, 256, (rows, 21)).astype(np.uint8)
    weight = narrow(random.integers(-128, 128, (21, 50)).astype(np.int8))
    bias = np.zeros(50, np.int32)
    kernel = matmul(("n",), 21, 50, weight, bias, (), isa_named(level))
    np.testing.assert_array_equal(run_kernel(kernel, (x,), level), numerics.matmul(x, weight))


@pytest.mark.slow
@pytest.mark.thinned(4)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("conv", CONVOLUTIONS.values(), ids=CONVOLUTIONS)
def test_conv2d(level: str, conv: Conv2d) -> None:
    x, weight, bias = conv_operands(conv)
    weight, epilogue = narrow(weight), (requantize_for(conv),)
    kernel = conv2d(conv, weight, bias, 5, epilogue, isa_named(level))
    assert kernel.name.endswith("_w4")
    found = run_kernel(kernel, (x,), level)
    np.testing.assert_array_equal(found, expected_conv(conv, (x, weight, bias), 5, epilogue, ()))


def test_half_the_bytes() -> None:
    isa, bias = isa_named("avx512vnni"), np.zeros(64, np.int32)
    random = np.random.default_rng(2)
    wide = random.integers(-128, 128, (128, 64)).astype(np.int8)
    sizes = [matmul(1, 128, 64, w, bias, (), isa).constants[0].nbytes for w in (wide, narrow(wide))]
    assert sizes == [128 * 64, math.ceil(128 * 64 / 2)]


def float_weights(depth: int, columns: int, size: int) -> tuple[np.ndarray, Int4Weights]:
    """Float weights [columns, depth, 1, 1] and the codes and scales they are made of."""
    random = np.random.default_rng(3)
    codes = random.integers(-8, 8, (depth, columns)).astype(np.int8)
    scale = np.exp(random.normal(size=(depth // size, columns))).astype(np.float32)
    weight = numerics.group_dequantize(codes, scale, axis=0, group_size=size)
    filters = (np.ascontiguousarray(array.T).reshape(columns, depth, 1, 1) for array in (weight, codes))
    weight, codes = filters
    return weight, Int4Weights(codes, scale, size)


@pytest.mark.slow
@pytest.mark.thinned(4)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("rows, size", [(1, 64), (1, 16), (1, 4), (40, 64), (40, 8)])
def test_float_weights_have_the_bits_of_the_float_kernel(level: str, rows: int, size: int) -> None:
    """Bits are equal for a single tile and for many, with one scale for each column and with several."""
    isa, conv = isa_named(level), Conv2d(1, rows, 1, 64, 130, x_dtype="float32")
    weight, int4 = float_weights(64, 130, size)
    random = np.random.default_rng(4)
    x, bias = random.normal(size=(1, rows, 1, 64)).astype(np.float32), random.normal(size=130).astype(np.float32)
    plain = conv2d_float(conv, weight, bias, (Clip(-3.0, 4.0),), isa)
    packed = conv2d_float(conv, weight, bias, (Clip(-3.0, 4.0),), isa, int4=int4)
    of_one_row = packed.name.startswith("int4_row")
    assert of_one_row == (rows == 1 and size % 8 == 0 and level.startswith("avx512"))
    assert of_one_row or packed.constants[0].nbytes * 8 == plain.constants[0].nbytes
    np.testing.assert_array_equal(run_kernel(packed, (x,), level), run_kernel(plain, (x,), level))


@pytest.mark.slow
@pytest.mark.thinned(4)
@pytest.mark.parametrize("level", LEVELS)
def test_float_convolution(level: str) -> None:
    isa, conv = isa_named(level), Conv2d(1, 9, 8, 6, 20, kernel=(3, 3), padding=(1, 1, 1, 1), x_dtype="float32")
    random = np.random.default_rng(5)
    codes = random.integers(-7, 8, (20, 6, 3, 3)).astype(np.int8)
    scale = np.exp(random.normal(size=20)).astype(np.float32)
    weight = numerics.dequantize(codes, scale, np.zeros(20, np.int32), axis=0)
    x = random.normal(size=(1, 9, 8, 6)).astype(np.float32)
    plain = conv2d_float(conv, weight, None, (), isa)
    packed = conv2d_float(conv, weight, None, (), isa, int4=Int4Weights(codes, scale[None], 54))
    np.testing.assert_array_equal(run_kernel(packed, (x,), level), run_kernel(plain, (x,), level))
