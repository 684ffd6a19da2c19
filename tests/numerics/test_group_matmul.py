"""group_matmul: products of codes in groups with a scale each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tvmq import numerics
from tvmq.errors import RangeError


def operands(rows: int, groups: int, size: int, columns: int, seed: int) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(seed)
    return (
        random.integers(-127, 128, (rows, groups * size)).astype(np.int8),
        random.uniform(0.5, 2, (rows, 1)).astype(np.float32),
        random.integers(-8, 8, (groups * size, columns)).astype(np.int8),
        random.uniform(1e-3, 1, (groups, columns)).astype(np.float32),
    )


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(*(st.integers(1, 6) for _ in range(4)), st.integers(0, 99))
def test_number_by_number(rows: int, groups: int, size: int, columns: int, seed: int) -> None:
    x, x_scale, w, scale = operands(rows, groups, size, columns, seed)
    found = numerics.group_matmul(x, x_scale, w, scale, group_size=size)
    for row in range(rows):
        for column in range(columns):
            total = np.float32(0)
            for group in range(groups):
                part = slice(group * size, (group + 1) * size)
                exact = sum(int(a) * int(b) for a, b in zip(x[row, part], w[part, column], strict=True))
                total = np.float32(total + np.float32(np.float32(exact) * scale[group, column]))
            assert found[row, column] == np.float32(total * x_scale[row, 0])


def test_leading_axes_and_one_group() -> None:
    x, x_scale, w, scale = operands(6, 1, 8, 5, 0)
    found = numerics.group_matmul(x.reshape(2, 3, 8), x_scale.reshape(2, 3, 1), w, scale, group_size=8)
    expected = numerics.matmul(x, w).astype(np.float32) * scale * x_scale
    np.testing.assert_array_equal(found, expected.reshape(2, 3, 5))


@pytest.mark.parametrize("size", [3, 4])
def test_scales_of_another_shape(size: int) -> None:
    x, x_scale, w, scale = operands(1, 4, 2, 3, 0)
    with pytest.raises(RangeError, match=rf"shape \(8, 3\) in groups of {size} takes scales of shape .* Got \(4, 3\)"):
        numerics.group_matmul(x, x_scale, w, scale, group_size=size)
