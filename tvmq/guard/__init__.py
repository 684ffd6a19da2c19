"""The guard of `quantize`: the integer module is run beside the float one, and mended where 8 bits cannot hold it.

    bound.py     what has to hold: signal to error of the outputs, or a metric and its drop
    judge.py     samples, float's outputs, a module's figure
    regions.py   what is put to float or back as one
    forecast.py  what that costs, by counts
    trials.py    modules made from one calibration and measured
    raising.py   the search
    report.py    the ledger's lines, the sentence where the bound is missed

A module that keeps the bound is handed on untouched.
"""

from __future__ import annotations

import warnings

import tvm

from tvmq.backends.description import Backend
from tvmq.config import QConfig
from tvmq.errors import AccuracyWarning
from tvmq.graph.ledger import get_ledger
from tvmq.guard.bound import Figure, Guard
from tvmq.guard.judge import Judge
from tvmq.guard.raising import raised
from tvmq.guard.regions import products
from tvmq.guard.report import missed, nothing_left, with_report
from tvmq.guard.trials import Make, Trial, Trials, rules_of


def guarded(
    module: tvm.IRModule, judge: Judge, make: Make, guard: Guard, *, refusal: str | None = None, quick: bool = False
) -> tvm.IRModule:
    """The module, or one of more precision where it does not keep the bound; a warning where none with products in 8
    bits does.

    module   quantized with the options as they are
    make     makes others from the same calibration
    refusal  why precision must not be raised: then the guard says which layers are to blame; None where it may be
    """
    if not judge.is_possible:
        return module
    figure = judge.figure(module)
    if figure.holds(guard):
        return module
    trials = Trials(make, judge, advance=guard.advance, is_late=guard.is_late)
    search = raised(Trial(frozenset(), module, figure), trials, guard)
    result, final = module, figure
    if refusal is None and search.best.figure.beats(figure):
        result, final = _final(search.best, make, judge, guard)
        result = with_report(result, search, final)
    if not final.holds(guard):
        text = missed(search, final, guard, tried=trials.tried, refusal=refusal)
        warnings.warn(text, AccuracyWarning, stacklevel=4)
    elif products(get_ledger(module).layers) and not products(get_ledger(result).layers):
        warnings.warn(nothing_left(search, guard, tried=trials.tried), AccuracyWarning, stacklevel=4)
    return result


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


def _final(best: Trial, make: Make, judge: Judge, guard: Guard) -> tuple[tvm.IRModule, Figure]:
    """The best module with weights rounded as the options say; with the nearest ones where these are better."""
    module = make(rules_of(best.floats), quick=False)
    figure = judge.figure(module)
    is_worse = best.figure.beats(figure) and not figure.holds(guard)
    return (best.module, best.figure) if is_worse else (module, figure)
