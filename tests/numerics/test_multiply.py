"""multiply against Python integers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.numerics.strategies import codes, quick
from tvmq import numerics
from tvmq.errors import AccumulatorError, RangeError


@pytest.mark.slow
@given(st.data())
@quick
def test_multiply_equals_python_integers(data):
    a_type, b_type = data.draw(
        st.sampled_from([("uint8", "int8"), ("int8", "int8"), ("uint8", "int16"), ("uint8", "uint8")])
    )
    a, b = data.draw(codes(a_type, (2, 1, 3))), data.draw(codes(b_type, (4, 1)))
    zeros = [data.draw(st.integers(int(np.iinfo(t).min), int(np.iinfo(t).max))) for t in (a_type, b_type)]
    result = numerics.multiply(a, b, a_zero=zeros[0], b_zero=zeros[1])
    assert result.dtype == np.int32
    assert np.array_equal(result, (a.astype(object) - zeros[0]) * (b.astype(object) - zeros[1]))


def test_extremes():
    assert int(numerics.multiply(np.uint8(255), np.uint8(255), a_zero=0, b_zero=0)) == 65025
    assert int(numerics.multiply(np.int8(-128), np.int8(127), a_zero=127, b_zero=-128)) == -65025


def test_sixteen_by_sixteen_bits_is_refused():
    a = np.zeros(1, np.int16)
    with pytest.raises(AccumulatorError, match="products of int16 and int16 codes can reach 4294836225"):
        numerics.multiply(a, a, a_zero=-32768, b_zero=32767)
    assert numerics.multiply(a, a, a_zero=0, b_zero=0).tolist() == [0]


def test_zero_points_belong_to_their_types():
    with pytest.raises(RangeError, match=r"-128\.\.127. Got 128"):
        numerics.multiply(np.zeros(1, np.int8), np.zeros(1, np.int8), a_zero=0, b_zero=128)
