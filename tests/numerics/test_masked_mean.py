"""Masked means in integers: the error bound against exact fractions, empty masks, what is refused."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.numerics.strategies import codes, quick
from tvmq import numerics
from tvmq.errors import ConfigError, RangeError

PLAIN = {"x_zero": 0, "zero_point": 0, "dtype": "int16"}


@pytest.mark.slow
@given(st.data(), st.floats(2.0**-2, 2.0**20), st.integers(-100, 100))
@quick
def test_error_is_within_the_bound(data, factor, x_zero):
    length = data.draw(st.integers(1, 60))
    x = data.draw(codes("int16", (length,)))
    mask = data.draw(codes("int8", (length,)))
    multiplier, shift = map(int, numerics.fixed_point_parameters(factor))
    options = {**PLAIN, "x_zero": x_zero}
    found = int(numerics.masked_mean(x, mask, axis=0, multiplier=multiplier, shift=shift, **options))
    kept = [value - x_zero for value, m in zip(x.tolist(), mask.tolist(), strict=True) if m >= 1]
    real = Fraction(sum(kept), max(len(kept), 1)) * Fraction(multiplier) * Fraction(2) ** (shift - 31)
    if abs(real) <= 32767:
        assert abs(found - real) <= Fraction(1, 2) + abs(real) / 2**27
    else:
        assert found == (32767 if real > 0 else -32768)


def test_longest_axis_of_the_largest_codes():
    x, mask = np.full((1 << 14, 2), -32768, np.int16), np.ones((1 << 14, 1), np.uint8)
    found = numerics.masked_mean(x, mask, axis=0, multiplier=(1 << 31) - 1, shift=0, **PLAIN)
    assert found.tolist() == [-32768, -32768]


def test_a_mask_that_keeps_nothing_gives_the_zero_point():
    options = {**PLAIN, "zero_point": 7}
    found = numerics.masked_mean(np.int16([5, 6]), np.int64([0, 0]), axis=0, multiplier=1 << 30, shift=1, **options)
    assert int(found) == 7


def test_refusals():
    x = np.zeros((2, 3), np.int16)
    with pytest.raises(ConfigError, match="takes codes and an integer mask. Got int16 and bool"):
        numerics.masked_mean(x, x > 0, axis=0, multiplier=1, shift=1, **PLAIN)
    with pytest.raises(ConfigError, match="a mask of \\(2, 2\\) does not fit \\(2, 3\\) along axis 0"):
        numerics.masked_mean(x, x[:, :2], axis=0, multiplier=1, shift=1, **PLAIN)
    with pytest.raises(RangeError, match="an axis may have 16384 elements. Got 16385; keep it in float"):
        numerics.masked_mean(np.zeros(16385, np.int8), np.ones(1, np.int8), axis=0, multiplier=1, shift=1, **PLAIN)
    with pytest.raises(RangeError, match="multiplier 1 and shift 31 must lie in"):
        numerics.masked_mean(x, x, axis=0, multiplier=1, shift=31, **PLAIN)
