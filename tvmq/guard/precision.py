"""A choice of the guard: which layers get more precision, and how much."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

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
