"""Convolutions of dynamic sizes against the definition, one function for many sizes; floats with the bits of conv2d_float."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.codegen.kernels.harness import conv_operands, epilogue_for, expected_conv, levels, run_kernel
from tvmq.codegen.kernels.conv.choose import choose_convolution
from tvmq.codegen.kernels.conv.conv2d_float import conv2d_float
from tvmq.codegen.kernels.conv.dynamic_pictures import dynamic_convolution, usual_convolution
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.parts.kernel_types import Clip, Conv2d

DYNAMIC = ("n", "h", "w", "out_n", "out_h", "out_w")
ONE = (1, "h", "w", 1, "out_h", "out_w")
# channels, filters, options, kind of epilogue, names of sizes
CASES = [
    (3, 16, {"kernel": (3, 3), "padding": (1, 1, 1, 1)}, "codes", DYNAMIC),
    (16, 20, {"kernel": (3, 3), "padding": (1, 1, 1, 1), "x_dtype": "int8"}, "steps", ONE),
    (64, 64, {"kernel": (3, 3), "strides": (2, 2), "padding": (0, 1, 2, 1)}, "add", DYNAMIC),
    (8, 130, {"kernel": (1, 1), "strides": (2, 2)}, "floats", DYNAMIC),
    (4, 5, {"kernel": (5, 2), "dilation": (2, 3), "padding": (4, 3, 4, 0)}, "sums", ONE),
    (12, 24, {"kernel": (3, 3), "padding": (1, 1, 1, 1), "groups": 3}, "table", DYNAMIC),
    (32, 16, {"kernel": (2, 2)}, "int8 codes", DYNAMIC),
    (24, 24, {"kernel": (3, 3), "padding": (1, 1, 1, 1), "groups": 24}, "add", DYNAMIC),
    (34, 34, {"kernel": (5, 5), "strides": (2, 2), "padding": (2, 2, 2, 2), "groups": 34}, "codes", ONE),
]
SIDES = [(1, 9, 7), (3, 5, 12), (1, 30, 41), (2, 5, 6), (1, 11, 90), (5, 7, 7), (1, 1, 1), (2, 2, 3), (1, 1, 70)]


def sizes_of(conv: Conv2d, names: tuple[int | str, ...]) -> list[Conv2d]:
    """The convolution at several sizes; of one picture where that is no dynamic size."""
    sides = [side for side in SIDES if names[0] != 1 or side[0] == 1]
    convs = [replace(conv, batch=n, height=h, width=w) for n, h, w in sides]
    return [conv for conv in convs if min(conv.out_shape) > 0]


@pytest.mark.slow
@pytest.mark.thinned(9)
@pytest.mark.parametrize("level", levels("generic", "avx2", "avx512bw", "avx512vnni", "avx512vbmi"))
@pytest.mark.parametrize("number", range(len(CASES)))
def test_equals_the_definition(level: str, number: int) -> None:
    channels, filters, options, kind, names = CASES[number]
    usual = usual_convolution(tuple(n if n == 1 else "dynamic" for n in names[:3]), channels, filters, **options)
    _, weight, bias = conv_operands(usual)
    epilogue, _ = epilogue_for(usual, kind)
    x_zero = 7 if any(usual.padding) else 0
    kernel = dynamic_convolution(usual, names, weight, bias, x_zero, epilogue, isa_named(level))
    for conv in sizes_of(usual, names):
        x = conv_operands(conv)[0]
        others = epilogue_for(conv, kind)[1]
        expected = expected_conv(conv, (x, weight, bias), x_zero, epilogue, others)
        np.testing.assert_array_equal(run_kernel(kernel, (x, *others), level, conv.out_shape), expected)


@pytest.mark.slow
@pytest.mark.thinned(5)
@pytest.mark.parametrize("level", levels("generic", "avx2", "avx512vnni"))
@pytest.mark.parametrize("channels, filters, options", [
    (3, 20, {"kernel": (3, 3), "padding": (1, 1, 1, 1)}),
    (16, 48, {"kernel": (3, 2), "strides": (2, 1), "padding": (1, 0, 1, 0)}),
    (6, 9, {"kernel": (1, 1), "strides": (2, 2), "groups": 3}),
])  # fmt: skip
def test_floats_have_the_bits_of_fixed_sizes(level: str, channels: int, filters: int, options: dict) -> None:
    random = np.random.default_rng(0)
    usual = usual_convolution(("n", "h", "w"), channels, filters, x_dtype="float32", **options)
    shape = (filters, channels // usual.groups, *usual.kernel)
    weight, bias = (random.standard_normal(size).astype(np.float32) for size in (shape, filters))
    clip = (Clip(0.0, float("inf")),)
    kernel = dynamic_convolution(usual, DYNAMIC, weight, bias, 0, clip, isa_named(level))
    for conv in sizes_of(usual, DYNAMIC)[:4]:
        x = random.standard_normal((conv.batch, conv.height, conv.width, channels)).astype(np.float32)
        fixed = run_kernel(conv2d_float(conv, weight, bias, clip, isa_named(level)), (x,), level)
        np.testing.assert_array_equal(run_kernel(kernel, (x,), level, conv.out_shape), fixed)


def test_floats_padded_with_other_numbers_have_none() -> None:
    conv = usual_convolution(("n", "h", "w"), 3, 4, x_dtype="float32", padding=(1, 1, 1, 1))
    weight = np.ones((4, 3, 1, 1), np.float32)
    assert choose_convolution(conv, weight, None, 5, (), isa_named("avx2"), sizes=DYNAMIC) is None


@pytest.mark.slow
@pytest.mark.thinned(4)
@pytest.mark.parametrize("share", ["all", "some"])
@pytest.mark.parametrize("level", levels("avx2", "avx512bw"))
@pytest.mark.parametrize("number", range(7))
def test_int16_lanes_equal_the_definition(level: str, number: int, share: str) -> None:
    channels, filters, options, kind, names = CASES[number]
    usual = usual_convolution(names[:3], channels, filters, **options)
    _, weight, bias = conv_operands(replace(usual, batch=1))
    wide, weight = weight, weight // 4
    if share == "some":  # the others are multiplied in int16
        weight[:, -1, -1, -1:] = wide[:, -1, -1, -1:]
    epilogue, _ = epilogue_for(usual, kind)
    kernel = dynamic_convolution(usual, names, weight, bias, 7, epilogue, isa_named(level))
    assert "fold" in kernel.note
    for conv in sizes_of(usual, names):
        x = conv_operands(conv)[0]
        others = epilogue_for(conv, kind)[1]
        expected = expected_conv(conv, (x, weight, bias), 7, epilogue, others)
        np.testing.assert_array_equal(run_kernel(kernel, (x, *others), level, conv.out_shape), expected)
