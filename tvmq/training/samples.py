"""Samples to learn from: kept in memory, drawn in batches, and those that judge kept apart.

Tests: tests/training/test_finetune.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tvmq.calibration.dataset import Dataset, Feed, samples_in
from tvmq.errors import DataError

# One part in so many judges, where there are at least FEW
JUDGE, FEW = 6, 48


class TrainingSamples:
    """All samples of a dataset as parts: single ones where the model's batch is dynamic, else batches of the model.

    parts  feeds of the model
    joins  any number of parts, joined, is a feed as well
    """

    def __init__(self, parts: Sequence[Feed], *, joins: bool) -> None:
        self.parts, self.joins = list(parts), joins
        self.size = samples_in(self.parts[0])

    @classmethod
    def of(cls, data: Dataset) -> TrainingSamples:
        """Samples of a dataset; a last batch that is not full is left out where there are others.

        raises  DataError where there is nothing
        """
        joins = all(entry.shape[:1] == (None,) for entry in data.inputs)
        feeds = [({name: np.array(value) for name, value in feed.items()}, count) for feed, count in data]
        if not feeds:
            raise DataError("finetune: there are no samples; give at least one, better 100 to 1000")
        full = [feed for feed, count in feeds if count == samples_in(feed)]
        return cls(full or [feeds[0][0]], joins=joins)

    def __len__(self) -> int:
        return len(self.parts)

    def feeds(self, index: Sequence[int] | np.ndarray) -> list[Feed]:
        """Some parts as feeds of the model: a single one where they join."""
        chosen = [self.parts[i] for i in index]
        return [{name: np.concatenate([feed[name] for feed in chosen]) for name in chosen[0]}] if self.joins else chosen

    def split(self) -> tuple[TrainingSamples, TrainingSamples]:
        """Samples to learn from, and every JUDGE-th part, which judges; few samples do both."""
        if len(self) * self.size < FEW or len(self) < JUDGE:
            return self, self
        learned = [part for i, part in enumerate(self.parts) if i % JUDGE != JUDGE - 1]
        return TrainingSamples(learned, joins=self.joins), TrainingSamples(
            self.parts[JUDGE - 1 :: JUDGE], joins=self.joins
        )

    def batches(self, size: int, rng: np.random.Generator) -> Iterator[list[Feed]]:
        """Feeds of about `size` samples together, without end; each part once in a round."""
        count, order = max(1, size // self.size), np.zeros(0, np.int64)
        while True:
            while len(order) < count:
                order = np.concatenate([order, rng.permutation(len(self))])
            chosen, order = order[:count], order[count:]
            yield self.feeds(chosen)

    def in_order(self, size: int) -> list[Feed]:
        """All parts in feeds of `size` samples each; what does not fill a last one is left out."""
        count = min(max(1, size // self.size), len(self)) if self.joins else 1
        starts = range(0, len(self) // count * count, count)
        return [feed for i in starts for feed in self.feeds(range(i, i + count))]
