"""minmax: the whole range that was seen. Nothing is clipped; one outlier costs everybody resolution.

moving_average: the mean over the samples of each sample's extremes. One odd sample moves it little.

The name is the usual one, but by default no running average is taken, for that depends on the order of the samples.
With a momentum it is: the numbers of torch and TensorFlow (running_range.py).

global_scale: one range for every tensor, given by the user. Needs no data, and seldom fits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from tvmq.errors import ConfigError
from tvmq.observers.base import Range, usable_range
from tvmq.observers.relay import relay_range
from tvmq.observers.tensor_statistics import TensorStatistics
from tvmq.spec import QuantSpec


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
        return relay_range(self.scale, spec)
