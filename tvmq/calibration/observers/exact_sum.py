"""Sums of scaled integers without rounding, so that no order of adding and no grouping can change a bit.

A float32 is an integer times a power of two. Integers of one exponent are added in int64; one array of totals
is kept for each exponent that occurs. Integer addition is associative, so shards may be merged in any way.
Rounding happens once, when the mean is asked for.

Tests: tests/calibration/observers/test_statistics.py
"""

from __future__ import annotations

import numpy as np

# Callers hold |integer| to 2^28, so that 2^35 of them fit int64.
INTEGER_BITS = 28
MOST_TERMS = 2**35


class ExactSum:
    """Sum of integers[i] * 2^exponents[i], each an array of `shape`.

    >>> total = ExactSum()
    >>> total.add_floats(np.float32([1e30, 1.0, -1e30]))
    >>> float(total.mean(1))
    1.0
    """

    def __init__(self, shape: tuple[int, ...] = ()) -> None:
        self.shape = shape
        self._totals: dict[int, np.ndarray] = {}

    def add(self, integers: np.ndarray, exponents: np.ndarray) -> None:
        """Add integers, int64 (n, *shape) below 2^28 each or sums of such, times 2^exponents, int (n,)."""
        for exponent in np.unique(exponents):
            self._add_total(int(exponent), integers[exponents == exponent].sum(axis=0, dtype=np.int64))

    def add_floats(self, values: np.ndarray) -> None:
        """Add values, finite float32 (n,), to a sum of shape ()."""
        mantissas, exponents = np.frexp(np.asarray(values, np.float32))
        self.add((mantissas * np.float32(2**24)).astype(np.int64), exponents - 24)

    def merge(self, other: ExactSum) -> ExactSum:
        """The sum of both, as a new object."""
        merged = ExactSum(self.shape)
        for part in (self, other):
            for exponent, total in part._totals.items():
                merged._add_total(exponent, total)
        return merged

    def _add_total(self, exponent: int, total: np.ndarray) -> None:
        self._totals[exponent] = self._totals.get(exponent, np.zeros(self.shape, np.int64)) + total

    def mean(self, count: int) -> np.ndarray:
        """Sum / count, float64 of `shape`, rounded once; zeros where nothing was added."""
        if not self._totals or count == 0:
            return np.zeros(self.shape, np.float64)
        lowest = min(self._totals)
        exact = np.zeros(self.shape, object)
        for exponent, total in self._totals.items():
            exact = exact + total.astype(object) * 2 ** (exponent - lowest)
        # Python divides integers of any length with one rounding.
        numerator, denominator = 2 ** max(lowest, 0), count * 2 ** max(-lowest, 0)
        means = [int(total) * numerator / denominator for total in np.ravel(exact)]
        return np.array(means, np.float64).reshape(self.shape)

    def to_dict(self) -> dict[str, np.ndarray]:
        """Arrays `exponents`, int32 (e,), ascending, and `totals`, int64 (e, *shape)."""
        exponents = sorted(self._totals)
        totals = np.array([self._totals[exponent] for exponent in exponents], np.int64)
        return {"exponents": np.array(exponents, np.int32), "totals": totals.reshape(-1, *self.shape)}

    @classmethod
    def from_dict(cls, fields: dict[str, np.ndarray]) -> ExactSum:
        """Inverse of `to_dict`."""
        totals = np.asarray(fields["totals"], np.int64)
        exact_sum = cls(totals.shape[1:])
        exact_sum._totals = {int(e): total.copy() for e, total in zip(fields["exponents"], totals, strict=True)}
        return exact_sum
