"""percentile: the range that holds a given share of all values. What lies outside is clipped, needed or not.

A bare 99.9 ruins some networks: the default is 99.99, and `auto` compares it with the other observers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from tvmq.errors import ConfigError
from tvmq.observers.base import Range, usable_range
from tvmq.observers.histogram_statistics import Histogram
from tvmq.observers.tensor_statistics import TensorStatistics
from tvmq.spec import QuantSpec


@dataclass(frozen=True)
class Percentile:
    """The edges of the bins outside of which at most 100 - percentile per cent of the values lie.

    percentile  above 50, up to 100; an asymmetric spec clips at most half of the rest at each end, a
                symmetric one looks at magnitudes
    """

    percentile: float = 99.99
    needs: ClassVar[tuple[str, ...]] = ("histogram",)

    def __post_init__(self) -> None:
        if not 50 < self.percentile <= 100:
            raise ConfigError(f"percentile must be above 50 and at most 100. Got {self.percentile} instead")

    def thresholds(self, statistics: TensorStatistics, spec: QuantSpec) -> Range:
        """See `Observer.thresholds`."""
        histogram = statistics.histogram
        # The share as it was written, in whole numbers of values: no float rounding decides.
        outside = (100 - Fraction(str(self.percentile))) / 100 * histogram.values
        if spec.symmetric:
            high = _kept(histogram.magnitudes, int(outside)) * histogram.width
            return usable_range(max(histogram.low, -high), min(histogram.high, high), spec)
        return usable_range(*_asymmetric(histogram, int(outside / 2)), spec)


def _asymmetric(histogram: Histogram, outside: int) -> Range:
    """Edges beyond each of which at most `outside` values lie."""
    kept_below_high = _kept(histogram.counts, outside)
    kept_above_low = _kept(histogram.counts[::-1], outside)
    edges = histogram.edges
    return float(edges[len(histogram.counts) - kept_above_low]), float(edges[kept_below_high])


def _kept(counts: np.ndarray, outside: int) -> int:
    """How many of the first bins have to be kept so that at most `outside` values lie in the others."""
    beyond = np.cumsum(counts[::-1])  # values in the last 1, 2, ... bins
    return len(counts) - int(np.searchsorted(beyond, outside, side="right"))
