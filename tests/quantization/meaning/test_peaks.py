"""Peaks of heat maps and what is read at them."""

from __future__ import annotations

import numpy as np
import pytest

from tvmq.quantization.meaning.peaks import PeakReading, highest_neighbour, is_peak
from tvmq.quantization.meaning.reading import decibels_of, sum_powers


def drawn_maps(seed: int) -> list[np.ndarray]:
    """A heat map with four peaks, offsets, and logarithms of sizes."""
    rng = np.random.default_rng(seed)
    heat = rng.uniform(0, 0.02, (1, 1, 40, 40))
    for k, (y, x) in enumerate(rng.permutation(16)[:4, None] // [[4, 1]] % 4 * 10 + 5):
        slope = np.exp(-((np.arange(40)[:, None] - y) ** 2 + (np.arange(40) - x) ** 2) / 2)
        heat[0, 0] = np.maximum(heat[0, 0], (0.9 - 0.15 * k) * slope)
    return [heat, rng.uniform(0, 0.3, (1, 2, 40, 40)), rng.normal(0, 2, (1, 2, 40, 40))]


MAPS = [drawn_maps(seed) for seed in range(4)]
READING = PeakReading((0, 1, 2)).fit(MAPS)


def figures(got: list[list[np.ndarray]]) -> list[float]:
    """dB of each part."""
    assert READING is not None
    return decibels_of(sum_powers(READING, list(zip(MAPS, got, strict=True))))


def changed(position: int, change) -> list[list[np.ndarray]]:
    """The maps, one output of them changed."""
    return [[change(one) if i == position else one for i, one in enumerate(maps)] for maps in MAPS]


def test_peaks_are_no_lower_than_their_neighbours():
    maps = np.array([[1.0, 2.0, 1.0], [0.0, 0.0, 0.0], [3.0, 0.0, 0.5]])
    assert highest_neighbour(maps)[1].tolist() == [3.0, 3.0, 2.0]
    assert is_peak(maps).tolist() == [[False, True, False], [False, False, False], [True, False, True]]


def test_noise_where_nobody_reads_is_no_error():
    rng = np.random.default_rng(5)
    noise = [
        [heat + rng.normal(0, 1e-6, heat.shape), *(one + rng.normal(0, 3, one.shape) * (heat < 0.1) for one in beside)]
        for heat, *beside in MAPS
    ]
    assert min(figures(noise)) > 80


def test_a_small_error_is_above_the_bound_and_a_large_one_below_it_in_its_part():
    rng = np.random.default_rng(6)
    for position in range(3):
        small = figures(changed(position, lambda one: one + rng.normal(0, 0.03, one.shape)))
        large = figures(changed(position, lambda one: one + rng.choice([-0.4, 0.4], one.shape)))
        assert small[position] > 20 > large[position]
        assert [one for part, one in enumerate(large) if part != position] == [np.inf, np.inf]


@pytest.mark.parametrize("change", [lambda heat: heat * 0.7, lambda heat: np.where(heat > 0.7, 0, heat)])
def test_lower_and_lost_peaks_show(change):
    assert figures(changed(0, change))[0] < 20


def test_a_new_peak_shows_and_one_that_moved_to_the_next_place_does_not():
    def with_peak(heat):
        heat = heat.copy()
        heat[0, 0, 0, 39] = 0.9
        return heat

    assert figures(changed(0, with_peak))[0] < 20
    assert figures(changed(0, lambda heat: np.roll(heat, 1, -1)))[0] == np.inf


def test_a_mask_is_no_heat_map_unless_the_user_says_so():
    mask = np.zeros((1, 1, 40, 40))
    mask[..., 20:] = 0.9
    assert PeakReading((0,)).fit([[mask]]) is None
    assert PeakReading((0,), by_user=True).fit([[mask]]) is not None
    assert PeakReading((0,)).fit([[0.05 * mask]]) is None and PeakReading((0,)).fit([]) is None
    assert READING is not None
    assert READING.describe().startswith("peaks of a heat map, 2 maps read at them; peaks from 0.2")


def test_offsets_count_beside_the_distance_of_places():
    assert READING is not None and READING.units == (1.0, 1.0)
    alone = PeakReading((0, 1)).fit([maps[:2] for maps in MAPS])
    assert alone is not None and 0.2 < alone.units[0] < 0.3  # it may be sizes as parts of the image
