"""Narrow accumulators against one loop over Python's integers."""

import itertools

import numpy as np
import pytest

from tvmq import numerics
from tvmq.chips.emulation import sums
from tvmq.chips.emulation.accumulator import Accumulator
from tvmq.errors import ConfigError


def in_order(products, accumulator):
    """(sum, did a step leave) of numbers that are added one by one."""
    total, left = 0, False
    for product in products:
        step = total + int(product)
        total = int(accumulator.fit_values(np.int64(step)))
        left = left or step != total
    return total, left


def naive_conv(x, w, accumulator, strides, dilation, groups):
    """Kernel position by kernel position, at each of them channel by channel."""
    sizes = [(n - (k - 1) * d - 1) // s + 1
             for n, k, d, s in zip(x.shape[2:], w.shape[2:], dilation, strides, strict=True)]  # fmt: skip
    total, left = np.empty((len(x), len(w), *sizes), np.int64), np.empty((len(x), len(w), *sizes), bool)
    per_group = len(w) // groups
    for n, f, *place in np.ndindex(*total.shape):
        products = []
        for tap in itertools.product(*map(range, w.shape[2:])):
            at = [p * s + t * d for p, s, t, d in zip(place, strides, tap, dilation, strict=True)]
            first = f // per_group * w.shape[1]
            products += [int(x[(n, first + c, *at)]) * int(w[(f, c, *tap)]) for c in range(w.shape[1])]
        total[(n, f, *place)], left[(n, f, *place)] = in_order(products, accumulator)
    return total, left


@pytest.mark.parametrize("overflow", ["wrap", "saturate"])
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("strides, dilation, groups", [((1, 1), (1, 1), 1), ((2, 1), (1, 2), 2)])
def test_convolutions(overflow, dtype, strides, dilation, groups):
    random, accumulator = np.random.default_rng(3), Accumulator(16, overflow)
    x = random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, (2, 4, 6, 7), endpoint=True).astype(dtype)
    w = random.integers(-127, 128, (6, 4 // groups, 3, 2)).astype(np.int8)
    options = {"strides": strides, "padding": (0, 0), "dilation": dilation, "groups": groups}
    exact = numerics.conv(x, w, **options)
    found, left = sums.conv(exact, x, w, accumulator, **options)
    total, over = naive_conv(x, w, accumulator, strides, dilation, groups)
    np.testing.assert_array_equal(found, total)
    assert 0 < left.sum() < left.size
    if overflow == "saturate":
        np.testing.assert_array_equal(left, over)
        assert (found[left] != exact[left]).any()


def test_padding_adds_nothing():
    x, w = np.full((1, 2, 3, 3), 127, np.int8), np.full((1, 2, 3, 3), 127, np.int8)
    options = {"strides": (1, 1), "padding": (1, 1), "dilation": (1, 1)}
    found, _ = sums.conv(numerics.conv(x, w, **options), x, w, Accumulator(18, "saturate"), **options)
    assert found[0, 0].tolist() == [[129032, 131071, 129032], [131071] * 3, [129032, 131071, 129032]]


def test_transposed_convolutions():
    """A transposed convolution is the convolution of the spread input with the flipped kernel."""
    random, accumulator = np.random.default_rng(4), Accumulator(16, "saturate")
    x, w = random.integers(0, 256, (1, 4, 4, 5)).astype(np.uint8), random.integers(-99, 99, (4, 3, 3, 2)).astype(np.int8)
    options = {"strides": (2, 1), "padding": (1, 0, 0, 1), "output_padding": (1, 0), "dilation": (1, 2)}
    exact = numerics.conv_transpose(x, w, **options, x_zero=7)
    wide, _ = sums.conv_transpose(exact, x, w, Accumulator(32, "saturate"), **options, x_zero=7)
    np.testing.assert_array_equal(wide, exact)
    spread = np.full((1, 4, 7, 5), 7, np.uint8)
    spread[:, :, ::2] = x
    spread = np.pad(spread, [(0, 0), (0, 0), (1, 3), (2, 1)], constant_values=7)
    flipped = np.flip(numerics.filters_first(w), (2, 3))
    total, over = naive_conv(spread, flipped, accumulator, (1, 1), (1, 2), 1)
    found, left = sums.conv_transpose(exact, x, w, accumulator, **options, x_zero=7)
    np.testing.assert_array_equal(found, total)
    np.testing.assert_array_equal(left, over)
    assert 0 < left.sum() < left.size


@pytest.mark.parametrize("a_shape, b_shape", [((3, 40), (40, 5)), ((2, 3, 40), (40, 5)), ((2, 3, 40), (2, 40, 5)), ((40,), (40, 5))])
def test_matrices(a_shape, b_shape):
    random, accumulator = np.random.default_rng(5), Accumulator(16, "saturate")
    a, b = random.integers(-128, 128, a_shape), random.integers(-128, 128, b_shape)
    exact = np.matmul(a, b)
    found, left = sums.matmul(exact, a, b, accumulator)
    rows, columns = np.broadcast_to(a, (*b.shape[:-2], *a.shape)) if a.ndim < b.ndim and a.ndim > 1 else a, b
    for place in np.ndindex(*exact.shape):
        row = rows[place[:-1]] if a.ndim > 1 else rows
        column = columns[(*place[: b.ndim - 2], slice(None), place[-1])]
        assert (int(found[place]), bool(left[place])) == in_order(row * column, accumulator)
    assert left.any()


def test_sums_and_windows():
    random, accumulator = np.random.default_rng(6), Accumulator(9, "saturate")
    steps = random.integers(-100, 156, (2, 3, 4, 4)).astype(np.int32)
    exact = steps.sum((2, 3))
    found, left = sums.sum_over_axes(exact, steps, (2, 3), accumulator)
    for place in np.ndindex(2, 3):
        assert (int(found[place]), bool(left[place])) == in_order(steps[place].ravel(), accumulator)
    whole, _ = sums.adaptive_sum_pool(exact.reshape(2, 3, 1, 1), steps, accumulator, [1, 1])
    np.testing.assert_array_equal(whole.reshape(2, 3), found)
    options = {"kernel": (2, 2), "strides": (2, 2), "padding": (0, 0)}
    pooled = np.add.reduceat(np.add.reduceat(steps, [0, 2], 2), [0, 2], 3)
    windows, over = sums.sum_pool(pooled, steps, accumulator, **options)
    assert in_order(steps[1, 2, 2:, :2].ravel(), accumulator) == (int(windows[1, 2, 1, 0]), bool(over[1, 2, 1, 0]))


@pytest.mark.parametrize("bits, overflow", [(1, "wrap"), (33, "wrap"), (16, "ignore")])
def test_refused(bits, overflow):
    with pytest.raises(ConfigError, match=f"accumulator: takes 2..32 bits .* Got {bits} bits and '{overflow}' instead"):
        Accumulator(bits, overflow)
