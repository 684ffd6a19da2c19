"""softmax: bits against scalar float32 arithmetic, accuracy against float64."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.numerics.strategies import floats, quick
from tvmq import numerics
from tvmq.numerics.softmax import EXP_COEFFICIENTS, LN2_HIGH, LN2_LOW, LOG2_E, exp_negative, lane_sum

f32 = np.float32


def slow_exp(d: float) -> np.float32:
    """The docstring of exp_negative, one rounding at a time.

    Products and sums of two float32 in float64, rounded to float32, equal the float32 operation.
    """

    def multiply(a: np.float32, b: np.float32) -> np.float32:
        return f32(float(a) * float(b))

    def add(a: np.float32, b: np.float32) -> np.float32:
        return f32(float(a) + float(b))

    if d < -87:
        return f32(0)
    n = round(float(multiply(f32(d), f32(1.44269502162933349609375))))
    r = add(add(f32(d), f32(-n * 0.693359375)), -multiply(f32(n), f32(-2.12194440e-4)))
    c0, c1, c2, c3, c4 = (
        f32(float.fromhex(c))
        for c in ("0x1.fffffcp-2", "0x1.555492p-3", "0x1.5558f2p-5", "0x1.123a2p-7", "0x1.6a23cep-10")
    )
    q = add(multiply(c4, r), c3)
    q = add(multiply(q, r), c2)
    q = add(multiply(q, r), c1)
    q = add(multiply(q, r), c0)
    p = add(add(multiply(q, multiply(r, r)), r), f32(1))
    return f32(float(p) * 2.0**n)


def slow_softmax(row: list[float]) -> list[np.float32]:
    largest = float(np.finfo(np.float32).max)
    clean = [-largest if x != x else min(max(x, -largest), largest) for x in row]
    with np.errstate(over="ignore"):
        powers = [slow_exp(float(f32(x - max(clean)))) for x in clean]
    lanes = [f32(0)] * 16
    for index, power in enumerate(powers):
        lanes[index % 16] = f32(float(lanes[index % 16]) + float(power))
    for half in (8, 4, 2, 1):
        lanes = [f32(float(lanes[j]) + float(lanes[j + half])) for j in range(half)]
    return [f32(float(power) / float(lanes[0])) for power in powers]


@pytest.mark.slow
@given(st.lists(st.one_of(floats, st.floats(-100, 100, width=32)), min_size=1, max_size=70))
@quick
def test_softmax_equals_the_slow_definition(row):
    result = numerics.softmax(np.float32(row))
    assert (
        result.dtype == np.float32
        and result.view(np.int32).tolist() == np.float32(slow_softmax(row)).view(np.int32).tolist()
    )


def test_exp_equals_the_slow_definition():
    d = np.random.default_rng(0).uniform(-90, 0, 5000).astype(np.float32)
    expected = np.float32([slow_exp(float(x)) for x in d])
    assert np.array_equal(exp_negative(d).view(np.int32), expected.view(np.int32))


@pytest.mark.parametrize("n", [1, 16, 17, 100])
def test_random_rows_equal_the_slow_definition(n):
    x = (np.random.default_rng(n).standard_normal((20, n)) * 4).astype(np.float32)
    expected = np.float32([slow_softmax(row.tolist()) for row in x])
    assert np.array_equal(numerics.softmax(x).view(np.int32), expected.view(np.int32))


def test_golden_bits():
    bits = numerics.softmax(np.float32([1, 2, 3, -50, 3])).view(np.uint32)
    assert [hex(b) for b in bits] == ["0x3d5d72d5", "0x3e167d6a", "0x3ecc8977", "0x18946748", "0x3ecc8977"]


def test_exp_is_within_one_unit_in_the_last_place():
    random = np.random.default_rng(0)
    d = -np.concatenate([random.uniform(0, 87, 200000), 2.0 ** random.uniform(-40, 6.4, 200000)]).astype(np.float32)
    d = np.maximum(d, np.float32(-87))
    exact = np.exp(d.astype(np.float64))
    unit = np.spacing(exact.astype(np.float32)).astype(np.float64)
    assert (np.abs(exp_negative(d) - exact) / unit).max() < 1.0


def test_exp_at_its_ends():
    below = np.nextafter(f32(-87), f32(-88))
    result = exp_negative(np.float32([0, -0.0, -87, below, -np.inf, -3.4e38]))
    assert result[:2].tolist() == [1, 1] and result[2] >= np.finfo(np.float32).smallest_normal
    assert result[3:].tolist() == [0, 0, 0] and not np.signbit(result).any()


def test_constants():
    assert abs(float(LN2_HIGH) + float(LN2_LOW) - np.log(2)) < 1e-11
    assert float(LOG2_E) == np.float32(np.log2(np.e))
    products = np.arange(-126, 1) * np.float64(LN2_HIGH)
    assert np.array_equal(products.astype(np.float32), products)
    assert len(EXP_COEFFICIENTS) == 5


@pytest.mark.parametrize("n", [1, 15, 16, 17, 100, 1000])
def test_accuracy(n):
    x = (np.random.default_rng(n).standard_normal((8, n)) * 5).astype(np.float32)
    exact = np.exp((x - x.max(1, keepdims=True)).astype(np.float64))  # of the float32 difference
    exact /= exact.sum(1, keepdims=True)
    np.testing.assert_allclose(numerics.softmax(x), exact, rtol=5e-7)


@pytest.mark.parametrize("axis", [0, 1, 2, -2])
def test_axis(axis):
    x = np.random.default_rng(0).standard_normal((3, 20, 4)).astype(np.float32)
    moved = numerics.softmax(np.moveaxis(x, axis, -1))
    assert np.array_equal(numerics.softmax(x, axis), np.moveaxis(moved, -1, axis))


def test_special_values():
    inf, nan = np.inf, np.nan
    rows = np.float32([[0, -inf], [-inf, -inf], [nan, nan], [inf, 0], [inf, inf], [nan, 0], [-1e38, 3e38]])
    expected = [[1, 0], [0.5, 0.5], [0.5, 0.5], [1, 0], [0.5, 0.5], [0, 1], [0, 1]]
    assert numerics.softmax(rows).tolist() == expected
    assert numerics.softmax(np.zeros((0, 3), np.float32)).shape == (0, 3)
    assert numerics.softmax(np.zeros((3, 0), np.float32)).shape == (3, 0)


def test_lanes_are_added_in_the_stated_order():
    values = np.zeros(33, np.float32)
    values[[0, 16, 32]] = (2.0**24, 1, 1)  # in this order both ones are lost; added to each other first they are not
    assert float(lane_sum(values)) == 2.0**24
    values = np.zeros(16, np.float32)
    values[[0, 8, 1, 9]] = 2.0**24, 1, 1, 1  # 8 joins 0, 9 joins 1, then both pairs
    assert float(lane_sum(values)) == 2.0**24 + 2
