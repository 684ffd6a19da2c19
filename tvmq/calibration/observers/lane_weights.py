"""lanes: the range of the weights as it is, raised where two neighbours would leave lanes of 16 bits.

CPUs without VNNI multiply bytes by vpmaddubsw, which adds two products in 16 bits: activations up to 255 leave room for
weights whose sum is 128 at most, of those above 0 and of those below. With `max` the neighbours of many filters exceed
that, and these products are made in 16 bits (kernels/conv/int16_accumulation). Here the scale of such a filter is
raised until its neighbours fit: by 1.0 to 2.0 times, against twice for all filters with weights of 7 bits.

Rounding by data may still take a pair beyond it. That costs speed alone: the kernel proves each pair again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tvmq.calibration.observers.weight_observers import WeightMax
from tvmq.numerics.spec import QuantSpec

# 32767 // 255 = 128, less 1 by which rounding to the nearest may raise a sum of two
MOST = 127


@dataclass(frozen=True)
class WeightLanes:
    """Largest magnitude, or more where sums of two neighbours need it; for symmetric int8, of others as `max`."""

    def thresholds(
        self, weights: np.ndarray, spec: QuantSpec, axis: int | None = None, name: str = ""
    ) -> tuple[np.ndarray, np.ndarray]:
        """See `WeightObserver.thresholds`."""
        low, high = WeightMax().thresholds(weights, spec, axis, name)
        is_depthwise = weights.ndim > 2 and weights.shape[1] == 1
        if not spec.symmetric or spec.dtype != "int8" or weights.ndim < 2 or not weights.size or is_depthwise:
            return low, high
        reach = neighbour_sums(weights, axis if axis is not None else int(weights.ndim == 2))
        high = np.maximum(high, (reach if high.ndim else reach.max()) * (spec.qmax / MOST))
        return -high + 0.0, high


def neighbour_sums(weights: np.ndarray, axis: int) -> np.ndarray:
    """Largest sum of two neighbours of one sign in each channel, float64 [channels].

    weights  (filters, channels, *kernel), or a matrix; neighbours are those of `weight_lines`
    axis     of the output channels; the last one of a matrix (inputs, outputs)

    >>> neighbour_sums(np.float32([[1.0, 2.0, -4.0, 8.0]]), 0)
    array([8.])
    """
    lines = weight_lines(weights, axis)
    pairs = np.pad(lines, ((0, 0), (0, 0), (0, lines.shape[2] % 2))).reshape(len(lines), -1, 2)
    sums = [np.maximum(sign * pairs, 0).sum(axis=2, dtype=np.float64) for sign in (1, -1)]
    return np.maximum(*sums).max(axis=1, initial=0.0)


def weight_lines(weights: np.ndarray, axis: int) -> np.ndarray:
    """The weights of each filter in stretches that lie side by side in memory: [filters, stretches, elements].

    >>> weight_lines(np.zeros((8, 3, 5, 5)), 0).shape, weight_lines(np.zeros((100, 10)), 1).shape
    ((8, 5, 15), (10, 1, 100))
    """
    filters = np.moveaxis(weights, axis, 0)
    lines = filters[:, None] if filters.ndim == 2 else in_memory(filters)
    return lines.reshape(len(lines), -1, int(np.prod(lines.shape[-2:])))


def in_memory(filters: np.ndarray) -> np.ndarray:
    """(filters, channels, *kernel) with the channels of a pixel side by side, and the pixels of a kernel row.

    Slices of a volume are channels (kernels/conv/stack_depth.py).
    """
    if filters.ndim > 4:
        filters = filters.swapaxes(1, 2).reshape(len(filters), -1, *filters.shape[3:])
    return np.moveaxis(filters, 1, -1)
