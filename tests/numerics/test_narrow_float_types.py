"""tvmq.numerics.narrow_float_types against NumPy's float16, and against the nearest bfloat16 by search."""

from __future__ import annotations

import numpy as np
import pytest

from tvmq.numerics.narrow_float_types import round_floats

RANDOM = np.random.default_rng(0)
VALUES = RANDOM.integers(0, 2**32, 4000, dtype=np.uint64).astype(np.uint32).view(np.float32)


def test_float16_is_numpys() -> None:
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(round_floats(VALUES, "float16"), VALUES.astype(np.float16).astype(np.float32))
    assert round_floats(np.float32([65519.0, 65520.0, -1e30, 2.0**-25]), "float16").tolist() == [65504, np.inf, -np.inf, 0]


def test_bfloat16_is_the_nearest_of_both_neighbours() -> None:
    finite = VALUES[np.isfinite(VALUES) & (np.abs(VALUES) < 1e38)].astype(np.float64)
    bits = finite.astype(np.float32).view(np.uint32)
    low = (bits & 0xFFFF0000).view(np.float32)
    high = ((bits & 0xFFFF0000) + 0x10000).view(np.float32)
    ours = round_floats(finite.astype(np.float32), "bfloat16").astype(np.float64)
    to_low, to_high = np.abs(finite - low), np.abs(high - finite)
    np.testing.assert_array_equal(ours, np.where(to_low < to_high, low, high)[...].astype(np.float64))
    even = np.uint32([0x3F808000, 0x3F818000]).view(np.float32)  # ties: to the even neighbour
    assert round_floats(even, "bfloat16").view(np.uint32).tolist() == [0x3F800000, 0x3F820000]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_what_is_not_finite_and_other_types_stay(dtype: str) -> None:
    special = round_floats(np.float32([np.nan, np.inf, -np.inf, -0.0]), dtype)
    assert np.isnan(special[0]) and special[1:3].tolist() == [np.inf, -np.inf] and np.signbit(special[3])
    integers = np.arange(3)
    assert round_floats(integers, dtype) is integers and round_floats(VALUES, "float32") is VALUES
    once = round_floats(VALUES, dtype)
    np.testing.assert_array_equal(round_floats(once, dtype), once)
