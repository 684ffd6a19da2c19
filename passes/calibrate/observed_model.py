"""Calibration of large tensors: a model that takes their statistics itself, so that they never leave it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
import tvm

from tvmq.graph.symbolic import sizes_in, with_sizes
from tvmq.graph.view import View, sizes_of
from tvmq.observers.streamed import Streamed
from tvmq.observers.tensor_statistics import TensorStatistics
from tvmq.passes.calibrate.intermediates import Feed, Run, drop_uncalibrated
from tvmq.passes.calibrate.observe import can_be_observed, observe
from tvmq.passes.fold_constants import fold_constants

# Compiles a module: its run, and {input: the memory that it works on}.
Observing = Callable[[tvm.IRModule], tuple[Run, Mapping[str, np.ndarray]]]
# Fewer values of a batch are looked at by NumPy before our code would have been compiled.
MANY_VALUES = 1_000_000


class Observed:
    """Statistics taken inside of the model, for batches of the sizes of the first one.

    statistics  {tensor: where they end up}
    batched     {tensor: whether its first axis is the batch}
    """

    def __init__(
        self,
        mod: tvm.IRModule,
        statistics: Mapping[str, TensorStatistics],
        batched: Mapping[str, bool],
        observing: Observing,
    ) -> None:
        self._mod, self._statistics, self._batched, self._observing = mod, statistics, batched, observing
        self._sizes: dict[str, int] | None = None
        self._streamed: Streamed | None = None
        self._run: Run | None = None

    def run(self, feed: Feed, count: int) -> list[str] | None:
        """Add a batch, of which the first `count` samples are real.

        returns  the tensors with NaN or infinity, of which nothing was added; None if nothing of the batch was: for
                 small tensors, other sizes than those of the first batch, what the kernel does not take
        """
        sizes = sizes_in(self._mod, feed)
        if self._sizes is None:
            self._sizes = sizes
            self._prepare(feed)
        if self._streamed is None or self._run is None or sizes != self._sizes:
            return None
        self._run({**feed, **self._streamed.before(count)})
        return self._streamed.after(count)

    def _prepare(self, feed: Feed) -> None:
        assert self._sizes is not None
        fixed = fold_constants(with_sizes(self._mod, self._sizes)) if self._sizes else self._mod
        view, names = View(fixed), list(self._statistics)
        if not (all(name in view.var for name in names) and can_be_observed(view, names)):
            return
        shapes = {name: tuple(int(size) for size in sizes_of(view.var[name])) for name in names}
        if sum(map(math.prod, shapes.values())) < MANY_VALUES:
            return
        batch = max([shapes[name][0] for name in names if self._batched[name]], default=1)
        streamed = Streamed(self._statistics, shapes, self._batched, batch)
        if streamed.size > np.iinfo(np.int32).max:
            return
        self._run, memory = self._observing(drop_uncalibrated(observe(fixed, streamed)))
        streamed.start(memory)
        self._streamed = streamed

    def flush(self) -> None:
        """Hand over what is known of single samples, as happens every SLOTS samples."""
        if self._streamed is not None:
            self._streamed.flush()

    def finish(self) -> None:
        """Hand over what has been gathered."""
        if self._streamed is not None:
            self._streamed.finish()
