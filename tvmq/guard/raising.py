"""Raise precision until the outputs keep the bound: begin with products alone in 8 bits, then give back.

    1  everything but layers with multiply-accumulates in float: what breaks is nearly always between them
    2  where that is not enough, the first products in float, one, two, four, and so on: the filters of a spectrogram
       stand in front, and what comes behind amplifies their error (codes of 16 bits would cost more time than floats)
    3  back to 8 bits, the most expensive kind of region first, what leaves the outputs as good

Where the bound just holds the steps go on as long as they cost little: networks lose points of their score up to some
30 dB. Each step is measured at the outputs: the error of a layer by itself says little, an ill-conditioned operator
behind it makes more of it. A step stays if it helps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tvmq.guard.bound import AMPLE, Figure, Guard
from tvmq.guard.regions import Part, kinds, part_of, products, regions
from tvmq.guard.trials import Trial, Trials

Layers = Mapping[str, Mapping[str, Any]]
COSTS_NO_ACCURACY = 1.0  # dB
LITTLE_WORK = 0.2  # of the multiply-accumulates may be in float where the bound holds without
WORTH_SECONDS = 0.01  # share of the forecast of all float parts, less is not worth a trial


@dataclass
class Search:
    """What was found.

    before  the module in 8 bits
    best    the best module
    steps   what was tried, for the ledger: text and the figure that came of it
    blamed  parts that stay in more precision, and what the outputs keep with that part in 8 bits
    """

    before: Trial
    best: Trial
    steps: list[tuple[str, Figure]] = field(default_factory=list)
    blamed: list[tuple[Part, Figure]] = field(default_factory=list)

    def note(self, text: str, trial: Trial) -> None:
        """Remember a step, and its module where that is the best one."""
        self.steps.append((text, trial.figure))
        if trial.figure.beats(self.best.figure):
            self.best = trial


def raised(before: Trial, trials: Trials, guard: Guard) -> Search:
    """The search from a module that does not keep the bound; see the head of this file."""
    search = Search(before, before)
    layers = before.layers
    between = [key for keys in regions(layers) for key in keys]
    for text, floats in _steps(between, products(layers)):
        if search.best.figure.holds(guard) and _share(floats, layers) > LITTLE_WORK:
            break
        trial = trials.attempt(floats)
        if trial is not None:
            search.note(text, trial)
        if _is_ample(search.best.figure, guard) or trials.is_over:
            break
    if search.best is not before:
        _give_back(search, layers, trials, guard)
    return search


def _is_ample(figure: Figure, guard: Guard) -> bool:
    """True if there is nothing left to wish for: just above the bound in dB, scores still lose points."""
    return figure.holds(guard) and (guard.metric is not None or figure.sqnr >= guard.sqnr + AMPLE)


def _share(keys: Iterable[str], layers: Layers) -> float:
    """Share of the multiply-accumulates that these layers have."""
    total = sum(entry.get("macs") or 0 for entry in layers.values())
    return sum(layers[key].get("macs") or 0 for key in keys) / max(1, total)


def _steps(between: list[str], heavy: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Ever more layers in float, in words and by their keys."""
    if between:
        yield "only products in 8 bits", between
    count = 1
    while count < len(heavy):
        text = "the first product" if count == 1 else f"the first {count} products"
        yield f"{text} in float too", [*between, *heavy[:count]]
        count *= 2
    yield "all in float", [*between, *heavy]


def _give_back(search: Search, layers: Layers, trials: Trials, guard: Guard) -> None:
    """Put parts back to 8 bits that cost time in float and bring nothing; what stays is to blame."""
    parts = _parts(layers, search.best)
    worth = WORTH_SECONDS * sum(part.seconds for part in parts)
    for part in parts:
        trial = trials.attempt(search.best.floats.difference(part.keys)) if part.seconds >= worth else None
        if trial is None:
            search.blamed.append((part, search.before.figure))
        elif _is_as_good(trial.figure, search.best.figure, guard):
            if trial.module is not search.best.module:  # else it stays float, between others that do
                search.steps.append((f"{part} back to 8 bits", trial.figure))
            search.best = trial
        else:
            search.blamed.append((part, trial.figure))


def _parts(layers: Layers, best: Trial) -> list[Part]:
    """What is in float now, in parts, the most expensive first."""
    found = [part for part in kinds(layers, best.layers) if best.floats.issuperset(part.keys)]
    heavy = [key for key in products(layers) if key in best.floats]
    found += [part_of([key], layers, best.layers) for key in heavy]
    return sorted(found, key=lambda part: -part.seconds)


def _is_as_good(figure: Figure, best: Figure, guard: Guard) -> bool:
    """True if the bound holds and nothing that matters is lost."""
    if guard.metric is not None:
        return figure.holds(guard) or not best.beats(figure)
    if not best.holds(guard):
        return figure.sqnr >= best.sqnr
    return figure.sqnr >= max(guard.sqnr, min(best.sqnr - COSTS_NO_ACCURACY, guard.sqnr + AMPLE))
