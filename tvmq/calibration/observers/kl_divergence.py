"""kl_divergence: the threshold that keeps most information, after Relay, from a streamed histogram.

`tvmq.relay.quantize.thresholds.relay_kl_divergence` is Relay's own, from exact samples. Here the bins are ours (2048 to
4095 on the longer side of zero), the levels follow the bits, and only about 512 windows are looked at.

The search of the KL divergence for a threshold, on a histogram that is symmetric about zero.

For each window of 2i + 1 bins about zero, the clipped distribution p (what lies outside is added to the end
bins) is compared with q, the same window with its bins merged into `levels` groups and spread back evenly.
Both are smoothed. The window of least KL(p || q) wins. This is Relay's routine, its quirk included: the first
bin of the window does not count for q, the last one does. Arithmetic is float64; Relay's is float32, and its
thresholds are the same on the table of the tests.

Tests: tests/calibration/observers/test_observers.py
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tvmq.calibration.observers.base import Range, TensorStatistics, usable_range
from tvmq.errors import ConfigError
from tvmq.numerics.spec import QuantSpec

SMOOTHING = 1e-4


def best_half_width(counts: np.ndarray, levels: int, stride: int = 1) -> int:
    """The i whose window, bins zero - i .. zero + i, diverges least; the first of equals.

    counts  of 2 * zero + 1 bins
    levels  number of codes, odd; windows of fewer bins are no candidates
    stride  looks at every stride-th window only, and always at the widest
    returns zero, the whole range, where the histogram has fewer bins than levels

    >>> best_half_width(np.array([0, 0, 0, 0, 1, 2, 9, 2, 1, 0, 0, 0, 0]), levels=3)
    3
    """
    zero = len(counts) // 2
    halves = [*range(levels // 2, zero, stride), zero]
    if len(halves) == 1:
        return zero
    left = np.cumsum(counts)  # counts of bins up to and including each
    divergences = [_divergence(counts, left, half, levels) for half in halves]
    return halves[int(np.argmin(divergences))]


def _divergence(counts: np.ndarray, left: np.ndarray, half: int, levels: int) -> float:
    """KL(p || q) of the window of this half width; infinite where q is empty."""
    first, last = len(counts) // 2 - half, len(counts) // 2 + half
    p = counts[first : last + 1].astype(np.float64)
    window = p.copy()
    window[0] = 0
    p[0] = left[first]
    p[-1] = left[-1] - left[last - 1]
    q = _merged_and_spread(window, p != 0, levels)
    if not q.any():
        return np.inf
    p, q = _smooth(p), _smooth(q)
    return float((p * np.log(p / q)).sum())


def _merged_and_spread(window: np.ndarray, wanted: np.ndarray, levels: int) -> np.ndarray:
    """Sums of `levels` equal groups (the last takes the rest), shared among the wanted bins of each group."""
    size = len(window) // levels
    starts = np.arange(levels) * size
    totals = np.add.reduceat(window, starts)
    filled = np.add.reduceat((window != 0).astype(np.float64), starts)
    shares = np.divide(totals, filled, out=np.zeros(levels), where=filled > 0)
    sizes = np.full(levels, size)
    sizes[-1] = len(window) - starts[-1]
    return np.repeat(shares, sizes) * wanted


def _smooth(distribution: np.ndarray) -> np.ndarray:
    """Zeros raised to a little, which the others give; normalised. At least one bin must not be zero."""
    filled = distribution != 0
    count = int(np.count_nonzero(filled))
    loss = SMOOTHING * (len(distribution) - count) / count
    raised = np.where(filled, distribution - loss, SMOOTHING)
    return raised / raised.sum()


MOST_BINS_EACH_SIDE = 4095


@dataclass(frozen=True)
class KlDivergence:
    """Threshold T of least KL divergence; the range is -T..T, or less where less was seen.

    windows  about how many thresholds are compared
    """

    windows: int = 512
    needs: ClassVar[tuple[str, ...]] = ("histogram",)

    def __post_init__(self) -> None:
        if self.windows < 1:
            raise ConfigError(f"kl_divergence: windows must be at least 1. Got {self.windows} instead")

    def thresholds(self, statistics: TensorStatistics, spec: QuantSpec) -> Range:
        """See `Observer.thresholds`."""
        histogram = statistics.histogram
        low, high = histogram.low, histogram.high
        one_sided = low >= 0 or high <= 0
        # One side of zero alone has all codes of an asymmetric spec: twice the levels of both sides together.
        levels = 2**spec.bits * (2 if one_sided and not spec.symmetric else 1) - 1
        counts, width = histogram.mirror_counts(MOST_BINS_EACH_SIDE)
        if -low > high:  # the search does not treat the two ends alike; a tensor and its negative should be
            counts = counts[::-1]
        half = best_half_width(counts, levels, max(1, len(counts) // 2 // self.windows))
        if half == len(counts) // 2:
            return usable_range(low, high, spec)
        threshold = (half + 1) * width
        return usable_range(max(low, -threshold), min(high, threshold), spec)
