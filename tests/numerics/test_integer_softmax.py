"""Softmax in integers: against Python's unbounded integers, its error bound against float64, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.numerics.strategies import SUMS, quick
from tvmq import numerics
from tvmq.errors import ConfigError, RangeError
from tvmq.numerics.fixed_point import EXP2_COEFFICIENTS

SCALES = st.floats(2.0**-53, 2.0**60)
OUT = st.sampled_from([("uint8", 1 / 255, 0), ("uint8", 0.0019, 0), ("int8", 1 / 200, -128), ("int16", 2.0**-15, 0)])
STEPS = {"uint8": 255, "int8": 255, "int16": 32767}


def held(value: int, bits: int = 63) -> int:
    """The value, which must fit a signed integer of so many bits and its sign."""
    assert -(2**bits) <= value < 2**bits
    return value


def slow(row: list[int], p: numerics.SoftmaxParams) -> list[int]:
    """The docstring with Python's integers, every product checked against int64."""
    powers = []
    for x in row:
        d = held(max(row) - x, 32)
        t = min(held(d * p.multiplier + 2 ** (p.shift - 1)) >> p.shift, 2**25)
        n, r, value = t >> 20, t % 2**20, EXP2_COEFFICIENTS[5]
        for k in (4, 3, 2, 1, 0):
            value = (held(value * r) >> 20) + EXP2_COEFFICIENTS[k]
        powers.append(held((value + (2**n >> 1)) >> n, 31))
    total = sum(powers)
    k = sum(total >= 2**bit for bit in range(31, 48))
    a = held(total >> k, 31)
    y = 3031741621 - (held(2021161081 * a) >> 31)
    for _ in range(3):
        y = held(y * (2**31 - (held(a * y) >> 31))) >> 30
    f, n = held(y * p.out_multiplier + 2**30) >> 31, 30 + k - p.out_shift
    return [held(held(held(e * f) >> 31, 31) + 2 ** (n - 1)) >> n for e in powers]


@pytest.mark.slow
@given(st.lists(SUMS, min_size=1, max_size=40), SCALES, OUT)
@quick
def test_equals_pythons_integers(row, scale, out):
    dtype, scale_y, zero = out
    params = numerics.integer_softmax_params(scale, scale_y)
    found = numerics.integer_softmax(np.int32(row), **params._asdict(), zero_point=zero, dtype=dtype)
    limits = np.iinfo(dtype)
    assert found.dtype == dtype
    assert found.tolist() == [min(max(code + zero, limits.min), limits.max) for code in slow(row, params)]


def bound(p: np.ndarray, scale_y: float) -> np.ndarray:
    """The error that the docstring promises, in codes."""
    return 0.5 + (1e-6 * p + (1 + p.shape[-1] * p) * 2.0**-31) / scale_y


@pytest.mark.slow
@given(st.lists(SUMS, min_size=1, max_size=40), st.floats(2.0**-40, 2.0**10), OUT)
@quick
def test_error_is_within_the_bound(row, scale, out):
    assert_bound(np.int32(row), scale, *out)


@pytest.mark.parametrize("length", [1, 2, 65, 4096, 65536])
@pytest.mark.parametrize("scale", [1e-9, 1e-4, 0.05, 50.0])
def test_error_of_long_rows_is_within_the_bound(length, scale):
    random = np.random.default_rng(length)
    reach = min(2**31 - 1, int(12 / scale) + 1)
    x = random.integers(-reach, reach, (3, length)).astype(np.int32)
    x[0] = 5  # all are equal
    for out in (("uint8", 1 / 255, 0), ("int16", 2.0**-15, 0), ("int16", 2.0**-28, 0)):
        assert_bound(x, scale, *out)


def assert_bound(x: np.ndarray, scale: float, dtype: str, scale_y: float, zero: int) -> None:
    params = numerics.integer_softmax_params(scale, scale_y)
    codes = numerics.integer_softmax(x, **params._asdict(), zero_point=zero, dtype=dtype).astype(np.float64)
    p = np.exp((x.astype(np.float64) - x.max(axis=-1, keepdims=True)) * scale)
    p /= p.sum(axis=-1, keepdims=True)
    assert (np.abs(codes - zero - np.minimum(p / scale_y, STEPS[dtype])) <= bound(p, scale_y)).all()


def test_rows_of_equal_values_and_of_one_large_value():
    params = numerics.integer_softmax_params(1.0, 1 / 255)._asdict()
    x = np.int32([[7, 7, 7, 7], [-(2**31), 2**31 - 1, -(2**31), 0]])
    codes = numerics.integer_softmax(x, **params, zero_point=0, dtype="uint8")
    assert codes.tolist() == [[64, 64, 64, 64], [0, 255, 0, 0]]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32"])
def test_input_types_and_axes_agree(dtype):
    x = np.random.default_rng(0).integers(0, 100, (3, 5, 4)).astype(dtype)
    params = numerics.integer_softmax_params(0.05, 1 / 255)._asdict()
    last = numerics.integer_softmax(np.moveaxis(x, 1, -1).astype(np.int32), **params, zero_point=0, dtype="uint8")
    found = numerics.integer_softmax(x, **params, zero_point=0, dtype="uint8", axis=1)
    assert np.array_equal(found, np.moveaxis(last, -1, 1))


def test_nothing_gives_nothing():
    params = numerics.integer_softmax_params(0.05, 1 / 255)._asdict()
    assert numerics.integer_softmax(np.zeros((0, 3), np.int8), **params, zero_point=0, dtype="uint8").shape == (0, 3)


def test_refusals():
    params = numerics.integer_softmax_params(0.05, 1 / 255)._asdict()
    with pytest.raises(ConfigError, match="x must be one of int8, uint8, int16, int32. Got float32 instead"):
        numerics.integer_softmax(np.zeros(3, np.float32), **params, zero_point=0, dtype="uint8")
    with pytest.raises(RangeError, match="a row may have 65536 elements. Got 65537 instead; keep it in float"):
        numerics.integer_softmax(np.zeros(65537, np.int8), **params, zero_point=0, dtype="uint8")
    with pytest.raises(RangeError, match="do not fit their types; use the constants of integer_softmax_params"):
        numerics.integer_softmax(np.zeros(3, np.int8), **{**params, "shift": 63}, zero_point=0, dtype="uint8")
    with pytest.raises(RangeError, match="scale of its input must be finite and at least 2\\^-53. Got 0 instead"):
        numerics.integer_softmax_params(0.0, 1.0)
    with pytest.raises(RangeError, match="scale of its result must lie in 2\\^-28..2\\^20. Got 1e-09 instead"):
        numerics.integer_softmax_params(1.0, 1e-9)
