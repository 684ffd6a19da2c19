"""The error that quantization makes on a tensor, told from its histogram.

Within a bin the values are taken as spread evenly, and the squared error is integrated exactly over that
spread, so that the answer holds for steps wider and narrower than a bin. The values that are 0 have their own
count and no error.
"""

from __future__ import annotations

import numpy as np

from tvmq.errors import ConfigError
from tvmq.observers.histogram_statistics import Histogram
from tvmq.spec import QParams

# A bin this small a part of a step is taken at its middle: the difference of integrals would cancel.
NARROW = 1e-3


def expected_error(histogram: Histogram, qparams: QParams, weights: np.ndarray | None = None) -> float:
    """Mean of (x - dequantize(quantize(x)))^2 over the values of a histogram, optionally weighted.

    qparams  per tensor
    weights  float64 (bins,), not negative: how much an error in each bin matters; None: all the same
    returns  in squared units of x; 0 for an empty histogram

    >>> from tvmq.spec import QuantSpec, choose_qparams
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
    integral = codes / 12 + (edges - codes) ** 3 / 3
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
