"""The search of the guard where outputs are read by their meaning: each choice is an integer module.

    1  a little of the work in float, and what lies between products: the last products, those that no other product
       follows; the first ones; more of the last ones; both. The best choice stays if it keeps the bound, without what
       lies between products where that is as good; of a choice that exceeds the bound clearly no other is tried
    2  all depthwise convolutions in float where they are little work, alone and with the first products: each of their
       values is a sum of few products, in which a rounding of what they read is hardly averaged, and in pages of one
       colour not at all. Tried below 5 dB above the bound, up to 8. Where none keeps it, the choices of 1 again with
       channels of one size between convolutions, which takes as long as to quantize
    3  a quarter of the work, half of it, then 70 %: products of both ends, the last ones, the first ones
    4  all in float

The last products are hardly any work in most detectors, and decide what all the others were for: where that holds they
are float in every choice.

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
from tvmq.quantization.guard.bound import AMPLE, Figure, Guard
from tvmq.quantization.guard.raising import HALF_OF_WORK, Search
from tvmq.quantization.guard.regions import depthwise, heads, part_of, products, regions, share_of_work
from tvmq.quantization.guard.rehearsal import Precision
from tvmq.quantization.guard.trials import Trial

LITTLE_WORK = 0.15  # of the multiply-accumulates: as much may be in float where that brings boxes nearer to float's
HARDLY_ANY_WORK = 0.01
LARGER_WORK = (0.25, HALF_OF_WORK, 0.7)  # less than a third in 8 bits is hardly faster than float
HALF, MOST = 0.5, 0.8  # of AMPLE: below half, depthwise convolutions are tried; with them, up to most of it
EQUALIZED = "with equalization"
NEARLY = 0.5  # dB: of choices that differ by less the cheaper one
# Four choices of little work and those of them that are tried again, twice one without what lies between products,
# three of depthwise convolutions, nine of more work, all
MOST_MODULES = 23
Layers = Mapping[str, Mapping[str, Any]]


@dataclass
class Counter:
    """Count of the modules that were tried, over all searches of a model.

    advance  called after each with `tried` and MOST_MODULES
    """

    advance: Callable[[int, int], None] | None = None
    tried: int = 0

    def report(self) -> None:
        """Tell how many were tried."""
        if self.advance is not None:
            self.advance(self.tried, MOST_MODULES)


@dataclass
class ModuleTrials:
    """Integer modules of choices, and their figures.

    make     rules of a choice -> the module
    judge    a module -> its figure
    counter  counts them
    is_late  True if no other one should begin
    """

    make: Callable[[Precision], tvm.IRModule]
    judge: Callable[[tvm.IRModule], Figure]
    counter: Counter = field(default_factory=Counter)
    is_late: Callable[[], bool] | None = None
    modules: dict[Precision, tvm.IRModule] = field(default_factory=dict)

    def attempt(self, precision: Precision) -> Trial | None:
        """Try a choice; None where it cannot be made, such as for a range that is not finite, or too late."""
        if self.is_late is not None and self.is_late():
            return None
        self.counter.tried += 1
        try:
            self.modules[precision] = self.make(precision)
        except TvmqError:
            return None
        trial = Trial(precision, self.judge(self.modules[precision]))
        self.counter.report()
        return trial


def begin_search(layers: Layers, figure: Figure, before: Search | None = None) -> Search:
    """The search from a module in 8 bits that does not keep the bound.

    layers  of its ledger
    figure  what it keeps
    before  search from the module without equalization, whose steps are told as well
    """
    start = Trial(Precision(), figure)
    if before is None:
        return Search(layers, start, start)
    return Search(layers, before.before, start, [*before.steps, (EQUALIZED, figure)])


def raise_little(
    search: Search, view: View, trials: ModuleTrials, guard: Guard, first: Precision | None = None
) -> list[Trial]:
    """Try the choices of little work; the best one is that of the search where it is better.

    view   of a module with its variables
    first  tried before the others, which are left out where it keeps the bound
    """
    between = _between_products(search.layers)
    choices = [one for one in little_choices(search.layers, view) if one[1] or between]
    known: list[Trial] = []
    if first is not None:
        choices.sort(key=lambda one: first.floats.symmetric_difference([*between, *one[1]]) != frozenset())
    for text, keys in choices:
        trial = _try(text, [*between, *keys], search, trials)
        if trial is None:
            continue
        known.append(trial)
        if trial.figure.is_ample(guard) or (first is not None and trial.figure.holds(guard)):
            break
    best = max(known, key=lambda trial: trial.figure.sqnr, default=search.before)
    if best.figure.beats(search.best.figure):
        search.best = _without_between(best, between, search, trials, guard)
    return known


def raise_depthwise(search: Search, view: View, trials: ModuleTrials, guard: Guard) -> None:
    """Try choices with all depthwise convolutions in float where no other is half as good as what is aimed at.

    More of the first products go with them, until that brings no more than NEARLY or is nearly what is aimed at.
    """
    if _is_ample_by(HALF, search.best.figure, guard):
        return
    between = _between_products(search.layers)
    for text, keys in depthwise_choices(search.layers, view):
        if _is_ample_by(MOST, search.best.figure, guard):
            break
        trial = _try(text, [*between, *keys], search, trials)
        if trial is not None and trial.figure.beats(search.best.figure):
            is_better = not search.best.figure.holds(guard) or trial.figure.sqnr > search.best.figure.sqnr + NEARLY
            search.best = trial if is_better else search.best


def _is_ample_by(part: float, figure: Figure, guard: Guard) -> bool:
    """True from this part of what is aimed at above the bound."""
    return figure.holds(guard) and (guard.metric is not None or figure.sqnr >= guard.sqnr + part * AMPLE)


def raise_more(search: Search, view: View, trials: ModuleTrials, guard: Guard) -> None:
    """Try choices of more work until one keeps the bound, all in float at last, and name the layers to blame."""
    layers, between = search.layers, _between_products(search.layers)
    filters = depthwise(layers, view)
    beside = filters if search.best.precision.floats.issuperset(filters) else []
    for text, keys in () if search.best.figure.holds(guard) else larger_choices(layers, view):
        words = f"{text}, and all depthwise convolutions" if beside else text
        trial = _try(words, [*between, *dict.fromkeys([*keys, *beside])], search, trials)
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
        search.blamed += [(part_of(keys, layers, view), search.before.figure)] if keys else []


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
    ends = heads(layers, view)
    last = [keys for keys in ends if share_of_work(keys, layers) <= LITTLE_WORK]
    halves = [keys for keys in last if share_of_work(keys, layers) <= LITTLE_WORK / 2]
    half, final = halves[-1] if halves else [], _final(ends, layers)
    first, rest = _first(layers, LITTLE_WORK, final), _first(layers, LITTLE_WORK, half)
    choices = [last[0] if last else [], first, last[-1] if last else [], rest]
    different = {frozenset(keys): keys for keys in choices}
    return [(_words(keys, _first(layers, LITTLE_WORK)), keys) for keys in different.values()]


def depthwise_choices(layers: Layers, view: View) -> Iterator[tuple[str, list[str]]]:
    """Depthwise convolutions alone, then with the first products, up to LITTLE_WORK and to a quarter of the work."""
    filters = depthwise(layers, view)
    if not filters or share_of_work(filters, layers) > LITTLE_WORK:
        return
    seen = set[frozenset[str]]()
    for most in (0.0, LITTLE_WORK, LARGER_WORK[0]):
        keys = _first(layers, most, filters)
        if frozenset(keys) not in seen:
            seen.add(frozenset(keys))
            count = len(keys) - len(filters)
            others = f" and {count} of the first products" if count else ""
            yield f"{len(filters)} depthwise convolutions{others} in float", keys


def larger_choices(layers: Layers, view: View) -> Iterator[tuple[str, list[str]]]:
    """Products of both ends, the last and the first ones, as many as have these shares of the work."""
    ends, seen = heads(layers, view), {frozenset(keys) for _, keys in little_choices(layers, view)}
    for most in LARGER_WORK:
        last = [keys for keys in ends if LITTLE_WORK < share_of_work(keys, layers) <= most]
        half = [keys for keys in ends if share_of_work(keys, layers) <= most / 2]
        both = _first(layers, most, half[-1]) if half else []
        for keys in [both, *last[-1:], _first(layers, most, _final(ends, layers))]:
            if keys and frozenset(keys) not in seen:
                seen.add(frozenset(keys))
                yield _words(keys, _first(layers, most)), list(keys)


def _final(ends: Sequence[Sequence[str]], layers: Layers) -> Sequence[str]:
    """The products that no other follows, where these are hardly any work."""
    return ends[0] if ends and share_of_work(ends[0], layers) <= HARDLY_ANY_WORK else []


def _first(layers: Layers, most: float, beside: Sequence[str] = ()) -> list[str]:
    """The first products, as many as have this share of the work at most, and those beside, which count too."""
    heavy = products(layers)
    whole = [list(dict.fromkeys([*heavy[:count], *beside])) for count in range(len(heavy) + 1)]
    return [keys for keys in whole if share_of_work(keys, layers) <= most or keys == list(beside)][-1]


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
