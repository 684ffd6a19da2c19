"""Peaks of heat maps, and what is read at them in maps beside: sizes, offsets, landmarks.

A peak is the highest of its neighbours and counts from a quarter of float's highest one. The other module's score is
the highest next to it, because a peak may move to the next place. An error of what other maps have at a peak counts
beside the value or beside a unit, whichever is more. The unit is 1, a step of a logarithm or a pixel, or the largest
value where all are smaller. Offsets, the smaller one of two maps with x and y, have the unit 1: the distance of places.

Tests: tests/quantization/meaning/test_peaks.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tvmq.quantization.meaning.reading import LEAST_SCORE, LOST, USED, Outputs, Reading, is_share, replace_infinities

MOST_OF_A_MAP = 0.2  # of the places of a map can be peaks or their slopes; a mask has more


@dataclass(frozen=True)
class PeakReading(Reading):
    """Heat map [batch, classes, height, width], the first output, and maps beside of its height and width.

    threshold  height from which float's peaks count
    units      of the maps beside

    A mask, whose high places are many, is no heat map unless the user says so.
    """

    threshold: float = 0.0
    units: tuple[float, ...] = ()
    kind: ClassVar[str] = "heatmap"

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the parts, each judged by itself."""
        return ("peaks", *(f"values at peaks ({index})" for index in range(1, len(self.outputs))))

    def fit(self, wanted: Sequence[Outputs]) -> PeakReading | None:
        """The reading with its threshold, a quarter of float's highest peak."""
        maps = [replace_infinities(outputs[self.outputs[0]]) for outputs in wanted]
        highest = max((float(one.max(initial=0.0)) for one in maps), default=0.0)
        fits = highest > 0 if self.by_user else highest >= LEAST_SCORE and all(map(is_share, maps))
        if not fits:
            return None
        high = max(float((one >= highest / 2).mean()) for one in maps)
        if high > MOST_OF_A_MAP and not self.by_user:
            return None
        known = replace(self, threshold=highest * USED)
        return replace(known, units=known.choose_units(wanted))

    def choose_units(self, wanted: Sequence[Outputs]) -> tuple[float, ...]:
        """Unit of the values of each map beside."""
        values = [
            np.concatenate([_values_at(self._places(one), replace_infinities(one[index])) for one in wanted])
            for index in self.outputs[1:]
        ]
        largest = [float(np.abs(one).max(initial=0.0)) for one in values]
        of_two = [i for i, one in enumerate(values) if one.shape[1] == 2]
        offsets = min(of_two, key=lambda i: largest[i]) if len(of_two) > 1 else None
        return tuple(1.0 if i == offsets else min(1.0, size) for i, size in enumerate(largest))

    def _places(self, outputs: Outputs) -> tuple[np.ndarray, ...]:
        """Positions of the peaks."""
        heat = replace_infinities(outputs[self.outputs[0]])
        return np.nonzero(is_peak(heat) & (heat >= self.threshold))

    def powers(self, wanted: Outputs, got: Outputs) -> np.ndarray:
        """Signal and error of the peaks, and of each other map at them."""
        a, b = replace_infinities(wanted[self.outputs[0]]), replace_infinities(got[self.outputs[0]])
        places = self._places(wanted)
        weights = np.square(a[places])
        lost = self.threshold * LOST / USED
        extra = b[is_peak(b) & (b >= self.threshold) & (highest_neighbour(a) < lost)]
        error = float(np.square(a[places] - _nearest_height(b, a, places)).sum() + np.square(extra).sum())
        sums = [(float(weights.sum()), error)]
        for index, unit in zip(self.outputs[1:], self.units, strict=True):
            x, y = (_values_at(places, replace_infinities(side[index])) for side in (wanted, got))
            power = weights * np.square(np.maximum(np.abs(x), unit)).mean(axis=1)
            sums.append((float(power.sum()), float((weights * np.square(x - y).mean(axis=1)).sum())))
        return np.array(sums)

    def describe(self) -> str:
        """Description of the kind, with all that was learned."""
        beside = f", {len(self.outputs) - 1} maps read at them" if len(self.outputs) > 1 else ""
        return f"peaks of a heat map{beside}; peaks from {self.threshold:.2g} count"


def highest_neighbour(maps: np.ndarray) -> np.ndarray:
    """Highest of the values within one place of each in the last two axes, itself included.

    >>> highest_neighbour(np.array([[0.0, 0.0, 1.0, 0.0, 0.0]])).tolist()
    [[0.0, 1.0, 1.0, 1.0, 0.0]]
    """
    for axis in (-2, -1):
        pad = [(int(i == maps.ndim + axis),) * 2 for i in range(maps.ndim)]
        padded = np.pad(maps, pad, constant_values=-np.inf)
        count = maps.shape[axis]
        maps = np.max([padded.take(range(k, k + count), axis) for k in range(3)], axis=0)
    return maps


def is_peak(maps: np.ndarray) -> np.ndarray:
    """True where no neighbour is higher."""
    return maps >= highest_neighbour(maps)


def _nearest_height(b: np.ndarray, a: np.ndarray, places: tuple[np.ndarray, ...]) -> np.ndarray:
    """Height of b at a's peaks: there if it is a peak too or as high, else of the highest neighbour."""
    here, near = b[places], highest_neighbour(b)[places]
    return np.where(np.abs(here - a[places]) <= np.abs(near - a[places]), here, near)


def _values_at(places: tuple[np.ndarray, ...], maps: np.ndarray) -> np.ndarray:
    """[peaks, channels] what maps have at peaks."""
    batch, _, row, column = places
    return maps[batch, :, row, column]
