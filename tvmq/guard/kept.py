"""What one reading of the data said, kept for all modules that are tried: a trial costs no calibration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import tvm

from tvmq.codegen.counting import count_bins
from tvmq.dataset import Dataset, Feed
from tvmq.graph.view import View
from tvmq.observers.fingerprint import Fingerprint
from tvmq.observers.tensor_statistics import TensorStatistics
from tvmq.passes.collect import collect, watched
from tvmq.passes.observed import Observing
from tvmq.passes.taps import Evaluator

EVERY = 4  # of the batches one is kept
MOST_SAMPLES = 32
ENOUGH = 4  # fewer samples of later batches are not enough: the first ones serve
MOST_BYTES = 2**27


class Kept:
    """Statistics of tensors by name, the fingerprint of the data, and a few batches of them.

    A tensor's statistics say what the data are, not what was chosen from them: they serve every module that is made of
    the same float one.
    """

    def __init__(self) -> None:
        self.statistics: dict[str, TensorStatistics] = {}
        self.fingerprint = Fingerprint()
        self._is_read = False
        self._first: list[tuple[Feed, int]] = []
        self._spread: list[tuple[Feed, int]] = []

    def collect(
        self,
        annotated: tvm.IRModule,
        data: Dataset,
        evaluator: Evaluator,
        *,
        with_histogram: bool,
        observing: Observing,
    ) -> None:
        """Statistics of all watched tensors of a module; the data are read if some are not known yet."""
        names = {w.source for w in watched(View(annotated))}
        if self._is_read and names.issubset(self.statistics):
            return
        batches: Iterable[tuple[Feed, int]] = data if self._is_read else self._passing(data)
        self._is_read = True
        found = collect(
            annotated, batches, evaluator, with_histogram=with_histogram, counter=count_bins, observing=observing,
            known=self.statistics,
        )  # fmt: skip
        self.statistics.update(found)

    def _passing(self, batches: Iterable[tuple[Feed, int]]) -> Iterator[tuple[Feed, int]]:
        """The same batches; some of them are remembered."""
        for index, (feed, count) in enumerate(batches):
            self.fingerprint.update({name: value[:count] if value.ndim else value for name, value in feed.items()})
            kept = self._spread if index % EVERY == EVERY - 1 else self._first
            if sum(one for _, one in kept) < MOST_SAMPLES and _bytes(kept) < MOST_BYTES:
                kept.append((dict(feed), count))
            yield feed, count

    def batches(self) -> list[tuple[Feed, int]]:
        """One of four, spread over the data; of a few samples the first ones."""
        enough = sum(count for _, count in self._spread) >= ENOUGH
        return self._spread if enough else [*self._first, *self._spread]


def _bytes(batches: Iterable[tuple[Feed, int]]) -> int:
    return sum(value.nbytes for feed, _ in batches for value in feed.values())
