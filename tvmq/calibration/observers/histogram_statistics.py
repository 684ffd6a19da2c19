"""A histogram of bounded size whose bins are a function of the data alone, so that shards merge exactly.

Bin t of width w = 2^exponent holds the x with trunc(x / w) == t: [t w, (t + 1) w) above zero, its mirror
image below, and (-w, w) for bin 0. Truncation nests, trunc(trunc(x / w) / 2) == trunc(x / 2w), so two narrow
bins make a wide one exactly. The exponent is the smallest with which all values seen, and 0, span at most
8192 bins: it follows from the extremes alone, not from their order. Values that are exactly 0 are counted
apart: after a ReLU they are many, and they have no quantization error.

Tests: tests/calibration/observers/test_observers.py
"""

from __future__ import annotations

import math

import numpy as np

from tvmq.calibration.observers.samples import as_samples, same_tensor
from tvmq.numerics.affine import check_finite

BINS = 8192
# 2^-exponent has to be a finite float32.
LOWEST_EXPONENT = -126
# Values binned at a time: float32, int32 and int64 copies of them stay in the cache.
BLOCK = 2**16


def count_bins(x: np.ndarray, exponent: int, first: int, last: int) -> np.ndarray:
    """How many of the values of x lie in bins first..last of width 2^exponent; none may lie outside.

    x        float32, any shape; x * 2^-exponent is exact (or underflows to bin 0, where it belongs)
    returns  int64 (last - first + 1,)
    measured 2 ms per million values on one core of an AMD EPYC (Zen 4) in shared use

    >>> count_bins(np.float32([-1.5, -0.5, 0.5, 1.0]), 0, -1, 1).tolist()
    [1, 2, 1]
    """
    flat = x.reshape(-1)
    counts = np.zeros(last - first + 1, np.int64)
    inverse = np.ldexp(np.float32(1), -exponent)
    for start in range(0, flat.size, BLOCK):
        bins = (flat[start : start + BLOCK] * inverse).astype(np.int32)
        if first:
            bins -= np.int32(first)
        counts += np.bincount(bins, minlength=counts.size)
    return counts


