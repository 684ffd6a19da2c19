"""moving_average: the mean over the samples of each sample's extremes. One odd sample moves it little.

The name is the usual one, but no running average is taken, for that would depend on the order of the samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tvmq.observers.base import Range, usable_range
from tvmq.observers.tensor_statistics import TensorStatistics
from tvmq.spec import QuantSpec


@dataclass(frozen=True)
class MovingAverage:
    """Mean of the minima and mean of the maxima of the samples, each rounded once."""

    needs: ClassVar[tuple[str, ...]] = ("ranges",)

    def thresholds(self, statistics: TensorStatistics, spec: QuantSpec) -> Range:
        """See `Observer.thresholds`."""
        return usable_range(statistics.ranges.mean_low, statistics.ranges.mean_high, spec)
