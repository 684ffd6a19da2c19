"""Sums over batches, decibels, and what is not finite."""

from __future__ import annotations

import numpy as np

from tvmq.quantization.meaning.reading import OutputPairs, decibels_of, is_share, replace_infinities, sum_powers
from tvmq.quantization.meaning.value_readings import NumberReading

VALUES = np.array([[3.0, 4.0]])


def test_powers_of_batches_are_added():
    reading, other = NumberReading((0,)), VALUES + [[0.0, 0.5]]
    both = sum_powers(reading, [([VALUES], [VALUES]), ([VALUES], [other])])
    assert both.tolist() == [[50.0, 0.25]] and decibels_of(both)[0] == 10 * np.log10(200)
    assert sum_powers(reading, []).tolist() == [[0.0, 0.0]] and decibels_of(np.zeros((1, 2))) == [np.inf]


def test_another_form_is_an_infinite_error():
    sums = sum_powers(NumberReading((0,)), [([VALUES], [VALUES]), ([VALUES], [VALUES[:, :1]])])
    assert decibels_of(sums) == [-np.inf]


def test_a_reading_by_the_user_binds_and_fits_as_it_is():
    reading = NumberReading((0,), by_user=True)
    assert reading.is_bound and reading.fit([]) is reading and reading.parts == ("numbers",)
    assert reading.describe() == "numbers"


def test_shares_lie_between_0_and_1():
    assert is_share(np.array([0.0, 1.0])) and not is_share(np.array([0.0, 1.1])) and not is_share(np.zeros(0))


def test_infinities_and_nan_become_zeros():
    assert replace_infinities(np.array([np.inf, -np.inf, np.nan, 1.0])).tolist() == [0.0, 0.0, 0.0, 1.0]


def test_values_that_are_not_finite_are_an_infinite_error():
    nan, infinite = np.array([[0.0, np.nan]]), np.array([[0.0, -np.inf]])
    reading = NumberReading((0,))
    assert decibels_of(sum_powers(reading, [([VALUES * 0], [nan])])) == [-np.inf]
    assert decibels_of(sum_powers(reading, [([infinite], [infinite])])) == [np.inf]


def test_pairs_keep_the_outputs_that_are_read_as_far_as_there_is_room(monkeypatch):
    pairs = OutputPairs([NumberReading((1,))])
    pairs.add([np.float32(3), VALUES], [np.float32(4), VALUES + 1])
    assert [y.shape for y in pairs.wanted[0]] == [(0,), (1, 2)] and pairs.got[0][1].tolist() == [[4.0, 5.0]]
    monkeypatch.setattr("tvmq.quantization.meaning.reading.MOST_BYTES", 1)
    pairs.add([np.float32(3), VALUES], [np.float32(4), VALUES])
    assert len(pairs.wanted) == len(pairs.got) == 1
    none = OutputPairs([])
    none.add([VALUES], [VALUES])
    assert none.wanted == []
