"""global_scale: one range for every tensor, given by the user. Needs no data, and seldom fits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from tvmq.errors import ConfigError
from tvmq.observers.base import Range
from tvmq.observers.relay import relay_range
from tvmq.observers.tensor_statistics import TensorStatistics
from tvmq.spec import QuantSpec


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
