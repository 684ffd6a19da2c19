"""group_dequantize: several scales along an axis."""

from __future__ import annotations

import numpy as np
import pytest

from tvmq import numerics
from tvmq.errors import RangeError


@pytest.mark.parametrize("axis, size", [(0, 3), (1, 4), (1, 8), (2, 1)])
def test_each_group_is_dequantized_by_its_scale(axis: int, size: int) -> None:
    random = np.random.default_rng(0)
    q = random.integers(-8, 8, (6, 8, 3)).astype(np.int8)
    shape = [d // size if i == axis else d for i, d in enumerate(q.shape)]
    scale = np.exp(random.normal(size=shape) * 20).astype(np.float32)
    found = numerics.group_dequantize(q, scale, axis=axis, group_size=size)
    for index in np.ndindex(*q.shape):
        at = tuple(i // size if j == axis else i for j, i in enumerate(index))
        assert found[index] == np.float32(np.float64(q[index]) * np.float64(scale[at]))


def test_one_group_is_dequantize() -> None:
    q, scale = np.int8([[1, -2], [7, -8], [0, 3]]), np.float32([0.1, 3e-3])
    expected = numerics.dequantize(q, scale, np.zeros(2, np.int32), axis=1)
    np.testing.assert_array_equal(numerics.group_dequantize(q, scale[None], axis=0, group_size=3), expected)


def test_refuses_scales_of_another_shape() -> None:
    with pytest.raises(RangeError, match=r"groups of 2 on axis 1 take scales of shape \(1, 2\). Got \(1, 4\) instead"):
        numerics.group_dequantize(np.zeros((1, 4), np.int8), np.ones((1, 4), np.float32), axis=1, group_size=2)
    with pytest.raises(RangeError, match="in groups of 3"):
        numerics.group_dequantize(np.zeros((1, 4), np.int8), np.ones((1, 1), np.float32), axis=1, group_size=3)
