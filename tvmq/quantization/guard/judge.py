"""Comparison of a module's outputs with float's, on samples that were kept while the data were read.

Tests: tests/quantization/guard/test_kinds_of_networks.py
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

import numpy as np
import tvm

from tvmq.calibration.dataset import Feed, samples_in
from tvmq.errors import BuildError
from tvmq.graph.ledger import get_ledger
from tvmq.graph.names import output_names
from tvmq.graph.view import main_function
from tvmq.numerics.deviation import Deviation, unequal_bits
from tvmq.quantization.guard.bound import Figure, Guard
from tvmq.quantization.guard.calibration_cache import GOLDEN, Batch
from tvmq.quantization.guard.evidence import (
    drop_largest_errors,
    find_evidence,
    judged_outputs,
    looked_up_outputs,
    with_evidence,
)
from tvmq.quantization.meaning.agreement import bound_readings
from tvmq.quantization.meaning.reading import Reading, decibels_of, sum_powers
from tvmq.quantization.meaning.recognition import fit_readings, ordered_outputs
from tvmq.reference import Reference

FEW_MACS = 20_000_000  # of all samples; NumPy takes less time for them than a compiler
ROUNDING = 0.06  # dB, more than figures are rounded by
FEW_SAMPLES = 8  # tell choices apart: the steps of pitch_cqt and vad_stft were ranked as by 24
Run = Callable[[Feed], Sequence[np.ndarray]]
Evaluator = Callable[[tvm.IRModule], Run]


class SequencePlayer(Protocol):
    """Protocol of what plays batches that are sequences of calls: `tvmq.quantization.sequence_play.StatePlayer`."""

    def player(self, module: tvm.IRModule, run: Run) -> Run:
        """A run of a whole sequence by a module, of which `run` makes one call."""


Both = tuple[list[np.ndarray], list[np.ndarray]]  # of a batch: float's results and others


class Judge:
    """Compares modules with the float one, whose outputs are computed once.

    prepared   the float module
    quantized  the module made of it with the options as they are
    batches    samples; the float model's outputs are computed where a batch lacks them
    evaluator  compiles a module for this CPU
    checker    compiles with the kernels that a build has, for `check_compiled`; None: the evaluator does
    player     plays batches that are sequences of calls, with the state that a module hands on; None: they are samples
    """

    def __init__(
        self,
        prepared: tvm.IRModule,
        quantized: tvm.IRModule,
        batches: Sequence[Batch],
        evaluator: Evaluator,
        guard: Guard,
        player: SequencePlayer | None = None,
        checker: Evaluator | None = None,
    ) -> None:
        self.guard, self._batches, self._player = guard, batches, player
        self.evaluator: Evaluator = lambda module: self._play(module, evaluator(module))
        self._checker = checker or evaluator
        self._looked_up: set[int] = set()
        self.readings: list[Reading] = []
        proposed = bound_readings(prepared, guard.outputs) if guard.metric is None else []
        self.evidence = find_evidence(prepared, quantized) if guard.metric is None else []
        self._judged = self._positions(prepared) if guard.metric is None else []
        self._wanted: list[list[np.ndarray]] = []
        self._noises: dict[int, float] = {}  # of batches, beside float's signal, the last that was seen
        if guard.metric is None and not self._judged and not proposed:
            return  # nothing that a figure could be made of
        known = not self.evidence and all(batch.results is not None for batch in batches)
        run = None if known else self.evaluator(with_evidence(prepared, self.evidence) or prepared)
        for batch in batches:
            is_known = batch.results is not None and not self.evidence
            results = batch.results if run is None or is_known else run(batch.feed)
            self._wanted.append(_real_rows(results or (), batch))
        self._take_readings(proposed, prepared)
        self._score = guard.score(_join_outputs(self._wanted)) if guard.metric and batches else None

    def _take_readings(self, proposed: Sequence[Reading], prepared: tvm.IRModule) -> None:
        """Judge outputs by what people read from them, where float's outputs fit that.

        Evidence is needed no longer where all results of orderings are read so.
        """
        first = len(self.evidence)
        self.readings = fit_readings(proposed, [results[first:] for results in self._wanted])
        read = {index for reading in self.readings for index in reading.outputs}
        self._judged = [place for place in self._judged if place - first not in read]
        if first and self.readings and ordered_outputs(prepared) <= read:
            self._judged = [place - first for place in self._judged if place >= first]
            self._looked_up = {place - first for place in self._looked_up}
            self._wanted = [results[first:] for results in self._wanted]
            self.evidence = []

    def _positions(self, prepared: tvm.IRModule) -> list[int]:
        """Positions of what is judged: all the evidence, which comes first, and outputs."""
        first = len(self.evidence)
        self._looked_up = {first + index for index in looked_up_outputs(prepared)}
        plain = (first + index for index in judged_outputs(prepared))
        return sorted((*range(first), *plain, *self._looked_up))

    @property
    def is_possible(self) -> bool:
        """True if there is a metric, or an output that decibels can judge."""
        return bool(self._wanted) and (self.guard.metric is not None or bool(self._judged or self.readings))

    def figure(self, module: tvm.IRModule) -> Figure:
        """Figure of the compiled module."""
        whole = with_evidence(module, self.evidence)
        if whole is None:
            return Figure(-math.inf)  # what cannot be seen is not taken for good
        return self.measure(self._run(whole))

    def check_compiled(self, module: tvm.IRModule) -> tvm.IRModule:
        """The module, whose compiled code gives the bits of its definition for the first batch, where that is small.

        The figure of a small module comes from the definition alone: a fault of a kernel would not be seen in it.

        raises  BuildError where a bit differs
        """
        macs = sum(entry.get("macs") or 0 for entry in get_ledger(module).layers.values())
        reference = Reference(module)
        if reference.islands or not self._batches or macs * _samples(self._batches[0]) > FEW_MACS:
            return module
        feed = self._batches[0].feed
        compiled, defined = self._play(module, self._checker(module))(feed), self._play(module, reference.run)(feed)
        names = output_names(main_function(module), len(defined))
        for name, ours, wanted in zip(names, map(np.asarray, compiled), defined, strict=True):
            differing = int(unequal_bits(ours, np.asarray(wanted)).sum())
            if differing:
                raise BuildError(
                    f"quantize: compiled code differs from the definition in {differing} of {ours.size} values of "
                    f"output '{name}'; this is a fault of tvmq: please report it, and until then keep the layer that "
                    "`tvmq verify` names in float by a rule"
                )
        return module

    def measure(self, run: Run, *, roughly: bool = False, least: float = -math.inf) -> Figure:
        """Figure of a run over the samples, the evidence first; roughly: for a few of them, where decibels judge.

        least  dB below which a rough figure need not be exact: it is that of the first samples that show it to be below
        """
        is_rough = roughly and self.guard.metric is None
        if is_rough and least > -math.inf and not self._looked_up:
            return self._measured_until_below(run, least)
        index = self._choose_batches() if is_rough else range(len(self._batches))
        outputs = [_real_rows(run(self._batches[i].feed), self._batches[i]) for i in index]
        both = list(zip((self._wanted[i] for i in index), outputs, strict=True)) if self._wanted else []
        sqnr = self._find_worst(both, self._judged if self._judged or self.readings else range(len(outputs[0])))
        if self.guard.metric is None or self._score is None:
            return Figure(sqnr)
        return Figure(sqnr, (self.guard.score(_join_outputs(outputs)), float(self._score)))

    def _measured_until_below(self, run: Run, least: float) -> Figure:
        """A rough figure; exact if it is at least `least` dB.

        Noise only grows: what it is already, beside the signal of all the samples, is the most that can be reached.
        The samples that were worst before come first.
        """
        index, seen = self._choose_batches(), dict[int, Both]()
        signals = np.sum([self._powers(self._wanted[i], self._wanted[i])[:, 0] for i in index], axis=0)
        has_signal = signals > 0
        noises, highest = np.zeros_like(signals), math.inf
        for i in sorted(index, key=lambda i: -self._noises.get(i, 0.0)):
            wanted, outputs = seen[i] = self._wanted[i], _real_rows(run(self._batches[i].feed), self._batches[i])
            added = self._powers(wanted, outputs)[:, 1]
            self._noises[i] = max((added / np.where(has_signal, signals, 1))[has_signal], default=0.0)
            noises = noises + added
            pairs = zip(signals[has_signal], noises[has_signal], strict=True)
            highest = min((_decibels(signal, noise) for signal, noise in pairs), default=math.inf)
            if highest < least - ROUNDING:
                break
        sqnr = self._find_worst([seen[i] for i in sorted(seen)], self._judged)
        return Figure(sqnr if len(seen) == len(index) else min(sqnr, round(highest, 1)))

    def _powers(self, wanted: Sequence[np.ndarray], outputs: Sequence[np.ndarray]) -> np.ndarray:
        """[judged outputs and parts of readings, 2]: signal and noise of a batch."""
        rows = [(_power(wanted[place]), _noise(wanted[place], outputs[place])) for place in self._judged]
        rows += [row for reading in self._reading_powers([(wanted, outputs)]) for row in reading]
        return np.reshape(rows, (-1, 2))

    def _reading_powers(self, both: Sequence[tuple[Sequence[np.ndarray], Sequence[np.ndarray]]]) -> list[np.ndarray]:
        """[parts, 2] signal and noise of each reading, of some batches."""
        first = len(self.evidence)
        return [sum_powers(reading, [(a[first:], b[first:]) for a, b in both]) for reading in self.readings]

    def _find_worst(self, both: Sequence[Both], places: Iterable[int]) -> float:
        """Signal-to-error ratio of the worst output, or part of what is read from it, rounded to tenths."""
        figures = [self._sqnr(place, both) for place in places]
        parts = [figure for powers in self._reading_powers(both) for figure in decibels_of(powers)]
        return min((*figures, *(round(one, 1) if math.isfinite(one) else one for one in parts)), default=math.inf)

    def noise(self, run: Run) -> float:
        """Error beside float's signal of the worst output, powers, for a few of the samples."""
        index = self._choose_batches()
        rows = [_real_rows(run(self._batches[i].feed), self._batches[i]) for i in index]
        both = list(zip((self._wanted[i] for i in index), rows, strict=True))
        ratios = [self._ratio(place, both) for place in self._judged]
        ratios += [figure for powers in self._reading_powers(both) for figure in decibels_of(powers)]
        return max((10 ** (-ratio / 10) for ratio in ratios), default=0.0)

    def _choose_batches(self) -> list[int]:
        """Batches of FEW_SAMPLES samples or a little more, spread over all without a period."""
        order = sorted(range(len(self._batches)), key=lambda i: (i + 1) * GOLDEN % 1)
        counts = itertools.accumulate(self._batches[i].count for i in order)
        return sorted(order[: 1 + sum(count < FEW_SAMPLES for count in counts)])

    def _run(self, module: tvm.IRModule) -> Run:
        """The definition in NumPy for a small module, compiled code for others: they give the same bits."""
        samples = sum(map(_samples, self._batches))
        macs = sum(entry.get("macs") or 0 for entry in get_ledger(module).layers.values())
        if samples * macs <= FEW_MACS:
            reference = Reference(module)
            if not reference.islands:
                return self._play(module, reference.run)
        return self.evaluator(module)

    def _play(self, module: tvm.IRModule, run: Run) -> Run:
        """A run of batches by a module, of which `run` makes one call."""
        return run if self._player is None else self._player.player(module, run)

    def _sqnr(self, place: int, both: Sequence[Both]) -> float:
        """Signal-to-error ratio of one output, rounded to tenths."""
        figure = self._ratio(place, both)
        return round(figure, 1) if math.isfinite(figure) else figure

    def _ratio(self, place: int, both: Sequence[Both]) -> float:
        """Ratio of one output, dB; infinite where float gives nothing but zeros, of which a ratio says nothing.

        Minus infinity for an output of another shape than float's.
        """
        if any(wanted[place].shape != got[place].shape for wanted, got in both):
            return -math.inf
        deviation = Deviation()
        power = 0.0
        for wanted, got in self._pairs_to_compare(place, both):
            deviation.add(wanted, got)
            power += float(np.nansum(np.abs(np.nan_to_num(wanted, posinf=0.0, neginf=0.0))))
        figure = deviation.figures().sqnr
        return math.inf if power == 0.0 else figure

    def _pairs_to_compare(self, place: int, both: Sequence[Both]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Pairs of one output: what float gives, and what it is compared with."""
        pairs = [(wanted[place].astype(np.float64), got[place].astype(np.float64)) for wanted, got in both]
        if place not in self._looked_up or not pairs:
            yield from pairs
        else:
            wanted, got = (np.concatenate([one.ravel() for one in side]) for side in zip(*pairs, strict=True))
            yield drop_largest_errors(wanted, got)


def _samples(batch: Batch) -> int:
    """Samples of a batch, in all its calls."""
    return samples_in(batch.feed) * batch.calls


def _real_rows(results: Sequence[np.ndarray], batch: Batch) -> list[np.ndarray]:
    """Rows of the real samples."""
    size = samples_in(batch.feed)
    return [y[: batch.count] if y.ndim and len(y) == size else y for y in map(np.asarray, results)]


def _power(values: np.ndarray) -> float:
    """Sum of the squares of finite values."""
    return float(np.square(np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)).sum())


def _decibels(signal: float, noise: float) -> float:
    ratio = signal / noise if noise else math.inf
    return 10 * math.log10(ratio) if 0.0 < ratio < math.inf else math.copysign(math.inf, ratio - 1)


def _noise(wanted: np.ndarray, actual: np.ndarray) -> float:
    """Sum of the squares of the errors; infinite for another shape."""
    if wanted.shape != actual.shape:
        return math.inf
    deviation = Deviation()
    deviation.add(wanted, actual)
    figures = deviation.figures()
    return figures.mse * figures.values


def _join_outputs(outputs: list[list[np.ndarray]]) -> list[np.ndarray]:
    """Outputs of all samples, in order."""
    return [np.concatenate(rows) if rows[0].ndim else np.stack(rows) for rows in zip(*outputs, strict=True)]
