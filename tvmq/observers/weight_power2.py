"""power2: scales that are powers of two, so that requantizing can be a shift."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tvmq.observers.weight_base import channel_rows
from tvmq.spec import QuantSpec


@dataclass(frozen=True)
class WeightPower2:
    """Relay's rule: threshold 2^ceil(log2 max|w|), 1 for all zeros; the step is threshold / 2^(bits - 1).

    It is exact here. Relay takes math.log(m, 2), which overshoots for some exact powers from 2^29 on.
    """

    def thresholds(
        self, weights: np.ndarray, spec: QuantSpec, axis: int | None = None, name: str = ""
    ) -> tuple[np.ndarray, np.ndarray]:
        """See `WeightObserver.thresholds`; a channel of zeros gets the threshold 1."""
        rows = channel_rows(weights, spec, axis, name)
        thresholds = power_above(np.abs(rows).max(axis=1, initial=0.0))
        half = 2.0 ** (spec.bits - 1)
        high = thresholds * (half - 1) / half
        low = -high if spec.symmetric else -thresholds
        if axis is None or not spec.per_channel:
            return low[0], high[0]
        return low, high


def power_above(magnitudes: np.ndarray) -> np.ndarray:
    """The least powers of two that are not below these magnitudes, float64; 1 for 0.

    >>> power_above(np.float32([0, 0.3, 0.5, 3]))
    array([1. , 0.5, 0.5, 4. ])
    """
    mantissas, exponents = np.frexp(np.asarray(magnitudes, np.float64))
    exponents = np.where(mantissas == 0.5, exponents - 1, exponents)  # m = 2^k exactly, and 2^0 for 0
    return np.asarray(np.ldexp(1.0, exponents))
