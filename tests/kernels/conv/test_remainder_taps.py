"""Taps of kernel rows that are no whole step, packed: the bits of the definition, fewer steps."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels.harness import compare, epilogue_for, levels
from tvmq.kernels.conv.remainder_taps import in_steps, remainder_taps
from tvmq.kernels.conv.shape import ConvShape, choose_chunks
from tvmq.kernels.isa import level
from tvmq.kernels.parts.tiling import choose_tiling
from tvmq.kernels.parts.types import Conv2d

SAME3, SAME7 = (1, 1, 1, 1), (3, 3, 3, 3)
SHAPES = {
    "stem": Conv2d(1, 64, 70, 3, 72, (7, 7), (2, 2), SAME7),
    "3 x 3": Conv2d(1, 31, 33, 3, 40, (3, 3), (2, 2), SAME3),
    "two taps left": Conv2d(1, 9, 8, 2, 100, (5, 3), (1, 1), (2, 1, 2, 1), x_dtype="int8"),
    "one channel, pictures": Conv2d(3, 7, 6, 1, 70, (5, 5), (1, 1), (2, 2, 2, 2)),
    "one column": Conv2d(1, 9, 3, 3, 64, (3, 3)),
    "far columns": Conv2d(1, 8, 40, 3, 64, (3, 3), (1, 13)),
    "stride 3, dilated rows": Conv2d(2, 17, 11, 3, 64, (3, 3), (3, 3), (2, 0, 1, 2), (2, 1)),
    "chunks of panels": Conv2d(1, 5, 5, 7, 2000, (7, 7), (1, 1), SAME7, x_dtype="int8"),
}


@pytest.mark.thinned(4)
@pytest.mark.parametrize("name", levels("avx2", "avxvnni", "avx512bw", "avx512vnni"))
@pytest.mark.parametrize("number, title", list(enumerate(SHAPES)))
def test_equals_the_definition(name: str, number: int, title: str) -> None:
    kinds = ("codes", "sums", "int8 codes", "all")
    compare(SHAPES[title], name, *epilogue_for(SHAPES[title], kinds[number % 4]), x_zero=7 if number % 3 else 0)


def test_shapes_are_packed_in_all_kinds_of_chunks() -> None:
    kinds = set()
    for conv in SHAPES.values():
        shape = ConvShape(conv, level("avx512vnni"), 0)
        chunks = choose_chunks(shape, choose_tiling(shape.product, shape.ins))
        assert shape.rests is not None
        kinds.add((chunks.pixel_chunks > 1, chunks.panel_chunks > 1))
    assert {(False, False), (True, False), (False, True)} <= kinds


@pytest.mark.parametrize(
    "conv, steps",
    [
        (Conv2d(1, 224, 224, 3, 64, (7, 7), (2, 2), SAME7), 37),
        (Conv2d(1, 224, 224, 3, 32, (3, 3), (2, 2), SAME3), 7),
        (Conv2d(1, 9, 9, 3, 64, (5, 5)), 20),  # three taps are left: no two rows fit a step
        (Conv2d(1, 9, 9, 3, 16, (3, 3)), 9),  # too few channels
        (Conv2d(1, 9, 9, 3, 64, (3, 3), dilation=(1, 2)), 9),  # each tap is a run
    ],
)
def test_steps(conv: Conv2d, steps: int) -> None:
    assert ConvShape(conv, level("avx512vnni"), 0).steps == steps


def test_weights_stand_where_their_taps_are_copied_to() -> None:
    conv = Conv2d(1, 9, 9, 3, 64, (7, 7))
    rests = remainder_taps(conv, level("avx512vnni"))
    assert rests is not None
    weight = np.random.default_rng(0).integers(-128, 128, (64, 3, 7, 7)).astype(np.int8)
    ordered = in_steps(weight, rests)
    assert ordered.shape == (64, 148, 1, 1)
    np.testing.assert_array_equal(ordered[:, 140:147, 0, 0], weight[:, 2, :, 6])
    assert not ordered[:, 147].any()
    np.testing.assert_array_equal(ordered.astype(int).sum(axis=(1, 2, 3)), weight.astype(int).sum(axis=(1, 2, 3)))
