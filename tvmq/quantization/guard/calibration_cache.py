"""Results of one reading of the data, kept for all modules that are tried: a trial costs no calibration.

Tests: tests/quantization/search/test_workers.py
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import tvm

from tvmq.calibration.dataset import Dataset, Feed
from tvmq.calibration.observers.auto import Choice
from tvmq.calibration.observers.base import Range, TensorStatistics
from tvmq.calibration.observers.samples import Fingerprint
from tvmq.graph.view import View
from tvmq.numerics.spec import QuantSpec
from tvmq.passes.calibrate.collect import collect, watched_tensors
from tvmq.passes.calibrate.observed_model import CompileInPlace, Evaluator

EVERY = 4  # of the batches one judges
GOLDEN = 0.6180339887498949  # steps of it meet no period of the data, as every fourth batch would
MOST_SAMPLES = 32
ENOUGH = 16  # fewer samples spread over the data are not enough to judge by: all that are kept serve
MOST_BYTES = 2**27


@dataclass
class Batch:
    """Some samples, of which the first `count` are real, and what the float module gives for them, where known."""

    feed: Feed
    count: int
    results: list[np.ndarray] | None = None

    @property
    def calls(self) -> int:
        """Calls of a batch that is a sequence, whose arrays stand under (number of the call, input); 1 of others."""
        return len({key[0] for key in self.feed if isinstance(key, tuple)}) or 1


class CalibrationCache:
    """Cache of what one reading of the data gives: statistics of tensors, the data's fingerprint, and a few batches.

    A tensor's statistics say what the data are, not what was chosen from them: they serve every module that is made of
    the same float one.

    choices      ranges of tensors by themselves, of `passes/calibrate/thresholds.py`
    widened      ranges that their readers were asked about, of `passes/calibrate/reader_errors.py`
    has_results  True: what the float module gives for these batches is kept, where it comes for free
    """

    def __init__(self, *, has_results: bool = True) -> None:
        self.has_results = has_results
        self.statistics: dict[str, TensorStatistics] = {}
        self.fingerprint = Fingerprint()
        self.choices: dict[tuple[str, str, QuantSpec], Choice] = {}
        self.widened: dict[tuple[str, Range], Range] = {}
        self._is_read = False
        self._first: list[Batch] = []
        self._spread: list[Batch] = []
        self._last: Batch | None = None

    def collect(
        self,
        annotated: tvm.IRModule,
        data: Dataset,
        evaluator: Evaluator,
        *,
        with_histogram: bool,
        compile_in_place: CompileInPlace,
        momentum: float | None = None,
        besides: Iterable[str] = (),
    ) -> None:
        """Statistics of all watched tensors of a module; the data are read if some are not known yet.

        besides  variables of which other modules may need statistics: from the first reading of the data as well
        """
        names = {w.source for w in watched_tensors(View(annotated))}
        if self._is_read and names.issubset(self.statistics):
            return
        is_first = not self._is_read
        batches: Iterable[tuple[Feed, int]] = self._pass_batches(data) if is_first else data
        self._is_read = True
        statistics = collect(
            annotated, batches, evaluator, with_histogram=with_histogram, momentum=momentum,
            compile_in_place=compile_in_place, known=self.statistics, besides=besides if is_first else (),
            results=self._remember if self.has_results else None,
        )  # fmt: skip
        self.statistics.update(statistics)

    def adopt(self, statistics: Mapping[str, TensorStatistics], data: Dataset) -> None:
        """Take statistics of these data that were collected elsewhere; the model is not run."""
        if not self._is_read:
            self.statistics.update(statistics)
            for _ in self._pass_batches(data):
                self._is_read = True
        self._last = None

    def _pass_batches(self, batches: Iterable[tuple[Feed, int]]) -> Iterator[tuple[Feed, int]]:
        """Pass the batches on; some of them are remembered."""
        for index, (feed, count) in enumerate(batches):
            self.fingerprint.update({name: value[:count] if value.ndim else value for name, value in feed.items()})
            kept = self._spread if is_judge(index) else self._first
            self._last = None
            if sum(one.count for one in kept) < MOST_SAMPLES and _bytes(kept) < MOST_BYTES:
                self._last = Batch(dict(feed), count)
                kept.append(self._last)
            yield feed, count

    def _remember(self, results: Sequence[np.ndarray]) -> None:
        """Keep the results of the float module for the batch that is being read."""
        if self._last is not None:
            self._last.results = [np.array(result) for result in results]

    def all_batches(self) -> list[Batch]:
        """All that are kept."""
        return [*self._first, *self._spread]

    def batches(self) -> list[Batch]:
        """Batches to judge by: one of four, spread over the data; of a few samples all that are kept."""
        enough = sum(batch.count for batch in self._spread) >= ENOUGH
        return self._spread if enough else self.all_batches()


def is_judge(index: int) -> bool:
    """True for one of EVERY batches, spread without a period.

    >>> [index for index in range(16) if is_judge(index)]
    [2, 7, 10, 15]
    """
    return (index + 1) * GOLDEN % 1 >= 1 - 1 / EVERY


def _bytes(batches: Iterable[Batch]) -> int:
    return sum(value.nbytes for batch in batches for value in batch.feed.values())
