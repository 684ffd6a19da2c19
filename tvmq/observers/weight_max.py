"""max: the range of the weights as it is, per tensor or per channel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tvmq.observers.weight_base import channel_rows, symmetric_where_asked
from tvmq.spec import QuantSpec


@dataclass(frozen=True)
class WeightMax:
    """Largest magnitude for a symmetric spec, else lowest and highest value."""

    def thresholds(
        self, weights: np.ndarray, spec: QuantSpec, axis: int | None = None, name: str = ""
    ) -> tuple[np.ndarray, np.ndarray]:
        """See `WeightObserver.thresholds`."""
        rows = channel_rows(weights, spec, axis, name)
        low, high = rows.min(axis=1, initial=0.0), rows.max(axis=1, initial=0.0)
        return symmetric_where_asked(low, high, spec, axis)
