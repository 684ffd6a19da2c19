"""Indices, casts and quotients at the ends of their types."""

from __future__ import annotations

import numpy as np
import pytest

from tvmq.numerics import cast, divide, place

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]


@pytest.mark.parametrize("size", [1, 2, 3, 10, 2**31])
def test_places_lie_inside_and_count_from_the_end(size: int) -> None:
    limits = np.iinfo(np.int64)
    index = np.array([0, -1, size - 1, -size, size, -size - 1, 10**7, 2**62, limits.max, limits.min])
    assert place(index, size).tolist() == [int(i) % size for i in index]
    assert place(np.uint8([255]), 300).tolist() == [255]


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("source", ["float16", "float32", "float64"])
def test_a_cast_takes_the_nearest_integer(dtype: str, source: str) -> None:
    limits = np.iinfo(dtype)
    numbers = [
        0.0, -0.9, 1.9, -1.9, 127.9, 128, 255.5, 256, -129, 32768, -32769, 65504, 2.0**31, 2.0**32, 2.0**63, 1e30,
    ]  # fmt: skip
    with np.errstate(over="ignore"):
        x = np.array([*numbers, *(-n for n in numbers), np.inf, -np.inf, np.nan], source)
    expected = [
        limits.min
        if np.isnan(v) or v == -np.inf
        else limits.max
        if v == np.inf
        else min(max(int(v), limits.min), limits.max)
        for v in x.tolist()
    ]
    result = cast(x, dtype)
    assert (result.dtype, result.tolist()) == (np.dtype(dtype), expected)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_a_quotient_is_cut_towards_zero(dtype: str) -> None:
    limits = np.iinfo(dtype)
    values = np.array(sorted({limits.min, limits.min + 1, max(limits.min, -3), 0, 1, 2, 7, limits.max}), dtype)
    a, b = (part.ravel() for part in np.meshgrid(values, values))
    result = divide(a, b)
    for p, q, r in zip(a.tolist(), b.tolist(), result.tolist(), strict=True):
        exact = 0 if q == 0 else abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1)
        assert r == (limits.min if exact > limits.max else exact), (p, q)
