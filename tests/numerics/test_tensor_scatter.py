"""tensor_scatter: the pseudocode of ONNX, for any index; the same on codes as on real numbers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tvmq import numerics


@st.composite
def writes(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Cache, update, indices and axis."""
    shape = draw(st.lists(st.integers(1, 5), min_size=2, max_size=4))
    axis = draw(st.integers(1, len(shape) - 1))
    new = [draw(st.integers(0, shape[axis])) if i == axis else size for i, size in enumerate(shape)]
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    cache, update = (random.integers(-128, 128, sizes, np.int8) for sizes in (shape, new))
    indices = draw(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=shape[0], max_size=shape[0]))
    return cache, update, np.array(indices, np.int64), axis


@given(writes())
def test_each_entry_stands_where_onnx_says(drawn: tuple[np.ndarray, np.ndarray, np.ndarray, int]) -> None:
    cache, update, indices, axis = drawn
    expected, before = cache.copy(), cache.copy()
    for prefix in np.ndindex(*cache.shape[:axis]):
        for entry in range(update.shape[axis]):
            expected[(*prefix, (int(indices[prefix[0]]) + entry) % cache.shape[axis])] = update[(*prefix, entry)]
    found = numerics.tensor_scatter(cache, update, indices, axis=axis)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(numerics.tensor_scatter(cache, update, indices, axis=axis - cache.ndim), expected)
    np.testing.assert_array_equal(cache, before)


@given(writes())
def test_codes_mean_what_floats_do(drawn: tuple[np.ndarray, np.ndarray, np.ndarray, int]) -> None:
    cache, update, indices, axis = drawn
    reals = [numerics.dequantize(codes, np.float32(0.1), np.int32(3)) for codes in (cache, update)]
    codes = numerics.tensor_scatter(cache, update, indices, axis=axis)
    np.testing.assert_array_equal(
        numerics.dequantize(codes, np.float32(0.1), np.int32(3)), numerics.tensor_scatter(*reals, indices, axis=axis)
    )


def test_a_cache_of_no_elements() -> None:
    empty = np.zeros((2, 0, 3), np.int8)
    assert numerics.tensor_scatter(empty, empty, np.zeros(2, np.int64), axis=1).shape == (2, 0, 3)
