"""kl_divergence: the threshold that keeps most information, after Relay, from a streamed histogram.

`tvmq.observers.relay.relay_kl_divergence` is Relay's own, from exact samples. Here the bins are ours (2048 to
4095 on the longer side of zero), the levels follow the bits, and only about 512 windows are looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tvmq.errors import ConfigError
from tvmq.observers.base import Range, usable_range
from tvmq.observers.kl_search import best_half_width
from tvmq.observers.tensor_statistics import TensorStatistics
from tvmq.spec import QuantSpec

MOST_BINS_EACH_SIDE = 4095


@dataclass(frozen=True)
class KlDivergence:
    """Threshold T of least KL divergence; the range is -T..T, or less where less was seen.

    windows  about how many thresholds are compared
    """

    windows: int = 512
    needs: ClassVar[tuple[str, ...]] = ("histogram",)

    def __post_init__(self) -> None:
        if self.windows < 1:
            raise ConfigError(f"kl_divergence: windows must be at least 1. Got {self.windows} instead")

    def thresholds(self, statistics: TensorStatistics, spec: QuantSpec) -> Range:
        """See `Observer.thresholds`."""
        histogram = statistics.histogram
        low, high = histogram.low, histogram.high
        one_sided = low >= 0 or high <= 0
        # One side of zero alone has all codes of an asymmetric spec: twice the levels of both sides together.
        levels = 2**spec.bits * (2 if one_sided and not spec.symmetric else 1) - 1
        counts, width = histogram.mirrored(MOST_BINS_EACH_SIDE)
        if -low > high:  # the search does not treat the two ends alike; a tensor and its negative should be
            counts = counts[::-1]
        half = best_half_width(counts, levels, max(1, len(counts) // 2 // self.windows))
        if half == len(counts) // 2:
            return usable_range(low, high, spec)
        threshold = (half + 1) * width
        return usable_range(max(low, -threshold), min(high, threshold), spec)