class Histogram:
    """Counts of a tensor's values, at most 8192 bins; memory does not depend on the number of values.

    name  of the tensor, for messages

    >>> histogram = Histogram("x")
    >>> histogram.update(np.float32([0, 1, 2, 8191]))
    >>> histogram.width, histogram.counts[:3].tolist(), histogram.zeros
    (1.0, [1, 1, 1], 1)
    """

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.low, self.high = float("inf"), float("-inf")
        self.zeros = 0
        self.exponent = LOWEST_EXPONENT
        self.first = 0
        self.counts = np.zeros(1, np.int64)

    def update(self, x: np.ndarray) -> None:
        """Add the values of x, float32, any shape.

        raises  RangeError for NaN or infinity; nothing is added then
        """
        x = as_samples(x, self.name)
        if x.size == 0:
            return
        low, high = float(x.min()), float(x.max())
        if not (math.isfinite(low) and math.isfinite(high)):
            check_finite(x, self.name)
        self._cover(low, high)
        self.counts = self.counts + count_bins(x, self.exponent, self.first, self.last)
        self.zeros += int(np.count_nonzero(x == 0))

    def _cover(self, low: float, high: float) -> None:
        """Widen range and bins so that low..high fits."""
        self.low, self.high = min(self.low, low + 0.0), max(self.high, high + 0.0)  # + 0.0: no -0
        exponent, first, last = _bins_for(self.low, self.high)
        if (exponent, first, last) != (self.exponent, self.first, self.last):
            self.counts = _rebin(self.counts, self.first, exponent - self.exponent, first, last)
            self.exponent, self.first = exponent, first

    def merge(self, other: Histogram) -> Histogram:
        """Histogram of both together, as a new object."""
        same_tensor(self.name, other.name, True)
        merged = Histogram(self.name)
        for part in (self, other):
            if part.values:
                merged._cover(part.low, part.high)
        for part in (self, other):
            if part.values:
                rise = merged.exponent - part.exponent
                counts = _rebin(part.counts, part.first, rise, merged.first, merged.last)
                merged.counts = merged.counts + counts
        merged.zeros = self.zeros + other.zeros
        return merged

    @property
    def last(self) -> int:
        """Index of the last bin."""
        return self.first + len(self.counts) - 1

    @property
    def width(self) -> float:
        """Width of a bin; bin 0 is twice as wide."""
        return math.ldexp(1.0, self.exponent)

    @property
    def values(self) -> int:
        """Number of values seen."""
        return int(self.counts.sum())

    @property
    def edges(self) -> np.ndarray:
        """Edges of the bins, float64 (bins + 1,), ascending, within low..high; zeros if nothing was seen."""
        bins = np.arange(self.first, self.last + 2, dtype=np.float64)
        edges = (bins - (bins <= 0)) * self.width
        return np.clip(edges, self.low, self.high) if self.low <= self.high else np.zeros(2)

    @property
    def above(self) -> np.ndarray:
        """Counts of the bins 1, 2, ... above bin 0, int64."""
        return self.counts[1 - self.first :]

    @property
    def below(self) -> np.ndarray:
        """Counts of the bins -1, -2, ... below bin 0, int64."""
        return self.counts[: -self.first][::-1]

    @property
    def magnitudes(self) -> np.ndarray:
        """Counts of |x| in bins 0, 1, ..., int64."""
        counts = np.zeros(max(-self.first, self.last) + 1, np.int64)
        counts[0] = self.counts[-self.first]
        counts[1 : self.last + 1] += self.above
        counts[1 : 1 - self.first] += self.below
        return counts

    def mirror_counts(self, most: int) -> tuple[np.ndarray, float]:
        """Counts of bins -m, ..., m with m <= most, merged two by two until they are so few; their width."""
        end = max(-self.first, self.last)
        rise = 0
        while end >> rise > most:
            rise += 1
        end >>= rise
        return _rebin(self.counts, self.first, rise, -end, end), math.ldexp(self.width, rise)

    def to_dict(self) -> dict[str, np.ndarray]:
        """All state as arrays (for np.savez); the name is not part of it."""
        return {
            "bins": np.array([self.exponent, self.first, self.zeros], np.int64),
            "extremes": np.array([self.low, self.high], np.float32),
            "counts": self.counts,
        }

    @classmethod
    def from_dict(cls, fields: dict[str, np.ndarray], name: str = "") -> Histogram:
        """Inverse of `to_dict`."""
        histogram = cls(name)
        histogram.exponent, histogram.first, histogram.zeros = (int(value) for value in fields["bins"])
        histogram.low, histogram.high = (float(extreme) for extreme in fields["extremes"])
        histogram.counts = np.array(fields["counts"], np.int64)
        return histogram


def _bins_for(low: float, high: float) -> tuple[int, int, int]:
    """Exponent, first and last bin for the range low..high and 0."""
    low, high = min(low, 0.0), max(high, 0.0)
    largest = max(-low, high)
    exponent = LOWEST_EXPONENT
    if largest:  # one exponent less, and this side alone would need 8192 bins beside bin 0
        exponent = max(math.frexp(largest)[1] - BINS.bit_length() + 1, LOWEST_EXPONENT)
    while True:
        first, last = math.trunc(math.ldexp(low, -exponent)), math.trunc(math.ldexp(high, -exponent))
        if last - first < BINS:
            return exponent, first, last
        exponent += 1


def _rebin(counts: np.ndarray, old_first: int, rise: int, first: int, last: int) -> np.ndarray:
    """Counts in bins first..last, 2^rise times as wide."""
    old = np.arange(old_first, old_first + len(counts))
    wide = np.sign(old) * (np.abs(old) >> min(rise, 62))
    result = np.zeros(last - first + 1, np.int64)
    np.add.at(result, wide - first, counts)
    return result
