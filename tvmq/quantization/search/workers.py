"""Workers of a search: this process, processes of this machine, or any `concurrent.futures.Executor`, such as Dask's.

    tvmq search model.onnx ... --workers 4
    tvmq search model.onnx ... --dask tcp://scheduler:8786

A worker that dies costs its trial only: the others go on, and what was running is given out again, one by one; a task
at which a worker died three times is left out.
"""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from functools import reduce
from typing import Any

from tvmq.calibration.observers.base import TensorStatistics
from tvmq.errors import ConfigError
from tvmq.quantization.search.parent import end_with_parent
from tvmq.quantization.search.problem import Problem
from tvmq.quantization.search.trials import Result, Task, TrialRunner

MOST_ATTEMPTS = 3
SHARDS = 8  # of the calibration data on an executor that does not say how many workers it has
_runners: dict[str, TrialRunner] = {}
Results = dict[str, Result]
Statistics = dict[str, TensorStatistics]


def run_task(problem: Problem, options: Sequence[str], task: Task) -> Results:
    """Results of a task."""
    runner = _runner_of(problem, options)
    if problem.statistics is not None:
        runner.adopt(problem.statistics)
    return runner.run(task)


def collect_shard(problem: Problem, options: Sequence[str], shard: tuple[int, int]) -> Statistics:
    """Statistics of one part of the calibration data: (its number, how many there are)."""
    return _runner_of(problem, options).collect_shard(*shard)


def _runner_of(problem: Problem, options: Sequence[str]) -> TrialRunner:
    """Runner of a problem, which is prepared once in a process."""
    key = f"{problem.key} {options}"
    if key not in _runners:
        _runners.clear()
        _runners[key] = TrialRunner(problem, options)
    return _runners[key]


_held: tuple[Problem, Sequence[str]] | None = None


def _hold(problem: Problem, options: Sequence[str]) -> None:
    """Keep the problem of this process: it is sent once, not with each task."""
    global _held  # noqa: PLW0603  (a worker process has one problem)
    end_with_parent()
    _held = problem, options


def _run_held(function: Callable[..., Any], work: Any) -> Any:
    assert _held is not None
    return function(*_held, work)


def _result_of(future: Future[Any]) -> Any:
    """Result of a task; None where its worker died."""
    try:
        return future.result()
    except BrokenExecutor:
        return None
    except Exception as error:
        if type(error).__name__ != "KilledWorker":  # Dask's
            raise
        return None


def _merge(one: Statistics, other: Statistics) -> Statistics:
    """Statistics of both parts of the data."""
    return {name: statistics.merge(other[name]) for name, statistics in one.items()}


class Workers:
    """Runs tasks and gives what came of them, as they end.

    runner    of this process
    options   names of all options of layers
    executor  somebody's; None: `count` processes of this machine, or this process itself for one
    share     gives what stands for the problem in tasks of `executor`, where that can hold it by itself: a Dask future
    """

    def __init__(
        self,
        runner: TrialRunner,
        options: Sequence[str],
        *,
        count: int = 1,
        executor: Executor | None = None,
        share: Callable[[Problem], Any] | None = None,
    ) -> None:
        if count < 1:
            raise ConfigError(f"search: workers must be a number of at least 1. Got {count} instead")
        self.runner, self.options, self.count = runner, tuple(options), count
        self._given, self._share = executor, share
        self._problem = runner.problem
        self._shared: Any = None
        self._pool: ProcessPoolExecutor | None = None
        self._attempts: dict[Any, int] = {}

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def results(self, tasks: Sequence[Task]) -> Iterator[Results]:
        """Results of each task as it ends; {} of one that no worker survives."""
        if self._is_alone:
            yield from map(self.runner.run, tasks)
        elif tasks:
            self._share_statistics()
            yield from (results or {} for results in self._run(run_task, tasks))

    @property
    def _is_alone(self) -> bool:
        return self._given is None and self.count == 1

    def _share_statistics(self) -> None:
        """Have the workers read the calibration data once, a part each, and give the merged statistics to all."""
        if self._problem.statistics is not None or not self.runner.needs_statistics:
            return
        count = min(len(self._problem.calibration), self.count if self._given is None else SHARDS)
        parts = list(self._run(collect_shard, [(number, count) for number in range(count)]))
        if all(part is not None for part in parts):
            statistics = reduce(_merge, parts)
            self.runner.adopt(statistics)
            self._problem, self._shared = replace(self._problem, statistics=statistics), None
            self._stop()

    def _run(self, function: Callable[..., Any], work: Sequence[Any]) -> Iterator[Any]:
        """Results of the function for each piece of work as it ends; None where no worker survives it."""
        waiting, suspects = deque(work), deque[Any]()
        running: dict[Future[Any], Any] = {}
        while waiting or suspects or running:
            self._give_out(function, running, waiting, suspects)
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                piece = running.pop(future)
                result = _result_of(future)
                if result is not None or self._is_hopeless(piece):
                    yield result
                else:
                    suspects.append(piece)

    def _give_out(
        self, function: Callable[..., Any], running: dict[Future[Any], Any], waiting: deque[Any], suspects: deque[Any]
    ) -> None:
        """Submit as many tasks as there are workers; what was running when one died goes out alone."""
        source = suspects or waiting
        most = 1 if suspects else self.count if self._given is None else len(waiting) + len(running)
        while source and len(running) < most:
            try:
                future = self._submit(function, source[0])
                running[future] = source.popleft()
            except BrokenExecutor:
                if running:
                    return  # they end first
                self._stop()

    def _is_hopeless(self, piece: Any) -> bool:
        """True for work at which too many workers died."""
        self._attempts[piece] = self._attempts.get(piece, 0) + 1
        return self._attempts[piece] >= MOST_ATTEMPTS

    def _submit(self, function: Callable[..., Any], work: Any) -> Future[Any]:
        if self._given is not None:
            if self._shared is None:
                self._shared = self._problem if self._share is None else self._share(self._problem)
            return self._given.submit(function, self._shared, self.options, work)
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self.count, multiprocessing.get_context("spawn"), _hold, (self._problem, self.options)
            )
        return self._pool.submit(_run_held, function, work)

    def _stop(self) -> None:
        """End our own processes; what runs there is given up."""
        pool, self._pool = self._pool, None
        if pool is None:
            return
        for process in list((pool._processes or {}).values()):
            with suppress(OSError):
                process.terminate()
        pool.shutdown(wait=True, cancel_futures=True)
