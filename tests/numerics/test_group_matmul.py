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


def forms(rows: int, groups: int, columns: int, seed: int) -> list[tuple[np.ndarray | None, np.ndarray | None]]:
    """Scales of the groups of rows or None, offsets or None."""
    random = np.random.default_rng(seed)
    x_scale = random.uniform(0.5, 2, (rows, groups)).astype(np.float32)
    offset = random.normal(size=(groups, columns)).astype(np.float32)
    return [(None, None), (x_scale, None), (None, offset), (x_scale, offset)]


def multiply(
    x: np.ndarray, x_scale: np.ndarray, w: np.ndarray, scale: np.ndarray, offset: np.ndarray | None, size: int
) -> np.ndarray:
    """The definition, with offsets or without."""
    if offset is None:
        return numerics.group_matmul(x, x_scale, w, scale, group_size=size)
    return numerics.group_offset_matmul(x, x_scale, w, scale, offset, group_size=size)


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(*(st.integers(1, 6) for _ in range(4)), st.integers(0, 99))
def test_number_by_number(rows: int, groups: int, size: int, columns: int, seed: int) -> None:
    x, x_scale, w, scale = operands(rows, groups, size, columns, seed)
    for own, offset in forms(rows, groups, columns, seed):
        found = multiply(x, x_scale if own is None else own, w, scale, offset, size)
        for row, column in np.ndindex(rows, columns):
            total = np.float32(0)
            for group in range(groups):
                part = slice(group * size, (group + 1) * size)
                exact = sum(int(a) * int(b) for a, b in zip(x[row, part], w[part, column], strict=True))
                value = np.float32(np.float32(exact) * scale[group, column])
                if offset is not None:
                    whole = np.float32(sum(map(int, x[row, part])))
                    value = np.float32(value + np.float32(whole * offset[group, column]))
                total = np.float32(total + (value if own is None else np.float32(value * own[row, group])))
            assert found[row, column] == (np.float32(total * x_scale[row, 0]) if own is None else total)


def test_offsets_are_those_of_the_weight() -> None:
    """Codes, scales and offsets stand for code * scale + offset."""
    x, _, w, scale = operands(4, 3, 8, 5, 1)
    x_scale, offset = forms(4, 3, 5, 1)[-1]
    assert x_scale is not None and offset is not None
    weight = w.astype(np.float64) * np.repeat(scale, 8, axis=0) + np.repeat(offset, 8, axis=0)
    expected = (x * np.repeat(x_scale.astype(np.float64), 8, axis=1)) @ weight
    found = numerics.group_offset_matmul(x, x_scale, w, scale, offset, group_size=8)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-3)


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
    with pytest.raises(RangeError, match=rf"group_offset_matmul: a weight of shape \(8, 3\) in groups of {size}"):
        numerics.group_offset_matmul(x, x_scale, w, scale, scale, group_size=size)


def test_offsets_and_scales_of_rows_of_another_shape() -> None:
    x, x_scale, w, scale = operands(1, 4, 2, 3, 0)
    with pytest.raises(RangeError, match=r"scales of shape \(4, 3\) take offsets of that shape. Got \(1, 3\) instead"):
        numerics.group_offset_matmul(x, x_scale, w, scale, scale[:1], group_size=2)
    with pytest.raises(RangeError, match=r"rows of 4 groups take one scale or 4. Got x_scale of shape \(1, 2\)"):
        numerics.group_matmul(x, np.ones((1, 2), np.float32), w, scale, group_size=2)
