"""The search of the guard where outputs are read by their meaning: each choice is an integer module.

    1  the last products in float, those that no other product follows, then with those before them, as far as they have
       a little of the work; each with and without what lies between products. The best one stays if it keeps the bound
    2  more of the last products, up to half of the work; then the first ones: the first choice that keeps the bound
    3  all in float

A rehearsal (rehearsal.py) rounds where the integer module would, which ranks choices of classifiers; of detectors, of
which a few boxes decide, it ranks them wrongly: on CenterFace 16 dB where the integer module has 24. A module takes 2
CPU seconds there, a rehearsal 7 and 1 for each choice: weights and statistics of the first module serve all.

Tests: tests/quantization/guard/test_heads.py
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import tvm

from tvmq.errors import TvmqError
from tvmq.graph.view import View
from tvmq.quantization.guard.bound import Figure, Guard
from tvmq.quantization.guard.raising import HALF_OF_WORK, Search
from tvmq.quantization.guard.regions import float_seconds, heads, part_of, products, regions, share_of_work
from tvmq.quantization.guard.rehearsal import Precision
from tvmq.quantization.guard.trials import Trial

LITTLE_WORK = 0.15  # of the multiply-accumulates: as much may be in float where that brings boxes nearer to float's
MOST_MODULES = 10
NEARLY = 0.5  # dB: of choices that differ by less the cheaper one
Layers = Mapping[str, Mapping[str, Any]]


@dataclass
class ModuleTrials:
    """Integer modules of choices, and their figures.

    make     rules of a choice -> the module
    judge    a module -> its figure
    advance  called after each
    is_late  True if no other one should begin
    """

    make: Callable[[Precision], tvm.IRModule]
    judge: Callable[[tvm.IRModule], Figure]
    advance: Callable[[], None] | None = None
    is_late: Callable[[], bool] | None = None
    tried: int = 0
    modules: dict[Precision, tvm.IRModule] = field(default_factory=dict)

    def attempt(self, precision: Precision) -> Trial | None:
        """Try a choice; None where it cannot be made, such as for a range that is not finite, or too late."""
        if self.tried >= MOST_MODULES or (self.is_late is not None and self.is_late()):
            return None
        self.tried += 1
        try:
            module = self.make(precision)
        except TvmqError:
            return None
        self.modules[precision] = module
        trial = Trial(precision, self.judge(module))
        if self.advance is not None:
            self.advance()
        return trial


def raise_heads(layers: Layers, view: View, figure: Figure, trials: ModuleTrials, guard: Guard) -> Search:
    """The search from a module in 8 bits that does not keep the bound; see the head of this file.

    layers  of its ledger
    view    of a module with its variables
    figure  what it keeps
    """
    before = Trial(Precision(), figure)
    search = Search(layers, before, before)
    known = [trial for text, choice in little_choices(layers, view) if (trial := _try(text, choice, search, trials))]
    best = max((trial.figure.sqnr for trial in known), default=-math.inf)
    near = [trial for trial in known if trial.figure.sqnr >= best - NEARLY]
    if near and near[0].figure.holds(guard) and near[0].figure.beats(figure):
        search.best = near[0]
    for text, choice in () if search.best.figure.holds(guard) else larger_choices(layers, view):
        trial = _try(text, choice, search, trials)
        if trial is not None and trial.figure.beats(search.best.figure):
            search.best = trial
        if trial is not None and trial.figure.holds(guard):
            break
    if not search.best.figure.holds(guard):
        trials.tried = min(trials.tried, MOST_MODULES - 1)  # the last one is always tried
        trial = _try("all in float", Precision(_all(layers)), search, trials)
        search.best = trial if trial is not None and trial.figure.beats(search.best.figure) else search.best
    floats = search.best.precision.floats
    heavy = [key for key in products(layers) if key in floats]
    for keys in (heavy, sorted(floats.difference(heavy))):
        search.blamed += [(part_of(keys, layers, view), figure)] if keys else []
    return search


def _try(text: str, precision: Precision, search: Search, trials: ModuleTrials) -> Trial | None:
    trial = trials.attempt(precision)
    if trial is not None:
        search.steps.append((text, trial.figure))
    return trial


def little_choices(layers: Layers, view: View) -> list[tuple[str, Precision]]:
    """Choices of little work in float, the cheapest first by forecast: words and precision."""
    between = _between(layers)
    choices = [("what lies between products in float", Precision(frozenset(between)))] if between else []
    for keys in _ladder(layers, view, 0.0, LITTLE_WORK):
        text = _words(keys)
        choices.append((text, Precision(frozenset(keys))))
        if between:
            choices.append((f"{text}, and what lies between products", Precision(frozenset([*between, *keys]))))
    return sorted(choices, key=lambda choice: float_seconds(choice[1].floats, layers, view))


def larger_choices(layers: Layers, view: View) -> Iterator[tuple[str, Precision]]:
    """More of the last products, then the first ones, up to half of the work; nothing between products in 8 bits."""
    between, heavy = _between(layers), products(layers)
    for keys in _ladder(layers, view, LITTLE_WORK, HALF_OF_WORK):
        yield _words(keys), Precision(frozenset([*between, *keys]))
    for count in (2**power for power in range(len(heavy).bit_length())):
        if share_of_work(heavy[:count], layers) <= HALF_OF_WORK and count < len(heavy):
            yield f"the first {count} products in float", Precision(frozenset([*between, *heavy[:count]]))


def _ladder(layers: Layers, view: View, least: float, most: float) -> Iterator[Sequence[str]]:
    """The last products, twice as many from step to step, whose share of the work lies between these bounds."""
    count = 0
    for keys in heads(layers, view):
        if least < share_of_work(keys, layers) <= most and len(keys) >= max(1, 1.5 * count):
            count = len(keys)
            yield keys


def _words(keys: Sequence[str]) -> str:
    return "the last product in float" if len(keys) == 1 else f"the last {len(keys)} products in float"


def _between(layers: Layers) -> list[str]:
    return [key for keys in regions(layers) for key in keys]


def _all(layers: Layers) -> frozenset[str]:
    return frozenset([*_between(layers), *products(layers)])
