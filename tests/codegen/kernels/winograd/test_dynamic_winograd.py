"""Winograd kernels of dynamic sizes against the definition, one function for many sizes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.codegen.kernels.harness import conv_operands, epilogue_for, expected_conv, levels, run_kernel
from tvmq.codegen.kernels.conv.choose import choose_convolution
from tvmq.codegen.kernels.conv.dynamic_pictures import usual_convolution
from tvmq.codegen.kernels.isa import isa_named, level
from tvmq.codegen.kernels.parts.builder import Shape
from tvmq.codegen.kernels.winograd.dynamic_winograd import dynamic_winograd
from tvmq.codegen.kernels.winograd.scheme import F2, F4, Scheme
from tvmq.codegen.kernels.winograd.shape import shape_for

DYNAMIC: Shape = ("n", "h", "w", "n", "out_h", "out_w")
ONE: Shape = (1, "h", "w", 1, "out_h", "out_w")
LINES: Shape = (2, 5, "w", 2, 5, "out_w")
SAME = {"kernel": (3, 3), "padding": (1, 1, 1, 1)}
# channels, filters, options, kind of epilogue, names of sizes
CASES = [
    (32, 64, SAME, "codes", ONE, F4),
    (33, 70, SAME, "all", DYNAMIC, F4),
    (3, 24, {"kernel": (3, 3), "padding": (0, 1, 2, 4), "x_dtype": "int8"}, "sums", DYNAMIC, F4),
    (40, 17, {"kernel": (3, 3)}, "add", ONE, F4),
    (20, 40, {**SAME, "x_dtype": "int8"}, "int8 codes", LINES, F4),
    (20, 40, {**SAME, "x_dtype": "int8"}, "add", DYNAMIC, F2),
    (16, 32, SAME, "all", DYNAMIC, F4),
]
# batch, rows, columns: of one pixel, of less than a tile, of several chunks
SIDES = [
    (1, 9, 7), (3, 5, 12), (1, 30, 41), (2, 5, 6), (1, 11, 90), (5, 7, 7), (1, 1, 1), (2, 2, 3), (1, 3, 200),
    (1, 64, 150), (2, 40, 33), (2, 5, 1), (2, 5, 70),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.thinned(6)
@pytest.mark.parametrize("name", levels("avx2", "avx512bw", "avx512vnni"))
@pytest.mark.parametrize("number", range(len(CASES)))
def test_equals_the_definition(name: str, number: int) -> None:
    channels, filters, options, kind, sizes, scheme = CASES[number]
    compare(channels, filters, options, kind, sizes, scheme, name)


def compare(
    channels: int, filters: int, options: dict, kind: str, sizes: Shape, scheme: Scheme, name: str
) -> None:
    """Assert that one kernel gives the bits of the definition at all sizes that fit."""
    usual = usual_convolution(sizes[:3], channels, filters, **options)
    _, weight, bias = conv_operands(replace(usual, batch=1, height=3, width=3))
    epilogue, _ = epilogue_for(usual, kind)
    x_zero = 7 if any(usual.padding) else 0
    kernel = dynamic_winograd(shape_for(usual, level(name), x_zero, scheme), sizes, weight, bias, epilogue)
    sides = [side for side in SIDES if all(isinstance(known, str) or known == size for known, size in zip(sizes, side, strict=False))]
    convs = [replace(usual, batch=n, height=h, width=w) for n, h, w in sides]
    convs = [conv for conv in convs if min(conv.out_shape) > 0]
    assert len(convs) > 2
    for conv in convs:
        x = conv_operands(conv)[0]
        others = epilogue_for(conv, kind)[1]
        expected = expected_conv(conv, (x, weight, bias), x_zero, epilogue, others)
        np.testing.assert_array_equal(run_kernel(kernel, (x, *others), name, conv.out_shape), expected)


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", levels("avx2", "avx512bw", "avx512vnni"))
@pytest.mark.parametrize("kind", ["all", "sums"])
def test_few_pixels_are_computed_directly(name: str, kind: str) -> None:
    conv = usual_convolution(DYNAMIC[:3], 80, 90, **SAME)
    _, weight, bias = conv_operands(replace(conv, batch=1, height=3, width=3))
    epilogue, _ = epilogue_for(conv, kind)
    kernel = choose_convolution(conv, weight, bias, 7, epilogue, isa_named(name), sizes=DYNAMIC)
    assert kernel.beside is not None and kernel.name.startswith("dynamic_winograd")
    for n, h, w in ((1, 1, 1), (1, 3, 4), (2, 2, 3), (1, 9, 7), (3, 20, 13)):
        sized = replace(conv, batch=n, height=h, width=w)
        x, others = conv_operands(sized)[0], epilogue_for(sized, kind)[1]
        expected = expected_conv(sized, (x, weight, bias), 7, epilogue, others)
        np.testing.assert_array_equal(run_kernel(kernel, (x, *others), name, sized.out_shape), expected)


def test_weights_that_stay_near_have_no_second_kernel() -> None:
    conv = usual_convolution(DYNAMIC[:3], 64, 64, **SAME)
    _, weight, bias = conv_operands(replace(conv, batch=1, height=3, width=3))
    kernel = choose_convolution(conv, weight, bias, 7, (), isa_named("avx512vnni"), sizes=DYNAMIC)
    assert kernel.beside is None and kernel.name.startswith("dynamic_winograd")
