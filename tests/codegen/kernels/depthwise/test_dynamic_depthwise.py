"""Depthwise convolutions of dynamic sizes against the definition, one function for many sizes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.codegen.kernels.harness import (
    conv_operands,
    epilogue_for,
    expected_conv,
    expected_epilogue,
    levels,
    run_kernel,
)
from tvmq.codegen.kernels.conv.dynamic_pictures import usual_convolution
from tvmq.codegen.kernels.depthwise.dynamic_depthwise import dynamic_depthwise
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.parts.builder import Shape

DYNAMIC: Shape = ("n", "h", "w", "n", "out_h", "out_w")
ONE: Shape = (1, "h", "w", 1, "out_h", "out_w")
LINES: Shape = (2, 5, "w", 2, 5, "out_w")
THREE = {"kernel": (3, 3), "padding": (1, 1, 1, 1)}
# channels, options, kind of epilogue, names of sizes
CASES = [
    (64, THREE, "codes", DYNAMIC),
    (24, {**THREE, "x_dtype": "int8"}, "add", ONE),
    (150, {**THREE, "strides": (2, 2), "padding": (0, 0, 1, 1)}, "all", DYNAMIC),
    (34, {"kernel": (5, 5), "strides": (2, 2), "padding": (2, 2, 2, 2)}, "codes", ONE),
    (40, {"kernel": (5, 5), "padding": (2, 2, 2, 2), "x_dtype": "int16"}, "int16 codes", DYNAMIC),
    (17, {"kernel": (3, 5), "dilation": (2, 3), "padding": (4, 3, 4, 0), "x_dtype": "int8"}, "floats", DYNAMIC),
    (3, THREE, "table", DYNAMIC),
    (16, {"kernel": (2, 4), "strides": (1, 3)}, "sums", DYNAMIC),
    (35, {**THREE, "x_dtype": "int8"}, "int8 codes", LINES),
    (20, {"kernel": (7, 7), "padding": (3, 3, 3, 3)}, "add", DYNAMIC),
]  # fmt: skip
# batch, rows, columns: of one pixel, smaller than the kernel, of several strips and bands
SIDES = [
    (1, 9, 7), (3, 5, 12), (1, 30, 41), (2, 5, 6), (1, 11, 90), (5, 7, 7), (1, 1, 1), (2, 2, 3), (13, 3, 2),
    (1, 64, 150), (2, 40, 33), (2, 5, 5), (2, 5, 1), (2, 5, 70),
]  # fmt: skip


def sizes_of(sizes: Shape, channels: int, options: dict) -> list:
    """The convolution at several sizes that fit."""
    sides = [side for side in SIDES if all(name in (size, str(name)) for name, size in zip(sizes, side, strict=False))]
    convs = [usual_convolution(side, channels, channels, groups=channels, **options) for side in sides]
    return [conv for conv in convs if min(conv.out_shape) > 0]


@pytest.mark.slow
@pytest.mark.thinned(9)
@pytest.mark.parametrize("level", levels("generic", "avx2", "avxvnni", "avx512bw", "avx512vnni", "avx512vbmi"))
@pytest.mark.parametrize("number", range(len(CASES)))
def test_equals_the_definition(level: str, number: int) -> None:
    channels, options, kind, names = CASES[number]
    usual = usual_convolution(names[:3], channels, channels, groups=channels, **options)
    _, weight, bias = conv_operands(replace(usual, batch=1, height=3, width=3))
    x_zero = 7 if any(usual.padding) else 0
    epilogue, _ = epilogue_for(usual, kind)
    kernel = dynamic_depthwise(usual, names, weight, bias, x_zero, epilogue, isa_named(level))
    convs = sizes_of(names, channels, options)
    assert len(convs) > 2
    for conv in convs:
        x = conv_operands(conv)[0]
        others = epilogue_for(conv, kind)[1]
        expected = expected_conv(conv, (x, weight, bias), x_zero, epilogue, others)
        np.testing.assert_array_equal(run_kernel(kernel, (x, *others), level, conv.out_shape), expected)


EMPTY = [(0, 4, 5), (2, 0, 5), (2, 5, 0), (1, 0, 0)]  # of outputs in the padding alone, or of none


@pytest.mark.slow
@pytest.mark.parametrize("level", levels("generic", "avx512vnni"))
def test_pictures_without_pixels(level: str) -> None:
    options = {"kernel": (2, 2), "padding": (1, 1, 1, 1)}
    usual = usual_convolution(("n", "h", "w"), 16, 16, groups=16, **options)
    _, weight, bias = conv_operands(usual)
    epilogue, _ = epilogue_for(usual, "codes")
    kernel = dynamic_depthwise(usual, DYNAMIC, weight, bias, 9, epilogue, isa_named(level))
    for side in EMPTY:
        conv = usual_convolution(side, 16, 16, groups=16, **options)
        # bias holds -x_zero * sum(weights), so the sums of padding alone are those of its codes
        border = np.full((conv.batch, conv.out_height, conv.out_width, 16), 9 * weight.sum((1, 2, 3), dtype=np.int32))
        found = run_kernel(kernel, (np.zeros((*side, 16), np.uint8),), level, conv.out_shape)
        np.testing.assert_array_equal(found, expected_epilogue(border + bias, epilogue, ()))
