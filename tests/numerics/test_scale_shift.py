"""scale_shift and prelu: equality with Python integers, the error bound of the docstrings, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tvmq import numerics
from tvmq.errors import AccumulatorError, RangeError

ALL = {"uint8": np.arange(256, dtype=np.uint8), "int8": np.arange(-128, 128).astype(np.int8)}
types = st.sampled_from(["uint8", "int8"])
scales = st.floats(2.0**-20, 2.0**20, width=32)
numbers = st.floats(-1e3, 1e3) | st.sampled_from([0.0, 1.0, -1.0, 1e-6])


@st.composite
def zeros(draw: st.DrawFn, dtype: str) -> int:
    return draw(st.integers(int(ALL[dtype].min()), int(ALL[dtype].max())))


@pytest.mark.slow
@given(
    types,
    types,
    scales,
    scales,
    st.lists(numbers, min_size=3, max_size=3),
    st.lists(numbers, min_size=3, max_size=3),
    st.data(),
)
@settings(deadline=None, max_examples=100)
def test_scale_shift(x_type, y_type, scale_x, scale_y, factors, summands, data):
    """Equal to integers of any width, and within the bound of the real results that do not saturate."""
    zero_x, zero_y = data.draw(zeros(x_type)), data.draw(zeros(y_type))
    ratios = np.float64(factors) * (np.float64(scale_x) / np.float64(scale_y))
    if np.abs(ratios).max() > 4e6:
        with pytest.raises(RangeError, match="too far for int32"):
            numerics.scale_shift_params(scale_x, zero_x, factors, summands, scale_y)
        return
    params = numerics.scale_shift_params(scale_x, zero_x, factors, summands, scale_y)
    q = ALL[x_type][:, None]
    found = numerics.scale_shift(q, *params[:2], shift=params.shift, zero_point=zero_y, dtype=y_type)
    total = q.astype(object) * params.multiplier.astype(object) + params.offset.astype(object)
    assert abs(total).max() < 2**31
    limits = np.iinfo(y_type)
    expected = np.clip((total >> params.shift) + zero_y, limits.min, limits.max)
    np.testing.assert_array_equal(found, expected.astype(y_type))
    real = (q.astype(np.float64) - zero_x) * ratios + np.float64(summands) / scale_y + zero_y
    inside = (found > limits.min) & (found < limits.max) & (np.abs(np.float64(summands) / scale_y) < 1024)
    bound = 0.5 + 128 / 2.0**params.shift + 1e-6
    assert (np.abs(found - real)[inside] <= bound).all()


@pytest.mark.slow
@given(types, types, scales, scales, st.lists(numbers, min_size=3, max_size=3), st.data())
@settings(deadline=None, max_examples=100)
def test_prelu(x_type, y_type, scale_x, scale_y, slopes, data):
    zero_x, zero_y = data.draw(zeros(x_type)), data.draw(zeros(y_type))
    ratio = np.float64(scale_x) / np.float64(scale_y)
    if max(1.0, np.abs(slopes).max()) * ratio > 4e6:
        return
    params = numerics.prelu_params(scale_x, slopes, scale_y)
    q = ALL[x_type][:, None]
    found = numerics.prelu(q, **params._asdict(), x_zero=zero_x, zero_point=zero_y, dtype=y_type)
    steps = q.astype(np.int64) - zero_x
    total = steps * np.where(steps > 0, params.multiplier, params.slopes.astype(np.int64)) + 2**params.shift // 2
    assert np.abs(total).max() < 2**31
    limits = np.iinfo(y_type)
    np.testing.assert_array_equal(found, np.clip((total >> params.shift) + zero_y, limits.min, limits.max))
    real = steps * np.where(steps > 0, ratio, np.float64(slopes) * ratio) + zero_y
    inside = (found > limits.min) & (found < limits.max)
    assert (np.abs(found - real)[inside] <= 0.5 + 128 / 2.0**params.shift + 1e-6).all()


def test_refusals():
    q = np.uint8([1])
    with pytest.raises(AccumulatorError, match="scale_shift: the sum can reach 2550000000, int32 ends at 2147483647"):
        numerics.scale_shift(q, [10**7], [0], shift=3, zero_point=0, dtype="uint8")
    with pytest.raises(AccumulatorError, match="prelu: the sum can reach"):
        numerics.prelu(q, [1], multiplier=10**7, shift=3, x_zero=0, zero_point=0, dtype="uint8")
    with pytest.raises(RangeError, match=r"shift must lie in 0\.\.31. Got 32"):
        numerics.scale_shift(q, [1], [0], shift=32, zero_point=0, dtype="uint8")
    with pytest.raises(RangeError, match="zero_point must be an integer in 0..255. Got 256"):
        numerics.prelu(q, [1], multiplier=1, shift=3, x_zero=0, zero_point=256, dtype="uint8")
    with pytest.raises(RangeError, match="scales must be positive and finite. Got 0, 1"):
        numerics.scale_shift_params(0.0, 0, 1.0, 1.0, 1.0)
    with pytest.raises(RangeError, match="factors and summands must be finite"):
        numerics.scale_shift_params(1.0, 0, np.inf, 1.0, 1.0)
    with pytest.raises(RangeError, match="slopes must be finite"):
        numerics.prelu_params(1.0, np.nan, 1.0)


@pytest.mark.slow
@given(
    st.sampled_from(["int16", "uint8"]),
    scales,
    st.floats(2.0**-10, 2.0**6),
    st.lists(st.floats(-2.0, 2.0), min_size=3, max_size=3),
    st.lists(st.floats(-40000.0, 40000.0), min_size=3, max_size=3),
    st.integers(-(2**15), 2**15 - 1) | st.just(0),
)
@settings(deadline=None, max_examples=100)
def test_scale_shift_to_int16(x_type, scale_y, ratio, factors, steps, zero_x):
    """Equal to integers of any width, all sums in int32, within the bound of the docstring."""
    zero_x = zero_x if x_type == "int16" else 7
    scale_x, summands = np.float32(ratio * scale_y), np.float64(steps) * np.float64(np.float32(scale_y))
    params = numerics.scale_shift_params(scale_x, zero_x, factors, summands, scale_y, dtypes=(x_type, "int16"))
    ends = [-(2**15), -1, 0, 1, 2**15 - 1] if x_type == "int16" else [0, 1, 255]
    q = np.concatenate([ends, np.arange(0, 2**15, 997) if x_type == "int16" else np.arange(256)]).astype(x_type)[
        :, None
    ]
    found = numerics.scale_shift(q, *params[:2], shift=params.shift, zero_point=0, dtype="int16")
    total = q.astype(object) * params.multiplier.astype(object) + params.offset.astype(object)
    assert np.abs(q.astype(object) * params.multiplier.astype(object)).max() < 2**31 > np.abs(total).max()
    np.testing.assert_array_equal(found, np.clip(total >> params.shift, -(2**15), 2**15 - 1).astype(np.int16))
    real = (q.astype(np.float64) - zero_x) * (np.float64(factors) * scale_x / scale_y) + summands / np.float32(scale_y)
    largest = 2**15 + abs(zero_x) + 1 if x_type == "int16" else 256
    inside = (found > -(2**15)) & (found < 2**15 - 1)
    assert (np.abs(found - real)[inside] <= 0.5 + largest / 2.0 ** (params.shift + 1) + 1e-4).all()
