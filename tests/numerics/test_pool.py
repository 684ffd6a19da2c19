"""max_pool, sum_pool, sum and the factors of averages."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.numerics import naive
from tests.numerics.strategies import codes, quick
from tvmq import numerics
from tvmq.errors import AccumulatorError, ConfigError


@st.composite
def windows(draw: st.DrawFn) -> tuple[tuple[int, ...], dict]:
    """A shape and options of a pooling over one to three spatial axes."""
    ndim = draw(st.integers(1, 3))

    def each(low: int, high: int, count: int = ndim) -> tuple[int, ...]:
        return draw(st.tuples(*[st.integers(low, high)] * count))

    spatial = each(1, {1: 9, 2: 6, 3: 4}[ndim])
    options = {
        "kernel": each(1, 3),
        "strides": each(1, 3),
        "padding": each(0, 2, 2 * ndim),
        "dilation": each(1, 2),
        "ceil_mode": draw(st.booleans()),
    }
    for i, n in enumerate(spatial):
        span = (options["kernel"][i] - 1) * options["dilation"][i] + 1
        assume(n + options["padding"][i] + options["padding"][i + ndim] >= span)
    return (draw(st.integers(1, 2)), 2, *spatial), options


@pytest.mark.slow
@given(windows(), st.data())
@quick
def test_max_pool_equals_loops(problem, data):
    shape, options = problem
    q = data.draw(codes(data.draw(st.sampled_from(["uint8", "int8"])), shape))
    result = numerics.max_pool(q, **options)
    assert result.dtype == q.dtype
    assert np.array_equal(result, naive.pool(q, **options, maximum=True, zero_point=0))


@pytest.mark.slow
@given(windows(), st.data())
@quick
def test_sum_pool_equals_loops(problem, data):
    shape, options = problem
    q = data.draw(codes(data.draw(st.sampled_from(["uint8", "int8"])), shape))
    zero_point = data.draw(st.integers(-128, 255))
    result = numerics.sum_pool(q, **options, zero_point=zero_point)
    assert result.dtype == np.int32
    assert np.array_equal(result, naive.pool(q, **options, maximum=False, zero_point=zero_point))


@pytest.mark.slow
@given(windows())
@quick
def test_window_counts_and_average_factors(problem):
    shape, options = problem
    counts = numerics.window_counts(shape[2:], **options)
    ones = np.ones((1, 1, *shape[2:]), np.int8)
    assert np.array_equal(counts, naive.pool(ones, **options, maximum=False, zero_point=0)[0, 0])
    if (counts == 0).any():
        with pytest.raises(ConfigError, match="a window lies wholly in the padding"):
            numerics.average_factors(counts)
    else:
        factors, divisor = numerics.average_factors(counts)
        assert factors.dtype == np.int32 and (factors * counts == divisor).all()


def test_average_factors_golden():
    counts = numerics.window_counts((4, 4), kernel=3, strides=1, padding=1)
    assert counts.tolist() == [[4, 6, 6, 4], [6, 9, 9, 6], [6, 9, 9, 6], [4, 6, 6, 4]]
    factors, divisor = numerics.average_factors(counts)
    assert divisor == 36 and factors[0].tolist() == [9, 6, 6, 9]


def test_average_factors_out_of_int32_are_refused():
    with pytest.raises(AccumulatorError, match="have the common multiple 2305843005992468481, int32 ends at"):
        numerics.average_factors(np.int32([2**31 - 1, 2**30 - 1]))


@pytest.mark.slow
@given(st.data(), st.sampled_from([(0,), (1, 2), (-1,), (0, 1, 2), ()]), st.booleans())
@quick
def test_sum_equals_python_integers(data, axes, keepdims):
    q = data.draw(codes(data.draw(st.sampled_from(["uint8", "int8", "int16"])), (2, 3, 4)))
    zero_point = data.draw(st.integers(-128, 255))
    result = numerics.sum(q, axes, keepdims=keepdims, zero_point=zero_point)
    expected = (q.astype(object) - zero_point).sum(axis=axes, keepdims=keepdims)
    assert result.dtype == np.int32 and result.shape == np.shape(expected) and np.array_equal(result, expected)


def test_sums_out_of_int32_are_refused():
    q = np.broadcast_to(np.uint8(255), (2**23 + 2**16,))
    with pytest.raises(AccumulatorError, match="sum: 8454144 codes of uint8 can reach 2155806720, int32 ends at"):
        numerics.sum(q, [0])
    assert int(numerics.sum(q[: 2**23], [0])) == 255 * 2**23
    with pytest.raises(AccumulatorError, match="sum_pool: 65538 codes of int16"):
        numerics.sum_pool(np.zeros((1, 1, 65538), np.int16), kernel=65538, zero_point=32767)


def test_empty_sum_and_batch():
    assert numerics.sum(np.zeros((2, 0), np.uint8), [1], zero_point=5).tolist() == [0, 0]
    assert numerics.max_pool(np.zeros((0, 2, 4, 4), np.uint8), kernel=2).shape == (0, 2, 3, 3)


@pytest.mark.parametrize(("options", "message"), [
    ({"kernel": 5}, "a window of 5 does not fit a spatial size of 4"),
    ({"kernel": 0}, "kernel must be"),
    ({"kernel": 2, "strides": (1, 2, 3)}, "strides must be"),
])  # fmt: skip
def test_bad_options_are_refused(options, message):
    q = np.zeros((1, 1, 4, 4), np.uint8)
    for pool in (numerics.max_pool, numerics.sum_pool):
        with pytest.raises(ConfigError, match=message):
            pool(q, **options)


def test_names_of_the_graph():
    assert numerics.max_pool2d is numerics.max_pool


@pytest.mark.slow
@given(st.integers(1, 3), st.data())
def test_adaptive_windows(ndim, data):
    """Window by window as the docstring says; counts are what sums of ones give."""
    sizes = data.draw(st.tuples(*[st.integers(1, 6)] * ndim))
    out_size = data.draw(st.tuples(*[st.integers(1, 7)] * ndim))
    q = data.draw(codes("uint8", (2, 1, *sizes)))
    found = numerics.adaptive_sum_pool(q, out_size, zero_point=7)
    counts = numerics.adaptive_counts(sizes, out_size)
    assert found.dtype == counts.dtype == np.int32 and found.shape == (2, 1, *out_size)
    for index in np.ndindex(*out_size):
        window = tuple(slice(i * n // m, -(-(i + 1) * n // m)) for i, n, m in zip(index, sizes, out_size, strict=True))
        part = q[(slice(None), slice(None), *window)].astype(np.int64) - 7
        assert counts[index] == part[0, 0].size
        np.testing.assert_array_equal(found[(slice(None), 0, *index)], part.reshape(2, -1).sum(1))


def test_adaptive_refusals():
    with pytest.raises(ConfigError, match=r"one positive size for each spatial axis. Got \(3,\)"):
        numerics.adaptive_sum_pool(np.zeros((1, 1, 2, 2), np.uint8), [3])
    with pytest.raises(AccumulatorError, match="adaptive_sum_pool: 9000000 codes"):
        numerics.adaptive_sum_pool(np.zeros((1, 1, 3000, 3000), np.uint8), [1, 1])
