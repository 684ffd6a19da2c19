"""Raise precision until the outputs keep the bound: begin with products alone in 8 bits, then give back.

    1  everything but layers with multiply-accumulates in float: what breaks is nearly always between them
    2  where that is not enough, the products make their codes at run time, or the first ones go to float, one, two,
       four, and so on: the filters of a spectrogram stand in front, and what comes behind amplifies their error. The
       cheaper one by forecast is tried first (codes of 16 bits would cost more time than floats)
       before everything goes to float the last products are tried, the head
    3  back to 8 bits what leaves the outputs as good: by halves the last of those first products, then the most
       expensive kind of region first

Where the bound just holds two steps go on, which cost little: codes made at run time, and as many of the first
products as are little work, of which 3 puts back what it can. Networks lose points of their score up to some 30 dB.
Each step is measured at the outputs: the error of a layer by itself says little, an ill-conditioned operator behind it
makes more of it. A step stays if it helps.

Tests: tests/quantization/guard/test_guard.py
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tvmq.graph.view import View
from tvmq.quantization.guard.bound import AMPLE, Figure, Guard
from tvmq.quantization.guard.regions import (
    CODE_MACS,
    Part,
    dynamic_seconds,
    float_seconds,
    heads,
    kinds,
    part_of,
    products,
    regions,
    share_of_work,
)
from tvmq.quantization.guard.rehearsal import Precision
from tvmq.quantization.guard.trials import Trial, Trials

Layers = Mapping[str, Mapping[str, Any]]
COSTS_NO_ACCURACY = 1.0  # dB
HALF_OF_WORK = 0.5  # in float, and the rest is hardly worth its codes
LITTLE_WORK = 0.2  # of the multiply-accumulates may be in float where the bound holds without
WORTH_SECONDS = 0.01  # share of the forecast of all products and float parts, less is not worth a trial
CODES_AT_RUN_TIME = "products by scales made at run time"


@dataclass
class Search:
    """State of the search.

    layers  of the ledger of the module in 8 bits
    before  that module
    best    the best choice
    steps   what was tried, for the ledger: text and the figure that came of it
    blamed  parts that stay in more precision, and what the outputs keep with that part in 8 bits
    highest the best choice before anything was given back
    """

    layers: Layers
    before: Trial
    best: Trial
    steps: list[tuple[str, Figure]] = field(default_factory=list)
    blamed: list[tuple[Part, Figure]] = field(default_factory=list)
    highest: Trial | None = None

    def note(self, text: str, trial: Trial, least: float = -math.inf) -> None:
        """Remember a step, and its choice where that is the best one and has at least so many dB."""
        self.steps.append((text, trial.figure))
        if trial.figure.beats(self.best.figure) and trial.figure.sqnr >= least:
            self.best = trial


def raise_precision(layers: Layers, figure: Figure, trials: Trials, guard: Guard) -> Search:
    """The search from a module that does not keep the bound; see the head of this file.

    layers      of its ledger
    figure      what it keeps
    """
    before = Trial(Precision(), figure)
    search, view = Search(layers, before, before), trials.rehearsal.view
    between = [key for keys in regions(layers) for key in keys]
    steps = list(_steps(between, products(layers), trials.rehearsal.dynamic, layers, view))
    little = _little(steps, layers)

    def steps_with_heads() -> Iterator[tuple[str, Precision]]:
        yield from steps[:-1]
        if not search.best.figure.holds(guard):
            yield from _head_steps(between, layers, view)
        yield from steps[-1:]

    for text, precision in steps_with_heads():
        is_held = search.best.figure.holds(guard)
        if is_held and precision not in little:
            continue
        trial = trials.attempt(precision)
        if trial is not None:
            search.note(text, trial, least=search.best.figure.sqnr + COSTS_NO_ACCURACY if is_held else -math.inf)
        if search.best.figure.is_ample(guard) or trials.is_over:
            break
    search.highest = search.best
    if search.best is not before:
        _give_last_products_back(search, trials, guard)
        _give_back(search, view, trials, guard)
    return search


def _little(steps: Sequence[tuple[str, Precision]], layers: Layers) -> list[Precision]:
    """Steps that the bound does not ask for: scales made at run time, and as many first products as are little work."""
    small = [precision for _, precision in steps if share_of_work(precision.floats, layers) <= LITTLE_WORK]
    floats = [precision for precision in small if not precision.dynamic]
    return [precision for precision in small if precision.dynamic or precision is floats[-1]]


def _steps(
    between: list[str], heavy: list[str], dynamic: Sequence[str], layers: Layers, view: View
) -> Iterator[tuple[str, Precision]]:
    """Steps of increasing precision, in words and by keys; `dynamic` can make their codes at run time."""
    if between:
        yield "only products in 8 bits", Precision(frozenset(between))
    waits = bool(dynamic)
    at_run_time = Precision(frozenset(between), frozenset(dynamic))
    for count in _counts(heavy, layers):
        if waits and dynamic_seconds(dynamic, layers, view) <= float_seconds(heavy[:count], layers, view):
            waits = False
            yield CODES_AT_RUN_TIME, at_run_time
        text = "the first product" if count == 1 else f"the first {count} products"
        yield f"{text} in float too", Precision(frozenset([*between, *heavy[:count]]))
    if waits:
        yield CODES_AT_RUN_TIME, at_run_time
    yield "all in float", Precision(frozenset([*between, *heavy]))


def _head_steps(between: list[str], layers: Layers, view: View) -> Iterator[tuple[str, Precision]]:
    """The last products in float too, as many as have half of the work at most, twice as many from step to step."""
    least = 0
    for keys in heads(layers, view):
        if len(keys) >= max(1, 2 * least) and share_of_work(keys, layers) <= HALF_OF_WORK:
            least = len(keys)
            text = "the last product" if least == 1 else f"the last {least} products"
            yield f"{text} in float too", Precision(frozenset([*between, *keys]))


def _counts(heavy: list[str], layers: Layers) -> list[int]:
    """1, 2, 4 ... of the first products, and as many as have LITTLE_WORK."""
    doubled = [2**power for power in range(len(heavy).bit_length())]
    little = sum(share_of_work(heavy[: count + 1], layers) <= LITTLE_WORK for count in range(len(heavy)))
    return sorted(count for count in {*doubled, little} if 0 < count < len(heavy))


def _give_last_products_back(search: Search, trials: Trials, guard: Guard) -> None:
    """The last of the first products that went to float in one step, as many as do without: by halves."""
    heavy = products(search.layers)
    count = len(search.best.precision.floats.intersection(heavy))
    if not search.best.precision.floats.issuperset(heavy[:count]):
        return
    tried = (n for n in _counts(heavy, search.layers) if trials.knows(search.best.precision.restore(heavy[n:])))
    enough, few = count, max((less for less in tried if less < count), default=0)
    while enough - few > 1 and not trials.is_over:
        middle = (enough + few) // 2
        text = f"the last {enough - middle} of these products back to 8 bits"
        trial = _attempt(search.best.precision.restore(heavy[middle:]), text, search, trials, guard)
        if trial is not None and trial is search.best:
            enough = middle
        else:
            few = middle


def _give_back(search: Search, view: View, trials: Trials, guard: Guard) -> None:
    """Put parts back to 8 bits whose float costs time and gains no accuracy; those that stay are reported."""
    parts = _parts(search.layers, view, search.best.precision)
    macs = sum(entry.get("macs") or 0 for entry in search.layers.values())
    worth = WORTH_SECONDS * (macs / CODE_MACS + sum(part.seconds for part in parts))
    for part in parts:
        _give_part_back(part, search, view, trials, guard, worth)


def _give_part_back(part: Part, search: Search, view: View, trials: Trials, guard: Guard, worth: float) -> None:
    """Put a part, or halves of it, back to 8 bits; products in float get codes made at run time where that does.

    worth  seconds, of fewer nothing is tried
    """
    if part.seconds < worth:
        search.blamed.append((part, search.before.figure))
        return
    trial = _attempt(search.best.precision.restore(part.keys), f"{part} back to 8 bits", search, trials, guard)
    if trial is not None and trial is search.best:
        return
    movable = search.best.precision.floats.intersection(part.keys).intersection(trials.rehearsal.dynamic)
    if movable:
        at_run_time = search.best.precision.at_run_time(movable)
        _attempt(at_run_time, f"{part} by scales made at run time", search, trials, guard)
    # layers of one kind without multiply-accumulates are decided together
    if len(part.keys) > 1 and any(search.layers[key].get("macs") for key in part.keys) and not trials.is_over:
        middle = len(part.keys) // 2
        for keys in (part.keys[:middle], part.keys[middle:]):
            _give_part_back(part_of(keys, search.layers, view), search, view, trials, guard, worth)
        return
    search.blamed.append((part, search.before.figure if trial is None else trial.figure))


def _attempt(precision: Precision, text: str, search: Search, trials: Trials, guard: Guard) -> Trial | None:
    """Try a choice of less precision, which becomes the best one if it is as good."""
    trial, before = trials.attempt(precision, _least_sqnr(search.best.figure, guard)), search.best.precision
    if trial is not None and _is_as_good(trial.figure, search.best.figure, guard):
        if trials.rehearsal.effective_precision(precision) != trials.rehearsal.effective_precision(before):
            search.steps.append((text, trial.figure))  # else it stays float, between others that do
        search.best = trial
    return trial


def _parts(layers: Layers, view: View, precision: Precision) -> list[Part]:
    """Parts that have more precision now, the most expensive first; products are one part."""
    parts = [part for part in kinds(layers, view) if precision.floats.issuperset(part.keys)]
    heavy = [key for key in products(layers) if key in precision.floats | precision.dynamic]
    parts += [part_of(heavy, layers, view)] if heavy else []
    return sorted(parts, key=lambda part: -part.seconds)


def _is_as_good(figure: Figure, best: Figure, guard: Guard) -> bool:
    """True if the bound holds and the figure is not noticeably worse."""
    if guard.metric is not None:
        return figure.holds(guard) or not best.beats(figure)
    return figure.sqnr >= _least_sqnr(best, guard)


def _least_sqnr(best: Figure, guard: Guard) -> float:
    """dB of a figure that is as good; minus infinity where a metric judges."""
    if guard.metric is not None:
        return -math.inf
    if not best.holds(guard):
        return best.sqnr
    return max(guard.sqnr, min(best.sqnr - COSTS_NO_ACCURACY, guard.sqnr + AMPLE))
