"""Float depthwise convolutions of dynamic sizes have the bits of fixed sizes, one function for many sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.codegen.kernels.depthwise.test_dynamic_depthwise import DYNAMIC, ONE, THREE, sizes_of
from tests.codegen.kernels.harness import levels, run_kernel
from tvmq.codegen.kernels.conv.dynamic_pictures import usual_convolution
from tvmq.codegen.kernels.depthwise.depthwise_float import depthwise_float
from tvmq.codegen.kernels.depthwise.dynamic_depthwise_float import dynamic_depthwise_float
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.parts.builder import Shape
from tvmq.codegen.kernels.parts.kernel_types import Clip

CASES: list[tuple[int, dict[str, Any], tuple[Clip, ...], Shape]] = [
    (40, THREE, (Clip(0.0, float("inf")),), DYNAMIC),
    (16, {**THREE, "strides": (2, 2), "padding": (0, 0, 1, 1)}, (), ONE),
    (5, {"kernel": (5, 5), "padding": (2, 2, 2, 2)}, (Clip(0.0, 6.0),), DYNAMIC),
    (24, {"kernel": (3, 2), "dilation": (2, 3), "strides": (1, 2), "padding": (2, 3, 1, 0)}, (), DYNAMIC),
    (17, {"kernel": (2, 3)}, (), DYNAMIC),
    (8, {"kernel": (3, 3), "padding": (3, 4, 2, 5)}, (), (2, 5, "w", 2, 8, "out_w")),
]


@pytest.mark.slow
@pytest.mark.thinned(5)
@pytest.mark.parametrize("level", levels("generic", "avx2", "avx512vnni"))
@pytest.mark.parametrize("number", range(len(CASES)))
def test_bits_of_fixed_sizes(level: str, number: int) -> None:
    channels, options, clip, names = CASES[number]
    options = {**options, "x_dtype": "float32"}
    random, isa = np.random.default_rng(0), isa_named(level)
    usual = usual_convolution(names[:3], channels, channels, groups=channels, **options)
    weight = random.standard_normal((channels, 1, *usual.kernel)).astype(np.float32)
    bias = random.standard_normal(channels).astype(np.float32)
    bias[0], weight[0, 0, 0, 0], weight[1, 0, -1, -1] = -0.0, np.inf, np.nan  # a tap outside must not count
    kernel = dynamic_depthwise_float(usual, names, weight, bias, clip, isa)
    for conv in sizes_of(names, channels, options):
        x = random.standard_normal((conv.batch, conv.height, conv.width, channels)).astype(np.float32)
        expected = run_kernel(depthwise_float(conv, weight, bias, clip, isa), (x,), level)
        found = run_kernel(kernel, (x,), level, conv.out_shape)
        np.testing.assert_array_equal(found.view(np.int32), expected.view(np.int32))
