"""The phases of a transposed convolution: a convolution and a spread of its channels give the definition.

The kernel that puts a pixel around pictures, against NumPy.
"""

from __future__ import annotations

from functools import partial
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.codegen.kernels.cases import WIDTHS, Case, check, codes
from tests.codegen.kernels.harness import levels, run_kernel
from tvmq import numerics
from tvmq.codegen.kernels.conv.border import add_border
from tvmq.codegen.kernels.conv.stack_depth import DepthWindows, stack_depth
from tvmq.codegen.kernels.conv.subpixel import SubpixelAxis, subpixel_channels, subpixel_weights
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.move.depth_to_space import Spread, depth_to_space
from tvmq.errors import BuildError


@st.composite
def axes(draw: st.DrawFn) -> tuple[SubpixelAxis, int, int]:
    """An axis, what is cut off behind, and output padding."""
    size, taps, stride, dilation = (draw(st.integers(1, high)) for high in (6, 5, 4, 3))
    extra = draw(st.integers(0, 2))
    full = (size - 1) * stride + (taps - 1) * dilation + 1 + extra
    before = draw(st.integers(0, full - 1))
    after = draw(st.integers(0, full - 1 - before))
    return SubpixelAxis(size, full - before - after, taps, stride, before, dilation), after, extra


