"""Choices of more precision that were tried, each measured at the model's outputs by a rehearsal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tvmq.guard.bound import Figure
from tvmq.guard.rehearsal import Precision, Rehearsal

MOST_TRIALS = 24


@dataclass(frozen=True)
class Trial:
    """What was chosen, and what came of it."""

    precision: Precision
    figure: Figure


@dataclass
class Trials:
    """Measures choices, at most so many.

    rehearsal  see there
    most       choices that may be tried
    tried      choices that were
    advance    called after each
    is_late    True if no other one should begin
    """

    rehearsal: Rehearsal
    most: int = MOST_TRIALS
    tried: int = 0
    advance: Callable[[], None] | None = None
    is_late: Callable[[], bool] | None = None
    _known: dict[Precision, Figure] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        """True if nothing else may be tried."""
        return self.tried >= self.most or (self.is_late is not None and self.is_late())

    def attempt(self, precision: Precision) -> Trial | None:
        """What the outputs keep so; None where enough was tried. What changes no rounding is not measured again."""
        decided = self.rehearsal.decided(precision)
        if decided not in self._known:
            if self.is_over:
                return None
            self.tried += 1
            self._known[decided] = self.rehearsal.figure(decided)
            if self.advance is not None:
                self.advance()
        return Trial(precision, self._known[decided])
