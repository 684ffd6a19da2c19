"""log_softmax: bits against scalar float32 arithmetic, accuracy against float64."""

from __future__ import annotations

import numpy as np
import pytest

from tests.numerics.test_layer_norm import f, same_bits, slow_sum
from tests.numerics.test_softmax import slow_exp
from tvmq import numerics
from tvmq.numerics.softmax import log_from_one


def slow_log(s: float) -> float:
    """The docstring of log_from_one, one rounding at a time."""
    c = "0x1.555554p-2 -0x1.000226p-2 0x1.99a008p-3 -0x1.547244p-3 0x1.22da1ep-3 -0x1.0d8542p-3 0x1.055b68p-3 -0x1.38b576p-4"
    mantissa, e = s, 0
    while mantissa >= float(np.int32(0x3F3504F3).view(np.float32)) * 2:
        mantissa, e = mantissa / 2, e + 1
    x = mantissa - 1
    coefficients = [float.fromhex(text) for text in c.split()]
    q = coefficients.pop()
    while coefficients:
        q = f(f(q * x) + coefficients.pop())
    square = f(x * x)
    total = f(f(f(square * x) * q) - f(0.5 * square))
    total = f(f(total + f(e * -2.12194440e-4)) + x)
    return f(total + f(e * 0.693359375))


def test_log_equals_the_slow_definition():
    s = np.concatenate([np.random.default_rng(0).uniform(1, 40, 1000), 2.0 ** np.arange(30), [1.4142135, 1.4142137]])
    s = s.astype(np.float32)
    assert same_bits(log_from_one(s), [slow_log(float(x)) for x in s])


def test_log_is_within_one_unit_in_the_last_place():
    s = np.float32(2.0) ** np.random.default_rng(0).uniform(0, 31, 200_000).astype(np.float32)
    s = np.concatenate([s, 1 + np.float32(2.0) ** -np.arange(23, dtype=np.float32)])
    exact = np.log(s.astype(np.float64))
    unit = np.spacing(exact.astype(np.float32)).astype(np.float64)
    assert (np.abs(log_from_one(s) - exact) / unit).max() < 1.0
    assert log_from_one(np.float32([1])).tolist() == [0.0]


@pytest.mark.parametrize("n", [1, 16, 17, 100])
def test_rows_equal_the_slow_definition(n):
    x = (np.random.default_rng(n).standard_normal((20, n)) * 4).astype(np.float32)
    expected = []
    for row in x:
        d = [f(float(value) - float(row.max())) for value in row]
        log = slow_log(slow_sum([float(slow_exp(value)) for value in d]))
        expected.append([f(value - log) for value in d])
    assert same_bits(numerics.log_softmax(x), expected)
    assert same_bits(numerics.log_softmax(x.T, 0), np.transpose(expected))


@pytest.mark.parametrize("n", [2, 17, 1000])
def test_accuracy(n):
    x = (np.random.default_rng(n).standard_normal((8, n)) * 5).astype(np.float32)
    exact = x.astype(np.float64)
    exact = exact - exact.max(1, keepdims=True)
    exact -= np.log(np.exp(exact).sum(1, keepdims=True))
    np.testing.assert_allclose(numerics.log_softmax(x), exact, rtol=1e-6, atol=1e-6)


def test_special_values():
    inf, nan = np.inf, np.nan
    found = numerics.log_softmax(np.float32([[0, -inf], [-inf, -inf], [nan, nan], [inf, 0]]))
    assert found[0].tolist() == [0, -float(np.finfo(np.float32).max)]
    assert np.allclose(found[1:3], -np.log(2)) and found[3, 0] == 0
    assert numerics.log_softmax(np.zeros((0, 3))).shape == (0, 3)


def test_masked_softmax():
    """Attention masks: what is masked by -10000 or -inf is exactly 0; rows masked everywhere are rows all the same."""
    scores = np.random.default_rng(0).standard_normal((4, 9)).astype(np.float32)
    for masked in (np.float32(-10000), np.float32(-np.inf)):
        mask = np.zeros((4, 9), np.float32)
        mask[1, 3:], mask[2, ::2], mask[3] = masked, masked, masked
        found = numerics.softmax(scores + mask)
        assert (found[mask < 0].reshape(-1)[:-9] == 0).all()
        assert same_bits(found[1, :3], numerics.softmax(np.float32([*scores[1, :3], *[-np.inf] * 6]))[:3])
        assert np.isfinite(found).all() and np.allclose(found.sum(1), 1)
    assert same_bits(found[3], np.full(9, np.float32(1) / np.float32(9)))
