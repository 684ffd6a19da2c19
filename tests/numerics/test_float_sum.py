"""float_sum: the order of its axes, its means, its accuracy."""

import itertools

import numpy as np
import pytest

from tests.numerics.test_layer_norm import same_bits, slow_sum
from tvmq import numerics

SHAPE = (3, 5, 7)
X = (np.random.default_rng(0).standard_normal(SHAPE) * 100).astype(np.float32)
AXES = [axes for count in (1, 2, 3) for axes in itertools.combinations(range(3), count)]


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("mean", [False, True])
def test_equals_the_slow_definition(axes, mean):
    kept = [axis for axis in range(3) if axis not in axes]
    found = numerics.float_sum(X, axes, mean=mean)
    for place in np.ndindex(found.shape):
        index = [slice(None)] * 3
        for axis, position in zip(kept, place, strict=True):
            index[axis] = position
        row = X[tuple(index)].ravel().tolist()
        total = np.float32(slow_sum(row))
        assert same_bits(found[place][()], total / np.float32(len(row)) if mean else total)
    exact = X.astype(np.float64).mean(axes) if mean else X.astype(np.float64).sum(axes)
    np.testing.assert_allclose(found, exact, rtol=1e-4, atol=1e-4)
    keeping = numerics.float_sum(X, axes, keepdims=True, mean=mean)
    assert same_bits(keeping, found.reshape([1 if axis in axes else size for axis, size in enumerate(SHAPE)]))


def test_axes_in_any_order_and_from_the_end():
    assert same_bits(numerics.float_sum(X, [-1, 0]), numerics.float_sum(X, [0, 2]))


def test_of_nothing():
    nothing = np.zeros((2, 0), np.float32)
    assert numerics.float_sum(nothing, [1]).tolist() == [0, 0]
    assert np.isnan(numerics.float_sum(nothing, [1], mean=True)).all()
    assert numerics.float_sum(nothing, [0]).shape == (0,)
