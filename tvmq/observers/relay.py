"""Relay's rules for thresholds, from exact samples: what its quantizer would have chosen for the same data.

They want every sample in memory, as Relay did. For streams use the observers percentile and kl_divergence.
"""

from __future__ import annotations

import numpy as np

from tvmq.errors import DataError
from tvmq.numerics.affine import check_finite
from tvmq.observers.base import Range
from tvmq.observers.kl_search import best_half_width
from tvmq.spec import QuantSpec

PERCENTILE = 0.99999
BINS = 8001
LEVELS = 255


def relay_range(threshold: float, spec: QuantSpec) -> Range:
    """The range that gives codes the step threshold / 2^(bits - 1), as Relay's calibration does.

    The threshold itself is one code beyond the highest and saturates.

    >>> relay_range(8.0, QuantSpec("uint8"))
    (-8.0, 7.9375)
    """
    half = 2 ** (spec.bits - 1)
    high = float(threshold) * (half - 1) / half
    return (-high if spec.symmetric else -float(threshold)), high


def relay_percentile(samples: np.ndarray, name: str = "") -> float:
    """The k-th smallest of |samples|, k = int(0.99999 n) counted from 0: the maximum for n up to 100000.

    raises  RangeError for NaN or infinity, DataError where there are no samples

    >>> relay_percentile(np.float32([1, -3, 2]))
    3.0
    """
    magnitudes = np.abs(_checked(samples, name))
    k = int(magnitudes.size * PERCENTILE)
    return float(np.partition(magnitudes, k)[k])


def relay_kl_divergence(samples: np.ndarray, name: str = "") -> float:
    """The threshold of least KL divergence: 8001 bins over +-max|samples|, 255 levels whatever the bits.

    raises  RangeError for NaN or infinity, DataError where there are no samples
    """
    samples = _checked(samples, name)
    edges = _edges(np.abs(samples).max())
    counts, _ = np.histogram(samples, bins=edges)
    return float(edges[BINS // 2 + 1 + best_half_width(counts, LEVELS)])


def _edges(largest: np.float32) -> np.ndarray:
    """8001 equal bins over +-largest (+-0.5 for 0), in float32 as NumPy 2 makes them of float32 data."""
    end = np.float32(largest if largest else 0.5)
    step = (end + end) / np.float32(BINS)
    edges = np.arange(BINS + 1, dtype=np.float32) * step - end
    edges[-1] = end
    return edges


def _checked(samples: np.ndarray, name: str) -> np.ndarray:
    samples = np.asarray(samples, np.float32).ravel()
    if samples.size == 0:
        raise DataError(f"calibrate, tensor {name!r}: no samples; give calibration data")
    check_finite(samples, name)
    return samples
