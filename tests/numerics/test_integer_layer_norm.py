"""Layer norm in integers: against Python's unbounded integers, its error bound against float64, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.numerics.strategies import codes, quick
from tvmq import numerics
from tvmq.errors import ConfigError, RangeError
from tvmq.numerics.integer_layer_norm import spare_bits

TYPES = st.sampled_from(["int8", "uint8", "int16"])
OUT = st.sampled_from([("uint8", 0.03, 120), ("int8", 0.05, 0), ("int16", 2e-4, 0)])
REALS = st.floats(-8, 8, width=32)


@st.composite
def cases(draw):
    """x, its scale and zero point, gamma, beta, epsilon, output."""
    n = draw(st.integers(1, 40))
    dtype = draw(TYPES)
    x = draw(codes(dtype, (3, n)))
    x[0] = draw(st.integers(int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)))  # all are equal, but perhaps one
    x[0, 0] = draw(st.sampled_from([x[0, 0], 0, 1]))
    gamma, beta = (draw(hnp.arrays(np.float32, n, elements=REALS)) for _ in range(2))
    epsilon = draw(st.sampled_from([0.0, 1e-12, 1e-5, 1.0]))
    return x, draw(st.sampled_from([1e-3, 0.02, 1.0])), draw(st.integers(0, 100)), gamma, beta, epsilon, draw(OUT)


def held(value: int, bits: int = 63) -> int:
    """The value, which must fit a signed integer of so many bits and its sign."""
    assert -(2**bits) <= value < 2**bits
    return value


def slow(row: list[int], p: numerics.LayerNormParams, centred: bool, x_zero: int) -> list[int]:
    """The docstring with Python's integers, every product checked against int64."""
    n = len(row)
    spare = max(bits for bits in range(15) if n * 2**bits <= 2**14)
    if centred:
        d = [n * x - sum(row) for x in row]
        v = held(n * sum(x * x for x in row)) - sum(row) ** 2
    else:
        d = [n * (x - x_zero) for x in row]
        v = n * sum((x - x_zero) ** 2 for x in row)
    w = max(held(held(v) * 4**spare + p.epsilon, 62), 4**spare)
    k = max(bits for bits in range(31) if w * 4**bits < 2**62)
    a = held((w * 4**k) >> 31, 31)
    y = 2292438794 - (held(1309965025 * a) >> 31)
    for _ in range(4):
        y = held(y * (3 * 2**29 - (held(a * (held(y * y) >> 31)) >> 31))) >> 30
    m = 39 - k - spare
    z = [held(held(value * y) + 2 ** (m - 1), 62) >> m for value in d]
    pairs = zip(z, p.multiplier.tolist(), p.offset.tolist(), strict=True)
    return [held(held(step, 31) * multiplier + offset) >> p.shift for step, multiplier, offset in pairs]


@pytest.mark.slow
@given(cases(), st.booleans())
@quick
def test_equals_pythons_integers(case, centred):
    x, scale, x_zero, gamma, beta, epsilon, (dtype, scale_y, zero) = case
    params = numerics.integer_layer_norm_params(scale, gamma, beta, scale_y, epsilon=epsilon)
    options = {"zero_point": zero, "dtype": dtype, "centred": centred, "x_zero": x_zero}
    found = numerics.integer_layer_norm(x, **params._asdict(), **options)
    limits = np.iinfo(dtype)
    expected = [[code + zero for code in slow(row, params, centred, x_zero)] for row in x.tolist()]
    assert found.dtype == dtype
    assert np.array_equal(found, np.clip(np.array(expected, object), limits.min, limits.max).astype(np.int64))


@pytest.mark.slow
@given(cases(), st.booleans())
@quick
def test_error_is_within_the_bound(case, centred):
    assert_bound(*case, centred=centred)


@pytest.mark.parametrize("n", [96, 384, 5000, 16384])
@pytest.mark.parametrize("dtype", ["int16", "uint8"])
def test_error_of_long_rows_is_within_the_bound(n, dtype):
    random, limits = np.random.default_rng(n), np.iinfo(dtype)
    x = random.normal(0.3 * limits.max, 0.2 * limits.max, (4, n))
    x[1] = random.integers(0, 2, n)
    x[2] = np.where(np.arange(n) % 2, limits.min, limits.max)  # the largest variance
    x = np.clip(np.rint(x), limits.min, limits.max).astype(dtype)
    gamma, beta = random.normal(1, 0.5, n), random.normal(0, 0.5, n)
    for out in (("uint8", 0.03, 120), ("int16", 2e-4, 0)):
        for centred in (True, False):
            assert_bound(x, 0.01, 3, gamma, beta, 1e-5, out, centred=centred)