def spread(y: np.ndarray, axis: SubpixelAxis, groups: int) -> np.ndarray:
    """[batch, channels of phases, blocks] -> [batch, channels, out]."""
    batch, _, blocks = y.shape
    cells = y.reshape(batch, groups, axis.stride, -1, blocks).transpose(0, 1, 3, 4, 2)
    return cells.reshape(batch, -1, blocks * axis.stride)[..., axis.offset : axis.offset + axis.out]


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(axes(), st.integers(1, 3), st.integers(1, 2), st.integers(1, 3))
def test_phases_are_the_definition(one: tuple[SubpixelAxis, int, int], groups: int, depth: int, per_group: int) -> None:
    axis, after, extra = one
    random = np.random.default_rng(0)
    x = random.integers(0, 256, (2, groups * depth, axis.size)).astype(np.uint8)
    w = random.integers(-127, 128, (groups * depth, per_group, axis.taps)).astype(np.int8)
    options = {"strides": axis.stride, "padding": (axis.padding, after), "dilation": axis.dilation, "groups": groups}
    expected = numerics.conv_transpose(x, w, **options, output_padding=extra)
    filters = subpixel_weights(w, [axis], groups)
    y = numerics.conv(x, filters, padding=(axis.before, axis.after), groups=groups)
    np.testing.assert_array_equal(spread(y, axis, groups), expected)
    channels = subpixel_channels(np.arange(groups * per_group), [axis], groups)
    repeated = np.broadcast_to(channels[None, :, None], (1, len(channels), axis.out // axis.stride + 2))
    assert (spread(repeated, axis, groups) == np.arange(groups * per_group)[None, :, None]).all()


SPREADS = [
    Spread(1, (1, 3, 4), 12, (1, 2, 2), (1, 6, 8)),
    Spread(2, (1, 3, 4), 36 * 5, (1, 3, 2), (1, 7, 6), (0, 2, 1)),
    Spread(1, (2, 3, 3), 8 * 70, (2, 2, 2), (3, 5, 4), (1, 0, 1)),
    Spread(1, (1, 4, 5), 4 * 6, (1, 2, 2), (1, 8, 10), groups=6),
    Spread(2, (2, 2, 5), 12 * 6, (2, 1, 3), (3, 2, 13), (0, 0, 2), groups=2),
    Spread(1, (1, 1, 3), 12, (1, 1, 4), (1, 1, 2), (0, 0, 1)),
    Spread(1, (1, 40, 50), 4 * 48, (1, 2, 2), (1, 80, 100)),
]


@pytest.mark.thinned(3)
@pytest.mark.parametrize("level", levels("generic", "avx2", "avx512vnni"))
@pytest.mark.parametrize("number", range(len(SPREADS)))
def test_depth_to_space(number: int, level: str) -> None:
    case = SPREADS[number]
    dtype = ("uint8", "float32", "int32", "int8")[number % 4]
    x = np.random.default_rng(0).integers(-128, 128, (case.batch, *case.size, case.channels)).astype(dtype)
    cells = x.reshape(case.batch, *case.size, case.groups, *case.block, -1)
    whole = cells.transpose(0, 1, 5, 2, 6, 3, 7, 4, 8)
    whole = whole.reshape(case.batch, *(s * b for s, b in zip(case.size, case.block, strict=True)), case.out_channels)
    inside = tuple(slice(first, first + out) for first, out in zip(case.offset, case.out, strict=True))
    expected = whole[(slice(None), *inside)]
    found = run_kernel(depth_to_space(case, isa_named(level), dtype), (x.reshape(-1, *x.shape[2:]),), level)
    np.testing.assert_array_equal(found.reshape(expected.shape), expected)


def test_a_spread_that_x_does_not_hold_is_refused() -> None:
    for bad in (
        Spread(1, (1, 3, 4), 10, (1, 2, 2), (1, 6, 8)),
        Spread(1, (1, 3, 4), 12, (1, 2, 2), (1, 6, 8), (0, 0, 1)),
    ):
        with pytest.raises(BuildError, match=r"kernels, depth_to_space: 1. channels in 1 groups"):
            depth_to_space(bad, isa_named("generic"))


WINDOWS = [
    DepthWindows(1, 4, 6, 5, 3, padding=(1, 1)),
    DepthWindows(2, 5, 3, 66, 2, 2, (1, 0), 2),
    DepthWindows(1, 3, 2, 12, 3, 1, (3, 2), 1, 3),
    DepthWindows(1, 8, 900, 32, 3, 1, (1, 1)),
]


@pytest.mark.thinned(3)
@pytest.mark.parametrize("level", levels("generic", "avx2", "avx512vnni"))
@pytest.mark.parametrize("number", range(len(WINDOWS)))
def test_stack_depth(number: int, level: str) -> None:
    case, dtype = WINDOWS[number], ("uint8", "float32", "int8")[number % 3]
    x = np.random.default_rng(0).integers(-128, 128, (case.batch, case.depth, case.pixels, case.channels)).astype(dtype)
    padded = np.pad(x, ((0, 0), case.padding, (0, 0), (0, 0)), constant_values=7)
    first = np.arange(case.windows) * case.stride
    taps = np.stack([padded[:, first + tap * case.dilation] for tap in range(case.taps)], axis=3)
    taps = taps.reshape(*taps.shape[:4], case.groups, -1).swapaxes(3, 4)
    expected = taps.reshape(case.batch * case.windows, case.pixels, prod(taps.shape[3:]))
    kernel = stack_depth(case, 7, isa_named(level), dtype)
    np.testing.assert_array_equal(run_kernel(kernel, (x.reshape(-1, *x.shape[2:]),), level), expected)


def test_windows_that_fit_no_volume_are_refused() -> None:
    for bad in (DepthWindows(1, 2, 6, 4, 3), DepthWindows(1, 3, 6, 5, 3, groups=2)):
        with pytest.raises(BuildError, match="kernels, stack_depth: .* fit no volume"):
            stack_depth(bad, 0, isa_named("generic"))


SHAPES = [((1, 3, 5, 70), (1, 1, 1, 1)), ((2, 2, 1, 7), (0, 2, 1, 0)), ((1, 1, 1, 3), (2, 0, 0, 1))]


@pytest.mark.parametrize("level", WIDTHS)
@pytest.mark.parametrize("shape,padding", SHAPES)
def test_equals_numpy(shape: tuple[int, ...], padding: tuple[int, int, int, int], level: str) -> None:
    top, left, bottom, right = padding
    x, pixel = codes(shape, "uint8"), codes(shape[-1:], "uint8", 1)
    expected = np.empty((shape[0], shape[1] + top + bottom, shape[2] + left + right, shape[3]), np.uint8)
    expected[:] = pixel
    expected[:, top : top + shape[1], left : left + shape[2]] = x
    check(Case("frame", partial(add_border, shape, padding, pixel), (x,), expected), level)


def test_another_pixel_is_refused() -> None:
    with pytest.raises(BuildError, match=r"pixel of 4 channels .* Got \(3,\) and \(1, 1, 1, 1\)"):
        add_border((1, 2, 2, 4), (1, 1, 1, 1), np.zeros(3, np.uint8), isa_named("generic"))
