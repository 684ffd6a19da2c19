"""add_mask: against Python's integers, saturation, refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.numerics.strategies import SUMS, quick
from tvmq import numerics
from tvmq.errors import ConfigError, RangeError

FACTORS = st.one_of(st.integers(-(2**40), 2**40), st.integers(-1000, 1000))
MASKS = st.one_of(st.integers(0, 1), st.integers(-(2**63), 2**63 - 1))


@pytest.mark.slow
@given(SUMS, MASKS, FACTORS, FACTORS)
@quick
def test_equals_pythons_integers(x, mask, multiplier, offset):
    found = numerics.add_mask(np.int32([x]), np.int64([mask]), multiplier=multiplier, offset=offset)
    steps = min(max(mask, -(2**20)), 2**20) * multiplier + offset
    total = x + min(max(steps, -(2**30)), 2**30)
    assert found.tolist() == [min(max(total, -(2**31) + 1), 2**31 - 1)]


def test_masked_scores_keep_their_order_and_fall_out_of_the_softmax():
    scores = numerics.add_mask(np.int32([[3, 900, 5]]), np.uint8([1, 0, 1]), multiplier=10**6, offset=-(10**6))
    assert scores.tolist() == [[3, 900 - 10**6, 5]]


def test_steps_of_a_mask():
    assert [numerics.mask_steps(value, 0.25) for value in (-1.1, 0.0, np.inf, -3.4e38)] == [-4, 0, 2**40, -(2**40)]


def test_refusals():
    with pytest.raises(ConfigError, match="takes int32 and integers. Got int64 and bool instead"):
        numerics.add_mask(np.int64([1]), np.array([True]), multiplier=1, offset=0)
    with pytest.raises(RangeError, match="multiplier 2199023255552 or offset 0 is beyond 2\\^40; use mask_steps"):
        numerics.add_mask(np.int32([1]), np.int32([1]), multiplier=2**41, offset=0)
