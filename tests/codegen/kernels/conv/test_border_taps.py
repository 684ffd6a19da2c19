"""Taps in a border of zeros: kernels that leave them out give the result of all taps.

Taps of kernel rows that are no whole step, packed: the bits of the definition, fewer steps.
"""

from __future__ import annotations

import numpy as np
import pytest
import tvm

from tests.codegen.kernels.harness import compare, epilogue_for, levels
from tvmq import numerics
from tvmq.codegen.kernels.conv.conv2d import make_kernel
from tvmq.codegen.kernels.conv.conv2d_float import conv2d_float
from tvmq.codegen.kernels.conv.remainder_taps import column_stretches, in_steps, places_of, remainder_taps, rows_outside
from tvmq.codegen.kernels.conv.shape import ConvShape, choose_chunks
from tvmq.codegen.kernels.isa import isa_named, level
from tvmq.codegen.kernels.parts.kernel_types import Conv2d, Requantize
from tvmq.codegen.kernels.parts.tiling import choose_tiling, cut_tiles
from tvmq.codegen.target.cpu import missing_features, resolve_target

SAME, WIDE = (1, 1, 1, 1), (2, 2, 2, 2)
SHAPES = {
    "a tile a row": (Conv2d(1, 7, 7, 8, 20, (3, 3), (1, 1), SAME), (7, 2)),
    "two tiles a row": (Conv2d(1, 14, 14, 4, 20, (3, 3), (1, 1), SAME), (7, 2)),
    "tiles across rows": (Conv2d(1, 9, 9, 8, 20, (3, 3), (1, 1), SAME), (6, 2)),
    "stride": (Conv2d(1, 14, 14, 8, 20, (3, 3), (2, 2), SAME), (7, 2)),
    "two pictures": (Conv2d(2, 7, 7, 8, 20, (3, 3), (1, 1), SAME), (7, 2)),
    "tiles across pictures": (Conv2d(3, 5, 5, 8, 20, (3, 3), (1, 1), SAME), (6, 2)),
    "dilation": (Conv2d(1, 8, 8, 8, 20, (3, 3), (1, 1), WIDE, (2, 2)), (8, 2)),
    "groups": (Conv2d(1, 7, 7, 16, 32, (3, 3), (1, 1), SAME, groups=2), (7, 1)),
    "one side": (Conv2d(1, 6, 6, 8, 20, (3, 3), (1, 1), (2, 0, 0, 2)), (6, 2)),
    "large kernel": (Conv2d(1, 6, 6, 8, 20, (5, 5), (1, 1), WIDE), (6, 2)),
    "windows of border alone": (Conv2d(1, 3, 3, 8, 20, (3, 3), (1, 1), (4, 3, 4, 3)), (7, 2)),
}


