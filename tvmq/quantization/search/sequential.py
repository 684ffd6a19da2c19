"""Paired sequential test: two models see the same samples, and a trial ends as soon as it is decided.

The mean difference of n of N paired scores has a standard error s; the drop is decided once it lies more than
BOUND * sqrt(N / n) * s from the bound (O'Brien and Fleming 1979: early looks need more), and by itself when all were
seen. One difference as large as any seen is added to the variance, so that a few equal samples prove nothing.

Tests: tests/quantization/search/test_parts.py
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

BOUND = 2.0
INTERVAL = 1.96  # standard errors, 95 per cent
FIRST = 64  # samples before the first look; each look doubles them


@dataclass(frozen=True)
class Drop:
    """Drop of the mean score against float's.

    mean       in units of the metric
    low, high  ends of the interval of 95 per cent; the mean itself where there is one score for all
    samples    that were seen
    """

    mean: float
    low: float
    high: float
    samples: int


def looks(total: int) -> Iterator[int]:
    """Numbers of samples after which one looks.

    >>> list(looks(300))
    [64, 128, 256, 300]
    """
    count = FIRST
    while count < total:
        yield count
        count *= 2
    yield total


def measure_drop(floats: np.ndarray, scores: np.ndarray) -> Drop:
    """The drop of the first len(scores) samples.

    floats  scores of the float model (samples,)
    scores  of the other one, for the first of these samples

    >>> measure_drop(np.ones(100), np.ones(100)).mean
    0.0
    """
    differences = floats[: len(scores)] - scores
    mean = float(differences.mean())
    if len(scores) < 2:
        return Drop(mean, mean, mean, len(scores))
    width = INTERVAL * _standard_error(floats, differences)
    return Drop(mean, mean - width, mean + width, len(scores))


def is_decided(floats: np.ndarray, scores: np.ndarray, max_drop: float) -> bool:
    """True if more samples would hardly change on which side of the bound the drop lies.

    >>> is_decided(np.ones(1000), np.zeros(64), 0.01), is_decided(np.ones(1000), np.ones(64), 0.01)
    (True, False)
    """
    differences = floats[: len(scores)] - scores
    if len(scores) == len(floats):
        return True
    error = _standard_error(floats, differences)
    return abs(float(differences.mean()) - max_drop) > BOUND * math.sqrt(len(floats) / len(scores)) * error


def _standard_error(floats: np.ndarray, differences: np.ndarray) -> float:
    """Standard error of the mean difference, with one more difference that is as large as any."""
    usual = float(floats.std()) or float(np.abs(floats).max())
    largest = max(float(np.abs(differences).max()), usual)
    squares = float(((differences - differences.mean()) ** 2).sum()) + largest**2
    return math.sqrt(squares) / len(differences)
