"""The guard of `quantize`: the integer module is run beside the float one, and mended where 8 bits cannot hold it.

    bound.py              the bound: signal to error of the outputs, or a metric and its drop
    calibration_cache.py  samples and statistics, from one reading of the data
    evidence.py           tensors that judge outputs of argmax and the like, beside the outputs
    judge.py              samples, outputs of the float model, the figure of a module
    regions.py            layers that get more precision, or lose it, as one, and the cost of that by counts
    rehearsal.py          one compiled module for all choices of precision: its roundings can be turned off
    trials.py             choices of precision and their results
    raising.py            the search
    heads.py              the search where outputs are read by their meaning
    report.py             lines of the ledger, and the sentence where the bound is missed

A module that keeps the bound is handed on untouched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import tvm

from tvmq.backends.description import Backend
from tvmq.base.deprecation import warn_user
from tvmq.errors import AccuracyWarning, TvmqError
from tvmq.graph.ledger import get_ledger, with_ledger
from tvmq.graph.view import View
from tvmq.options.config import QConfig
from tvmq.options.rules import Rule
from tvmq.quantization.guard.bound import Figure, Guard
from tvmq.quantization.guard.evidence import with_evidence
from tvmq.quantization.guard.heads import (
    EQUALIZED,
    Counter,
    ModuleTrials,
    begin_search,
    raise_depthwise,
    raise_little,
    raise_more,
)
from tvmq.quantization.guard.judge import Judge
from tvmq.quantization.guard.raising import HALF_OF_WORK, Search, raise_precision
from tvmq.quantization.guard.regions import products, regions, share_of_work
from tvmq.quantization.guard.rehearsal import Precision, Rehearsal
from tvmq.quantization.guard.report import little_left, missed_bound, nothing_left, with_report
from tvmq.quantization.guard.trials import MOST_TRIALS, Trials

BLIND = 6.0  # dB between a rehearsal and its integer module, beyond which rehearsals do not see what breaks


class CalibratedModel(Protocol):
    """Modules of one calibration, `StaticQuantization`: no data are read again for them.

    config   options of all of them
    backend  that they are for
    """

    config: QConfig
    backend: Backend

    def module(self, rules: Sequence[Rule] = ()) -> tvm.IRModule:
        """The integer module under additional rules."""

    def simulation(self) -> tvm.IRModule:
        """The float module with the roundings of `module()`, calibrated."""

    def reuse_roundings(self) -> CalibratedModel:
        """This model, but layers keep the rounded weights of its first module."""

    def equalize(self) -> CalibratedModel | None:
        """This model with channels of one size between convolutions; None where that changes nothing."""


def guard_module(module: tvm.IRModule, judge: Judge, model: CalibratedModel) -> tvm.IRModule:
    """The module, or one of more precision where it does not keep the bound; a warning where none with products in 8
    bits does.

    module  quantized with the options as they are
    judge   has samples, what float gives for them, and the bound
    model   makes others from the same calibration; where its options or backend forbid more precision, the guard says
            which layers are to blame
    raises  BuildError where compiled code of a small module contradicts its definition
    """
    guard = judge.guard
    if not judge.is_possible:
        return judge.check_compiled(module)
    figure = judge.figure(module)
    refusal = why_not(model.config, model.backend)
    if judge.readings and refusal is None and not figure.is_ample(guard):
        return _raise_by_meaning(module, figure, model, judge)
    if figure.holds(guard):
        return judge.check_compiled(module)
    if judge.readings:
        module, figure, model = _equalize(module, figure, model, judge) or (module, figure, model)
        if figure.holds(guard):
            return judge.check_compiled(module)
    is_dynamic = model.backend.refuses_dynamic() is None
    calibrated = model.simulation()
    calibrated = with_evidence(calibrated, judge.evidence) or calibrated
    rehearsal = Rehearsal(calibrated, judge, judge.evaluator, dynamic=is_dynamic)
    trials = Trials(rehearsal, MOST_TRIALS, advance=guard.advance, is_late=guard.is_late)
    search = raise_precision(get_ledger(module).layers, figure, trials, guard)
    result, final = module, figure
    if refusal is None and search.best.figure.beats(figure):
        result, final = _verify_choices(search, module, model, judge, trials)
        result = with_report(result, search, final) if result is not module else module
    _warn(search, module, result, final, guard, trials.tried, refusal)
    return judge.check_compiled(result)


def _raise_by_meaning(module: tvm.IRModule, figure: Figure, model: CalibratedModel, judge: Judge) -> tvm.IRModule:
    """The module of more precision for a head, by integer modules of a few choices; see heads.py.

    Where the bound just holds, choices of little work are tried all the same: boxes still come and go there.

    The choices are tried with the weights of the first module; the best one gets weights rounded for what its layers
    read, as the same rules would give it, unless that is worse.
    """
    guard, counter = judge.guard, Counter(judge.guard.advance)
    state = _HeadSearch(module, figure, model, judge, counter)
    state.raise_little()
    state.raise_depthwise()
    if not state.search.best.figure.holds(guard):
        equalized = _equalize(module, figure, model, judge)
        if equalized is not None and equalized[1].holds(guard):
            return judge.check_compiled(equalized[0])
        if equalized is not None:
            other = _HeadSearch(*equalized, judge, counter, state.search)
            other.raise_little(state.search.best.precision)
            state = other if other.search.best.figure.beats(state.search.best.figure) else state
    state.raise_more()
    module, search = state.module, state.search
    result, final = state.trials.modules.get(search.best.precision, module), search.best.figure
    if result is not module:
        rounded = state.model.module(search.best.precision.rules())
        figure_so = judge.figure(rounded)
        if not final.beats(figure_so):
            result, final = rounded, figure_so
    result = with_report(result, search, final) if result is not module else module
    _warn(search, module, result, final, guard, counter.tried, None)
    return judge.check_compiled(result)


class _HeadSearch:
    """The search of heads.py from a module in 8 bits, with all that it needs.

    module, figure, model  the module, what it keeps, and what makes others from the same calibration
    before                 search from the module without equalization
    """

    def __init__(
        self, module: tvm.IRModule, figure: Figure, model: CalibratedModel, judge: Judge, counter: Counter,
        before: Search | None = None,
    ) -> None:  # fmt: skip
        self.module, self.model, self._guard = module, model, judge.guard
        tried, self._view = model.reuse_roundings(), View(model.simulation())
        self.trials = ModuleTrials(
            lambda precision: tried.module(precision.rules()), judge.figure, counter, judge.guard.is_late
        )
        self.search = begin_search(get_ledger(module).layers, figure, before)

    def raise_little(self, first: Precision | None = None) -> None:
        """Try choices of little work."""
        raise_little(self.search, self._view, self.trials, self._guard, first)

    def raise_depthwise(self) -> None:
        """Try choices with all depthwise convolutions in float."""
        raise_depthwise(self.search, self._view, self.trials, self._guard)

    def raise_more(self) -> None:
        """Try choices of more work where these do not keep the bound."""
        raise_more(self.search, self._view, self.trials, self._guard)


def _warn(
    search: Search, module: tvm.IRModule, result: tvm.IRModule, final: Figure, guard: Guard, tried: int,
    refusal: str | None,
) -> None:  # fmt: skip
    """Warn where the bound is missed, or where little stays in 8 bits."""
    if not final.holds(guard):
        text = missed_bound(search, final, guard, tried=tried, refusal=refusal)
        warn_user(text, AccuracyWarning)
    elif products(get_ledger(module).layers) and not products(get_ledger(result).layers):
        warn_user(nothing_left(search, guard, tried=tried), AccuracyWarning)
    elif result is not module and (share := _share_in_codes(result)) < HALF_OF_WORK <= _share_in_codes(module):
        warn_user(little_left(search, final, guard, share))


def _equalize(
    module: tvm.IRModule, figure: Figure, model: CalibratedModel, judge: Judge
) -> tuple[tvm.IRModule, Figure, CalibratedModel] | None:
    """Module, figure and model with equalized channels; None where that is not better. It costs nothing at run time.

    Only where outputs are read by their meaning and a few choices of precision do not suffice: it takes as long as to
    quantize.
    """
    other = model.equalize()
    if other is None:
        return None
    equalized = other.module()
    figure_so = judge.figure(equalized)
    if not figure_so.beats(figure):
        return None
    ledger = get_ledger(equalized)
    ledger.notes += [f"guard: in 8 bits: {figure}", f"guard: {EQUALIZED}: {figure_so}"]
    return with_ledger(equalized, ledger), figure_so, other


def _share_in_codes(module: tvm.IRModule) -> float:
    """Share of the multiply-accumulates in integers."""
    layers = get_ledger(module).layers
    return share_of_work(products(layers), layers)


def _verify_choices(
    search: Search, module: tvm.IRModule, model: CalibratedModel, judge: Judge, trials: Trials
) -> tuple[tvm.IRModule, Figure]:
    """The integer module of the best choice; of more careful ones where that does not keep what its rehearsal did."""
    best, figure = module, search.before.figure
    for precision in _candidates(search, trials):
        try:
            other = model.module(precision.rules())
        except TvmqError:  # such as values that are not finite where a range is to be chosen
            continue
        other_figure = judge.figure(other)
        if other_figure.beats(figure):
            best, figure = other, other_figure
        if figure.holds(judge.guard) or trials.is_late is not None and trials.is_late():
            break
    return best, figure


def _candidates(search: Search, trials: Trials) -> list[Precision]:
    """Choices to make integer modules of, the cheapest first; where rehearsals miss the error, without giving back."""
    careful = [search.highest.precision] if search.highest is not None else []
    every = Precision(frozenset(products(search.layers)) | frozenset(key for r in regions(search.layers) for key in r))
    in_codes = trials.attempt(Precision())
    is_blind = in_codes is not None and in_codes.figure.sqnr > search.before.figure.sqnr + BLIND
    return list(dict.fromkeys([*([] if is_blind else [search.best.precision]), *careful, every]))


def why_not(config: QConfig, backend: Backend) -> str | None:
    """Why precision must not be raised for these options; None where it may be.

    >>> from tvmq.backends import backend_named
    >>> why_not(QConfig(nbit_weight=4), backend_named("cpu"))
    'nbit_weight=4 was asked for'
    """
    if not backend.floats:
        return f"backend {backend.name} has no floats"
    if config.partition_conversions == "fully_integral":
        return "partition_conversions 'fully_integral' asks for no floats"
    few = [name for name in ("nbit_weight", "nbit_input", "nbit_bias") if getattr(config, name) < 8]
    return f"{few[0]}={getattr(config, few[0])} was asked for" if few else None
