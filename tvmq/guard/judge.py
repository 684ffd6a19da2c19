"""How a module's outputs are beside float's, on samples that were kept while the data were read."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
import tvm
from tvm import relax

from tvmq.codegen.reference import Reference
from tvmq.dataset import Feed, samples_in
from tvmq.graph.ledger import get_ledger
from tvmq.graph.view import View, op_name, used_vars
from tvmq.guard.bound import Figure, Guard
from tvmq.guard.kept import Batch
from tvmq.numerics.deviation import Deviation

FEW_MACS = 20_000_000  # of all samples; NumPy takes less time for them than a compiler
FEW_SAMPLES = 8  # tell choices apart: the steps of pitch_cqt and vad_stft were ranked as by 24
# Their results are places and counts: one that changes by a step is another one, and no decibels say how bad that is
ORDERING = frozenset(("argmax", "argmin", "argsort", "sort", "topk", "vision.non_max_suppression", "nonzero", "unique"))
Run = Callable[[Feed], Sequence[np.ndarray]]
Evaluator = Callable[[tvm.IRModule], Run]


class Judge:
    """Compares modules with the float one, whose outputs are computed once.

    prepared   the float module
    batches    samples; what float gives for them is computed where they do not bring it
    evaluator  compiles a module for this CPU
    """

    def __init__(self, prepared: tvm.IRModule, batches: Sequence[Batch], evaluator: Evaluator, guard: Guard) -> None:
        self.guard, self._batches, self._evaluator = guard, batches, evaluator
        self._judged = judged_outputs(prepared) if guard.metric is None else []
        self._wanted: list[list[np.ndarray]] = []
        if guard.metric is None and not self._judged:
            return  # nothing that a figure could be made of
        run = None if all(batch.results is not None for batch in batches) else evaluator(prepared)
        for batch in batches:
            results = batch.results if run is None or batch.results is not None else run(batch.feed)
            self._wanted.append(_real(results or (), batch))
        self._score = guard.metric(_joined(self._wanted), guard.labels) if guard.metric and batches else None

    @property
    def is_possible(self) -> bool:
        """True if there is something to judge by: a metric, or outputs of which decibels say something."""
        return bool(self._wanted) and (self.guard.metric is not None or bool(self._judged))

    def figure(self, module: tvm.IRModule) -> Figure:
        """What the compiled module does."""
        return self.measured(self._run(module))

    def measured(self, run: Run, *, roughly: bool = False) -> Figure:
        """What this gives for the samples; roughly: for a few of them, where decibels judge."""
        batches = self._few() if roughly and self.guard.metric is None else self._batches
        found = [_real(run(batch.feed), batch) for batch in batches]
        sqnr = min((self._sqnr(index, found) for index in self._judged or range(len(found[0]))), default=math.inf)
        if self.guard.metric is None or self._score is None:
            return Figure(sqnr)
        return Figure(sqnr, (float(self.guard.metric(_joined(found), self.guard.labels)), float(self._score)))

    def _few(self) -> Sequence[Batch]:
        """The first batches, of FEW_SAMPLES samples or a little more."""
        counts = itertools.accumulate(batch.count for batch in self._batches)
        return self._batches[: 1 + sum(count < FEW_SAMPLES for count in counts)]

    def _run(self, module: tvm.IRModule) -> Run:
        """The definition in NumPy for a small module, compiled code for others: they give the same bits."""
        samples = sum(samples_in(batch.feed) for batch in self._batches)
        macs = sum(entry.get("macs") or 0 for entry in get_ledger(module).layers.values())
        if samples * macs <= FEW_MACS:
            reference = Reference(module)
            if not reference.islands:
                return reference.run
        return self._evaluator(module)

    def _sqnr(self, index: int, found: list[list[np.ndarray]]) -> float:
        """Of one output; infinite where float gives nothing but zeros, of which a ratio says nothing."""
        deviation = Deviation()
        power = 0.0
        for wanted, got in zip(self._wanted, found, strict=False):  # of a rehearsal the first ones
            if wanted[index].shape != got[index].shape:
                continue
            deviation.add(wanted[index].astype(np.float64), got[index].astype(np.float64))
            power += float(np.nansum(np.abs(np.nan_to_num(wanted[index].astype(np.float64), posinf=0.0, neginf=0.0))))
        figure = deviation.figures().sqnr
        return math.inf if power == 0.0 else round(figure, 1) if math.isfinite(figure) else figure


def _real(results: Sequence[np.ndarray], batch: Batch) -> list[np.ndarray]:
    """Rows of the real samples."""
    size = samples_in(batch.feed)
    return [y[: batch.count] if y.ndim and len(y) == size else y for y in map(np.asarray, results)]


def _joined(found: list[list[np.ndarray]]) -> list[np.ndarray]:
    """Outputs of all samples, in order."""
    return [np.concatenate(rows) if rows[0].ndim else np.stack(rows) for rows in zip(*found, strict=True)]


def judged_outputs(module: tvm.IRModule) -> list[int]:
    """Positions of the outputs that decibels can judge: floats that do not stand behind an ordering of values."""
    view = View(module)
    ordered: set[str] = set()
    for var, value in view.bindings:
        if op_name(value) in ORDERING or not ordered.isdisjoint(used_vars(value)):
            ordered.add(var.name)
    return [
        index
        for index, name in enumerate(view.outputs)
        if name not in ordered
        and isinstance(view.var[name].ty, relax.TensorType)
        and "float" in str(view.var[name].ty.dtype)
    ]
