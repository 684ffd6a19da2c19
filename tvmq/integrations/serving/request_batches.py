"""Requests that wait while a run is going on are run together, where that gives each the bits that it gets alone.

Only models with a dynamic batch whose samples are proved to be apart are batched (docs/invariance.md); for all others
requests run one after another. Nobody waits for company: a batch holds what is there when the run before it ends.

Tests: tests/integrations/serving/test_request_batches.py
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from tvmq.errors import DataError
from tvmq.runtime.inputs import TensorInfo

SHORT = 1e-3  # seconds: a run below it is over before another thread would have begun
Feed = Mapping[str, np.ndarray]
Run = Callable[[Feed], Sequence[np.ndarray]]


def has_apart_samples(model: Any) -> bool:
    """True if requests may be joined along the first axis of all inputs and outputs without changing a bit."""
    batch = model["main"].batch if hasattr(model, "functions") else ""
    infos = [*model.input_info, *model.output_info]
    return bool(batch) and all(info.shape[:1] == (batch,) for info in infos)


class RequestBatches:
    """Runs requests of a model, those that wait together at once.

    run    of the model: {input: array} -> a list of outputs
    most   samples of a run; 1: requests are never joined
    """

    def __init__(self, run: Run, most: int) -> None:
        self._run, self._most = run, most
        self._waiting: list[tuple[Feed, asyncio.Future[Sequence[np.ndarray]]]] = []
        # one thread: runs of a model take turns, and the server reads requests meanwhile
        self._thread = ThreadPoolExecutor(1, "tvmq-serve")
        self._task: asyncio.Task[None] | None = None  # kept, as a loop holds tasks weakly
        self._is_running = False
        self._seconds = float("inf")  # of the last run
        self.runs = 0

    async def run(self, feed: Feed) -> Sequence[np.ndarray]:
        """Outputs for one request; raises what the model raises for it."""
        future: asyncio.Future[Sequence[np.ndarray]] = asyncio.get_running_loop().create_future()
        self._waiting.append((feed, future))
        if not self._is_running:
            self._is_running = True
            self._task = asyncio.get_running_loop().create_task(self._work())
        return await future

    async def _work(self) -> None:
        """Run what waits until nothing does."""
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                group = self._take()
                feeds = [feed for feed, _ in group]
                if self._seconds < SHORT:
                    answers = self._answer(feeds)
                    await asyncio.sleep(0)  # others are read meanwhile
                else:
                    answers = await loop.run_in_executor(self._thread, self._answer, feeds)
                self.runs += 1
                for (_, future), answer in zip(group, answers, strict=True):
                    _settle(future, answer)
        finally:
            self._is_running = False

    def _take(self) -> list[tuple[Feed, asyncio.Future[Sequence[np.ndarray]]]]:
        """The first that waits, and those behind it that fit to it, up to `most` samples."""
        first, *others = self._waiting
        group, rest, samples = [first], [], count_rows(first[0])
        form = form_of(first[0])
        for one in others:
            rows = count_rows(one[0])
            if form is not None and samples + rows <= self._most and form_of(one[0]) == form:
                group.append(one)
                samples += rows
            else:
                rest.append(one)
        self._waiting = rest
        return group

    def _answer(self, feeds: list[Feed]) -> list[Any]:
        """Outputs of each request, or its error; one that is wrong does not spoil the others."""
        begin = time.perf_counter()
        try:
            if len(feeds) > 1:
                try:
                    return self._run_together(feeds)
                except Exception:  # whose fault it is shows when they run alone
                    pass
            return [self._run_alone(feed) for feed in feeds]
        finally:
            self._seconds = time.perf_counter() - begin

    def _run_together(self, feeds: list[Feed]) -> list[list[np.ndarray]]:
        joined = {name: np.concatenate([feed[name] for feed in feeds]) for name in feeds[0]}
        ends = np.cumsum([count_rows(feed) for feed in feeds])
        outputs = [np.split(output, ends[:-1]) for output in self._run(joined)]
        return [list(rows) for rows in zip(*outputs, strict=True)]

    def _run_alone(self, feed: Feed) -> Any:
        try:
            return self._run(feed)
        except Exception as error:
            return error

    def close(self) -> None:
        """Wait for the run that is going on."""
        self._thread.shutdown()


def _settle(future: asyncio.Future[Sequence[np.ndarray]], answer: Any) -> None:
    """Give a waiting request its outputs or its error; nobody waits any more where a client went away."""
    if future.done():
        return
    if isinstance(answer, BaseException):
        future.set_exception(answer)
    else:
        future.set_result(answer)


def form_of(feed: Feed) -> Any:
    """The form that requests share which are joined: names, types and all sizes but the first; None for single numbers.

    >>> form_of({"x": np.zeros((2, 3))}) == form_of({"x": np.zeros((5, 3))}), form_of({"x": np.zeros(())})
    (True, None)
    """
    if not feed or any(array.ndim == 0 for array in feed.values()) or len({len(array) for array in feed.values()}) > 1:
        return None
    return {name: (array.dtype.str, array.shape[1:]) for name, array in feed.items()}


def count_rows(feed: Feed) -> int:
    """Samples of a request."""
    return next((len(array) for array in feed.values() if array.ndim), 1)


def check_names(feed: Feed, inputs: Sequence[TensorInfo]) -> None:
    """Refuse a request without an input. raises DataError"""
    missing = [info.name for info in inputs if info.name not in feed]
    if missing:
        raise DataError(f"serve: input '{missing[0]}' is missing; the model takes {', '.join(i.name for i in inputs)}")