def assert_bound(x, scale, x_zero, gamma, beta, epsilon, out, *, centred) -> None:
    """The docstring's bound, in codes."""
    dtype, scale_y, zero = out
    params = numerics.integer_layer_norm_params(scale, gamma, beta, scale_y, epsilon=epsilon)
    options = {"zero_point": zero, "dtype": dtype, "centred": centred, "x_zero": x_zero}
    found = numerics.integer_layer_norm(x, **params._asdict(), **options).astype(np.float64)
    real = x.astype(np.float64) - x_zero
    real = (real - real.mean(axis=-1, keepdims=True) * centred) * scale
    real[np.abs(real) < 1e-12] = 0  # equal elements, whose mean float64 rounds
    variance = (real * real).mean(axis=-1, keepdims=True) + epsilon
    u = np.divide(real, np.sqrt(variance), out=np.zeros_like(real), where=real != 0)
    spare = spare_bits(x.shape[-1])
    w = np.maximum(variance * (x.shape[-1] * 2.0**spare / scale) ** 2, 4.0**spare)
    gain = np.abs(gamma.astype(np.float64)) / scale_y
    bound = (
        0.5 + gain * (np.abs(u) * (2.0**-26 + 1 / (4 * w)) + 2.0**-23) + (np.abs(u) + 1) * 2.0 ** (21 - params.shift)
    )
    limits = np.iinfo(dtype)
    expected = (u * gamma + beta) / scale_y + zero
    inside = (expected >= limits.min) & (expected <= limits.max)
    assert (np.abs(found - np.clip(expected, limits.min, limits.max)) <= bound + 1e-9)[inside].all()
    assert (found[expected > limits.max + bound] == limits.max).all()
    assert (found[expected < limits.min - bound] == limits.min).all()


def test_zero_point_makes_no_difference_to_layer_norm():
    x = np.random.default_rng(0).integers(0, 200, (4, 30)).astype(np.uint8)
    params = numerics.integer_layer_norm_params(0.1, np.ones(30), None, 0.02, epsilon=1e-5)._asdict()
    here = numerics.integer_layer_norm(x, **params, zero_point=0, dtype="int8")
    assert np.array_equal(here, numerics.integer_layer_norm(x + np.uint8(55), **params, zero_point=0, dtype="int8"))


def test_rows_of_several_axes():
    x = np.random.default_rng(0).integers(-128, 128, (2, 3, 5)).astype(np.int8)
    params = numerics.integer_layer_norm_params(0.1, np.ones((3, 5)), None, 0.02, epsilon=1e-5)
    flat = params._replace(multiplier=params.multiplier.ravel(), offset=params.offset.ravel())
    found = numerics.integer_layer_norm(x, **params._asdict(), zero_point=0, dtype="int8")
    expected = numerics.integer_layer_norm(x.reshape(2, 15), **flat._asdict(), zero_point=0, dtype="int8")
    assert np.array_equal(found.reshape(2, 15), expected)


def test_nothing_gives_nothing():
    params = numerics.integer_layer_norm_params(0.1, np.ones(3), None, 0.02, epsilon=1e-5)._asdict()
    assert numerics.integer_layer_norm(np.zeros((0, 3), np.int8), **params, zero_point=0, dtype="int8").shape == (0, 3)


def test_refusals():
    params = numerics.integer_layer_norm_params(0.1, np.ones(3), None, 0.02, epsilon=1e-5)._asdict()
    with pytest.raises(ConfigError, match="x must be one of int8, uint8, int16. Got int32 instead"):
        numerics.integer_layer_norm(np.zeros((2, 3), np.int32), **params, zero_point=0, dtype="int8")
    with pytest.raises(
        ConfigError, match="must have the shape of the last axes. Got \\(3,\\) and \\(3,\\) for \\(2, 4\\)"
    ):
        numerics.integer_layer_norm(np.zeros((2, 4), np.int8), **params, zero_point=0, dtype="int8")
    with pytest.raises(RangeError, match="do not fit their types; use the constants of integer_layer_norm_params"):
        numerics.integer_layer_norm(np.zeros((2, 3), np.int8), **{**params, "shift": 0}, zero_point=0, dtype="int8")
    with pytest.raises(RangeError, match="a row may have 1 to 16384 elements. Got 16385 instead; keep it in float"):
        numerics.integer_layer_norm_params(0.1, np.ones(16385), None, 0.02, epsilon=1e-5)
    with pytest.raises(RangeError, match="2\\^61 is the most"):
        numerics.integer_layer_norm_params(1e-12, np.ones(96), None, 0.02, epsilon=1e-5)
    with pytest.raises(RangeError, match="gamma and beta must be finite"):
        numerics.integer_layer_norm_params(0.1, np.float32([1, np.inf]), None, 0.02, epsilon=1e-5)
    with pytest.raises(RangeError, match="gamma or beta are too large for steps of 1e-30"):
        numerics.integer_layer_norm_params(0.1, np.ones(3), None, 1e-30, epsilon=1e-5)
