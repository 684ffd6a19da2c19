"""conv and conv_transpose against loops over Python integers."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.numerics import naive
from tvmq import numerics
from tvmq.errors import AccumulatorError, ConfigError, RangeError

quick = settings(deadline=None, max_examples=80)


@st.composite
def problems(draw: st.DrawFn) -> dict:
    """A small convolution of one to three spatial axes, often depthwise, often of extreme codes."""
    ndim = draw(st.integers(1, 3))
    groups = draw(st.integers(1, 3))
    depth = draw(st.integers(1, 3))
    largest = {1: 9, 2: 7, 3: 4}[ndim]

    def each(low: int, high: int, count: int = ndim) -> tuple[int, ...]:
        return draw(st.tuples(*[st.integers(low, high)] * count))

    x_type = draw(st.sampled_from(["uint8", "int8"]))
    x_limits = np.iinfo(x_type)
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    x_shape = (draw(st.integers(1, 2)), groups * depth, *each(1, largest))
    if draw(st.booleans()):
        x = random.integers(x_limits.min, x_limits.max + 1, x_shape)
    else:
        x = np.full(x_shape, draw(st.sampled_from([x_limits.min, x_limits.max])))
    kernel = each(1, 3)
    return {
        "x": x.astype(x_type),
        "w": random.integers(-128, 128, (groups * draw(st.integers(1, 2)), depth, *kernel)).astype(np.int8),
        "strides": each(1, 3),
        "padding": each(0, 3, 2 * ndim),
        "dilation": each(1, 3),
        "groups": groups,
        "x_zero": draw(st.integers(x_limits.min, x_limits.max)),
    }


def spans(problem: dict) -> list[int]:
    return [(k - 1) * d + 1 for k, d in zip(problem["w"].shape[2:], problem["dilation"], strict=True)]


@pytest.mark.slow
@given(problems())
@quick
def test_conv_equals_loops(problem):
    ndim, padding = len(problem["strides"]), problem["padding"]
    padded = [n + padding[i] + padding[i + ndim] for i, n in enumerate(problem["x"].shape[2:])]
    assume(all(n >= span for n, span in zip(padded, spans(problem), strict=True)))
    result = numerics.conv(**problem)
    assert result.dtype == np.int32 and np.array_equal(result, naive.conv(**problem))


@pytest.mark.slow
@given(problems(), st.data())
@quick
def test_conv_transpose_equals_loops(problem, data):
    ndim, padding = len(problem["strides"]), problem["padding"]
    extra = data.draw(st.tuples(*[st.integers(0, 2)] * ndim))
    w = problem["w"]
    groups = problem["groups"]
    filters = w.reshape(groups, -1, *w.shape[1:]).swapaxes(1, 2)  # (groups, C / groups, F / groups, kernel...)
    problem = {**problem, "w": filters.reshape(-1, *filters.shape[2:]), "output_padding": extra}
    sizes = [
        (n - 1) * s + span + e
        for n, s, span, e in zip(problem["x"].shape[2:], problem["strides"], spans(problem), extra, strict=True)
    ]
    assume(all(n > padding[i] + padding[i + ndim] for i, n in enumerate(sizes)))
    result = numerics.conv_transpose(**problem)
    assert result.dtype == np.int32 and np.array_equal(result, naive.conv_transpose(**problem))


def test_conv_golden():
    x = np.uint8([[[[1, 2], [3, 4]]]])
    w = np.int8([[[[1, 0], [0, -1]]]])
    assert numerics.conv(x, w, padding=(1, 0, 0, 1), x_zero=10).tolist() == [[[[8, 0], [-3, -8]]]]
    assert numerics.conv(x, w).tolist() == [[[[-3]]]]


def test_conv_transpose_golden():
    x = np.uint8([[[[1, 2], [3, 4]]]])
    w = np.int8([[[[1, 2], [3, 4]]]])
    expected = [[1, 4, 4], [6, 20, 16], [9, 24, 16]]
    assert numerics.conv_transpose(x, w).tolist() == [[expected]]
    # every code at the zero point: each sum is x_zero * sum(w), also in gaps, borders and cut-off rows
    flat = numerics.conv_transpose(np.full((1, 1, 2, 2), 7, np.uint8), w, strides=3, output_padding=1, x_zero=7)
    assert (flat == 70).all()


@pytest.mark.parametrize("depth", [514, 515, 1200, 4608])
@pytest.mark.parametrize("largest", [12, 127])
def test_every_plan_is_exact(depth, largest):
    """float32 at once, float32 proved by the weights, float32 in pieces; at the ends of the codes."""
    random = np.random.default_rng(depth)
    w = random.choice([-largest, largest], (4, depth, 1)).astype(np.int8)
    w[0] = largest
    x = random.choice([0, 255], (2, depth, 3)).astype(np.uint8)
    x[0, :, 0] = 255
    expected = np.einsum("fk,nkl->nfl", w[..., 0].astype(np.int64), x.astype(np.int64))
    assert np.array_equal(numerics.conv(x, w), expected)


def test_long_depthwise_kernels_are_exact():
    """600 products of 255 * 127 leave the exact range of float32."""
    x = np.full((1, 2, 601), 255, np.uint8)
    x[:, :, ::3] = 254
    w = np.full((2, 1, 600), 127, np.int8)
    expected = [[int(x[0, c, i : i + 600].astype(int).sum()) * 127 for i in range(2)] for c in range(2)]
    assert numerics.conv(x, w, groups=2).tolist() == [expected]


def test_transposed_steps_reach_further_than_codes():
    """Steps of int8 codes from x_zero reach 255, so 600 products leave the exact range of float32."""
    x = np.full((1, 600, 1), -128, np.int8)
    x[0, 0] = -127
    w = np.full((600, 1, 1), 127, np.int8)
    total = (599 * -255 - 254) * 127 + 127 * (600 * 127)
    assert numerics.conv_transpose(x, w, x_zero=127).tolist() == [[[total]]]


def test_sixteen_bit_activations():
    random = np.random.default_rng(0)
    x = random.integers(-32768, 32768, (1, 4, 6, 6)).astype(np.int16)
    for shape, groups in (((3, 4, 3, 3), 1), ((4, 1, 3, 3), 4)):
        w = random.integers(-128, 128, shape).astype(np.int8)
        expected = naive.conv(x, w, (1, 1), (0,) * 4, (1, 1), groups, 0)
        assert np.array_equal(numerics.conv(x, w, groups=groups), expected)


def test_large_pictures_are_cut_into_rows(monkeypatch):
    random = np.random.default_rng(0)
    x = random.integers(0, 256, (2, 6, 11, 9)).astype(np.uint8)
    options = {"strides": (2, 1), "padding": (1, 2, 0, 1), "dilation": (1, 2), "x_zero": 9}
    for shape, groups in (((4, 3, 3, 2), 2), ((12, 1, 3, 2), 6)):
        w = random.integers(-128, 128, shape).astype(np.int8)
        whole = numerics.conv(x, w, groups=groups, **options)
        conv_module = importlib.import_module("tvmq.numerics.conv")  # numerics.conv is the function
        monkeypatch.setattr(conv_module, "COLUMN_ELEMENTS", 1)
        monkeypatch.setattr(conv_module, "PLANE_ELEMENTS", 1)
        assert np.array_equal(numerics.conv(x, w, groups=groups, **options), whole)
        monkeypatch.undo()


@pytest.mark.parametrize("groups", [1, 3])
def test_a_sum_out_of_int32_is_refused(groups):
    x = np.full((1, 3, 9), -32768, np.int16)
    w = np.full((3, 3 // groups, 3), -32768, np.int16)
    with pytest.raises(AccumulatorError, match="conv: a sum reaches .* int32 ends at 2147483647"):
        numerics.conv(x, w, groups=groups)
    with pytest.raises(AccumulatorError, match="conv_transpose: a sum reaches"):
        numerics.conv_transpose(x, w, groups=groups)


def test_empty_batch():
    x, w = np.zeros((0, 2, 5, 5), np.uint8), np.ones((3, 2, 3, 3), np.int8)
    assert numerics.conv(x, w).shape == (0, 3, 3, 3)
    assert numerics.conv_transpose(x, w.swapaxes(0, 1)).shape == (0, 3, 7, 7)


@pytest.mark.parametrize(("x_shape", "w_shape", "options", "message"), [
    ((1, 2, 5, 5), (3, 2, 3), {}, "same three to five dimensions"),
    ((2, 5), (3, 2), {}, "same three to five dimensions"),
    ((1, 2, 5, 5), (2, 3, 3, 3), {}, "2 channels in 1 groups do not fit weights of shape"),
    ((1, 2, 5, 5), (3, 1, 3, 3), {"groups": 2}, "2 channels in 2 groups"),
    ((1, 2, 5, 5), (2, 2, 3, 3), {"groups": 0}, "groups must be at least 1"),
    ((1, 2, 5, 5), (2, 2, 0, 3), {}, "weights not empty"),
    ((1, 2, 5, 5), (2, 2, 6, 3), {}, "a window of 6 does not fit"),
    ((1, 2, 5, 5), (2, 2, 3, 3), {"strides": 0}, "strides must be"),
    ((1, 2, 5, 5), (2, 2, 3, 3), {"padding": (1, 2, 3)}, "padding must be"),
])  # fmt: skip
def test_bad_convolutions_are_refused(x_shape, w_shape, options, message):
    with pytest.raises(ConfigError, match=message):
        numerics.conv(np.zeros(x_shape, np.uint8), np.zeros(w_shape, np.int8), **options)


@pytest.mark.parametrize(("w_shape", "options", "message"), [
    ((3, 2, 3), {}, "2 channels in 1 groups do not fit"),
    ((2, 2, 3), {"groups": 3}, "2 channels in 3 groups do not fit"),
    ((2, 2, 3), {"padding": 4}, "leaves nothing of a result of sizes"),
    ((2, 2, 3), {"output_padding": -1}, "output_padding must be"),
])  # fmt: skip
def test_bad_transposed_convolutions_are_refused(w_shape, options, message):
    with pytest.raises(ConfigError, match=message):
        numerics.conv_transpose(np.zeros((1, 2, 5), np.uint8), np.zeros(w_shape, np.int8), **options)


@pytest.mark.parametrize("convolution", [numerics.conv, numerics.conv_transpose])
@pytest.mark.parametrize("x_zero", [-1, 256, 0.5])
def test_zero_points_belong_to_the_input(convolution, x_zero):
    with pytest.raises(RangeError, match=r"zero_point must be an integer in 0\.\.255"):
        convolution(np.zeros((1, 1, 3), np.uint8), np.ones((1, 1, 1), np.int8), x_zero=x_zero)


def test_float_operands_are_refused():
    with pytest.raises(ConfigError, match="codes must be integers. Got an array of float32"):
        numerics.conv(np.zeros((1, 1, 3), np.float32), np.zeros((1, 1, 1), np.int8))
