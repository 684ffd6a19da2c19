"""Sums in accumulators of N bits: what wraps, what saturates, and in which order.

A sum that wraps is its true value modulo 2^N, whatever the order. A sum that saturates depends on the order, which is
fixed here: the products of a result are added one by one from 0, kernel position by kernel position (row by row), at
each of them channel by channel, as in memory of the layout NHWC; every step that leaves the accumulator takes its end.
The bias is added last, as one more step. Of a product of matrices the order is that of the common axis, of a mean or
an average that of the memory of its window.

Fast: where no partial sum in any order can leave (all positive products together, all negative ones together), the
exact sum stands; only the others are added step by step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tvmq.errors import ConfigError

OVERFLOWS = ("wrap", "saturate", "proved")
STEPS_AT_ONCE = 2**22  # products that are laid out at a time: 32 MB


@dataclass(frozen=True)
class Accumulator:
    """Two's complement of some bits.

    bits      2..32
    overflow  "wrap" or "saturate"; "proved" says that nothing overflows

    >>> narrow = Accumulator(8, "wrap")
    >>> narrow.fit_values(np.int64([100, 200, -300])).tolist(), narrow.leaves(np.int64([100, 200])).tolist()
    ([100, -56, -44], [False, True])
    """

    bits: int = 32
    overflow: str = "proved"

    def __post_init__(self) -> None:
        if self.overflow not in OVERFLOWS or not 2 <= self.bits <= 32:
            raise ConfigError(
                f"accumulator: takes 2..32 bits and an overflow of {', '.join(OVERFLOWS)}. "
                f"Got {self.bits} bits and {self.overflow!r} instead"
            )

    @property
    def minimum(self) -> int:
        """The lowest number that it holds."""
        return -(2 ** (self.bits - 1))

    @property
    def maximum(self) -> int:
        """The highest."""
        return int(2 ** (self.bits - 1)) - 1

    def leaves(self, values: np.ndarray) -> np.ndarray:
        """Where numbers lie outside of it."""
        return np.asarray((values < self.minimum) | (values > self.maximum))

    def fit_values(self, values: np.ndarray) -> np.ndarray:
        """Numbers after one step: as they are, wrapped, or the nearest end."""
        wide = np.asarray(values, np.int64)
        if self.overflow == "saturate":
            return np.clip(wide, self.minimum, self.maximum)
        return ((wide - self.minimum) & (2**self.bits - 1)) + self.minimum

    def in_steps(self, products: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sums of int64 [results, steps] along the steps, saturated after each; and which of them ever saturated.

        >>> total, left = Accumulator(8, "saturate").in_steps(np.int64([[100, 100, -50], [100, -50, 100]]))
        >>> total.tolist(), left.tolist()
        ([77, 127], [True, True])
        """
        running = np.cumsum(products, axis=1)
        total: np.ndarray = running[:, -1].copy() if products.shape[1] else np.zeros(len(products), np.int64)
        left = np.asarray(self.leaves(running).any(axis=1))
        steps = np.ascontiguousarray(products[left].T)
        slow = np.zeros(steps.shape[1], np.int64)
        for step in steps:
            np.clip(slow + step, self.minimum, self.maximum, out=slow)
        total[left] = slow
        return total, left


def saturating_sums(
    exact: np.ndarray,
    most: np.ndarray,
    least: np.ndarray,
    products: Callable[[tuple[np.ndarray, ...]], np.ndarray],
    accumulator: Accumulator,
) -> tuple[np.ndarray, np.ndarray]:
    """Sums whose order is fixed, and where one of their steps saturated.

    exact        true sums, any shape
    most, least  of the same shape: sums of the positive and of the negative products alone
    products     gives int64 [results, steps] for indices of results, as np.nonzero has them
    """
    total, left = np.asarray(exact, np.int64).copy(), np.zeros(exact.shape, bool)
    open_ones = np.nonzero((most > accumulator.maximum) | (least < accumulator.minimum))
    count = len(open_ones[0]) if open_ones else 0
    at = 0
    rows = 256
    while at < count:
        part = tuple(axis[at : at + rows] for axis in open_ones)
        steps = products(part)
        total[part], left[part] = accumulator.in_steps(steps)
        at += rows
        rows = max(STEPS_AT_ONCE // max(steps.shape[1], 1), 1)
    return total, left
