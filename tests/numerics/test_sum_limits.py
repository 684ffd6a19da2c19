"""Weights limited to an accumulator: no sum overflows, the nearest weights are taken, those within stay unchanged."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.numerics.strategies import quick
from tvmq import numerics

RANGES = [(0, 255), (0, 15), (0, 1), (-128, 127), (-127, 127), (-8, 7)]
real = st.floats(-140, 140, width=32)
rows = hnp.arrays(np.float32, st.tuples(st.integers(1, 4), st.integers(1, 9)), elements=real)
few = st.lists(st.one_of(st.integers(-10, 10).map(lambda n: n / 2), st.floats(-5, 5, width=32)), min_size=1, max_size=3)


def limits() -> st.SearchStrategy[tuple[int, int, int]]:
    """Lowest and highest code, and a zero point among them."""
    return st.sampled_from(RANGES).flatmap(lambda r: st.tuples(st.just(r[0]), st.just(r[1]), st.integers(*r)))


@pytest.mark.slow
@given(rows, limits(), st.integers(12, 32), st.integers(-3000, 3000), st.booleans())
@quick
def test_no_sum_leaves_the_accumulator(values, limits, bits, bias, centred):
    """The worst input by the proof of numerics, whatever the bias is; codes as they are, and without their zero point
    (as a transposed convolution multiplies them)."""
    low, high, zero = limits
    low, high = (low - zero, high - zero) if centred else (low, high)
    largest = 2 ** (bits - 1) - 1
    most, together = numerics.most_of_weights(bits, low, high, zero_point=zero, bias=np.full(len(values), bias))
    codes = numerics.nearest_weights(values, most, together=together)
    assert (most >= 0).all() == (abs(bias) <= largest)
    assert (numerics.sum_of_weights(codes, together=together) <= np.maximum(most, 0)).all()
    total = bias - zero * codes.sum(axis=1)
    if abs(bias) <= largest:
        assert (numerics.accumulator_bound(codes, low, high, total) <= largest).all()


@pytest.mark.parametrize(("bits", "low", "high"), [(16, 0, 255), (12, 0, 15), (20, -127, 127), (32, 0, 1)])
def test_the_limit_is_tight(bits, low, high):
    """The largest sum is at its limit: 1 more would overflow."""
    most, together = numerics.most_of_weights(bits, low, high)
    weight = np.array([[int(most)]])
    assert numerics.accumulator_bound(weight, low, high)[0] < 2 ** (bits - 1)
    assert numerics.accumulator_bound(weight + 1, low, high)[0] >= 2 ** (bits - 1)
    assert together == (low < 0)


@given(few, st.integers(0, 12), st.booleans())
@quick
@pytest.mark.slow
def test_nearest_of_all_integers(values, most, together):
    array = np.float32([values])
    found = numerics.nearest_weights(array, most, together=together)
    inside = [
        np.sum(np.square(np.array(other) - array[0], dtype=np.float64))
        for other in itertools.product(range(-6, 7), repeat=len(values))
        if numerics.sum_of_weights(np.array([other]), together=together)[0] <= most
    ]
    assert np.sum(np.square(found[0] - array[0], dtype=np.float64)) == pytest.approx(min(inside), rel=1e-6, abs=1e-6)


@pytest.mark.slow
@given(rows, st.integers(0, 400), st.booleans())
@quick
def test_nearest_in_the_sum_of_magnitudes_too(values, most, together):
    """Weights lose no more than they must, and none grows or changes its sign."""
    before, after = np.rint(values).astype(int), numerics.nearest_weights(values, most, together=together)
    assert (np.abs(after) <= np.abs(before)).all() and (after * before >= 0).all()
    for row, taken in zip(before, np.abs(before - after).sum(axis=1), strict=True):
        parts = [np.abs(row)] if together else [np.maximum(row, 0), np.maximum(-row, 0)]
        assert taken == sum(max(0, part.sum() - most) for part in parts)


@pytest.mark.slow
@given(rows, st.integers(0, 400), st.booleans())
@quick
def test_what_is_inside_stays_as_it_is(values, most, together):
    once = numerics.nearest_weights(values, most, together=together)
    np.testing.assert_array_equal(numerics.nearest_weights(once.astype(np.float32), most, together=together), once)
    inside = numerics.sum_of_weights(np.rint(values), together=together) <= most
    np.testing.assert_array_equal(once[inside], np.rint(values)[inside])


def test_each_accumulator_has_a_limit_of_its_own():
    values = np.float32([[5, 5], [5, 5], [5, -5]])
    found = numerics.nearest_weights(values, [10, 7, -3], together=False)
    assert found.tolist() == [[5, 5], [4, 3], [0, 0]]
