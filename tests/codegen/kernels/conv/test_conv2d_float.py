"""conv2d_float against float64, within its rounding; equal bits on every vector width and thread count."""

from __future__ import annotations

import numpy as np
import pytest

from tests.codegen.kernels.harness import levels, run_kernel
from tests.support.float_kernels import assert_close, conv_exact, threads
from tvmq.codegen.kernels.conv.conv2d_float import conv2d_float
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.parts.kernel_types import AddStep, Clip, Conv2d, Kernel
from tvmq.codegen.kernels.parts.memoize import forget
from tvmq.errors import BuildError

LEVELS = levels("generic", "avx2", "avx512bw")
SHAPES = {
    "one pixel": Conv2d(1, 1, 1, 1, 1),
    "pointwise": Conv2d(1, 7, 6, 19, 37),
    "several panels": Conv2d(1, 3, 5, 33, 200),
    "pointwise, strided": Conv2d(2, 9, 8, 5, 16, strides=(2, 3)),
    "padded 3 x 3": Conv2d(1, 8, 9, 16, 24, kernel=(3, 3), padding=(1, 1, 1, 1)),
    "stem": Conv2d(1, 17, 19, 3, 20, kernel=(3, 3), strides=(2, 2), padding=(0, 0, 1, 1)),
    "stem 7 x 7": Conv2d(1, 15, 15, 3, 8, kernel=(7, 7), strides=(2, 2), padding=(3, 3, 3, 3)),
    "one-sided padding": Conv2d(2, 6, 5, 4, 6, kernel=(2, 3), padding=(0, 2, 1, 0)),
    "dilated": Conv2d(1, 11, 12, 6, 9, kernel=(3, 2), padding=(2, 1, 2, 1), dilation=(2, 3)),
    "grouped": Conv2d(1, 6, 6, 12, 20, kernel=(3, 3), padding=(1, 1, 1, 1), groups=4),
    "two filters a channel": Conv2d(1, 6, 7, 5, 10, kernel=(3, 3), padding=(1, 1, 1, 1), groups=5),
    "kernel as large as the picture": Conv2d(3, 4, 4, 7, 3, kernel=(4, 4)),
    "parallel": Conv2d(1, 28, 28, 40, 72, kernel=(3, 3), padding=(1, 1, 1, 1)),
    "rows that share cache sets": Conv2d(1, 14, 3, 1024, 48),
}  # fmt: skip


