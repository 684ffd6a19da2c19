"""Ranges of constant weights: the largest magnitude, its power of two, or the one of least squared error.

What a weight observer is: a rule from a constant to its thresholds, all channels at once.

max: the range of the weights as it is, per tensor or per channel.

power2: scales that are powers of two, so that requantizing can be a shift.

mse: the scale of least squared error of the quantized weights, by a search along the clipped range.

Tests: tests/calibration/observers/test_weights.py
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from tvmq.calibration.observers.base import LEAST_GAIN
from tvmq.errors import ConfigError, DataError
from tvmq.numerics.affine import check_finite
from tvmq.numerics.spec import QuantSpec, choose_qparams


class WeightObserver(Protocol):
    """Rule that chooses the range of a weight, or of each channel: a frozen dataclass whose fields are its options.

    >>> weights = np.float32([[1, -3], [0.5, 0.25]])
    >>> low, high = WeightMax().thresholds(weights, QuantSpec("int8", symmetric=True, per_channel=True), axis=0)
    >>> high
    array([3. , 0.5])
    """

    def thresholds(
        self, weights: np.ndarray, spec: QuantSpec, axis: int | None = None, name: str = ""
    ) -> tuple[np.ndarray, np.ndarray]:
        """Low and high of the range to be quantized.

        weights  float32, any shape
        axis     of the channels where spec is per_channel (None: one range for the tensor)
        returns  float64, shape () or (channels,); low <= 0 <= high, low == -high where spec is symmetric;
                 0 and 0 for a channel that is empty or all zero
        raises   RangeError for NaN or infinity, with the name
        """
        ...


def channel_rows(weights: np.ndarray, spec: QuantSpec, axis: int | None, name: str) -> np.ndarray:
    """The weights as float32 (channels, values per channel); one row where they share one range."""
    weights = np.asarray(weights, np.float32)
    check_finite(weights, name)
    if axis is None or not spec.per_channel:
        return weights.reshape(1, -1)
    if not -weights.ndim <= axis < weights.ndim:
        raise DataError(f"calibrate, weight {name!r}: channel axis {axis} does not fit shape {weights.shape}")
    rows = np.moveaxis(weights, axis, 0)
    return rows.reshape(len(rows), int(np.prod(rows.shape[1:])))


def symmetric_where_asked(
    low: np.ndarray, high: np.ndarray, spec: QuantSpec, axis: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Ranges of the rows in float64, mirrored for a symmetric spec, shape () where one range is wanted."""
    low, high = low.astype(np.float64) + 0.0, high.astype(np.float64) + 0.0  # + 0.0: no -0
    if spec.symmetric:
        high = np.maximum(-low, high)
        low = -high + 0.0
    if axis is None or not spec.per_channel:
        return low[0], high[0]
    return low, high


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
                errors = error(factors)
                best, least = np.where(errors < least, factors, best), np.minimum(errors, least)
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
