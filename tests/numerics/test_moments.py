"""Moments of what layers read: against convolutions and products, exact, however the samples come."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvmq import numerics
from tvmq.numerics import moments as module
from tvmq.numerics.moments import Moments, blocks, choose_places, picture_rows, product_rows, window_places, window_rows

RANDOM = np.random.default_rng(4)
CASES = [
    ((2, 4, 9), (6, 4, 3), {"strides": [2], "padding": [1, 0], "dilation": [2], "groups": 1}),
    ((3, 4, 6, 5), (6, 2, 3, 2), {"strides": [1, 2], "padding": [1, 0, 2, 1], "dilation": [1, 1], "groups": 2}),
    ((1, 5, 7, 7), (10, 1, 3, 3), {"strides": [2, 1], "padding": [1, 1, 1, 1], "dilation": [1, 2], "groups": 5}),
    ((2, 2, 4, 3, 4), (3, 2, 2, 1, 3), {"strides": [1, 1, 1], "padding": [0] * 6, "dilation": [1, 1, 1], "groups": 1}),
]


@pytest.mark.parametrize("shape, kernel, options", CASES)
def test_rows_times_weight_is_the_convolution(shape: tuple, kernel: tuple, options: dict) -> None:
    codes = RANDOM.integers(0, 256, shape).astype(np.uint8)
    weight = RANDOM.integers(-127, 128, kernel).astype(np.int8)
    rows = window_rows(codes, 100, kernel=kernel[2:], **options)
    groups = options["groups"]
    flat = weight.astype(np.int64).reshape(groups, kernel[0] // groups, -1)
    got = np.einsum("grk,gfk->gfr", rows, flat)  # groups, filters, samples x places
    centred = np.pad(codes.astype(np.int32) - 100, [(0, 0), (0, 0), *_sides(options["padding"])])
    steps = {name: tuple(options[name]) for name in ("strides", "dilation")}
    want = numerics.conv(centred.astype(np.int16), weight, padding=0, groups=groups, **steps)
    want = want.reshape(shape[0], groups, kernel[0] // groups, -1).transpose(1, 2, 0, 3)
    np.testing.assert_array_equal(got, want.reshape(got.shape))


@pytest.mark.parametrize("places", [5, 256])
@pytest.mark.parametrize("dtype, zero_point", [("uint8", 100), ("int16", -3)])
def test_pictures_with_their_channels_last(places: int, dtype: str, zero_point: int) -> None:
    """Rows are equal for both layouts, and so are the places that `window_rows` reads of a depthwise convolution."""
    codes = RANDOM.integers(0, 256, (2, 4, 6, 5)).astype(dtype)
    options = {"kernel": [3, 2], "strides": [1, 2], "padding": [1, 0, 2, 1], "dilation": [1, 1], "places": places}
    last = np.ascontiguousarray(codes.transpose(0, 2, 3, 1))
    expected = window_rows(codes, zero_point, groups=1, **options)
    found = picture_rows(last, zero_point, **options)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    where = window_places([6, 5], **options)
    flat = last.reshape(2, 30, 4).astype(np.int32) - zero_point
    read = np.where(where[None, :, :, None] < 0, 0, flat[:, where.clip(0)])  # sample, row, tap, channel
    expected = window_rows(codes, zero_point, groups=4, **options)
    np.testing.assert_array_equal(read.transpose(3, 0, 1, 2).reshape(expected.shape), expected)


def test_totals_of_other_rows_are_added() -> None:
    rows = RANDOM.integers(-9, 10, (3, 40, 4)).astype(np.int16)
    whole, part, other, empty = Moments(1.0), Moments(1.0), Moments(1.0), Moments(1.0)
    whole.add(rows)
    part.add(rows[:, :15])
    other.add(rows[:, 15:])
    for one in (empty, part):
        one.add_totals(other.rows, other.totals())
    for found, expected in ((part, whole), (empty, other)):
        assert found.rows == expected.rows
        assert [x.tolist() for x in found.totals()] == [x.tolist() for x in expected.totals()]


def _sides(padding: list[int]) -> list[tuple[int, int]]:
    half = len(padding) // 2
    return list(zip(padding[:half], padding[half:], strict=True))


def test_places_of_each_sample() -> None:
    codes = np.arange(24, dtype=np.int16).reshape(2, 12, 1)
    expected = [0, 4, 6, 11, 12, 16, 18, 23]  # one of each three
    np.testing.assert_array_equal(product_rows(codes, 0, 4)[0, :, 0], expected)
    options = {"strides": [1, 1], "padding": [0] * 4, "dilation": [1, 1], "groups": 1}
    rows = window_rows(codes.reshape(2, 1, 3, 4), 0, kernel=[1, 1], places=4, **options)
    np.testing.assert_array_equal(rows[0, :, 0], expected)


@pytest.mark.slow
@given(st.integers(0, 5000), st.integers(1, 300))
def test_places_lie_in_parts_of_equal_size(count: int, wanted: int) -> None:
    places = choose_places(count, wanted)
    assert len(places) == min(count, wanted)
    for number, place in enumerate(places):
        assert number * count // len(places) <= place < (number + 1) * count // len(places)


def test_columns_of_a_picture_are_met_alike() -> None:
    columns = choose_places(64 * 64, 256) % 64
    assert np.bincount(columns, minlength=64).max() < 10


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(1, 5), min_size=1, max_size=5))
def test_sums_are_exact_however_samples_are_batched(seed: int, sizes: list[int]) -> None:
    """Sums of the largest 16-bit integers are exact too."""
    rows = np.random.default_rng(seed).integers(-65535, 65536, (2, sum(sizes), 3)).astype(np.int32)
    whole, parts = Moments(1.0), Moments(1.0)
    whole.add(rows)
    for part in np.split(rows, np.cumsum(sizes)[:-1], axis=1):
        parts.add(part)
    exact = rows.astype(object)
    for found in (whole, parts):
        assert found.rows == rows.shape[1] and found.totals()[0].tolist() == exact.sum(axis=1).tolist()
        assert found.totals()[1].tolist() == [(one.T @ one).tolist() for one in exact]


@pytest.mark.parametrize("largest, rows", [(255, 700), (255, 257), (181, 512), (60, 1300)])
def test_sums_of_8_bit_codes_are_exact_for_any_number_of_rows(largest: int, rows: int) -> None:
    """Products of many rows at once where float32 holds them, in parts where it does not; with groups and without."""
    for groups in (1, 3):
        codes = RANDOM.integers(largest - 9, largest + 1, (groups, rows, 5)).astype(np.int16)
        codes[:, :, ::2] *= -1  # sums of products of neighbours are as large as those of squares
        moments = Moments(1.0)
        moments.add(codes)
        exact = codes.astype(np.int64)
        assert np.array_equal(moments.totals()[1], exact.transpose(0, 2, 1) @ exact)


def test_matrices() -> None:
    rows = RANDOM.integers(-200, 200, (3, 40, 4)).astype(np.int32)
    moments = Moments(0.5)
    moments.add(rows)
    np.testing.assert_allclose(moments.means(), rows.mean(axis=1))
    for group in range(3):
        np.testing.assert_allclose(
            moments.matrices(centred=True)[0][group], np.cov(rows[group].T, bias=True), rtol=1e-9, atol=1e-6
        )
    plain = moments.matrices(centred=False)[0]
    np.testing.assert_allclose(plain, rows.transpose(0, 2, 1) @ rows / 40)


def test_many_taps_are_split_into_equal_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_TAPS", 4)
    assert [part.shape for part in blocks(np.zeros((2, 10)))] == [(2, 4), (2, 3), (2, 3)]
    moments = Moments(1.0)
    moments.add(np.ones((1, 2, 10), np.int32))
    assert [part.shape for part in moments.totals()[1:]] == [(1, 4, 4), (1, 3, 3), (1, 3, 3)]
    assert [part.shape for part in moments.matrices(centred=True)] == [(1, 4, 4), (1, 3, 3), (1, 3, 3)]
