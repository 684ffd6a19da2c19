"""Statistics that compiled code takes inside of the model: the memory it works on, and what becomes of it.

kernels/calibrate/observe.py writes, observers.TensorStatistics receive: the same state, to the bit, as if they had seen
the tensors. Memory is a few hundred kilobytes a tensor, whatever the number of samples: what is kept of single samples
(extremes, channel sums) stands in `slots`, which are emptied when they are full.

totals, int64, for each tensor
    HEAD       exponent of the bins, number of zeros, 1 if a sample was refused (NaN, infinity)
    TABLE      counts of the bins -BINS .. BINS - 1
    channels   channel sums of each slot, where they are taken
place, int32 [PLACE]
    tensor number, begin of its part of totals, slots, 1 if its first axis is the batch, 1 if bins are counted,
    1 if channels are summed, and its size: outer, channels, inner

Tests: tests/passes/calibrate/test_observed_model.py
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tvmq.calibration.observers.base import TensorStatistics
from tvmq.calibration.observers.histogram_statistics import BINS, LOWEST_EXPONENT, Histogram

HEAD, TABLE, TABLES, PLACE = 8, 2 * BINS, 4, 9
EXPONENT, ZEROS, REFUSED = range(3)
# Inputs of a model that observes.
TOKEN, CONTROL, SCRATCH = "observed", "observed_control", "observed_tables"
EXTREMES, TOTALS = "observed_extremes", "observed_totals"
# Samples between two times that statistics are put together; a batch may be larger.
SLOTS = 32


@dataclass(frozen=True)
class TensorLayout:
    """Place of the statistics of a tensor.

    index, begin  number of the tensor, and of its first element of totals
    batched       its first axis is the batch; else a run gives one sample
    channels      how many sums a sample has, 0 for none
    values        of a sample
    """

    index: int
    begin: int
    batched: bool
    channels: int
    values: int

    def end(self, slots: int) -> int:
        """Where the next one begins: at a multiple of HEAD."""
        return self.begin + HEAD + TABLE + -(-slots * self.channels // HEAD) * HEAD


class StatisticsBuffers:
    """Arrays that a model writes its statistics to, and how many of their slots are used.

    statistics  {tensor: where its statistics end up}
    shapes      {tensor: shape, with the batch if it has one}
    batched     {tensor: whether it has}
    batch       samples of a run at most
    """

    def __init__(
        self,
        statistics: Mapping[str, TensorStatistics],
        shapes: Mapping[str, tuple[int, ...]],
        batched: Mapping[str, bool],
        batch: int,
    ) -> None:
        self.statistics, self.slots = statistics, max(SLOTS, batch)
        self.parts: dict[str, TensorLayout] = {}
        self.batch, self.size = batch, 0
        for index, (name, shape) in enumerate(shapes.items()):
            shape = shape if batched[name] else (1, *shape)
            axis = statistics[name].ranges.channel_axis
            channels = 0 if axis is None else shape[axis]
            part = TensorLayout(index, self.size, batched[name], channels, math.prod(shape[1:]))
            self.parts[name], self.size = part, part.end(self.slots)
        self._samples = self._runs = 0
        # of the values counted here; others may be added to the statistics by other ways
        self._ends = {name: (math.inf, -math.inf) for name in self.parts}

    def shapes(self) -> dict[str, tuple[tuple[int, ...], str]]:
        """{input: shape and element type} of the memory, in the order of R.tvmq.observe."""
        return {
            CONTROL: ((3,), "int32"),
            SCRATCH: ((TABLES * TABLE,), "int32"),
            EXTREMES: ((len(self.parts) * self.slots * 2,), "float32"),
            TOTALS: ((self.size,), "int64"),
        }

    def start(self, memory: Mapping[str, np.ndarray]) -> None:
        """Work on these arrays, {input: array}; what they hold is lost."""
        self._memory = {name: memory[name] for name in (TOKEN, *self.shapes())}
        for array in self._memory.values():
            array[...] = 0
        self._heads = np.array([part.begin for part in self.parts.values()])
        memory[TOTALS][self._heads + EXPONENT] = LOWEST_EXPONENT

    def prepare_run(self, count: int) -> Mapping[str, np.ndarray]:
        """Make room for a run of `count` real samples; returns the arrays that it is given besides its inputs."""
        if max(self._samples + count, self._runs + 1) > self.slots:
            self.flush()
        self._memory[CONTROL][:] = count, self._samples, self._runs
        return self._memory

    def finish_run(self, count: int) -> list[str]:
        """Count the samples of a run; returns the tensors with NaN or infinity, of which nothing was added."""
        self._samples, self._runs = self._samples + count, self._runs + 1
        refused = self._memory[TOTALS][self._heads + REFUSED]
        return [name for name, bad in zip(self.parts, refused, strict=True) if bad] if refused.any() else []

    def flush(self) -> None:
        """Add what the slots hold to the statistics, and empty them."""
        totals = self._memory[TOTALS]
        extremes = self._memory[EXTREMES].reshape(len(self.parts), self.slots, 2)
        for name, part in self.parts.items():
            used = self._samples if part.batched else self._runs
            sums, begin = None, part.begin + HEAD + TABLE
            if part.channels:
                sums = totals[begin : begin + used * part.channels].reshape(used, part.channels)
            if used and part.values:
                lows, highs = extremes[part.index, :used].T
                low, high = self._ends[name]
                self._ends[name] = min(low, float(lows.min())), max(high, float(highs.max()))
                self.statistics[name].ranges.add_samples(lows, highs, sums, part.values)
        self._samples = self._runs = 0

    def finish(self) -> None:
        """Add everything that is left to the statistics: the slots, and the counts of the bins."""
        self.flush()
        for name, part in self.parts.items():
            statistics = self.statistics[name]
            if statistics.has_histogram and self._ends[name][0] <= self._ends[name][1]:
                statistics.add_histogram(self._histogram(name, part))

    def _histogram(self, name: str, part: TensorLayout) -> Histogram:
        """The counts of a tensor; their exponent may still be less than a Histogram would have."""
        head = self._memory[TOTALS][part.begin :]
        exponent, (low, high) = int(head[EXPONENT]), self._ends[name]
        first, last = (math.trunc(math.ldexp(end, -exponent)) for end in (min(low, 0.0), max(high, 0.0)))
        return Histogram.from_dict(
            {
                "bins": np.array([exponent, first, head[ZEROS]]),
                "extremes": np.array([low, high], np.float32),
                "counts": head[HEAD + BINS + first : HEAD + BINS + last + 1],
            },
            name,
        )