def data(conv: Conv2d, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Input, weights and bias of many magnitudes."""
    random = np.random.default_rng(seed)
    conv_shape = (conv.filters, conv.channels // conv.groups, *conv.kernel)
    x = random.normal(size=(conv.batch, conv.height, conv.width, conv.channels)) * 3
    scale = np.exp(random.uniform(-5, 5, conv.filters))
    weight = random.normal(size=conv_shape) * scale[:, None, None, None]
    bias = random.normal(size=conv.filters)
    return x.astype(np.float32), weight.astype(np.float32), bias.astype(np.float32)


def float_conv(conv: Conv2d) -> Conv2d:
    """Description of the convolution with float inputs."""
    return Conv2d(**{**vars(conv), "x_dtype": "float32"})


def make(conv: Conv2d, level: str, weight: np.ndarray, bias: np.ndarray | None, *epilogue: object) -> Kernel:
    """The kernel."""
    return conv2d_float(float_conv(conv), weight, bias, epilogue, isa_named(level))


@pytest.mark.slow_cases("stem-avx2", "one-sided padding-generic", "two filters a channel-avx2")
@pytest.mark.thinned(6)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("conv", SHAPES.values(), ids=SHAPES)
def test_against_float64(conv, level):
    x, weight, bias = data(conv)
    got = run_kernel(make(conv, level, weight, bias), (x,), level)
    assert_close(got, *conv_exact(conv, x, weight, bias), terms=weight[0].size)


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("level", LEVELS)
def test_without_bias(level):
    conv = SHAPES["stem"]
    x, weight, _ = data(conv)
    assert_close(run_kernel(make(conv, level, weight, None), (x,), level), *conv_exact(conv, x, weight, None), terms=27)


@pytest.mark.thinned(2)
@pytest.mark.isa("avx512bw")
@pytest.mark.parametrize("name", ["several panels", "stem", "dilated", "grouped"])
def test_equal_bits_on_both_vector_widths(name):
    conv = SHAPES[name]
    x, weight, bias = data(conv, seed=1)
    narrow, wide = (run_kernel(make(conv, level, weight, bias), (x,), level) for level in ("avx2", "avx512bw"))
    np.testing.assert_array_equal(narrow, wide)


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("level", LEVELS)
def test_equal_bits_on_any_number_of_threads(level):
    conv = SHAPES["parallel"]
    x, weight, bias = data(conv)
    kernel = make(conv, level, weight, bias)
    one = run_kernel(kernel, (x,), level)
    with threads(2):
        np.testing.assert_array_equal(run_kernel(kernel, (x,), level), one)


@pytest.mark.slow
@pytest.mark.isa("fma")
def test_sums_run_over_row_column_channel_with_one_rounding_a_product():
    conv = SHAPES["one-sided padding"]
    x, weight, bias = data(conv)
    got = run_kernel(make(conv, "avx2", weight, bias), (x,), "avx2")
    # float64 holds a product of float32 exactly; its sum with a float32 is rounded twice here, which differs
    # from one rounding only at ties of the second, absent in these data
    top, left, bottom, right = conv.padding
    padded = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0))).astype(np.float64)
    sums = np.broadcast_to(bias, conv.out_shape).astype(np.float32)
    for i in range(conv.kernel[0]):
        for j in range(conv.kernel[1]):
            for channel in range(conv.channels):
                part = padded[:, i : i + conv.out_height, j : j + conv.out_width, channel, None]
                sums = (sums + part * weight[:, channel, i, j].astype(np.float64)).astype(np.float32)
    np.testing.assert_array_equal(got, sums)


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("low, high", [(0.0, 6.0), (0.0, np.inf), (-np.inf, 1.5)])
def test_clip(low, high):
    conv, level = SHAPES["one-sided padding"], "generic"
    x, weight, bias = data(conv)
    plain = run_kernel(make(conv, level, weight, bias), (x,), level)
    clipped = run_kernel(make(conv, level, weight, bias, Clip(low, high)), (x,), level)
    np.testing.assert_array_equal(clipped, np.clip(plain, np.float32(low), np.float32(high)))
    assert not np.array_equal(plain, clipped)


@pytest.mark.parametrize("level", LEVELS)
def test_nan_and_infinity_pass_through(level):
    conv = Conv2d(1, 2, 2, 1, 1)
    x = np.array([np.nan, np.inf, -np.inf, 2.0], np.float32).reshape(1, 2, 2, 1)
    got = run_kernel(make(conv, level, np.ones((1, 1, 1, 1), np.float32), None, Clip(0.0, 6.0)), (x,), level)
    np.testing.assert_array_equal(got.ravel(), np.float32([np.nan, 6, 0, 2]))


def test_equal_key_means_equal_code():
    import tvm_ffi

    conv = SHAPES["stem"]
    first = make(conv, "avx2", *data(conv, 0)[1:])
    forget()
    second = make(conv, "avx2", *data(conv, 1)[1:])
    assert first.key == second.key and hash(first.key) == hash(second.key)
    assert first.func is not second.func and tvm_ffi.structural_equal(first.func, second.func)
    assert first.key != make(conv, "avx2", *data(conv)[1:], Clip(0.0, 6.0)).key


@pytest.mark.parametrize("change, words", [
    ({"x_dtype": "uint8"}, "takes float32 input. Got uint8"),
    ({"groups": 2}, "19 channels and 37 filters in 2 groups"),
    ({"kernel": (9, 1)}, "this is no convolution"),
    ({"channels": 18}, r"weights must be float32 \(37, 18, 1, 1\). Got float32 \(37, 19, 1, 1\)"),
])  # fmt: skip
def test_refused_shapes(change, words):
    conv = SHAPES["pointwise"]
    _, weight, bias = data(conv)
    with pytest.raises(BuildError, match=words):
        conv2d_float(Conv2d(**{**vars(float_conv(conv)), **change}), weight, bias, (), isa_named("avx2"))


def test_refused_arrays_and_steps():
    conv = SHAPES["pointwise"]
    _, weight, bias = data(conv)
    with pytest.raises(BuildError, match="weights must be float32"):
        make(conv, "avx2", weight.astype(np.float64), bias)
    with pytest.raises(BuildError, match=r"bias must be float32 \(37,\). Got float32 \(36,\)"):
        make(conv, "avx2", weight, bias[1:])
    with pytest.raises(BuildError, match="one Clip or nothing. Got Add"):
        make(conv, "avx2", weight, bias, AddStep(1, 1, 0, 0, 0, 0, 255))
    with pytest.raises(BuildError, match="one Clip or nothing. Got Clip, Clip"):
        make(conv, "avx2", weight, bias, Clip(0, 1), Clip(0, 1))
