"""What a weight observer is: a rule from a constant to its thresholds, all channels at once.

max: the range of the weights as it is, per tensor or per channel.

power2: scales that are powers of two, so that requantizing can be a shift.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tvmq.errors import DataError
from tvmq.numerics.affine import check_finite
from tvmq.spec import QuantSpec


class WeightObserver(Protocol):
    """A frozen dataclass whose fields are its options."""

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
