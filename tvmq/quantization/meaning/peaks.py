"""Peaks of heat maps, and what is read at them in maps beside: sizes, offsets, landmarks.

A peak is the highest of its neighbours and counts from a quarter of float's highest one. The other module's score is
the highest next to it, because a peak may move to the next place. What other maps have at a peak counts beside the value
or beside 1, whichever is more: a place, a unit of a logarithm, the size of the object.

Tests: tests/quantization/meaning/test_peaks.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tvmq.quantization.meaning.reading import LEAST_SCORE, LOST, USED, Outputs, Reading, finite, is_share

MOST_OF_A_MAP = 0.2  # of the places of a map can be peaks or their slopes; a mask has more


@dataclass(frozen=True)
class PeakReading(Reading):
    """Heat map [batch, classes, height, width], the first output, and maps beside of its height and width.

    threshold  height from which float's peaks count

    A mask, whose high places are many, is no heat map unless the user says so.
    """

    threshold: float = 0.0
    kind: ClassVar[str] = "heatmap"

    @property
    def parts(self) -> tuple[str, ...]:
        """What is judged by itself."""
        return ("peaks", *(f"values at peaks ({index})" for index in range(1, len(self.outputs))))

    def fit(self, wanted: Sequence[Outputs]) -> PeakReading | None:
        """The reading with its threshold, a quarter of float's highest peak."""
        maps = [finite(outputs[self.outputs[0]]) for outputs in wanted]
        highest = max((float(one.max(initial=0.0)) for one in maps), default=0.0)
        fits = highest > 0 if self.by_user else highest >= LEAST_SCORE and all(map(is_share, maps))
        if not fits:
            return None
        high = max(float((one >= highest / 2).mean()) for one in maps)
        return replace(self, threshold=highest * USED) if self.by_user or high <= MOST_OF_A_MAP else None

    def powers(self, wanted: Outputs, got: Outputs) -> np.ndarray:
        """Signal and error of the peaks, and of each other map at them."""
        a, b = finite(wanted[self.outputs[0]]), finite(got[self.outputs[0]])
        places = np.nonzero(is_peak(a) & (a >= self.threshold))
        weights = np.square(a[places])
        lost = self.threshold * LOST / USED
        extra = b[is_peak(b) & (b >= self.threshold) & (highest_neighbour(a) < lost)]
        error = float(np.square(a[places] - _nearest_height(b, a, places)).sum() + np.square(extra).sum())
        sums = [(float(weights.sum()), error)]
        for index in self.outputs[1:]:
            sums.append(_powers_at(places, weights, finite(wanted[index]), finite(got[index])))
        return np.array(sums)

    def describe(self) -> str:
        """What the outputs were taken for, in words."""
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


def _powers_at(
    places: tuple[np.ndarray, ...], weights: np.ndarray, a: np.ndarray, b: np.ndarray
) -> tuple[float, float]:
    """Signal and error of a map at peaks, each as much as its height."""
    batch, _, row, column = places
    x, y = a[batch, :, row, column], b[batch, :, row, column]  # [peaks, channels]
    unit = min(1.0, float(np.abs(x).max(initial=0.0)))
    signal = weights * np.square(np.maximum(np.abs(x), unit)).mean(axis=1)
    return float(signal.sum()), float((weights * np.square(x - y).mean(axis=1)).sum())
