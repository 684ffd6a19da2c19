"""What a weight observer is: a rule from a constant to its thresholds, all channels at once."""

from __future__ import annotations

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
