"""Depthwise kernels against the definition: equal bits for every shape, epilogue and instruction set."""

from __future__ import annotations

import numpy as np
import pytest

from tests.codegen.kernels.harness import compare, conv_operands, epilogue_for, huge_multipliers, levels
from tvmq.codegen.kernels.depthwise.depthwise import depthwise
from tvmq.codegen.kernels.depthwise.plan import NO_TAP, plan_blocks, plan_columns
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.parts.kernel_types import Clip, Conv2d
from tvmq.errors import BuildError

LEVELS = levels("generic", "avx2", "avxvnni", "avx512bw", "avx512vnni")


def picture(
    size: tuple[int, int],
    channels: int,
    kernel: int = 3,
    stride: int = 1,
    padding: tuple[int, int, int, int] = (1, 1, 1, 1),
    dilation: int = 1,
    batch: int = 1,
    x_dtype: str = "uint8",
) -> Conv2d:
    """A depthwise convolution with a square kernel."""
    square = (kernel, kernel), (stride, stride), padding, (dilation, dilation)
    return Conv2d(batch, *size, channels, channels, *square, groups=channels, x_dtype=x_dtype)


SHAPES = [
    # channels around the lanes of vectors; widths that do not fill a step or a tile
    picture((5, 7), 63),
    picture((4, 5), 17),
    picture((3, 5), 15, x_dtype="int8"),
    picture((3, 4), 5),
    picture((3, 4), 3),
    picture((5, 5), 150, batch=2),
    # strides, kernels, asymmetric and no padding
    picture((8, 9), 65, stride=2, padding=(0, 0, 1, 1), x_dtype="int8"),
    picture((7, 9), 33, kernel=5, padding=(2, 2, 2, 2)),
    picture((9, 11), 16, kernel=5, stride=2, padding=(2, 1, 2, 2)),
    picture((11, 13), 24, kernel=7, padding=(3, 3, 3, 3), x_dtype="int8"),
    picture((6, 6), 20, kernel=2, padding=(0, 1, 0, 0)),
    picture((5, 5), 16, kernel=1, stride=2, padding=(0, 0, 0, 0)),
    picture((6, 7), 16, kernel=4, stride=3, padding=(2, 0, 1, 3)),
    # many rows of the kernel outside, of pictures and of strides
    picture((2, 9), 40, kernel=5, padding=(2, 2, 2, 2)),
    picture((3, 6), 33, kernel=7, stride=2, padding=(3, 3, 2, 3), x_dtype="int8"),
    # windows larger than the picture, wider padding than kernel, dilation
    picture((1, 1), 32),
    picture((2, 2), 16, padding=(4, 4, 4, 4)),
    picture((9, 8), 16, kernel=5, stride=2, padding=(4, 4, 4, 4), dilation=3, x_dtype="int8"),
    # several strips and bands; so large that rows are fetched ahead
    picture((60, 150), 64),
    picture((91, 64), 96, stride=2),
]


@pytest.mark.slow
@pytest.mark.thinned(10)
@pytest.mark.parametrize("name", LEVELS)
@pytest.mark.parametrize("number", range(len(SHAPES)))
def test_equals_the_definition(name: str, number: int) -> None:
    kinds = ("codes", "sums", "int8 codes", "floats", "table", "int16 codes", "add")
    conv = SHAPES[number]
    x_zero = (number * 53) % 256 - (128 if conv.x_dtype == "int8" else 0)
    compare(conv, name, *epilogue_for(conv, kinds[number % len(kinds)]), x_zero=x_zero, make=depthwise)


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", LEVELS)
def test_all_steps_in_bands(name: str) -> None:
    conv = picture((40, 41), 80, kernel=5, padding=(2, 2, 2, 2), batch=2)
    compare(conv, name, *epilogue_for(conv, "all"), x_zero=255, make=depthwise)


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", LEVELS)
def test_products_beyond_int32_saturate(name: str) -> None:
    conv = picture((5, 6), 35)
    compare(conv, name, (huge_multipliers(conv),), (), x_zero=9, make=depthwise)


@pytest.mark.parametrize("kernel", range(1, 12))
@pytest.mark.parametrize("stride,dilation", [(1, 1), (2, 1), (3, 1), (1, 2), (2, 3)])
@pytest.mark.parametrize("taps", [1, 2, 4])
def test_plan_of_columns_uses_every_tap_once(kernel: int, stride: int, dilation: int, taps: int) -> None:
    plan = plan_columns(kernel, stride, dilation, taps, kernel)
    assert plan.outputs * stride == plan.stride
    for output, uses in enumerate(plan.uses):
        found = []
        for use in uses:
            columns = [use.ahead * plan.stride + column for column in plan.groups[use.group]]
            assert len(columns) == len(use.slots) == taps
            found += [(tap, column) for tap, column in zip(use.slots, columns, strict=True) if tap != NO_TAP]
        assert sorted(found) == [(tap, output * stride + tap * dilation) for tap in range(kernel)]


def test_usual_kernels_take_few_dots() -> None:
    """On VNNI: 3 x 3 takes one dot for each kernel row, 5 x 5 and 7 x 7 two."""
    dots = {kernel: plan_columns(kernel, 1, 1, 4, kernel).uses for kernel in (3, 5, 7)}
    assert {kernel: {len(output) for output in uses} for kernel, uses in dots.items()} == {3: {1}, 5: {2}, 7: {2}}


@pytest.mark.parametrize("lanes", [1, 4, 8, 16])
@pytest.mark.parametrize("channels", [*range(1, 70), 96, 100, 127, 128, 144, 150, 960])
def test_blocks_cover_all_channels(lanes: int, channels: int) -> None:
    if channels < lanes:
        return
    plan = plan_blocks(channels, lanes)
    covered = [range(start, start + blocks.size) for blocks in plan for start in blocks.starts()]
    assert set().union(*covered) == set(range(channels))
    assert sum(map(len, covered)) < 1.25 * channels + lanes
    assert len(plan) == 1 or channels < 20 * lanes
    assert [blocks.slot for blocks in plan] == [
        sum(before.size * before.count for before in plan[:i]) for i in range(len(plan))
    ]


def test_key_is_the_code_not_the_constants() -> None:
    conv = picture((5, 5), 16)
    _, weight, bias = conv_operands(conv)
    epilogue, _ = epilogue_for(conv, "codes")
    isa = isa_named("avx2")
    first = depthwise(conv, weight, bias, 3, epilogue, isa)
    assert first.name == "depthwise_avx2_3x3"
    assert depthwise(conv, weight[::-1], bias + 1, 3, epilogue, isa).key == first.key
    assert depthwise(conv, weight, bias, 4, epilogue, isa).key != first.key
    assert depthwise(conv, weight, bias, 3, (), isa).key != first.key


def test_wrong_operands_are_refused() -> None:
    conv = picture((5, 5), 16)
    _, weight, bias = conv_operands(conv)
    isa = isa_named("generic")
    with pytest.raises(BuildError, match="Got uint8, int8 and int64"):
        depthwise(conv, weight, bias.astype(np.int64), 0, (), isa)
    with pytest.raises(BuildError, match=r"shape \(16, 1, 3, 3\)"):
        depthwise(conv, weight[:, :, :2], bias, 0, (), isa)
    with pytest.raises(BuildError, match="groups, channels and filters must be equal"):
        depthwise(Conv2d(1, 5, 5, 8, 16, groups=8), weight, bias, 0, (), isa)
    with pytest.raises(BuildError, match="starts with a requantize step"):
        depthwise(conv, weight, bias, 0, (Clip(0, 1),), isa)
