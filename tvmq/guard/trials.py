"""Choices of more precision that were tried, each measured at the model's outputs by a rehearsal.

A choice of the guard: which layers get more precision, and how much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tvmq.guard.bound import Figure
from tvmq.guard.rehearsal import Rehearsal
from tvmq.rules import Rule


@dataclass(frozen=True)
class Precision:
    """Layers of more precision than 8 bits with calibrated scales, by their keys in the ledger.

    floats   stay float
    dynamic  convolutions and products whose codes are made at run time

    >>> Precision(frozenset(["lv3", "lv2"]), frozenset(["lv1"])).rules()
    (Rule('lv2', None), Rule('lv3', None), Rule('lv1', activations='dynamic'))
    """

    floats: frozenset[str] = frozenset()
    dynamic: frozenset[str] = frozenset()

    def rules(self) -> tuple[Rule, ...]:
        """What makes `quantize` do so."""
        floats = [Rule(key, None) for key in sorted(self.floats)]
        return (*floats, *(Rule(key, activations="dynamic") for key in sorted(self.dynamic)))

    def back(self, keys: Iterable[str]) -> Precision:
        """With these layers in 8 bits again."""
        return Precision(self.floats.difference(keys), self.dynamic.difference(keys))

    def at_run_time(self, keys: Iterable[str]) -> Precision:
        """With these layers by scales made at run time, no longer in float."""
        return Precision(self.floats.difference(keys), self.dynamic.union(keys))


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
