"""Kernels of pictures of any size against the definition: products, prelu, padding, pools; one function for many sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.codegen.kernels.harness import levels, run_kernel
from tvmq import numerics
from tvmq.codegen.kernels.elementwise.channel_prelu import PreluStep, prelu
from tvmq.codegen.kernels.elementwise.multiply import choose_multiply, multiply
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.move.constant_pad import pad
from tvmq.codegen.kernels.norm.float_sum import FloatSum, float_sum
from tvmq.codegen.kernels.parts.kernel_types import Requantize
from tvmq.codegen.kernels.pool import choose_sum_pool, max_pool, sum_pool
from tvmq.codegen.kernels.pool_windows import Pool2d

# of one pixel, fewer codes than a vector, one and several vectors
SIZES = [(1, 1, 1), (2, 3, 5), (1, 7, 9), (3, 16, 16), (1, 31, 33), (1, 1, 2), (2, 1, 4)]
PICTURE = ("n", "h", "w")
LEVELS = levels("generic", "avx2", "avx512vnni")
RANDOM = np.random.default_rng(0)
STEP = Requantize(np.float32([0.003]), 3, 0, 255)


def codes(*shape: int, dtype: str = "uint8") -> np.ndarray:
    return RANDOM.integers(0, 256, shape).astype(np.uint8).view(dtype)


@pytest.mark.slow
@pytest.mark.thinned(9)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("channels", [1, 3, 20, 64, 100])
@pytest.mark.parametrize("factor", ["hwc", "c", "nc", "hw", "wc"])
def test_products(level: str, channels: int, factor: str) -> None:
    names = (*PICTURE, channels)
    other = {
        "hwc": names, "c": (1, 1, 1, channels), "nc": ("n", 1, 1, channels), "hw": ("n", "h", "w", 1),
        "wc": (1, 1, "w", channels),
    }[factor]  # fmt: skip
    kernel = multiply(names, other, STEP, isa_named(level), a_zero=100, b_zero=7, b_dtype="int8")
    for sizes in SIZES:
        known = dict(zip(PICTURE, sizes, strict=True))
        a, b = codes(*sizes, channels), codes(*(known.get(str(size), size) for size in other), dtype="int8")
        product = numerics.multiply(a, b, a_zero=100, b_zero=7)
        expected = numerics.requantize(product, np.float32(0.003), zero_point=3, dtype="uint8")
        np.testing.assert_array_equal(run_kernel(kernel, [a, b], level, a.shape), expected)


def test_products_need_sizes_that_broadcast() -> None:
    isa, types = isa_named("generic"), ("uint8", "uint8")
    assert choose_multiply(("n", "h", "w", 8), ("n", "h", "w", 4), STEP, (0, 0), types, isa) is None
    assert choose_multiply(("n", "h", "w", 8), ("n", 1, 1, 8), STEP, (0, 0), types, isa) is not None


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("level", levels("avx2", "avx512vnni"))
@pytest.mark.parametrize("channels", [1, 3, 24, 64])
def test_prelu(level: str, channels: int) -> None:
    limits = {"multiplier": 2000, "shift": 12, "x_zero": -5, "zero_point": 4, "qmin": 0, "qmax": 250}
    slopes = RANDOM.integers(-3000, 3000, channels).astype(np.int32)
    kernel = prelu((*PICTURE, channels), slopes, PreluStep(**limits, x_dtype="int8"), isa_named(level))
    assert kernel is not None
    for sizes in SIZES:
        x = codes(*sizes, channels, dtype="int8")
        expected = numerics.prelu(x, slopes, **limits, dtype="uint8")
        np.testing.assert_array_equal(run_kernel(kernel, [x], level, x.shape), expected)


@pytest.mark.slow
@pytest.mark.thinned(5)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("width", [
    [(0, 0), (2, 1), (0, 3), (0, 0)], [(0, 0), (1, 1), (0, 0), (0, 0)], [(0, 0), (0, 0), (2, 2), (1, 0)],
    [(1, 0), (0, 0), (0, 0), (0, 0)], [(0, 0)] * 4,
])  # fmt: skip
def test_padding(level: str, dtype: str, width: list[tuple[int, int]]) -> None:
    for channels in (1, 20):
        kernel = pad((*PICTURE, channels), width, 7, isa_named(level), dtype)
        for sizes in SIZES:
            x = codes(*sizes, channels).astype(dtype)
            expected = np.pad(x, width, constant_values=7)
            np.testing.assert_array_equal(run_kernel(kernel, [x], level, expected.shape), expected)


# kernel, strides, padding, ceil_mode
WINDOWS = [
    ((2, 2), (2, 2), (0, 0, 0, 0), False),
    ((3, 3), (2, 2), (1, 1, 1, 1), False),
    ((3, 3), (2, 2), (0, 0, 0, 0), True),
    ((5, 5), (1, 1), (2, 2, 2, 2), False),
    ((3, 2), (1, 3), (1, 0, 2, 1), False),
    ((5, 4), (3, 2), (2, 3, 2, 1), False),
]


@pytest.mark.slow
@pytest.mark.thinned(6)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", ["uint8", "float32", "sums"])
@pytest.mark.parametrize("number", range(len(WINDOWS)))
def test_pools(level: str, kind: str, number: int) -> None:
    kernel, strides, padding, up = WINDOWS[number]
    if (up and kind == "sums") or (kind == "float32" and kernel == (5, 5)) or (kind == "float32" and kernel == (5, 4)):
        pytest.skip("floats have kernels of few taps, sums none that are rounded up")
    pool = Pool2d(*PICTURE, 20, kernel, strides, padding, ceil_mode=up, out_sizes=("n", "oh", "ow"))
    isa, windows = isa_named(level), {"kernel": kernel, "strides": strides, "padding": padding}
    made = sum_pool(pool, (STEP,), isa, zero_point=7) if kind == "sums" else max_pool(pool, isa, kind)
    fitting = [size for size in SIZES if all(n + padding[i] + padding[i + 2] >= kernel[i] for i, n in enumerate(size[1:]))]
    assert len(fitting) > 3
    for size in fitting:
        x: Any = RANDOM.standard_normal((*size, 20)).astype(kind) if kind == "float32" else codes(*size, 20)
        first = x.transpose(0, 3, 1, 2)
        if kind == "sums":
            sums = numerics.sum_pool(first, zero_point=7, **windows)
            expected = numerics.requantize(sums, np.float32(0.003), zero_point=3, dtype="uint8")
        else:
            expected = numerics.max_pool(first, ceil_mode=up, **windows)
        expected = expected.transpose(0, 2, 3, 1)
        np.testing.assert_array_equal(run_kernel(made, [x], level, expected.shape), expected)


def test_sums_of_windows_that_may_lie_outside_have_no_kernel() -> None:
    pool = Pool2d(*PICTURE, 4, (2, 2), (2, 2), (0, 0, 2, 0), out_sizes=PICTURE)
    assert choose_sum_pool(pool, STEP, 0, "uint8", isa_named("generic")) is None


@pytest.mark.thinned(2)
@pytest.mark.parametrize("level", LEVELS)
def test_sums_along_rows(level: str) -> None:
    kernel = float_sum(FloatSum(("n", 3), ("w",), 1, True, rows=True), isa_named(level))
    for n, _, w in SIZES:
        x = RANDOM.standard_normal((n, 3, w)).astype(np.float32)
        expected = numerics.float_sum(x, [2], mean=True)
        np.testing.assert_array_equal(run_kernel(kernel, [x], level, (n, 3)), expected)


@pytest.mark.slow
def test_products_of_batches_of_large_pictures_compile() -> None:
    """A parallel loop within another would be refused."""
    shape = (2, 80, 80, 64)
    kernel = multiply(shape, (2, 1, 1, 64), STEP, isa_named("avx2"), a_zero=100, b_zero=7)
    a, b = codes(*shape), codes(2, 1, 1, 64)
    product = numerics.multiply(a, b, a_zero=100, b_zero=7)
    expected = numerics.requantize(product, np.float32(0.003), zero_point=3, dtype="uint8")
    np.testing.assert_array_equal(run_kernel(kernel, [a, b], "avx2", shape), expected)
