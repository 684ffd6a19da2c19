"""Powers, reciprocals and roots in integers: errors against float64, all values of exp2's argument, bounds."""

from __future__ import annotations

import numpy as np
import pytest

from tvmq.numerics.fixed_point import LARGEST_EXPONENT, exp2_negative, inverse_sqrt, reciprocal


def spread(low: int, high: int) -> np.ndarray:
    """Random integers of low..high - 1 and all near both ends."""
    ends = np.concatenate([np.arange(low, low + 2000), np.arange(high - 2000, high)])
    return np.concatenate([ends, np.random.default_rng(0).integers(low, high, 300000)])


@pytest.mark.slow
def test_exp2_is_within_its_bound_for_every_fraction():
    t = np.arange(1 << 20)
    p = exp2_negative(t)
    assert np.abs(p / 2.0**30 * np.exp2(t / 2.0**20) - 1).max() < 9.1e-8 + 2.0**-30
    assert p.max() == p[0] == 1 << 30 and p.min() > 0 and (np.diff(p) <= 0).all()


def test_exp2_of_larger_exponents_is_the_rounded_half_of_half():
    t = spread(0, LARGEST_EXPONENT + 1)
    error = np.abs(exp2_negative(t) - np.exp2(30 - t / 2.0**20))
    assert (error <= 0.5 + 9.2e-8 * np.exp2(30 - t / 2.0**20) + 1e-6).all()
    assert exp2_negative(np.int64([LARGEST_EXPONENT])) == 0


def test_reciprocal_is_within_its_bound():
    a = spread(1 << 30, 1 << 31)
    y = reciprocal(a)
    assert np.abs(y * (a / 2.0**61) - 1).max() < 2.0**-28
    assert y.max() <= (1 << 31) + 4 and y.min() >= (1 << 30) - 4


def test_inverse_sqrt_is_within_its_bound():
    a = spread(1 << 29, 1 << 31)
    y = inverse_sqrt(a)
    assert np.abs(y / 2.0**30 * np.sqrt(a / 2.0**31) - 1).max() < 2.0**-27
    assert y.max() <= (1 << 31) + 16 and y.min() >= (1 << 30) - 16
