"""Kernels of dynamic sizes against the definition: one function of each, many sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.codegen.kernels.harness import levels, run_kernel
from tvmq import numerics
from tvmq.codegen.kernels.elementwise.add import add
from tvmq.codegen.kernels.elementwise.convert import dequantize, quantize
from tvmq.codegen.kernels.elementwise.table import table
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.move.concat import choose_concat, concat
from tvmq.codegen.kernels.move.repeat_pixels import choose_repeat_pixels, repeat_pixels
from tvmq.codegen.kernels.move.take import choose_take
from tvmq.codegen.kernels.move.transpose import dequantize_to_nchw, quantize_to_nhwc, to_nchw, to_nhwc
from tvmq.codegen.kernels.norm.float_sum import FloatSum, float_sum
from tvmq.codegen.kernels.parts.kernel_types import AddStep, Kernel
from tvmq.codegen.kernels.pool import choose_max_pool, max_pool
from tvmq.codegen.kernels.pool_windows import Pool2d
from tvmq.tools.analysis.verification import unequal_bits

SIZES = [(1, 1, 1), (2, 3, 5), (1, 7, 9), (3, 16, 16), (1, 31, 33)]
PICTURE = ("n", "h", "w")
LEVELS = levels("generic", "avx2", "avx512vnni")
RANDOM = np.random.default_rng(0)


def check(kernel: Kernel, inputs: list[np.ndarray], level: str, expected: np.ndarray) -> None:
    """Assert that the kernel gives these bits."""
    found = run_kernel(kernel, inputs, level, expected.shape)
    assert not unequal_bits(found, expected).any()


def codes(*shape: int) -> np.ndarray:
    return RANDOM.integers(0, 256, shape).astype(np.uint8)


@pytest.mark.thinned(5)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.slow
def test_element_by_element(level: str) -> None:
    isa, values = isa_named(level), RANDOM.permutation(256).astype(np.uint8)
    params = numerics.add_params(0.4, 3, 0.3, 17, 0.5)
    step = AddStep(*params, zero_point=9, qmin=1, qmax=250)
    channels, shape = 5, (*PICTURE, 5)
    scale, zero = RANDOM.random(channels).astype(np.float32), RANDOM.integers(0, 9, channels).astype(np.int32)
    kernels = table(shape, "uint8", values, isa), add(shape, step, isa), quantize(shape, 0.02, 7, isa)
    back, alike = dequantize(shape, "uint8", scale, zero, isa), dequantize(shape, "uint8", scale[:1], zero[:1], isa)
    limits = {"zero_point": 9, "dtype": "uint8", "qmin": 1, "qmax": 250}
    for sizes in SIZES:
        full = (*sizes, channels)
        a, b, x = codes(*full), codes(*full), RANDOM.standard_normal(full).astype(np.float32)
        check(kernels[0], [a], level, numerics.table(a, values))
        check(kernels[1], [a, b], level, numerics.add(a, b, **params._asdict(), **limits))
        whole = {"dtype": "uint8", "qmin": 0, "qmax": 255}
        check(kernels[2], [x], level, numerics.quantize(x, np.float32(0.02), np.int32(7), **whole))
        check(back, [a], level, numerics.dequantize(a, scale, zero, axis=3))
        check(alike, [a], level, numerics.dequantize(a, scale[0], zero[0]))


@pytest.mark.slow
@pytest.mark.thinned(5)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("channels", [3, 20])
def test_changes_of_layout(level: str, channels: int) -> None:
    isa, first, last = isa_named(level), ("n", channels, "h", "w"), (*PICTURE, channels)
    kernels = to_nhwc(first, isa), to_nchw(last, isa), quantize_to_nhwc(first, 0.02, 7, isa)
    floats = dequantize_to_nchw(last, "uint8", 0.5, 3, isa)
    for n, h, w in SIZES:
        x = codes(n, channels, h, w)
        moved = x.transpose(0, 2, 3, 1)
        check(kernels[0], [x], level, moved)
        check(kernels[1], [moved], level, x)
        real = RANDOM.standard_normal(x.shape).astype(np.float32)
        limits = {"dtype": "uint8", "qmin": 0, "qmax": 255}
        expected = numerics.quantize(real, np.float32(0.02), np.int32(7), **limits).transpose(0, 2, 3, 1)
        check(kernels[2], [real], level, expected)
        check(floats, [moved], level, numerics.dequantize(x, np.float32(0.5), np.int32(3)))


@pytest.mark.thinned(5)
@pytest.mark.parametrize("level", LEVELS)
def test_concat_and_means(level: str) -> None:
    isa = isa_named(level)
    joined = concat([(*PICTURE, 3), (*PICTURE, 20)], 3, isa)
    mean = float_sum(FloatSum(PICTURE[:1], PICTURE[1:], 20, True), isa)
    for sizes in SIZES:
        parts = [codes(*sizes, 3), codes(*sizes, 20)]
        check(joined, parts, level, np.concatenate(parts, 3))
        x = RANDOM.standard_normal((*sizes, 20)).astype(np.float32)
        expected = numerics.float_sum(x.transpose(0, 3, 1, 2), [2, 3], mean=True)
        check(mean, [x], level, expected)


@pytest.mark.slow_cases("options1-float32-generic", "options2-uint8-avx2")
@pytest.mark.thinned(5)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("options", [
    ((2, 2), (2, 2), (0, 0, 0, 0), False), ((3, 3), (2, 2), (1, 1, 1, 1), False), ((3, 3), (2, 2), (0, 0, 0, 0), True),
])  # fmt: skip
def test_maxima(level: str, dtype: str, options: Any) -> None:
    kernel, strides, padding, up = options
    pool = Pool2d(*PICTURE, 20, kernel, strides, padding, ceil_mode=up, out_sizes=("n", "oh", "ow"))
    assert pool.always_taps
    made = max_pool(pool, isa_named(level), dtype)
    for n, h, w in SIZES[2:]:
        x = codes(n, h, w, 20) if dtype == "uint8" else RANDOM.standard_normal((n, h, w, 20)).astype(dtype)
        windows = {"kernel": kernel, "strides": strides, "padding": padding, "ceil_mode": up}
        expected = numerics.max_pool(x.transpose(0, 3, 1, 2), **windows).transpose(0, 2, 3, 1)
        check(made, [x], level, expected)


def test_windows_that_may_lie_outside_have_none() -> None:
    def windows(padding: tuple[int, ...], **options: Any) -> Pool2d:
        return Pool2d(*PICTURE, 4, (2, 2), (2, 2), padding, out_sizes=PICTURE, **options)

    assert choose_max_pool(windows((0, 0, 2, 0)), "uint8", isa_named("generic")) is None
    assert not windows((0, 0, 2, 0)).always_taps
    assert not windows((0, 0, 1, 0), ceil_mode=True).always_taps
    assert not windows((0, 0, 0, 0), dilation=(2, 2)).always_taps


@pytest.mark.thinned(5)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_free_axes_are_joined(level: str, dtype: str) -> None:
    isa = isa_named(level)
    rows = choose_concat([("n", "h1", "w", 3), ("n", "h2", "w", 3), ("n", 2, "w", 3)], 1, [dtype] * 3, isa)
    columns = concat([("n", 24, "w1"), ("n", 24, "w2")], 2, isa, dtype)
    for n, h, w in SIZES:
        parts = [codes(n, count, w, 3).astype(dtype) for count in (h, w, 2)]
        check(rows, parts, level, np.concatenate(parts, 1))
        lines = [codes(n, 24, count).astype(dtype) for count in (w, h * w)]
        check(columns, lines, level, np.concatenate(lines, 2))


def test_several_types_are_not_joined() -> None:
    isa = isa_named("generic")
    assert choose_concat([(*PICTURE, 3), (*PICTURE, 4)], 3, ["uint8", "int8"], isa) is None
    assert choose_concat([(*PICTURE, 3), (*PICTURE, 4)], 3, ["int16"] * 2, isa) is None


@pytest.mark.thinned(5)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("channels, dtype", [(3, "uint8"), (70, "int8"), (20, "float32")])
def test_repeated_pixels(level: str, channels: int, dtype: str) -> None:
    for factors in ((2, 2), (1, 3)):
        kernel = repeat_pixels((*PICTURE, channels), factors, isa_named(level), dtype)
        for sizes in SIZES:
            x = codes(*sizes, channels).astype(dtype)
            check(kernel, [x], level, x.repeat(factors[0], 1).repeat(factors[1], 2))


@pytest.mark.thinned(5)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("axis, index_dtype, dtype", [(1, "int64", "uint8"), (2, "int32", "float32"), (3, "int64", "int8")])
def test_parts_by_indices(level: str, axis: int, index_dtype: str, dtype: str) -> None:
    """Indices outside of the axis wrap round."""
    kernel = choose_take((*PICTURE, 20), axis, (dtype, index_dtype), isa_named(level))
    for sizes in SIZES:
        x = codes(*sizes, 20).astype(dtype)
        size = x.shape[axis]
        indices = RANDOM.integers(-2 * size - 3, 2 * size + 3, 9).astype(index_dtype)
        check(kernel, [x, indices], level, np.take(x, indices % size, axis))


def test_types_that_are_not_taken_by_indices() -> None:
    assert choose_take((*PICTURE, 4), 1, ("int16", "int64"), isa_named("generic")) is None
    assert choose_take((*PICTURE, 4), 1, ("uint8", "int16"), isa_named("generic")) is None
    assert choose_repeat_pixels((*PICTURE, 4), (2, 2), "int16", isa_named("generic")) is None


@pytest.mark.thinned(4)
@pytest.mark.parametrize("dtype", ["uint8", "int8", "float32"])
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5, 8, 15, 16, 17])
def test_transposes_of_pictures_of_any_channels(channels: int, dtype: str) -> None:
    """Few channels are copied one by one, in pictures of all sizes."""
    isa = isa_named("generic")
    first, last = ("n", channels, "h", "w"), ("n", "h", "w", channels)
    there, back = to_nhwc(first, isa, dtype), to_nchw(last, isa, dtype)
    for n, h, w in SIZES[:3]:
        x = codes(n, channels, h, w).astype(dtype)
        check(there, [x], "generic", x.transpose(0, 2, 3, 1))
        check(back, [x.transpose(0, 2, 3, 1)], "generic", x)


def test_a_line_of_many_rows_is_transposed() -> None:
    """48 * w is below 16 for no columns alone: code that TVM must not look into."""
    kernel = to_nhwc(("n", 3, 48, "w"), isa_named("generic"), "float32")
    x = RANDOM.standard_normal((2, 3, 48, 5)).astype(np.float32)
    check(kernel, [x], "generic", x.transpose(0, 2, 3, 1))
