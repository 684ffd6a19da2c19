"""mse: the scale of least squared error of the quantized weights, by a search along the clipped range."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tvmq.errors import ConfigError
from tvmq.observers.base import LEAST_GAIN
from tvmq.observers.weight_base import channel_rows, symmetric_where_asked
from tvmq.spec import QuantSpec, choose_qparams

# Weights handled at a time: their float32 copies stay in the cache.
BLOCK = 2**16


@dataclass(frozen=True)
class WeightMse:
    """The best of the range times 1, ..., `least`, refined twice about the best; all channels at once.

    steps  number of factors between 1 and least
    least  smallest factor
    The whole range stays unless the error falls by more than 0.1 %.
    """

    steps: int = 40
    least: float = 0.2

    def __post_init__(self) -> None:
        if self.steps < 1 or not 0 < self.least < 1:
            raise ConfigError(
                f"mse: steps must be at least 1 and least between 0 and 1. Got {self.steps} and {self.least} instead"
            )

    def thresholds(
        self, weights: np.ndarray, spec: QuantSpec, axis: int | None = None, name: str = ""
    ) -> tuple[np.ndarray, np.ndarray]:
        """See `WeightObserver.thresholds`."""
        rows = channel_rows(weights, spec, axis, name)
        factors = np.ones(len(rows))
        step = max(1, BLOCK // max(1, rows.shape[1]))
        for start in range(0, len(rows) if rows.size else 0, step):
            factors[start : start + step] = self._factors(rows[start : start + step], spec)
        low, high = rows.min(axis=1, initial=0.0) * factors, rows.max(axis=1, initial=0.0) * factors
        return symmetric_where_asked(low, high, spec, axis)

    def _factors(self, rows: np.ndarray, spec: QuantSpec) -> np.ndarray:
        """The best factor of each row."""
        error = _RowErrors(rows, spec)
        whole = error(np.ones(len(rows)))
        best, least = np.ones(len(rows)), whole
        step = (1 - self.least) / self.steps
        rounds = [np.arange(1, self.steps + 1) * -step]
        rounds += [np.array([-3, -2, -1, 1, 2, 3]) * step / fine for fine in (4, 16)]
        for offsets in rounds:
            centre = best
            for offset in offsets:
                factors = np.clip(centre + offset, self.least, 1.0)
                found = error(factors)
                best, least = np.where(found < least, factors, best), np.minimum(found, least)
        return np.where(least < whole * (1 - LEAST_GAIN), best, 1.0)


class _RowErrors:
    """Squared error of each row, quantized with its range times a factor of its own."""

    def __init__(self, rows: np.ndarray, spec: QuantSpec) -> None:
        self.rows = rows
        self.spec = replace(spec, per_channel=True)
        self.low = rows.min(axis=1).astype(np.float64)
        self.high = rows.max(axis=1).astype(np.float64)

    def __call__(self, factors: np.ndarray) -> np.ndarray:
        qparams = choose_qparams(
            np.minimum(self.low, 0) * factors, np.maximum(self.high, 0) * factors, self.spec, axis=0
        )
        scale, zero_point = qparams.scale[:, None], qparams.zero_point[:, None].astype(np.float32)
        steps = np.rint(self.rows / scale)
        np.clip(steps, self.spec.qmin - zero_point, self.spec.qmax - zero_point, out=steps)
        steps *= scale
        steps -= self.rows
        # In float64: float32 squares of tiny weights would underflow.
        return np.einsum("cn,cn->c", steps, steps, dtype=np.float64, casting="same_kind")
