"""From statistics to the range of each tensor, by the observer that the configuration, or a rule, names.

auto, the default, chooses by what the readers of a tensor make of its error:
    tensors that only tables read (activations such as silu, sigmoid, hard-swish)
        the range whose error *behind the function* is least, from the histogram: what the function flattens may be
        clipped. Where few values were seen, it goes as far as the function does: to where a sigmoid or tanh is flat
    residual streams in 16 bits
        all that was seen, whatever the observer: codes are plenty, and what is clipped is lost to all layers behind
    all others
        the candidate of least expected error on the tensor itself (tvmq.calibration.observers.auto): a proxy
        for the layer's output, which a convolution's weights mix from many values of the same distribution
    requantize="power_of_two"
        scales are powers of two: the error is that of the next one or the one below (observers/auto.py)

Tests: tests/passes/calibrate/test_outliers.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import tvm

from tvmq.calibration.observers import check_range, make_observer
from tvmq.calibration.observers.auto import CANDIDATES, Auto, Choice, choose, shift_ranges
from tvmq.calibration.observers.base import TensorStatistics, usable_range
from tvmq.calibration.observers.histogram import ErrorModel
from tvmq.calibration.observers.histogram_statistics import Histogram
from tvmq.graph.ledger import Ledger, get_ledger
from tvmq.graph.view import View, op_name
from tvmq.numerics.spec import QParams, QuantSpec, choose_qparams
from tvmq.options.config import QConfig
from tvmq.passes.annotate import owners
from tvmq.passes.calibrate.collect import Watch, watched_tensors
from tvmq.passes.families.base import Group
from tvmq.passes.families.weight_scales import power_of_two
from tvmq.passes.partition import integer_groups

Function = Callable[[np.ndarray], np.ndarray]
FEW_VALUES = 1024  # of a tensor in all samples, as of a head with a number a sample; gates of channels have more
FLAT = 1 / 128  # of the amplitude: a code of the result
FARTHEST = 1e4  # where a saturating function has its limit


def choose_ranges(
    mod: tvm.IRModule,
    statistics: Mapping[str, TensorStatistics],
    config: QConfig,
    known: dict[tuple[str, str, QuantSpec], Choice] | None = None,
) -> dict[str, Choice]:
    """{key: choice} for every watched tensor of an annotated module; the key is its variable (`Watched.key`).

    known  choices by (key, observer, spec) from the same statistics and configuration; those that are made are added,
           but for tensors that nothing but tables read: theirs hang on the tables
    """
    known = {} if known is None else known
    view, ledger = View(mod), get_ledger(mod)
    functions = table_functions(view, integer_groups(ledger.layers))
    observers = ruled_observers(ledger)
    chosen: dict[str, Choice] = {}
    for w in watched_tensors(view):
        if w.key not in chosen:
            mode = observers.get(w.source, config.calibrate_mode)
            before = None if w.source in functions else known.get((w.key, mode, w.spec))
            chosen[w.key] = before or _choose_one(w, mode, statistics, config, functions.get(w.source, ()))
            if w.source not in functions:
                known[w.key, mode, w.spec] = chosen[w.key]
    return chosen


def ruled_observers(ledger: Ledger) -> dict[str, str]:
    """{tensor: observer} of the tensors that layers read whose rule gives one; of several rules the last decides."""
    groups = integer_groups(ledger.layers)
    passing = {group.output: group for group in groups if group.passes}
    by_rule = {group.output: ledger.layers[group.output].get("observers", {}) for group in groups}
    asking = sorted((g for g in groups if "activations" in by_rule[g.output]), key=lambda g: by_rule[g.output]["rule"])
    return {
        name: by_rule[group.output]["activations"] for group in asking for name in owners(group.inputs, passing, set())
    }


def table_functions(view: View, groups: Sequence[Group]) -> dict[str, list[Function]]:
    """{tensor: functions} of the tensors that nothing but tables read."""
    readers: dict[str, list[Group]] = {}
    for group in groups:
        for name in group.inputs:
            readers.setdefault(name, []).append(group)
    by_tensor = {}
    for name, reading in readers.items():
        functions = [function for group in reading if (function := group.strategy.function(view, group)) is not None]
        members = {member for group in reading for member in (*group.members, *getattr(group.facts, "chain", ()))}
        if len(functions) == len(reading) and _only_read_by(view, name, members):
            by_tensor[name] = functions
    return by_tensor


def _only_read_by(view: View, name: str, members: set[str]) -> bool:
    """True if only these variables read a tensor, directly or behind its simulated_quantize."""
    if view.is_output(name):
        return False
    for reader in view.readers[name]:
        if op_name(view.value[reader]) == "tvmq.simulated_quantize":
            if not _only_read_by(view, reader, members):
                return False
        elif reader not in members:
            return False
    return True


def _choose_one(
    w: Watch,
    mode: str,
    statistics: Mapping[str, TensorStatistics],
    config: QConfig,
    functions: Sequence[Function],
) -> Choice:
    if mode == "global_scale":
        observer = make_observer("global_scale", scale=config.global_scale)
        return Choice(mode, *observer.thresholds(TensorStatistics(w.source, with_histogram=False), w.spec), {})
    known = statistics[w.source]
    if w.is_int16:
        return Choice("minmax", *make_observer("minmax").thresholds(known, w.spec), {})
    if mode == "auto":
        shifts = config.requantize == "power_of_two"
        if functions:
            return _choose_behind_tables(known, w.spec, functions, shifts=shifts)
        return _choose_by_tensor(known, w.spec, shifts=shifts)
    options: dict[str, dict[str, Any]] = {
        "percentile": {"percentile": config.percentile},
        "moving_average": {"momentum": config.momentum},
    }
    observer = make_observer(mode, **options.get(mode, {}))
    return Choice(mode, *check_range(observer, observer.thresholds(known, w.spec)), {})


def _choose_by_tensor(statistics: TensorStatistics, spec: QuantSpec, *, shifts: bool) -> Choice:
    candidates, model = Auto().candidates(statistics, spec), ErrorModel(statistics.histogram)
    if shifts:
        return choose(shift_ranges(candidates, spec), spec, lambda q: model.error(power_of_two(q)))
    return choose(candidates, spec, model.error)


def _choose_behind_tables(
    statistics: TensorStatistics, spec: QuantSpec, functions: Sequence[Function], *, shifts: bool
) -> Choice:
    """The range of least squared error of function(x), summed over the functions, relative to their power."""
    histogram = statistics.histogram
    model = TableErrorModel(histogram, functions)
    candidates = {name: observer.thresholds(statistics, spec) for name, observer in CANDIDATES.items()}
    if shifts:
        return choose(shift_ranges(candidates, spec), spec, lambda q: model.error_of(power_of_two(q)))
    whole = usable_range(histogram.low, histogram.high, spec)
    start = min(candidates.values(), key=lambda ends: model.error(ends[0], ends[1], spec))
    candidates["behind_function"] = _descend(
        lambda low, high: model.error(low, high, spec), start, whole, spec.symmetric
    )
    choice = choose(candidates, spec, model.error_of)
    return _widen_to_flat(choice, functions, spec) if histogram.counts.sum() <= FEW_VALUES else choice


def _widen_to_flat(choice: Choice, functions: Sequence[Function], spec: QuantSpec) -> Choice:
    """The choice with a range that reaches to where all the functions are flat on both sides, if they have such ends.

    Few values tell little of how far others go: 32 positions of a game without a lost one end where nothing was lost.
    """
    ends = [flat_ends(function) for function in functions]
    if not all(ends):
        return choice
    low, high = (side(end[i] for end in ends if end) for i, side in enumerate((min, max)))
    low, high = usable_range(min(low, choice.low), max(high, choice.high), spec)
    if (low, high) == (choice.low, choice.high):
        return choice
    return replace(choice, name=f"{choice.name}, to where its functions are flat", low=low, high=high)


def flat_ends(function: Function) -> tuple[float, float] | None:
    """Where a function is within FLAT of its amplitude from its limits on both sides; None without two such limits.

    >>> [round(end, 2) for end in flat_ends(np.tanh)]
    [-2.42, 2.43]
    >>> flat_ends(np.exp), flat_ends(lambda x: np.maximum(x, 0))
    (None, None)
    """
    x = np.concatenate([[-2 * FARTHEST, -FARTHEST], np.linspace(-16, 16, 6401), [FARTHEST, 2 * FARTHEST]])
    with np.errstate(all="ignore"):
        y = np.asarray(function(x), np.float64)
    amplitude = abs(y[-1] - y[0])
    if not np.isfinite(y).all() or not amplitude or y[0] != y[1] or y[-1] != y[-2]:
        return None
    low, high = (np.abs(y - end) > FLAT * amplitude for end in (y[0], y[-1]))
    first, last = int(low.argmax()) - 1, len(x) - int(high[::-1].argmax())
    return (float(x[first]), float(x[last])) if 2 <= first and last <= len(x) - 3 else None


class TableErrorModel:
    """Squared error behind functions of one tensor, from its histogram."""

    def __init__(self, histogram: Histogram, functions: Sequence[Function]) -> None:
        used = histogram.counts > 0
        edges = histogram.edges
        self.counts = histogram.counts[used].astype(np.float64)
        middle = (edges[:-1] + edges[1:]) / 2
        # the exact zeros of a tensor sit in the bin that holds 0
        self.x = np.clip(middle, histogram.low, histogram.high)[used]
        self.functions = functions
        self.true = [np.nan_to_num(np.asarray(f(self.x), np.float64), posinf=0.0, neginf=0.0) for f in functions]
        self.power = [max(float((self.counts * y * y).sum()), 1e-30) for y in self.true]

    def error(self, low: float, high: float, spec: QuantSpec) -> float:
        """Relative squared error of quantizing low..high."""
        return self.error_of(choose_qparams(low, high, spec))

    def error_of(self, qparams: QParams) -> float:
        """Relative squared error of given QParams."""
        scale, zero, spec = float(qparams.scale), float(qparams.zero_point), qparams.spec
        codes = np.arange(spec.qmin, spec.qmax + 1, dtype=np.float64)
        steps = np.clip(np.rint(self.x / scale) + zero, spec.qmin, spec.qmax).astype(np.int64) - spec.qmin
        total = 0.0
        for function, true, power in zip(self.functions, self.true, self.power, strict=True):
            values = _clamp_infinities(np.asarray(function((codes - zero) * scale), np.float64), true)
            total += float((self.counts * (values[steps] - true) ** 2).sum()) / power
        return total


def _clamp_infinities(values: np.ndarray, true: np.ndarray) -> np.ndarray:
    """Clamp infinities to the ends of the true values: the codes of a result have ends, too."""
    return np.nan_to_num(values, nan=true.min(), posinf=true.max(), neginf=true.min())


def _descend(
    error: Callable[[float, float], float], start: tuple[float, float], whole: tuple[float, float], symmetric: bool
) -> tuple[float, float]:
    """Move both ends by ever smaller steps as long as the error falls; never beyond the whole range."""
    best, least = start, error(*start)
    step = 0.25
    while step > 0.01:
        moved = False
        for end in (1,) if symmetric else (0, 1):
            for factor in (1 - step, 1 + step):
                ends = list(best)
                ends[end] = best[end] * factor
                if symmetric:
                    ends[0] = -ends[1]
                ends[0], ends[1] = max(ends[0], whole[0]), min(ends[1], whole[1])
                loss = error(ends[0], ends[1])
                if loss < least * (1 - 1e-3):
                    best, least, moved = (ends[0], ends[1]), loss, True
        step = step if moved else step / 2
    return best
