"""Choices of more precision that were tried, each measured at the model's outputs by a rehearsal.

Tests: tests/quantization/guard/test_guard.py
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from tvmq.quantization.guard.bound import Figure
from tvmq.quantization.guard.rehearsal import Precision, Rehearsal

MOST_TRIALS = 24


@dataclass(frozen=True)
class Trial:
    """A choice, and the figure that came of it."""

    precision: Precision
    figure: Figure


@dataclass
class Trials:
    """Measures choices, at most so many.

    rehearsal  see there
    most       choices that may be tried
    tried      choices that were
    advance    called after each with `tried` and `most`
    is_late    True if no other one should begin
    """

    rehearsal: Rehearsal
    most: int = MOST_TRIALS
    tried: int = 0
    advance: Callable[[int, int], None] | None = None
    is_late: Callable[[], bool] | None = None
    _known: dict[Precision, tuple[Figure, float]] = field(default_factory=dict)  # and below what it need not be exact

    @property
    def is_over(self) -> bool:
        """True if nothing else may be tried."""
        return self.tried >= self.most or (self.is_late is not None and self.is_late())

    def knows(self, precision: Precision) -> bool:
        """True for a choice that was measured."""
        return self.rehearsal.effective_precision(precision) in self._known

    def attempt(self, precision: Precision, least: float = -math.inf) -> Trial | None:
        """Try a choice; None where enough was tried. What changes no rounding is not measured again.

        least  dB below which it is no choice, and its figure need not be exact
        """
        decided = self.rehearsal.effective_precision(precision)
        figure, inexact = self._known.get(decided, (None, math.inf))
        if figure is None or least < inexact:
            if self.is_over:
                return None
            self.tried += 1
            figure = self.rehearsal.figure(decided, least)
            self._known[decided] = figure, least if figure.sqnr < least else -math.inf
            if self.advance is not None:
                self.advance(self.tried, self.most)
        return Trial(precision, figure)
