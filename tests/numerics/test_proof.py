"""Accumulator bounds against all subsets of the products, and the errors that name the layer."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.numerics.strategies import quick
from tvmq import numerics
from tvmq.errors import AccumulatorError

weights = st.lists(st.integers(-128, 127), min_size=1, max_size=4)


@pytest.mark.slow
@given(weights, st.sampled_from([(0, 255), (-128, 127), (-127, 127), (0, 15), (3, 9)]), st.integers(-1000, 1000))
@quick
def test_bound_is_the_largest_partial_sum(w, limits, bias):
    largest = 0
    terms = [[0, value * limits[0], value * limits[1]] for value in w] + [[0, bias]]
    for chosen in itertools.product(*terms):
        largest = max(largest, abs(sum(chosen)))
    bounds = numerics.accumulator_bound(np.int8([w, [0] * len(w)]), *limits, bias=[bias, bias])
    assert bounds.dtype == np.int64 and bounds.tolist() == [largest, abs(bias)]


def test_filter_axis_and_shape():
    w = np.random.default_rng(0).integers(-128, 128, (4, 3, 2, 2)).astype(np.int8)
    bounds = numerics.accumulator_bound(w, 0, 255)
    positive = np.where(w > 0, w, 0).astype(int).sum((1, 2, 3)) * 255
    negative = np.where(w < 0, -w.astype(int), 0).sum((1, 2, 3)) * 255
    assert np.array_equal(bounds, np.maximum(positive, negative))
    assert np.array_equal(bounds, numerics.accumulator_bound(w.reshape(4, -1).T, 0, 255, filter_axis=1))


@pytest.mark.slow
@given(weights, st.lists(st.integers(0, 255), min_size=4, max_size=4), st.integers(-(2**20), 2**20))
@quick
def test_no_sum_exceeds_its_bound(w, x, bias):
    total = sum(a * b for a, b in zip(w, x, strict=False)) + bias
    assert abs(total) <= numerics.accumulator_bound(np.int8([w]), 0, 255, [bias])[0]


def test_check_accumulator():
    fits, too_deep = np.full((2, 66311), 127, np.int8), np.full((2, 66312), 127, np.int8)
    fits[0] = too_deep[0] = 1
    assert numerics.check_accumulator("head/fc", fits, 0, 255).tolist() == [66311 * 255, 66311 * 127 * 255]
    with pytest.raises(AccumulatorError) as error:
        numerics.check_accumulator("head/fc", too_deep, 0, 255)
    assert str(error.value) == (
        "realize, layer 'head/fc': filter 1 of 2 adds 66312 products of codes 0..255 "
        "and can reach 2147514120, "
        "int32 ends at 2147483647; give its weights fewer bits or keep it in float: Rule('head/fc', None)"
    )


def test_a_bias_can_take_the_sum_out_of_int32():
    w = np.int8([[1]])
    assert numerics.check_accumulator("a", w, 0, 255, [2**31 - 256]).tolist() == [2**31 - 1]
    with pytest.raises(AccumulatorError, match="quantize, layer 'a': filter 0 of 1 .* can reach 2147483648"):
        numerics.check_accumulator("a", w, 0, 255, [2**31 - 255], stage="quantize")


def test_check_product_accumulator():
    assert numerics.check_product_accumulator("qk", 33025, 255, 255) == 33025 * 255 * 255
    with pytest.raises(AccumulatorError, match="layer 'qk': 33026 products of up to 255 . 255 can reach 21475"):
        numerics.check_product_accumulator("qk", 33026, 255, 255)


@pytest.mark.slow
@given(st.integers(0, 2**31 - 1), st.floats(2.0**-30, 2.0**31, width=32))
@quick
def test_multiplier_fits_means_that_float32_stays_below_2_31(bound, multiplier):
    product = np.float32(bound) * np.float32(multiplier)
    if numerics.multiplier_fits([0, bound], multiplier):
        assert abs(float(product)) < 2.0**31
    else:
        assert float(product) > 2.0**31 * (1 - 2.0**-21)


def test_multiplier_fits_each_filter():
    assert not numerics.multiplier_fits(2**31 - 1, 1.0)  # float32(2^31 - 1) is 2^31
    assert numerics.multiplier_fits([2**20, 2**30], np.float32([1024, 1]))
    assert not numerics.multiplier_fits([2**20, 2**30], np.float32([1, 4]))
