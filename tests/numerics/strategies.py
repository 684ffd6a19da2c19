"""Strategies of the property tests: real numbers and parameters at the corners of their types."""

from __future__ import annotations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

quick = settings(deadline=None, max_examples=100)
INT32 = st.integers(-(2**31), 2**31 - 1)
CORNERS = st.sampled_from([-(2**31), -(2**31) + 1, -(2**24) - 1, -1, 0, 1, 2**24 + 1, 2**31 - 1])
SUMS = st.one_of(INT32, CORNERS, st.integers(-1000, 1000))
LIMITS = [("uint8", 0, 255), ("int8", -128, 127), ("int8", -127, 127), ("uint8", 0, 15), ("int16", -32768, 32767)]

floats = st.floats(width=32)  # with NaN, infinities, denormals
scales = st.floats(2.0**-149, 2.0**127, width=32)  # positive, denormal ones too


@st.composite
def code_limits(draw: st.DrawFn) -> tuple[str, int, int, int]:
    """dtype, qmin, qmax and a zero point, often at one of the ends."""
    dtype, low, high = draw(st.sampled_from(LIMITS))
    zero_point = draw(st.one_of(st.sampled_from([low, low + 1, high - 1, high]), st.integers(low, high)))
    return dtype, low, high, zero_point


def codes(dtype: str, shape: tuple[int, ...]) -> st.SearchStrategy[np.ndarray]:
    """Arrays of codes of the whole type."""
    limits = np.iinfo(dtype)
    return hnp.arrays(dtype, shape, elements=st.integers(int(limits.min), int(limits.max)))
