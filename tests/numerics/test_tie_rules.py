"""Rounding by every tie rule, against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.numerics.strategies import quick
from tvmq.numerics.tie_rules import TIE_RULES, rounded_float, rounded_shift


def slow_round(value: Fraction, tie: str) -> int:
    """The integer that a tie rule makes of an exact number."""
    floor = value.numerator // value.denominator
    rest = value - floor
    if tie == "floor":
        return floor
    if tie == "truncate":
        return floor if value >= 0 or rest == 0 else floor + 1
    if rest != Fraction(1, 2):
        return floor + (rest > Fraction(1, 2))
    return floor + {"upward": 1, "downward": 0, "away": int(value > 0), "even": floor % 2}[tie]


@pytest.mark.slow
@pytest.mark.parametrize("tie", TIE_RULES)
@given(st.integers(-(2**62) + 1, 2**62 - 1) | st.integers(-40, 40), st.integers(0, 63) | st.integers(0, 4))
@quick
def test_shifts_equal_fractions(tie: str, value: int, right: int):
    assert int(rounded_shift(np.int64(value), right, tie)) == slow_round(Fraction(value, 2**right), tie)


@pytest.mark.slow_cases("upward", "even", "downward")
@pytest.mark.parametrize("tie", TIE_RULES)
@given(st.floats(-(2.0**40), 2.0**40, width=32) | st.integers(-20, 20).map(lambda n: n / 4))
@quick
def test_floats_equal_fractions(tie: str, value: float):
    assert float(rounded_float(np.float32(value), tie)) == slow_round(Fraction(value), tie)


def test_shifts_go_along_arrays():
    values, right = np.int64([[5, 6], [-5, -6]]), np.int64([1, 2])
    for tie in TIE_RULES:
        expected = [
            [slow_round(Fraction(int(v), 2 ** int(r)), tie) for v, r in zip(row, right, strict=True)] for row in values
        ]
        assert rounded_shift(values, right, tie).tolist() == expected
