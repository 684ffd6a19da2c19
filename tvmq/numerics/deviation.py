"""How far one tensor is from another, summed up over a stream of samples.

Tests: tests/tools/analysis/test_compare.py
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tvmq.numerics.gemm import multiply_matrices


@dataclass(frozen=True)
class Figures:
    """How far b is from a, over all values that were seen.

    sqnr     signal to noise, 10 log10(sum a^2 / sum (a - b)^2), dB; infinite where nothing differs
    cosine   sum ab / sqrt(sum a^2 sum b^2); 1 where nothing differs
    mse      mean of (a - b)^2
    largest  largest |a - b|, in units of the tensor
    lsb      largest |a - b| in steps of the integer codes; None where neither side has codes
    values   how many values were compared
    """

    sqnr: float
    cosine: float
    mse: float
    largest: float
    lsb: float | None
    values: int

    def to_dict(self) -> dict[str, Any]:
        """Fields as JSON can hold them."""
        return asdict(self)


class Deviation:
    """Sums over a stream of pairs; memory does not grow with them.

    step    size of one code: a number, or an array that fits the tensor; None without codes

    Sums are made in float64. Values that are equal and not finite (both infinite, both NaN) count as equal; one that
    is not finite on one side only makes the error infinite.

    >>> deviation = Deviation(step=0.5)
    >>> deviation.add(np.float32([3.0, 4.0]), np.float32([3.0, 4.5]))
    >>> figures = deviation.figures()
    >>> figures.sqnr, figures.mse, figures.lsb
    (20.0, 0.125, 1.0)
    """

    def __init__(self, step: Any = None) -> None:
        self.step = step
        self._aa = self._bb = self._ab = self._noise = 0.0
        self._largest = self._lsb = 0.0
        self._values = 0

    def add(self, a: np.ndarray, b: np.ndarray) -> None:
        """Take in a pair of arrays of one shape."""
        self._values += a.size
        if not a.size:
            return
        x, y = a.astype(np.float64), b.astype(np.float64)
        with np.errstate(invalid="ignore"):
            difference = x - y
        if not np.isfinite(difference).all():
            x, y, difference = _mask_non_finite(x, y, difference)
        flat = [array.ravel() for array in (x, y, difference)]
        self._aa += float(multiply_matrices(flat[0], flat[0]))
        self._bb += float(multiply_matrices(flat[1], flat[1]))
        self._ab += float(multiply_matrices(flat[0], flat[1]))
        self._noise += float(multiply_matrices(flat[2], flat[2]))
        magnitude = np.abs(difference)
        self._largest = max(self._largest, float(magnitude.max()))
        if self.step is not None:
            self._lsb = max(self._lsb, float((magnitude / self.step).max()))

    def figures(self) -> Figures:
        """Figures of all values so far."""
        return Figures(
            _decibels(self._aa, self._noise),
            1.0 if self._noise == 0.0 else _cosine(self._aa, self._bb, self._ab),
            self._noise / self._values if self._values else 0.0,
            self._largest,
            None if self.step is None else self._lsb,
            self._values,
        )


def _mask_non_finite(x: np.ndarray, y: np.ndarray, difference: np.ndarray) -> tuple[np.ndarray, ...]:
    """Set values that are not finite on both sides alike to 0, and other such errors to infinity."""
    finite = np.isfinite(x) & np.isfinite(y)
    equal = (x == y) | (np.isnan(x) & np.isnan(y))
    difference = np.where(equal, 0.0, np.where(finite, difference, np.inf))
    return np.where(finite, x, 0.0), np.where(finite, y, 0.0), difference


def _decibels(signal: float, noise: float) -> float:
    if noise == 0.0:
        return math.inf
    return 10 * math.log10(signal / noise) if 0.0 < signal and noise < math.inf else -math.inf


def _cosine(aa: float, bb: float, ab: float) -> float:
    if aa == 0.0 or bb == 0.0:
        return 1.0 if aa == bb else 0.0
    return ab / (math.sqrt(aa) * math.sqrt(bb))


def unequal_bits(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where two arrays differ: 0.0 and -0.0 do, any two NaN do not; everywhere if shape or type differ.

    >>> unequal_bits(np.float32([0.0, np.nan, 1.0]), np.float32([-0.0, np.nan, 1.0]))
    array([ True, False, False])
    """
    if a.shape != b.shape or a.dtype != b.dtype:
        return np.ones(a.shape, bool)
    if a.dtype.kind != "f":
        return np.asarray(a != b)
    bits = np.dtype(f"u{a.dtype.itemsize}")
    differ = a.copy().view(bits) != b.copy().view(bits)  # a copy is contiguous, as view() needs it
    return np.asarray(differ & ~(np.isnan(a) & np.isnan(b)))
