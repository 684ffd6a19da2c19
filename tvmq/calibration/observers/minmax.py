"""minmax: the whole range that was seen. Nothing is clipped; one outlier costs everybody resolution.

moving_average: the mean over the samples of each sample's extremes. One odd sample moves it little.

The name is the usual one, but by default no running average is taken, for that depends on the order of the samples.
With a momentum it is: the numbers of torch and TensorFlow (range_statistics.py).

global_scale: one range for every tensor, given by the user. Needs no data, and seldom fits.

percentile: the range that holds a given share of all values. What lies outside is clipped, needed or not.

A bare 99.9 ruins some networks: the default is 99.99, and `auto` compares it with the other observers.

Tests: tests/calibration/observers/test_observers.py
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from tvmq.calibration.observers.base import Range, TensorStatistics, usable_range
from tvmq.calibration.observers.histogram_statistics import Histogram
from tvmq.errors import ConfigError
from tvmq.numerics.spec import QuantSpec


@dataclass(frozen=True)
class MinMax:
    """Smallest and largest value of all samples."""

    needs: ClassVar[tuple[str, ...]] = ("ranges",)

    def thresholds(self, statistics: TensorStatistics, spec: QuantSpec) -> Range:
        """See `Observer.thresholds`."""
        return usable_range(statistics.ranges.low, statistics.ranges.high, spec)


@dataclass(frozen=True)
class MovingAverage:
    """Mean of the minima and mean of the maxima of the samples, each rounded once.

    momentum  in (0, 1): running averages of the extremes of batches instead, in the order of the data
    """

    momentum: float | None = None
    needs: ClassVar[tuple[str, ...]] = ("ranges",)

    def __post_init__(self) -> None:
        if self.momentum is not None and not 0 < self.momentum < 1:
            raise ConfigError(f"momentum must be above 0 and below 1. Got {self.momentum} instead")

    def thresholds(self, statistics: TensorStatistics, spec: QuantSpec) -> Range:
        """See `Observer.thresholds`; CalibrationError with a momentum where the statistics have no running averages."""
        source = statistics.ranges
        if self.momentum is None:
            return usable_range(source.mean_low, source.mean_high, spec)
        return usable_range(statistics.running.low, statistics.running.high, spec)


def range_of_threshold(threshold: float, spec: QuantSpec) -> Range:
    """The range that gives codes the step threshold / 2^(bits - 1), as Relay's calibration did.

    The threshold itself is one code beyond the highest and saturates.

    >>> range_of_threshold(8.0, QuantSpec("uint8"))
    (-8.0, 7.9375)
    """
    half = 2 ** (spec.bits - 1)
    high = float(threshold) * (half - 1) / half
    return (-high if spec.symmetric else -float(threshold)), high


@dataclass(frozen=True)
class GlobalScale:
    """The threshold `scale` of Relay: codes have the step scale / 2^(bits - 1).

    >>> GlobalScale(8.0).thresholds(None, QuantSpec("int8", symmetric=True))
    (-7.9375, 7.9375)
    """

    scale: float = 8.0
    needs: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if not (math.isfinite(self.scale) and self.scale > 0):
            raise ConfigError(f"global_scale must be positive and finite. Got {self.scale} instead")

    def thresholds(self, statistics: TensorStatistics | None, spec: QuantSpec) -> Range:
        """See `Observer.thresholds`; the statistics are not looked at."""
        return range_of_threshold(self.scale, spec)


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
            high = _count_kept(histogram.magnitudes, int(outside)) * histogram.width
            return usable_range(max(histogram.low, -high), min(histogram.high, high), spec)
        return usable_range(*_asymmetric(histogram, int(outside / 2)), spec)


def _asymmetric(histogram: Histogram, outside: int) -> Range:
    """Edges beyond each of which at most `outside` values lie."""
    kept_below_high = _count_kept(histogram.counts, outside)
    kept_above_low = _count_kept(histogram.counts[::-1], outside)
    edges = histogram.edges
    return float(edges[len(histogram.counts) - kept_above_low]), float(edges[kept_below_high])


def _count_kept(counts: np.ndarray, outside: int) -> int:
    """How many of the first bins have to be kept so that at most `outside` values lie in the others."""
    beyond = np.cumsum(counts[::-1])  # values in the last 1, 2, ... bins
    return len(counts) - int(np.searchsorted(beyond, outside, side="right"))
