"""minmax: the whole range that was seen. Nothing is clipped; one outlier costs everybody resolution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tvmq.observers.base import Range, usable_range
from tvmq.observers.tensor_statistics import TensorStatistics
from tvmq.spec import QuantSpec


@dataclass(frozen=True)
class MinMax:
    """Smallest and largest value of all samples."""

    needs: ClassVar[tuple[str, ...]] = ("ranges",)

    def thresholds(self, statistics: TensorStatistics, spec: QuantSpec) -> Range:
        """See `Observer.thresholds`."""
        return usable_range(statistics.ranges.low, statistics.ranges.high, spec)
