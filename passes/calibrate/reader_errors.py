"""The error of a range where it counts: at the outputs of the convolutions and products that read the tensor.

    y = conv(x, w)        reads x; a range (low, high) of x is judged by
                          sum((conv(quantized x, w) - y)^2) / sum(y^2) = sum(conv(quantized x - x, w)^2) / sum(y^2)

The observer "auto" takes the range of least squared error of the tensor itself. Where rare peaks carry the signal, it
clips them: they are few, and their error is spread over many values. What reads the tensor may cancel the many values
and live on the peaks. So where the values seen go far beyond the chosen range, its readers are asked: about that range,
ranges of twice, four times ... its width, and all that was seen. Nothing here ever clips more than before.

Needs     an annotated module and the choices of `choose_ranges`.
Leaves    the module as it was; gives choices.
Numerics  floats: sums of about SAMPLES samples. A wider range has to halve the error (LEAST_GAIN), so that the last
          bits of floats, which differ between CPUs, decide nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import tvm
from tvm import relax

from tvmq.calibration.observers.auto import Choice
from tvmq.calibration.observers.base import Range
from tvmq.graph import ops
from tvmq.graph.ledger import get_ledger
from tvmq.graph.rewrite import Rewriter
from tvmq.graph.view import View
from tvmq.numerics.spec import QuantSpec, choose_qparams
from tvmq.passes.calibrate.collect import Watch, watched_tensors
from tvmq.passes.calibrate.observed_model import Evaluator, Feed, drop_uncalibrated
from tvmq.passes.calibrate.thresholds import ruled_observers
from tvmq.passes.partition import integer_groups

SAMPLES = 32
LEAST_GAIN = 0.5
MOST = 2.0**16
FAR = 1.5  # times the width of the chosen range; what was seen within it is asked about no more
Batches = Iterable[tuple[Feed, int]]


@dataclass(frozen=True)
class Retrial:
    """A tensor whose range is asked again: the range that it has, and wider ones."""

    tensor: Watch
    ranges: tuple[Range, ...]
    readers: tuple[str, ...]


def widen_for_readers(
    mod: tvm.IRModule,
    choices: Mapping[str, Choice],
    seen: Mapping[str, Range],
    batches: Batches,
    evaluator: Evaluator,
    calibrate_mode: str = "auto",
    known: dict[tuple[str, Range], Range] | None = None,
) -> dict[str, Choice]:
    """The choices, with a wider range of a tensor where the layers that read it lose less by it.

    choices  {key: choice} of `choose_ranges`
    calibrate_mode  the observer of tensors without a rule of their own; ranges of other observers than "auto" are kept
    seen     {tensor: (lowest, highest)} of all the data
    batches  (feed, count): about SAMPLES samples are read
    known    {(key, range): the range taken}: these are not asked about again; those that are found are added
    """
    known = {} if known is None else known
    trials = list_trials(mod, choices, seen, calibrate_mode)
    untried = [trial for trial in trials if (trial.tensor.key, trial.ranges[0]) not in known]
    for trial, error in zip(untried, reader_errors(mod, untried, batches, evaluator) if untried else (), strict=True):
        best = int(np.argmin(error))
        is_better = error[best] < error[0] * (1 - LEAST_GAIN)
        known[trial.tensor.key, trial.ranges[0]] = trial.ranges[best if is_better else 0]
    widened = dict(choices)
    for trial in trials:
        key, chosen = trial.tensor.key, trial.ranges[0]
        if (best_range := known[key, chosen]) != chosen:
            name = f"{choices[key].name}, wider for its readers"
            widened[key] = replace(choices[key], name=name, low=best_range[0], high=best_range[1])
    return widened


def list_trials(
    mod: tvm.IRModule, choices: Mapping[str, Choice], seen: Mapping[str, Range], calibrate_mode: str = "auto"
) -> list[Retrial]:
    """Tensors of which values far outside of the chosen range were seen, and that a convolution or product reads."""
    observers = ruled_observers(get_ledger(mod))
    readers: dict[str, list[str]] = {}
    for group in integer_groups(get_ledger(mod).layers):
        if group.strategy.rounds_weights:
            readers.setdefault(group.inputs[0], []).append(group.root)
    trials = {}
    for w in watched_tensors(View(mod)):
        if observers.get(w.source, calibrate_mode) != "auto":
            continue
        ranges = wider_ranges((choices[w.key].low, choices[w.key].high), seen.get(w.source, (0.0, 0.0)))
        if len(ranges) > 1 and not w.is_int16 and w.source in readers:
            trials[w.key] = Retrial(w, tuple(ranges), tuple(readers[w.source]))
    return list(trials.values())


def wider_ranges(chosen: Range, seen: Range) -> list[Range]:
    """The range itself, ranges of twice its width, four times ..., and the one that holds all that was seen.

    >>> wider_ranges((0.0, 2.0), (0.5, 10.0))
    [(0.0, 2.0), (0.0, 4.0), (0.0, 8.0), (0.0, 10.0)]
    >>> wider_ranges((0.0, 2.0), (0.0, 3.0))
    [(0.0, 2.0)]
    """
    low, high = chosen
    whole = (min(low, seen[0]), max(high, seen[1]))
    ranges = [chosen]
    if whole[1] - whole[0] <= FAR * (high - low):
        return ranges
    factor = 2.0
    while (wide := (max(low * factor, whole[0]), min(high * factor, whole[1]))) != whole:
        if factor > MOST:
            break
        ranges.append(wide)
        factor *= 2
    return [*ranges, whole]


def reader_errors(mod: tvm.IRModule, trials: list[Retrial], batches: Batches, evaluator: Evaluator) -> list[np.ndarray]:
    """Errors of the ranges of each trial, relative to the power of what its readers give."""
    run = evaluator(with_sums(mod, trials))
    total: np.ndarray | float = 0.0
    seen = 0
    for feed, count in batches:
        total = total + np.array([float(value) for value in run(feed)])
        seen += count
        if seen >= SAMPLES:
            break
    sums = iter(np.atleast_1d(total))
    return [np.sum([_relative([next(sums) for _ in (None, *t.ranges)]) for _ in t.readers], axis=0) for t in trials]


def _relative(sums: list[float]) -> np.ndarray:
    power, *errors = sums
    return np.array(errors) / max(power, float(np.finfo(np.float32).tiny))


def with_sums(mod: tvm.IRModule, trials: list[Retrial]) -> tvm.IRModule:
    """The module whose results are sums of squares: of each trial and reader the power, the error of each range."""
    rewriter = Rewriter(drop_uncalibrated(mod))
    trial_of = {reader: trial for trial in trials for reader in trial.readers}
    sums: dict[str, list[relax.Var]] = {}
    for var, value in rewriter.view.bindings:
        rewriter.at(var.name)
        new = rewriter.emit(rewriter.substitute(value), var.name)
        rewriter.bind(var, new)
        if var.name in trial_of:
            sums[var.name] = _sums(rewriter, new, trial_of[var.name])
    return rewriter.finish(results=[s for trial in trials for reader in trial.readers for s in sums[reader]])


def _sums(rewriter: Rewriter, result: relax.Var, trial: Retrial) -> list[relax.Var]:
    call = rewriter.value_of(result)
    assert isinstance(call, relax.Call)
    x, weight = call.args
    sums = [_squares(rewriter, result)]
    for ends in trial.ranges:
        quantized = rewriter.emit(_simulate_quantize(x, ends, trial.tensor.spec), f"{x.name}_range")
        difference = rewriter.emit(relax.op.subtract(quantized, x), f"{x.name}_error")
        error = rewriter.emit(relax.Call(call.op, [difference, weight], call.attrs), f"{result.name}_error")
        sums.append(_squares(rewriter, error))
    return sums


def _simulate_quantize(x: relax.Var, ends: Range, spec: QuantSpec) -> relax.Call:
    q = choose_qparams(*ends, spec)
    return ops.simulated_quantize(
        x,
        relax.const(q.scale),
        relax.const(q.zero_point),
        kind="activation",
        tensor=x.name,
        dtype=spec.dtype,
        bits=spec.bits,
        symmetric=spec.symmetric,
    )


def _squares(rewriter: Rewriter, x: relax.Var) -> relax.Var:
    square = rewriter.emit(relax.op.multiply(x, x), f"{x.name}_square")
    return rewriter.emit(relax.op.sum(square), f"{x.name}_power")
