"""Modules that were tried: made by rules from one calibration, each measured at the model's outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import tvm

from tvmq.errors import TvmqError
from tvmq.graph.ledger import get_ledger
from tvmq.guard.bound import Figure
from tvmq.guard.judge import Judge
from tvmq.rules import Rule
from tvmq.spec import QuantSpec

MOST_TRIALS = 16
WIDE = QuantSpec("int16", 16, symmetric=True)


class Make(Protocol):
    """Makes the integer module under additional rules; reads no data where `quick`, but rounds weights to nearest."""

    def __call__(self, rules: Sequence[Rule], *, quick: bool) -> tvm.IRModule: ...


@dataclass(frozen=True)
class Choice:
    """Layers, by their key in the ledger, of more precision: in float, and reading codes of 16 bits.

    >>> Choice(frozenset({"lv2"})).rules()
    (Rule('lv2', None),)
    """

    floats: frozenset[str] = frozenset()
    wide: frozenset[str] = frozenset()

    def rules(self) -> tuple[Rule, ...]:
        """What makes `quantize` follow it."""
        wide = (Rule(key, activations=WIDE) for key in sorted(self.wide - self.floats))
        return (*wide, *(Rule(key, None) for key in sorted(self.floats)))

    def with_floats(self, keys: Sequence[str]) -> Choice:
        """The same with these in float too."""
        return Choice(self.floats | frozenset(keys), self.wide - frozenset(keys))

    def without(self, keys: Sequence[str]) -> Choice:
        """The same with these in 8 bits."""
        return Choice(self.floats - frozenset(keys), self.wide - frozenset(keys))


@dataclass(frozen=True)
class Trial:
    """A module that was made and measured."""

    choice: Choice
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
    """

    make: Make
    judge: Judge
    most: int = MOST_TRIALS
    tried: int = 0
    advance: Callable[[], None] | None = None
    _known: dict[str, Trial] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        """True if no further module may be tried."""
        return self.tried >= self.most

    def attempt(self, choice: Choice) -> Trial | None:
        """The module of a choice; None where it cannot be made, or enough were tried.

        A choice that changes no decision is not measured again.
        """
        if self.is_over:
            return None
        try:
            module = self.make(choice.rules(), quick=True)
        except TvmqError:  # such as sums of 16 bits that could leave int32
            return None
        decided = _decisions(get_ledger(module).layers)
        if decided not in self._known:
            self.tried += 1
            self._known[decided] = Trial(choice, module, self.judge.figure(module))
            if self.advance is not None:
                self.advance()
        known = self._known[decided]
        return Trial(choice, known.module, known.figure)


def _decisions(layers: Mapping[str, Mapping[str, Any]]) -> str:
    return repr([(key, entry["precision"], entry.get("specs")) for key, entry in layers.items()])
