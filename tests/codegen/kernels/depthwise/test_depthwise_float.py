"""depthwise_float against float64, within its rounding; equal bits on every vector width and thread count."""

from __future__ import annotations

import numpy as np
import pytest

from tests.codegen.kernels.harness import levels, run_kernel
from tests.support.float_kernels import assert_close, conv_exact, threads
from tvmq.codegen.kernels.conv.conv2d_float import conv2d_float
from tvmq.codegen.kernels.depthwise.depthwise_float import depthwise_float
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.parts.kernel_types import Clip, Conv2d, Kernel, Requantize
from tvmq.errors import BuildError


def conv_of(batch: int, height: int, width: int, channels: int, kernel: tuple[int, int], **rest: object) -> Conv2d:
    """Depthwise convolution of floats."""
    sizes = {"kernel": kernel, "groups": channels, "x_dtype": "float32", **rest}
    return Conv2d(batch, height, width, channels, channels, **sizes)  # type: ignore[arg-type]


LEVELS = levels("generic", "avx2", "avx512bw")
SHAPES = {
    "3 x 3": conv_of(1, 9, 20, 32, (3, 3), padding=(1, 1, 1, 1)),
    "strided": conv_of(2, 10, 17, 24, (3, 3), strides=(2, 2), padding=(0, 0, 1, 1)),
    "5 x 5, more padding than picture": conv_of(1, 2, 3, 16, (5, 5), padding=(2, 2, 2, 2)),
    "one row of wide padding": conv_of(1, 1, 4, 5, (3, 3), padding=(3, 4, 2, 5)),
    "dilated": conv_of(1, 9, 13, 8, (3, 2), padding=(2, 3, 1, 0), dilation=(2, 3), strides=(1, 2)),
    "overlapping vectors": conv_of(1, 4, 11, 37, (3, 3), padding=(1, 1, 1, 1)),
    "three channels": conv_of(3, 5, 6, 3, (2, 2)),
    "one channel of one group": conv_of(1, 5, 30, 1, (3, 3), padding=(1, 1, 1, 1)),
    "parallel": conv_of(1, 30, 41, 48, (5, 5), padding=(2, 2, 2, 2)),
}  # fmt: skip


def data(conv: Conv2d) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Input, weights and bias."""
    random = np.random.default_rng(0)
    x = random.normal(size=(conv.batch, conv.height, conv.width, conv.channels)).astype(np.float32)
    weight = random.normal(size=(conv.channels, 1, *conv.kernel)).astype(np.float32)
    return x, weight, random.normal(size=conv.channels).astype(np.float32)


def make(conv: Conv2d, level: str, weight: np.ndarray, bias: np.ndarray | None, *epilogue: object) -> Kernel:
    """The kernel."""
    return depthwise_float(conv, weight, bias, epilogue, isa_named(level))


@pytest.mark.slow_cases("3 x 3-generic", "one channel of one group-generic")
@pytest.mark.thinned(5)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("conv", SHAPES.values(), ids=SHAPES)
def test_against_float64(conv, level):
    x, weight, bias = data(conv)
    got = run_kernel(make(conv, level, weight, bias), (x,), level)
    assert_close(got, *conv_exact(conv, x, weight, bias), terms=weight[0].size)


@pytest.mark.thinned(2)
@pytest.mark.isa("avx512bw")
@pytest.mark.parametrize("name", ["strided", "overlapping vectors"])
def test_equal_bits_on_both_vector_widths_and_as_a_grouped_convolution(name):
    conv = SHAPES[name]
    x, weight, bias = data(conv)
    wide = run_kernel(make(conv, "avx512bw", weight, bias), (x,), "avx512bw")
    np.testing.assert_array_equal(run_kernel(make(conv, "avx2", weight, bias), (x,), "avx2"), wide)
    grouped = conv2d_float(conv, weight, bias, (), isa_named("avx2"))
    np.testing.assert_array_equal(run_kernel(grouped, (x,), "avx2"), wide)


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
@pytest.mark.thinned(3)
@pytest.mark.parametrize("level", LEVELS)
def test_clip_and_no_bias(level):
    conv = SHAPES["three channels"]
    x, weight, _ = data(conv)
    plain = run_kernel(make(conv, level, weight, None), (x,), level)
    clipped = run_kernel(make(conv, level, weight, None, Clip(0.0, 1.0)), (x,), level)
    np.testing.assert_array_equal(clipped, np.clip(plain, 0, 1))
    assert not np.array_equal(plain, clipped)


@pytest.mark.parametrize("change, words", [
    ({"x_dtype": "int8"}, "takes float32 input. Got int8"),
    ({"filters": 64}, "32 channels and 64 filters in 32 groups"),
    ({"height": 0}, "this is no depthwise convolution"),
    ({"kernel": (3, 5)}, r"weights must be float32 \(32, 1, 3, 5\)"),
])  # fmt: skip
def test_refused_shapes(change, words):
    conv = SHAPES["3 x 3"]
    _, weight, bias = data(conv)
    with pytest.raises(BuildError, match=words):
        make(Conv2d(**{**vars(conv), **change}), "avx2", weight, bias)


def test_refused_epilogue():
    conv = SHAPES["3 x 3"]
    _, weight, bias = data(conv)
    with pytest.raises(BuildError, match="depthwise_float: a float epilogue is one Clip .* Got Requantize"):
        make(conv, "avx2", weight, bias, Requantize(np.ones(32, np.float32), 0, 0, 255))
