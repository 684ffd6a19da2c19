"""Relay's rules for thresholds: what its quantizer would have chosen for the same data, from exact samples.

Relay kept every sample in memory. Here two readings of the data do, of which the first gives `Extent`, the number of
values and the largest magnitude; `PercentileCount` and `KlCount` then see the values piece by piece and give the
thresholds of all of them at once, whatever the pieces were. `_find_scale_by_kl` is what scripts import from
relay.quantize.kl_divergence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tvmq.errors import ConfigError, DataError
from tvmq.extension import best_half_width, power_above
from tvmq.numerics.affine import check_finite

PERCENTILE = 0.99999
BINS = 8001
LEVELS = 255


def relay_percentile(samples: np.ndarray, name: str = "") -> float:
    """The k-th smallest of |samples|, k = int(0.99999 n) counted from 0: the maximum for n up to 100000.

    raises  RangeError for NaN or infinity, DataError where there are no samples

    >>> relay_percentile(np.float32([1, -3, 2]))
    3.0
    """
    samples = _check_samples(samples, name)
    counted = PercentileCount(Extent().with_values(samples))
    counted.update(samples)
    return counted.threshold()


def relay_kl_divergence(samples: np.ndarray, name: str = "") -> float:
    """The threshold of least KL divergence: 8001 bins over +-max|samples|, 255 levels whatever the bits.

    raises  RangeError for NaN or infinity, DataError where there are no samples
    """
    samples = _check_samples(samples, name)
    counted = KlCount(Extent().with_values(samples))
    counted.update(samples)
    return counted.threshold()


def relay_power2(weights: np.ndarray) -> float:
    """2^ceil(log2 max|weights|), 1 for zeros; exact, where Relay's logarithm overshot some powers from 2^29 on.

    >>> relay_power2(np.float32([0.3, -0.9])), relay_power2(np.float32([0.5])), relay_power2(np.float32([0]))
    (1.0, 0.5, 1.0)
    """
    return float(power_above(np.abs(np.asarray(weights, np.float32)).max(initial=0.0)))


def relay_max(weights: np.ndarray) -> float:
    """max|weights|; 1 for zeros, where Relay divided by zero.

    >>> relay_max(np.float32([0.3, -0.5])), relay_max(np.float32([0]))
    (0.5, 1.0)
    """
    return float(np.abs(np.asarray(weights, np.float32)).max(initial=0.0)) or 1.0


@dataclass(frozen=True)
class Extent:
    """Number of values of a tensor, and the largest magnitude among them."""

    values: int = 0
    largest: float = 0.0

    def with_values(self, samples: np.ndarray, name: str = "") -> Extent:
        """Extent with more values; RangeError for NaN or infinity.

        >>> Extent().with_values(np.float32([1, -3])).with_values(np.float32([2]))
        Extent(values=3, largest=3.0)
        """
        check_finite(samples, name)
        largest = float(np.abs(samples).max(initial=np.float32(0)))
        return Extent(self.values + samples.size, max(self.largest, largest))


class PercentileCount:
    """The largest magnitudes of a tensor of known extent, as many as the percentile needs."""

    def __init__(self, extent: Extent) -> None:
        self._wanted = extent.values - int(extent.values * PERCENTILE)
        self._found = np.zeros(0, np.float32)

    def update(self, samples: np.ndarray) -> None:
        """Add further values."""
        largest = np.concatenate([self._found, np.abs(samples).ravel()])
        first = max(largest.size - self._wanted, 0)
        self._found = np.partition(largest, first)[first:] if first else largest

    def threshold(self) -> float:
        """The k-th smallest of all."""
        return float(self._found.min())


class KlCount:
    """Counts of 8001 bins over +-largest of a tensor of known extent."""

    def __init__(self, extent: Extent) -> None:
        self._edges = _edges(np.float32(extent.largest))
        self._counts = np.zeros(BINS, np.int64)

    def update(self, samples: np.ndarray) -> None:
        """Add further values."""
        self._counts += np.histogram(samples, bins=self._edges)[0]

    def threshold(self) -> float:
        """The edge of the window that diverges least."""
        return float(self._edges[BINS // 2 + 1 + best_half_width(self._counts, LEVELS)])


def _edges(largest: np.float32) -> np.ndarray:
    """8001 equal bins over +-largest (+-0.5 for 0), in float32 as NumPy 2 makes them of float32 data."""
    end = np.float32(largest if largest else 0.5)
    step = (end + end) / np.float32(BINS)
    edges = np.arange(BINS + 1, dtype=np.float32) * step - end
    edges[-1] = end
    return edges


def _check_samples(samples: np.ndarray, name: str) -> np.ndarray:
    samples = np.asarray(samples, np.float32).ravel()
    if samples.size == 0:
        raise DataError(f"calibrate, tensor {name!r}: no samples; give calibration data")
    check_finite(samples, name)
    return samples


def _find_scale_by_kl(
    arr: np.ndarray, quantized_dtype: str = "int8", num_bins: int = BINS, num_quantized_bins: int = LEVELS
) -> float:
    """The threshold of all these samples; float64 samples are rounded to float32 first, where Relay misread them.

    raises  ConfigError for other numbers of bins than Relay's pipeline used, or other codes than int8

    >>> round(_find_scale_by_kl(np.random.RandomState(4).uniform(size=4320).astype("float32")), 9)
    0.997615457
    """
    if (quantized_dtype, num_bins, num_quantized_bins) != ("int8", BINS, LEVELS):
        raise ConfigError(
            f"relay.quantize: the search has {BINS} bins and {LEVELS} levels of int8. Got {num_bins}, "
            f"{num_quantized_bins} and {quantized_dtype!r} instead; use tvmq.extension.best_half_width"
        )
    return relay_kl_divergence(arr)
