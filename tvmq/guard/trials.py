"""Modules that were tried: made by rules from one calibration, each measured at the model's outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import tvm

from tvmq.errors import TvmqError
from tvmq.graph.ledger import get_ledger
from tvmq.guard.bound import Figure
from tvmq.guard.judge import Judge
from tvmq.rules import Rule

MOST_TRIALS = 16


class Make(Protocol):
    """Makes the integer module under additional rules; reads no data where `quick`, but rounds weights to nearest."""

    def __call__(self, rules: Sequence[Rule], *, quick: bool) -> tvm.IRModule: ...


def rules_of(floats: Iterable[str]) -> tuple[Rule, ...]:
    """What makes `quantize` keep layers in float, by their keys in the ledger.

    >>> rules_of({"lv3", "lv2"})
    (Rule('lv2', None), Rule('lv3', None))
    """
    return tuple(Rule(key, None) for key in sorted(floats))


@dataclass(frozen=True)
class Trial:
    """A module that was made and measured, with the keys of the layers that it was told to keep in float."""

    floats: frozenset[str]
    module: tvm.IRModule
    figure: Figure

    @property
    def layers(self) -> dict[str, dict[str, Any]]:
        """Of its ledger."""
        return get_ledger(self.module).layers


@dataclass
class Trials:
    """Makes and measures, at most so many modules.

    make, judge  see there
    most         modules that may be tried
    tried        modules that were
    advance      called after each
    is_late      True if no other one should begin
    """

    make: Make
    judge: Judge
    most: int = MOST_TRIALS
    tried: int = 0
    advance: Callable[[], None] | None = None
    is_late: Callable[[], bool] | None = None
    _known: dict[str, Trial] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        """True if no further module may be tried."""
        return self.tried >= self.most or (self.is_late is not None and self.is_late())

    def attempt(self, floats: Iterable[str]) -> Trial | None:
        """The module with these layers in float; None where it cannot be made, or enough were tried.

        Layers that change no decision are not measured again.
        """
        if self.is_over:
            return None
        try:
            module = self.make(rules_of(floats), quick=True)
        except TvmqError:  # such as values that are not finite where a range is to be chosen
            return None
        decided = _decisions(get_ledger(module).layers)
        if decided not in self._known:
            self.tried += 1
            self._known[decided] = Trial(frozenset(floats), module, self.judge.figure(module))
            if self.advance is not None:
                self.advance()
        known = self._known[decided]
        return Trial(frozenset(floats), known.module, known.figure)


def _decisions(layers: Mapping[str, Mapping[str, Any]]) -> str:
    return repr([(key, entry["precision"], entry.get("specs")) for key, entry in layers.items()])