def operands(conv):
    """x, weight and bias as integers."""
    random = np.random.default_rng(0)
    x = random.integers(0, 256, (conv.batch, conv.height, conv.width, conv.channels)).astype(np.uint8)
    weight = random.integers(-128, 128, (conv.filters, conv.channels // conv.groups, *conv.kernel)).astype(np.int8)
    return x, weight, random.integers(-2000, 2000, conv.filters).astype(np.int32)


def sums_of(conv, x, weight):
    """The definition, NHWC."""
    options = {"strides": conv.strides, "padding": conv.padding, "dilation": conv.dilation, "groups": conv.groups}
    return numerics.conv(x.transpose(0, 3, 1, 2), weight, x_zero=0, **options).transpose(0, 2, 3, 1)


def run(kernel, x, y):
    function = tvm.compile(tvm.IRModule({kernel.name: kernel.func}), resolve_target().as_tvm())[kernel.name]
    tensors = [tvm.runtime.tensor(array) for array in (x, *kernel.constants, y)]
    function(*tensors)
    return tensors[-1].numpy()


FEW = ("two tiles a row", "tiles across pictures", "groups")
LEVELS = [*((title, "avx512vnni") for title in SHAPES), *((title, "avx2") for title in FEW), (FEW[0], "generic")]


@pytest.mark.slow_cases("groups-avx2")
@pytest.mark.thinned(4)
@pytest.mark.parametrize("title, name", LEVELS)
def test_integers_equal_the_definition(title, name):
    if missing_features(level(name).features):
        pytest.skip(f"this CPU has no {name}")
    conv, tile = SHAPES[title]
    x, weight, bias = operands(conv)
    shape = ConvShape(conv, level(name), 0)
    assert shape.skips_rows
    step = Requantize(np.full(conv.filters, 2e-3, np.float32), 3, 0, 255)
    kernel = make_kernel("conv2d", shape, cut_tiles(shape.product, *tile), weight, bias, (step,))
    expected = numerics.requantize(
        sums_of(conv, x, weight) + bias, step.multiplier, axis=3, zero_point=3, dtype="uint8"
    )
    np.testing.assert_array_equal(run(kernel, x, np.zeros(conv.out_shape, np.uint8)), expected)


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("title", ["a tile a row", "two tiles a row", "stride", "dilation", "windows of border alone"])
def test_floats_of_whole_numbers_are_exact(title):
    conv, _ = SHAPES[title]
    x, weight, bias = operands(conv)
    real = Conv2d(**{**conv.__dict__, "x_dtype": "float32"})
    kernel = conv2d_float(real, weight.astype(np.float32), bias.astype(np.float32), (), isa_named("avx2"))
    y = run(kernel, x.astype(np.float32), np.zeros(conv.out_shape, np.float32))
    np.testing.assert_array_equal(y, sums_of(conv, x, weight) + bias)


def test_other_borders_keep_all_taps():
    conv = Conv2d(1, 7, 7, 8, 16, (3, 3), (1, 1), SAME)
    assert not ConvShape(conv, level("avx512vnni"), 7).skips_rows
    signed = Conv2d(**{**conv.__dict__, "x_dtype": "int8"})
    assert not ConvShape(signed, level("avx512vnni"), 0).skips_rows  # 0 arrives as 128
    assert ConvShape(signed, level("avx2"), 0).skips_rows


def test_wide_pictures_keep_all_columns():
    conv = Conv2d(1, 28, 28, 8, 16, (3, 3), (1, 1), SAME)
    assert rows_outside(conv) == 2 / 84
    assert places_of(conv, [(7, 112)]) == [] and len(places_of(conv, [(14, 56)])) == 2
    assert column_stretches(conv, 14, 14) == [(0, 2, tuple(range(14))), (2, 3, tuple(range(13)))]


def test_less_work_in_the_chosen_tiles_of_resnet():
    conv = Conv2d(1, 7, 7, 512, 512, (3, 3), (1, 1), SAME)
    tiling = choose_tiling(ConvShape(conv, level("avx512vnni"), 0).product, level("avx512vnni"))
    (place,) = places_of(conv, tiling.pixel_parts)
    assert sum((end - begin) * len(pixels) for begin, end, pixels in place[1]) == 19


SAME3, SAME7 = (1, 1, 1, 1), (3, 3, 3, 3)
REMAINDER_TAPS_SHAPES = {
    "stem": Conv2d(1, 64, 70, 3, 72, (7, 7), (2, 2), SAME7),
    "3 x 3": Conv2d(1, 31, 33, 3, 40, (3, 3), (2, 2), SAME3),
    "two taps left": Conv2d(1, 9, 8, 2, 100, (5, 3), (1, 1), (2, 1, 2, 1), x_dtype="int8"),
    "one channel, pictures": Conv2d(3, 7, 6, 1, 70, (5, 5), (1, 1), (2, 2, 2, 2)),
    "one column": Conv2d(1, 9, 3, 3, 64, (3, 3)),
    "far columns": Conv2d(1, 8, 40, 3, 64, (3, 3), (1, 13)),
    "stride 3, dilated rows": Conv2d(2, 17, 11, 3, 64, (3, 3), (3, 3), (2, 0, 1, 2), (2, 1)),
    "chunks of panels": Conv2d(1, 5, 5, 7, 2000, (7, 7), (1, 1), SAME7, x_dtype="int8"),
}


@pytest.mark.slow
@pytest.mark.thinned(4)
@pytest.mark.parametrize("name", levels("avx2", "avxvnni", "avx512bw", "avx512vnni"))
@pytest.mark.parametrize("number, title", list(enumerate(REMAINDER_TAPS_SHAPES)))
def test_equals_the_definition(name: str, number: int, title: str) -> None:
    kinds = ("codes", "sums", "int8 codes", "all")
    compare(
        REMAINDER_TAPS_SHAPES[title],
        name,
        *epilogue_for(REMAINDER_TAPS_SHAPES[title], kinds[number % 4]),
        x_zero=7 if number % 3 else 0,
    )


def test_shapes_are_packed_in_all_kinds_of_chunks() -> None:
    kinds = set()
    for conv in REMAINDER_TAPS_SHAPES.values():
        shape = ConvShape(conv, level("avx512vnni"), 0)
        chunks = choose_chunks(shape, choose_tiling(shape.product, shape.ins))
        assert shape.remainders is not None
        kinds.add((chunks.pixel_chunks > 1, chunks.panel_chunks > 1))
    assert {(False, False), (True, False), (False, True)} <= kinds


@pytest.mark.parametrize("conv, steps", [
    (Conv2d(1, 224, 224, 3, 64, (7, 7), (2, 2), SAME7), 37),
    (Conv2d(1, 224, 224, 3, 32, (3, 3), (2, 2), SAME3), 7),
    (Conv2d(1, 9, 9, 3, 64, (5, 5)), 20),  # three taps are left: no two rows fit a step
    (Conv2d(1, 9, 9, 3, 16, (3, 3)), 9),  # too few channels
    (Conv2d(1, 9, 9, 3, 64, (3, 3), dilation=(1, 2)), 9),  # each tap is a run
])  # fmt: skip
def test_steps(conv: Conv2d, steps: int) -> None:
    assert ConvShape(conv, level("avx512vnni"), 0).steps == steps


def test_weights_stand_where_their_taps_are_copied_to() -> None:
    conv = Conv2d(1, 9, 9, 3, 64, (7, 7))
    remainders = remainder_taps(conv, level("avx512vnni"))
    assert remainders is not None
    weight = np.random.default_rng(0).integers(-128, 128, (64, 3, 7, 7)).astype(np.int8)
    ordered = in_steps(weight, remainders)
    assert ordered.shape == (64, 148, 1, 1)
    np.testing.assert_array_equal(ordered[:, 140:147, 0, 0], weight[:, 2, :, 6])
    assert not ordered[:, 147].any()
    np.testing.assert_array_equal(ordered.astype(int).sum(axis=(1, 2, 3)), weight.astype(int).sum(axis=(1, 2, 3)))
