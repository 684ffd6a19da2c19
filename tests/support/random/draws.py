"""Random choices of the generators of networks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

Value = TypeVar("Value")


class Draws:
    """Choices that a seed decides."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def chance(self, probability: float) -> bool:
        return bool(self.random.random() < probability)

    def integer(self, low: int, high: int) -> int:
        """Uniform in low..high, both included."""
        return int(self.random.integers(low, high + 1))

    def pick(self, values: Sequence[Value]) -> Value:
        return values[self.integer(0, len(values) - 1)]
