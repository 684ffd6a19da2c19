"""The search of the guard where outputs are read by their meaning: each choice is an integer module.

    1  a little of the work in float, and what lies between products: the last products, those that no other product
       follows; the first ones; more of the last ones; both. The best choice stays if it keeps the bound, without what
       lies between products where that is as good
    2  half of the work: the last products, then the first ones
    3  all in float

A rehearsal (rehearsal.py) rounds where the integer module would, which ranks choices of classifiers; of detectors, of
which a few boxes decide, it ranks them wrongly: on CenterFace 16 dB where the integer module has 24. A module takes 2
CPU seconds there, a rehearsal 7 and 1 for each choice: weights and statistics of the first module serve all.

Tests: tests/quantization/guard/test_heads.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import tvm

from tvmq.errors import TvmqError
from tvmq.graph.view import View
from tvmq.quantization.guard.bound import Figure, Guard
from tvmq.quantization.guard.raising import HALF_OF_WORK, Search
from tvmq.quantization.guard.regions import heads, part_of, products, regions, share_of_work
from tvmq.quantization.guard.rehearsal import Precision
from tvmq.quantization.guard.trials import Trial

LITTLE_WORK = 0.15  # of the multiply-accumulates: as much may be in float where that brings boxes nearer to float's
NEARLY = 0.5  # dB: of choices that differ by less the cheaper one
MOST_MODULES = 8  # four choices of little work, one without what lies between products, two of half of it, all
Layers = Mapping[str, Mapping[str, Any]]


@dataclass
class ModuleTrials:
    """Integer modules of choices, and their figures.

    make     rules of a choice -> the module
    judge    a module -> its figure
    advance  called after each with `tried` and MOST_MODULES
    is_late  True if no other one should begin
    """

    make: Callable[[Precision], tvm.IRModule]
    judge: Callable[[tvm.IRModule], Figure]
    advance: Callable[[int, int], None] | None = None
    is_late: Callable[[], bool] | None = None
    tried: int = 0
    modules: dict[Precision, tvm.IRModule] = field(default_factory=dict)

    def attempt(self, precision: Precision) -> Trial | None:
        """Try a choice; None where it cannot be made, such as for a range that is not finite, or too late."""
        if self.is_late is not None and self.is_late():
            return None
        self.tried += 1
        try:
            module = self.make(precision)
        except TvmqError:
            return None
        self.modules[precision] = module
        trial = Trial(precision, self.judge(module))
        if self.advance is not None:
            self.advance(self.tried, MOST_MODULES)
        return trial


def raise_heads(layers: Layers, view: View, figure: Figure, trials: ModuleTrials, guard: Guard) -> Search:
    """The search from a module in 8 bits that does not keep the bound; see the head of this file.

    layers  of its ledger
    view    of a module with its variables
    figure  what it keeps
    """
    before = Trial(Precision(), figure)
    search, between = Search(layers, before, before), _between_products(layers)
    little = little_choices(layers, view)
    known = [trial for text, keys in little if (trial := _try(text, [*between, *keys], search, trials))]
    best = max(known, key=lambda trial: trial.figure.sqnr, default=before)
    if best.figure.beats(figure):
        search.best = _without_between(best, between, search, trials, guard)
    for text, keys in () if search.best.figure.holds(guard) else larger_choices(layers, view):
        trial = _try(text, [*between, *keys], search, trials)
        if trial is not None and trial.figure.beats(search.best.figure):
            search.best = trial
        if trial is not None and trial.figure.holds(guard):
            break
    if not search.best.figure.holds(guard):
        trial = _try("all in float", [*between, *products(layers)], search, trials)
        search.best = trial if trial is not None and trial.figure.beats(search.best.figure) else search.best
    floats = search.best.precision.floats
    heavy = [key for key in products(layers) if key in floats]
    for keys in (heavy, sorted(floats.difference(heavy))):
        search.blamed += [(part_of(keys, layers, view), figure)] if keys else []
    return search


def _without_between(
    best: Trial, between: Sequence[str], search: Search, trials: ModuleTrials, guard: Guard
) -> Trial:
    """The choice with what lies between products in 8 bits again, if that is as good."""
    rest = best.precision.floats.difference(between)
    if not between or not rest or not best.figure.holds(guard):
        return best
    trial = _try("what lies between products back to 8 bits", rest, search, trials)
    is_as_good = trial is not None and trial.figure.holds(guard) and trial.figure.sqnr >= best.figure.sqnr - NEARLY
    return trial if trial is not None and is_as_good else best


def _try(text: str, keys: Iterable[str], search: Search, trials: ModuleTrials) -> Trial | None:
    trial = trials.attempt(Precision(frozenset(keys)))
    if trial is not None:
        search.steps.append((text, trial.figure))
    return trial


def little_choices(layers: Layers, view: View) -> list[tuple[str, list[str]]]:
    """Choices of products with little work: words, and which are in float besides what lies between products."""
    last = [keys for keys in heads(layers, view) if share_of_work(keys, layers) <= LITTLE_WORK]
    halves = [keys for keys in last if share_of_work(keys, layers) <= LITTLE_WORK / 2]
    half = halves[-1] if halves else []
    first, rest = _first(layers, LITTLE_WORK), _first(layers, LITTLE_WORK - share_of_work(half, layers))
    choices = [last[0] if last else [], first, last[-1] if last else [], list(dict.fromkeys([*rest, *half]))]
    different = {frozenset(keys): keys for keys in choices}
    return [(_words(keys, first), keys) for keys in different.values()]


def larger_choices(layers: Layers, view: View) -> Iterator[tuple[str, list[str]]]:
    """The last products, then the first ones, as many as have half of the work."""
    last = [keys for keys in heads(layers, view) if LITTLE_WORK < share_of_work(keys, layers) <= HALF_OF_WORK]
    first = _first(layers, HALF_OF_WORK)
    for keys in [*last[-1:], first]:
        if keys:
            yield _words(keys, first), list(keys)


def _first(layers: Layers, most: float) -> list[str]:
    """The first products, as many as have this share of the work at most."""
    heavy = products(layers)
    counts = [count for count in range(len(heavy) + 1) if share_of_work(heavy[:count], layers) <= most]
    return heavy[: counts[-1]]


def _words(keys: Sequence[str], first: Sequence[str]) -> str:
    """
    >>> _words(["a", "b", "z"], ["a", "b", "c"]), _words([], [])
    ('2 of the first and 1 of the last products in float', 'what lies between products in float')
    """
    early = sum(key in first for key in keys)
    parts = [f"{count} of the {place}" for count, place in ((early, "first"), (len(keys) - early, "last")) if count]
    return f"{' and '.join(parts)} products in float" if parts else "what lies between products in float"


def _between_products(layers: Layers) -> list[str]:
    return [key for keys in regions(layers) for key in keys]
