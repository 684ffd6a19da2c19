"""requantize in its three modes, and the makers of its parameters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.numerics.strategies import SUMS, code_limits, quick
from tvmq import numerics
from tvmq.errors import ConfigError, RangeError
from tvmq.numerics.requantize_rule import MODES, ROUNDINGS

MULTIPLIERS = st.one_of(
    st.integers(2**30, 2**31 - 1), st.sampled_from([0, 1, 2**30, 2**31 - 1]), st.integers(0, 2**31 - 1)
)


def saturate(steps: int, zero_point: int, low: int, high: int) -> int:
    return min(max(steps + zero_point, low), high)


def slow_fixed_point(acc: int, multiplier: int, shift: int, rounding: str) -> int:
    """Relay's formula in Python integers, which have no width."""
    product = (acc << max(shift, 0)) * multiplier
    if rounding == "DOUBLE":
        high, right = (product + 2**30) >> 31, max(-shift, 0)
        return (abs(high) + (1 << right) // 2 >> right) * (1 if high > 0 else -1)
    half = 1 << (30 + max(-shift, 0))
    if rounding == "TONEAREST" and product < 0:
        half -= 1
    return (product + half) >> (31 + max(-shift, 0))


@pytest.mark.slow
@given(st.lists(SUMS, max_size=20), st.floats(0, 2.0**127, width=32), code_limits())
@quick
def test_float_equals_the_slow_definition(sums, multiplier, limits):
    dtype, low, high, zero_point = limits
    q = numerics.requantize(np.int32(sums), multiplier, zero_point=zero_point, dtype=dtype, qmin=low, qmax=high)
    expected = []
    for acc in sums:
        with np.errstate(over="ignore"):
            product = float(np.float32(float(np.float32(acc)) * multiplier))  # exact in float64, so rounded once
        steps = round(min(max(product, -1e6), 1e6))
        expected.append(saturate(steps, zero_point, low, high))
    assert q.dtype == dtype and q.tolist() == expected


@pytest.mark.slow
@given(st.lists(SUMS, max_size=20), st.floats(0, 2.0**20, width=32), st.floats(0, 1, width=32))
@quick
def test_negative_sums_have_their_slope(sums, multiplier, slope):
    def codes(values, factor, **options):
        return numerics.requantize(np.int32(values), factor, zero_point=3, dtype="int8", **options).tolist()

    shrunk = np.float32(multiplier) * np.float32(slope)
    expected = [codes([acc], shrunk if acc < 0 else multiplier)[0] for acc in sums]
    assert codes(sums, multiplier, negative_slope=slope) == expected


def test_negative_slope_golden():
    q = numerics.requantize(np.int32([-100, -3, 0, 3, 50]), 0.5, zero_point=10, negative_slope=0.1, dtype="int8")
    assert q.tolist() == [5, 10, 10, 12, 35]


@pytest.mark.slow
@pytest.mark.parametrize("rounding", ROUNDINGS)
@given(st.lists(SUMS, max_size=20), MULTIPLIERS, st.integers(-40, 31), code_limits())
@quick
def test_fixed_point_equals_the_slow_definition(rounding, sums, multiplier, shift, limits):
    dtype, low, high, zero_point = limits
    q = numerics.requantize(
        np.int32(sums), multiplier, shift, zero_point=zero_point, mode="fixed_point", rounding=rounding,
        dtype=dtype, qmin=low, qmax=high,
    )  # fmt: skip
    steps = [slow_fixed_point(acc, multiplier, shift, rounding) for acc in sums]
    assert q.dtype == dtype and q.tolist() == [saturate(s, zero_point, low, high) for s in steps]


@pytest.mark.slow
@pytest.mark.parametrize("rounding", ROUNDINGS)
@given(SUMS, MULTIPLIERS, st.integers(-40, 31))
@quick
def test_fixed_point_multiply_is_exact_below_2_29(rounding, acc, multiplier, shift):
    exact = slow_fixed_point(acc, multiplier, shift, rounding)
    result = int(numerics.fixed_point_multiply(np.int32(acc), multiplier, shift, rounding=rounding))
    if abs(exact) < 2**29:
        assert result == exact
    else:
        assert abs(result) >= 2**29 and (result > 0) == (exact > 0)


@pytest.mark.slow
@pytest.mark.parametrize("rounding", ROUNDINGS)
@given(SUMS, st.integers(-35, 30), code_limits())
@quick
def test_power_of_two_equals_the_slow_definition(rounding, acc, shift, limits):
    dtype, low, high, zero_point = limits
    q = numerics.requantize(
        np.int32(acc), 0, shift, zero_point=zero_point, mode="power_of_two", rounding=rounding,
        dtype=dtype, qmin=low, qmax=high,
    )  # fmt: skip
    if shift >= 0:
        steps = acc << shift
    elif rounding == "DOUBLE":
        steps = slow_fixed_point(acc, 2**30, shift + 1, "DOUBLE")
    elif rounding == "UPWARD" or acc >= 0:
        steps = (acc + (1 << (-shift - 1))) >> -shift
    else:
        steps = -((-acc + (1 << (-shift - 1))) >> -shift)
    assert int(q) == saturate(steps, zero_point, low, high)


@pytest.mark.parametrize(("factor", "multiplier", "shift"), [
    (0.75, 1610612736, 0),
    (np.float32(0.1), 1717986944, -3),
    (np.float32(1.3), 1395864320, 1),
    (np.float32(0.0037), 2034096512, -8),
    (0.5, 2**30, 0),
    (1.0, 2**30, 1),
    (1 - 2.0**-40, 2**30, 1),  # rounds to 2^31, is halved
    (0.0, 0, 0),
])  # fmt: skip
def test_fixed_point_parameters(factor, multiplier, shift):
    result = numerics.fixed_point_parameters(factor)
    assert [int(v) for v in result] == [multiplier, shift] and all(v.dtype == np.int32 for v in result)


@pytest.mark.parametrize(("factor", "rounding", "sums", "results"), [
    (0.75, "UPWARD", [-10, -6, -2, 2, 6, 10], [-7, -4, -1, 2, 5, 8]),
    (0.75, "TONEAREST", [-10, -6, -2, 2, 6, 10], [-8, -5, -2, 2, 5, 8]),
    (np.float32(0.0037), "UPWARD", [1000, 12345678], [4, 45679]),
])  # fmt: skip
def test_fixed_point_golden(factor, rounding, sums, results):
    parameters = numerics.fixed_point_parameters(factor)
    assert numerics.fixed_point_multiply(np.int32(sums), *parameters, rounding=rounding).tolist() == results


@pytest.mark.slow
@given(st.lists(st.floats(0, 2.0**29, width=32), min_size=1, max_size=5))
@quick
def test_fixed_point_parameters_keep_a_float32(factors):
    multiplier, shift = numerics.fixed_point_parameters(factors)
    assert (multiplier * 2.0 ** (shift - 31.0) == factors).all()
    assert ((multiplier >= 2**30) | (np.float64(factors) == 0)).all()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("axis", [1, -1])
def test_channels_lie_along_the_axis(mode, axis):
    sums = np.random.default_rng(0).integers(-5000, 5000, (2, 3, 3)).astype(np.int32)
    multiplier = {"float": np.float32([0.1, 0.02, 1.5])}.get(mode, np.int32([2**30, 2**31 - 1, 1500000000]))
    shift = np.int32([-3, 0, -7])
    q = numerics.requantize(sums, multiplier, shift, zero_point=5, axis=axis, mode=mode, dtype="int8")
    for channel in range(3):
        part = np.moveaxis(sums, axis, 0)[channel]
        one = numerics.requantize(part, multiplier[channel], shift[channel], zero_point=5, mode=mode, dtype="int8")
        assert np.array_equal(np.moveaxis(q, axis, 0)[channel], one)


def test_float_golden():
    sums = np.int32([-3, -1, 1, 3, 5, 2**31 - 1, -(2**31), 16777217])
    q = numerics.requantize(sums, 0.5, zero_point=101, dtype="uint8")
    assert q.tolist() == [99, 101, 101, 103, 103, 255, 0, 255]
    # int32 to float32 rounds first: 16777217 * 2^-17 is 128 + 2^-17, its float32 exactly 128
    assert int(numerics.requantize(np.int32(16777217), 2.0**-17, zero_point=0, dtype="int16")) == 128


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_codes_get_another_scale_as_sums_of_their_value_do(mode, dtype):
    limits = np.iinfo(dtype)
    acc = np.arange(limits.min, limits.max + 1).astype(dtype)
    multiplier = 3 * 2**28 if mode == "fixed_point" else 0.37
    named = {"mode": mode, "zero_point": 5, "dtype": "uint8"}
    shift = -4
    found = numerics.requantize(acc, multiplier, shift, **named)
    np.testing.assert_array_equal(found, numerics.requantize(acc.astype(np.int32), multiplier, shift, **named))


def test_empty():
    q = numerics.requantize(np.zeros((0, 3), np.int32), np.ones(3), axis=1, zero_point=0, dtype="uint8")
    assert q.shape == (0, 3) and q.dtype == np.uint8


@pytest.mark.parametrize(("options", "error", "message"), [
    ({"mode": "flaot"}, ConfigError, "mode must be one of float, fixed_point, power_of_two. Got 'flaot'"),
    ({"mode": "fixed_point", "rounding": "DOWN"}, ConfigError, "one of UPWARD, TONEAREST, DOUBLE. Got 'DOWN'"),
    ({"multiplier": -1.0}, RangeError, "finite and not negative. Got -1 at channel 0"),
    ({"multiplier": np.nan}, RangeError, "Got nan"),
    ({"multiplier": [1.0, np.inf], "axis": 0}, RangeError, "Got inf at channel 1"),
    ({"multiplier": -1, "mode": "fixed_point"}, RangeError, r"must lie in 0\.\.2\^31-1. Got -1\.\.-1"),
    ({"multiplier": 2**31, "mode": "fixed_point"}, RangeError, r"Got 2147483648\.\.2147483648"),
    ({"multiplier": 1, "shift": 32, "mode": "fixed_point"}, RangeError, "at most 31. Got 32"),
    ({"shift": 31, "mode": "power_of_two"}, RangeError, "at most 31. Got 32"),
    ({"zero_point": 300}, RangeError, r"-128\.\.127. Got 300"),
    ({"multiplier": [1.0] * 3, "axis": 0}, ConfigError, "for axis 0"),
    ({"negative_slope": 1.5}, ConfigError, r"must lie in 0\.\.1.*Got 1.5 in mode float"),
    ({"negative_slope": 0.5, "mode": "fixed_point", "multiplier": 1}, ConfigError, "Got 0.5 in mode fixed_point"),
    ({"acc": np.zeros(2, np.int64)}, ConfigError, "acc must be int32, or codes. Got int64"),
])  # fmt: skip
def test_bad_parameters_are_refused(options, error, message):
    arguments = {"acc": np.zeros(2, np.int32), "multiplier": 1.0, "zero_point": 0, "dtype": "int8", **options}
    with pytest.raises(error, match=message):
        numerics.requantize(**arguments)


def test_float_multiplier():
    m = numerics.float_multiplier(np.float32(0.1), np.float32([0.2, 0.3]), np.float32(0.7))
    exact = np.float64(np.float32(0.1)) * np.float64(np.float32([0.2, 0.3])) / np.float64(np.float32(0.7))
    assert m.dtype == np.float32 and np.array_equal(m, exact.astype(np.float32))
    # the product comes first: quotient and product the other way round differ here
    x, w, y, result = (float.fromhex(h) for h in ("0x1.b4193ap-3", "0x1.e6a5ap-1", "0x1.a12040p-1", "0x1.fcc818p-3"))
    assert float(numerics.float_multiplier(x, w, y)) == result != float(np.float32(x / y * w))
    for scales in ((1e-30, [1.0, 1e-30], 1.0), (1.0, [1.0, 1e30], 1e-30)):
        with pytest.raises(RangeError, match="at channel 1 give no positive finite float32"):
            numerics.float_multiplier(*scales)


@pytest.mark.parametrize("factor", [-1.0, np.nan, np.inf, 2.0**30, [0.5, -0.5]])
def test_impossible_factors_are_refused(factor):
    with pytest.raises(RangeError, match=r"a factor must lie in 0\.\.2\^30"):
        numerics.fixed_point_parameters(factor)


def test_power_of_two_shift():
    assert numerics.power_of_two_shift(np.float32([2.0**-20, 0.5, 1, 1024])).tolist() == [-20, -1, 0, 10]
    for factor in (0.0, 3.0, -2.0, np.nan, np.inf, [1.0, 0.75]):
        with pytest.raises(RangeError, match="factors that are powers of two"):
            numerics.power_of_two_shift(factor)
