"""histogram: the thresholds of least squared error on the tensor itself, low and high clipped independently.

Search
    1. A grid of clipped ranges, refined three times about its best point, is ranked by an estimate that costs
       a few operations a candidate (prefix sums over the bins): squares clipped away, squares of what rounds
       to 0, and step^2 / 12 for every other value. The best of each round go on.
    2. They are judged by `expected_error`.
    3. The ends of the best are moved by ever smaller steps as long as that lowers `expected_error`.
    4. The whole range stays unless the gain is more than 0.1 %: nothing is clipped for nothing.
So the result is never worse, by `expected_error`, than minmax on the same histogram.

The error that quantization makes on a tensor, told from its histogram.

Within a bin the values are taken as spread evenly, and the squared error is integrated exactly over that
spread, so that the answer holds for steps wider and narrower than a bin. The values that are 0 have their own
count and no error.

Tests: tests/calibration/observers/test_histogram_observer.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np

from tvmq.calibration.observers.base import LEAST_GAIN, Range, TensorStatistics, usable_range
from tvmq.calibration.observers.histogram_statistics import Histogram
from tvmq.errors import ConfigError
from tvmq.numerics.spec import QParams, QuantSpec, choose_qparams

# A bin this small a part of a step is taken at its middle: the difference of integrals would cancel.
NARROW = 1e-3


def expected_error(histogram: Histogram, qparams: QParams, weights: np.ndarray | None = None) -> float:
    """Mean of (x - dequantize(quantize(x)))^2 over the values of a histogram, optionally weighted.

    qparams  per tensor
    weights  float64 (bins,), not negative: how much an error in each bin matters; None: all the same
    returns  in squared units of x; 0 for an empty histogram

    >>> from tvmq.numerics.spec import QuantSpec, choose_qparams
    >>> histogram = Histogram("x")
    >>> histogram.update(np.linspace(0, 255, 100001, dtype=np.float32))
    >>> round(expected_error(histogram, choose_qparams(0.0, 255.0, QuantSpec("uint8"))), 4)  # step^2 / 12
    0.0833
    """
    return ErrorModel(histogram, weights).error(qparams)


class ErrorModel:
    """`expected_error` of one histogram, prepared for many QParams."""

    def __init__(self, histogram: Histogram, weights: np.ndarray | None = None) -> None:
        counts = histogram.counts.astype(np.float64)
        ones = np.ones(counts.shape) if weights is None else _checked_weights(weights, counts.shape)
        self.edges = histogram.edges
        self.total = float((counts * ones).sum())
        counts[-histogram.first] -= histogram.zeros
        self.counts = counts * ones

    def error(self, qparams: QParams) -> float:
        """See `expected_error`; ConfigError for QParams with channels."""
        if qparams.axis is not None:
            raise ConfigError("expected_error: one scale is needed; a histogram knows no channels")
        if self.total == 0:
            return 0.0
        scale, zero_point = float(qparams.scale), int(qparams.zero_point)
        lowest, highest = qparams.spec.qmin - zero_point, qparams.spec.qmax - zero_point
        errors = _bin_errors(self.edges / scale, lowest, highest)
        # NumPy's pairwise sum: its order follows from the number of bins alone.
        return float((self.counts * errors).sum() / self.total * scale * scale)


def _bin_errors(edges: np.ndarray, lowest: int, highest: int) -> np.ndarray:
    """Mean squared error between neighbouring edges, in steps; codes are the integers lowest..highest."""
    codes = np.clip(np.rint(edges), lowest, highest)
    # Antiderivative of the squared error: 1/12 for each code passed, and the cube of the rest.
    rest = edges - codes
    integral = codes / 12 + rest * rest * rest / 3  # a power of 3 takes ten times as long
    width = np.diff(edges)
    narrow = width <= NARROW
    errors = np.diff(integral) / np.where(narrow, 1.0, width)
    middle = (edges[:-1][narrow] + edges[1:][narrow]) / 2
    errors[narrow] = (middle - np.clip(np.rint(middle), lowest, highest)) ** 2
    return errors


def _checked_weights(weights: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    if weights.shape != shape or not (np.isfinite(weights) & (weights >= 0)).all():
        raise ConfigError(
            f"expected_error: weights must be finite, not negative and of shape {shape}. "
            f"Got shape {weights.shape} instead"
        )
    return weights


@dataclass(frozen=True)
class LeastSquares:
    """Range of least mean squared error over the histogram.

    grid       steps of the grid for each end
    rounds     how often the grid is laid, each time about the best point of the last
    finalists  how many candidates of each round are judged by their true error
    """

    grid: int = 40
    rounds: int = 4
    finalists: int = 3
    needs: ClassVar[tuple[str, ...]] = ("histogram",)

    def __post_init__(self) -> None:
        for field, least in (("grid", 2), ("rounds", 1), ("finalists", 1)):
            value = getattr(self, field)
            if value < least:
                raise ConfigError(f"histogram: {field} must be at least {least}. Got {value} instead")

    def thresholds(self, statistics: TensorStatistics, spec: QuantSpec) -> Range:
        """See `Observer.thresholds`."""
        histogram = statistics.histogram
        model = ErrorModel(histogram)

        @cache  # the search comes back to where it was
        def error(ends: Range) -> float:
            return model.error(choose_qparams(*ends, spec))

        whole = usable_range(histogram.low, histogram.high, spec)
        best = min([whole, *self._candidates(histogram, whole, spec)], key=error)
        best = _descend(best, whole, error, spec.symmetric, self.grid)
        return best if error(best) < error(whole) * (1 - LEAST_GAIN) else whole

    def _candidates(self, histogram: Histogram, whole: Range, spec: QuantSpec) -> list[Range]:
        """Clipped ranges of least estimated error from each round."""
        estimate = _Estimate(histogram, spec)
        ranges: list[Range] = []
        lows, highs = (whole[0], 0.0), (0.0, whole[1])
        for _ in range(self.rounds):
            low, high = _grid(lows, highs, self.grid, spec.symmetric)
            order = np.argsort(estimate(low, high), kind="stable")[: self.finalists]
            ranges += [(float(low[i]), float(high[i])) for i in order]
            lows = _range_around(lows, float(low[order[0]]), self.grid)
            highs = _range_around(highs, float(high[order[0]]), self.grid)
        return ranges


def _descend(start: Range, whole: Range, error: Callable[[Range], float], symmetric: bool, grid: int) -> Range:
    """Move one end at a time within the whole range, by a half, a quarter, ... of a step of the grid."""
    best, least = start, error(start)
    span = whole[1] if symmetric else whole[1] - whole[0]
    for step in [span / grid / 2**i for i in range(6)]:
        one_end = [(-step, 0.0), (step, 0.0), (0.0, step), (0.0, -step)]
        for to_low, to_high in [(-step, step), (step, -step)] if symmetric else one_end:
            ends = max(whole[0], min(0.0, best[0] + to_low)), min(whole[1], max(0.0, best[1] + to_high))
            if ends != best and error(ends) < least:
                best, least = ends, error(ends)
    return best


class _Estimate:
    """Estimated sum of squared errors of many ranges at once."""

    def __init__(self, histogram: Histogram, spec: QuantSpec) -> None:
        self.below = _Tail(histogram.below, histogram.width)
        self.above = _Tail(histogram.above, histogram.width)
        self.steps = spec.qmax - spec.qmin
        self.width = histogram.width
        self.near_zero = int(histogram.counts[-histogram.first]) - histogram.zeros

    def __call__(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        step = (high - low) / self.steps
        errors = self.near_zero * np.minimum(step**2 / 12, self.width**2 / 3)
        for tail, end in ((self.below, -low), (self.above, high)):
            lost, _, lost_squares = tail.sums_beyond(end)
            far, _, far_squares = tail.sums_beyond(np.minimum(step / 2, end))
            errors = errors + tail.clipping_error(end) + (tail.squares - far_squares) + step**2 / 12 * (far - lost)
        return errors


class _Tail:
    """The values on one side of zero: moments of those beyond a threshold, from prefix sums over the bins."""

    def __init__(self, counts: np.ndarray, width: float) -> None:
        """`counts` of the bins 1, 2, ... away from zero, each `width` wide."""
        self.middles = (np.arange(len(counts)) + 1.5) * width
        moments = counts * self.middles ** np.arange(3)[:, None]
        suffixes = np.cumsum(moments[:, ::-1], axis=1)[:, ::-1]
        self.suffixes = np.concatenate([suffixes, np.zeros((3, 1))], axis=1)
        self.squares = self.suffixes[2, 0]

    def sums_beyond(self, threshold: np.ndarray) -> np.ndarray:
        """Count, sum and sum of squares (3, n) of the values beyond each threshold >= 0."""
        return self.suffixes[:, np.searchsorted(self.middles, threshold)]

    def clipping_error(self, threshold: np.ndarray) -> np.ndarray:
        """Sum of (value - threshold)^2 over the values beyond each threshold."""
        count, total, squares = self.sums_beyond(threshold)
        return np.maximum(squares - 2 * threshold * total + threshold**2 * count, 0)


def _grid(lows: Range, highs: Range, steps: int, symmetric: bool) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of a low and a high, flat; for a symmetric spec only low == -high."""
    high = np.linspace(*highs, steps + 1)
    if symmetric:
        return -high, high
    low_pairs, high_pairs = np.meshgrid(np.linspace(*lows, steps + 1), high)
    return low_pairs.ravel(), high_pairs.ravel()


def _range_around(ends: Range, best: float, steps: int) -> Range:
    """Range from one step of the grid below its best point to one above, within the grid."""
    step = (ends[1] - ends[0]) / steps
    return max(ends[0], best - step), min(ends[1], best + step)
