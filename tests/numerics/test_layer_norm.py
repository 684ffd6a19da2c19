"""layer_norm, rms_norm, group_norm, instance_norm: bits against scalar float32 arithmetic, accuracy against float64."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.numerics.strategies import floats, quick
from tvmq import numerics

f32 = np.float32
ROWS = st.lists(st.one_of(floats, st.floats(-100, 100, width=32)), min_size=1, max_size=70)


def f(value: float) -> float:
    """Rounded to float32. Sums, products, quotients and roots of float32 in float64, rounded, are those of float32."""
    return float(f32(value))


def slow_sum(values: list[float]) -> float:
    lanes = [0.0] * 16
    for index, value in enumerate(values):
        lanes[index % 16] = f(lanes[index % 16] + value)
    for half in (8, 4, 2, 1):
        lanes = [f(lanes[j] + lanes[j + half]) for j in range(half)]
    return lanes[0]


def slow_root(value: float) -> float:
    return f(math.sqrt(value)) if value >= 0 else math.nan


def slow_norm(row: list[float], gamma: list[float], beta: list[float], epsilon: float, centred: bool = True) -> list:
    """The docstrings, one rounding at a time."""
    mean = f(slow_sum(row) / len(row)) if centred else 0.0
    d = [f(x - mean) for x in row] if centred else row
    root = slow_root(f(f(slow_sum([f(v * v) for v in d]) / len(row)) + f(epsilon)))
    r = f(np.float64(1) / root)
    scaled = [f(f(v * r) * g) for v, g in zip(d, gamma, strict=True)]
    return [f(v + b) for v, b in zip(scaled, beta, strict=True)] if centred else scaled


def same_bits(found: np.ndarray, expected: list | np.ndarray) -> bool:
    expected = f32(expected)
    nan = np.isnan(expected)
    assert found.dtype == np.float32 and found.shape == expected.shape
    bits = [np.where(nan, f32(0), array).view(np.int32) for array in (found, expected)]
    return np.array_equal(*bits) and np.array_equal(np.isnan(found), nan)


def factors(count: int) -> tuple[list[float], list[float]]:
    random = np.random.default_rng(count)
    return tuple(random.normal(size=count).astype(np.float32).tolist() for _ in range(2))


@pytest.mark.slow
@given(ROWS, st.sampled_from([0.0, 1e-12, 1e-5, 0.1]))
@quick
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_layer_norm_equals_the_slow_definition(row, epsilon):
    gamma, beta = factors(len(row))
    found = numerics.layer_norm(f32(row), f32(gamma), f32(beta), epsilon=epsilon)
    with np.errstate(all="ignore"):
        assert same_bits(found, slow_norm(row, gamma, beta, epsilon))


@pytest.mark.slow
@given(ROWS, st.sampled_from([0.0, 1e-6, 0.1]))
@quick
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_rms_norm_equals_the_slow_definition(row, epsilon):
    gamma, _ = factors(len(row))
    with np.errstate(all="ignore"):
        expected = slow_norm(row, gamma, [0.0] * len(row), epsilon, centred=False)
    assert same_bits(numerics.rms_norm(f32(row), f32(gamma), epsilon=epsilon), expected)


@pytest.mark.parametrize(("shape", "groups"), [((2, 6, 5), 3), ((1, 4, 3, 7), 1), ((3, 5, 2, 2, 3), 5), ((2, 8), 4)])
def test_group_norm_equals_the_slow_definition(shape, groups):
    x = (np.random.default_rng(1).normal(size=shape) * 3).astype(np.float32)
    gamma, beta = factors(shape[1])
    positions, size = math.prod(shape[2:]), shape[1] // groups
    expected = []
    for row, group in ((x[n].reshape(groups, -1)[g], g) for n in range(shape[0]) for g in range(groups)):
        channels = np.arange(group * size, (group + 1) * size).repeat(positions)
        expected += slow_norm(row.tolist(), [gamma[c] for c in channels], [beta[c] for c in channels], 1e-5)
    found = numerics.group_norm(x, f32(gamma), f32(beta), groups=groups)
    assert same_bits(found, f32(expected).reshape(shape))


def test_instance_norm_is_group_norm_of_single_channels():
    x = np.random.default_rng(1).normal(size=(2, 5, 3, 4)).astype(np.float32)
    gamma, beta = (f32(values) for values in factors(5))
    found = numerics.instance_norm(x, gamma, beta, epsilon=0.01)
    assert same_bits(found, numerics.group_norm(x, gamma, beta, groups=5, epsilon=0.01))
    rows = numerics.layer_norm(x, axes=2, epsilon=0.01) * gamma[:, None, None] + beta[:, None, None]
    assert same_bits(found, rows)


def test_several_axes_are_one_row():
    x = np.random.default_rng(1).normal(size=(3, 5, 7)).astype(np.float32)
    gamma, beta = (f32(values).reshape(5, 7) for values in factors(35))
    expected = numerics.layer_norm(x.reshape(3, 35), gamma.ravel(), beta.ravel()).reshape(x.shape)
    assert same_bits(numerics.layer_norm(x, gamma, beta, axes=2), expected)
    assert same_bits(numerics.layer_norm(x, gamma, axes=2), numerics.layer_norm(x, gamma, np.zeros((5, 7)), axes=2))
    expected = numerics.rms_norm(x.reshape(3, 35)).reshape(x.shape)
    assert same_bits(numerics.rms_norm(x, np.ones((5, 7)), axes=2), expected)


@pytest.mark.parametrize("n", [1, 15, 16, 17, 384, 5000])
def test_accuracy(n):
    x = (np.random.default_rng(n).standard_normal((8, n)) * 5 + 3).astype(np.float32)
    exact = x.astype(np.float64)
    rms = exact / np.sqrt((exact**2).mean(-1, keepdims=True) + 1e-5)
    exact = exact - exact.mean(-1, keepdims=True)
    exact = exact / np.sqrt((exact**2).mean(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(numerics.layer_norm(x), exact, rtol=1e-5, atol=2e-6)
    np.testing.assert_allclose(numerics.rms_norm(x), rms, rtol=1e-6)


def test_special_values():
    inf, nan = np.inf, np.nan
    rows = f32([[2, 2, 2], [0, -0.0, 0], [1, nan, 2], [inf, 1, 2], [1e38, 1e38, -1e38], [1e-45, 0, 0]])
    found = numerics.layer_norm(rows, epsilon=0.25)
    assert found[:2].tolist() == [[0, 0, 0]] * 2 and np.isnan(found[2:4]).all()
    assert np.isfinite(found[4:]).all()  # the variance of large numbers is infinite: 1 / inf is 0
    assert numerics.rms_norm(rows, epsilon=0.25)[4].tolist() == [0, 0, -0.0]
    for shape in ((0, 3), (3, 0)):
        assert numerics.layer_norm(np.zeros(shape)).shape == numerics.rms_norm(np.zeros(shape)).shape == shape
        assert numerics.instance_norm(np.zeros((*shape, 2))).shape == (*shape, 2)


def test_golden_bits():
    x = f32([1, 2, 3, -50, 3])
    bits = numerics.layer_norm(x, x, -x).view(np.uint32)
    assert [hex(b) for b in bits] == ["0xbf0f61c4", "0xbf83240a", "0xbfb2597b", "0x4315efe6", "0xbfb2597b"]
    bits = numerics.rms_norm(x, x).view(np.uint32)
    assert [hex(b) for b in bits] == ["0x3d365783", "0x3e365783", "0x3ecd2273", "0x42de95d3", "0x3ecd2273"]
