"""Who measures: this process, processes of this machine, or any `concurrent.futures.Executor`, such as Dask's.

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
from typing import Any

from tvmq.errors import ConfigError
from tvmq.precision_search.problem import Problem
from tvmq.precision_search.trials import Result, Task, TrialRunner

MOST_ATTEMPTS = 3
_runners: dict[str, TrialRunner] = {}
Results = dict[str, Result]


def run_task(problem: Problem, options: Sequence[str], task: Task) -> Results:
    """What a task gives; the problem is prepared once in a process."""
    key = f"{problem.key} {options}"
    if key not in _runners:
        _runners.clear()
        _runners[key] = TrialRunner(problem, options)
    return _runners[key].run(task)


_held: tuple[Problem, Sequence[str]] | None = None


def _hold(problem: Problem, options: Sequence[str]) -> None:
    """The problem of this process: it is sent once, not with each task."""
    global _held  # noqa: PLW0603  (a worker process has one problem)
    _held = problem, options


def _run_held(task: Task) -> Results:
    assert _held is not None
    return run_task(*_held, task)


def _result_of(future: Future[Results]) -> Results | None:
    """What a task gave; None where its worker died."""
    try:
        return future.result()
    except BrokenExecutor:
        return None
    except Exception as error:
        if type(error).__name__ != "KilledWorker":  # Dask's
            raise
        return None


class Workers:
    """Runs tasks and gives what came of them, as they end.

    runner    of this process
    options   names of all options of layers
    executor  somebody's; None: `count` processes of this machine, or this process itself for one
    shared    what stands for the problem in tasks of `executor`, where that can hold it by itself: a Dask future
    """

    def __init__(
        self,
        runner: TrialRunner,
        options: Sequence[str],
        *,
        count: int = 1,
        executor: Executor | None = None,
        shared: Any = None,
    ) -> None:
        if count < 1:
            raise ConfigError(f"search: workers must be a number of at least 1. Got {count} instead")
        self.runner, self.options, self.count = runner, tuple(options), count
        self._given, self._shared = executor, shared
        self._pool: ProcessPoolExecutor | None = None
        self._attempts: dict[Task, int] = {}

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def results(self, tasks: Sequence[Task]) -> Iterator[Results]:
        """Of each task as it ends; {} of one that no worker survives."""
        if self._given is None and self.count == 1:
            yield from map(self.runner.run, tasks)
            return
        waiting, suspects = deque(tasks), deque[Task]()
        running: dict[Future[Results], Task] = {}
        while waiting or suspects or running:
            self._give_out(running, waiting, suspects)
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                task = running.pop(future)
                results = _result_of(future)
                if results is not None:
                    yield results
                elif self._is_hopeless(task):
                    yield {}
                else:
                    suspects.append(task)

    def _give_out(self, running: dict[Future[Results], Task], waiting: deque[Task], suspects: deque[Task]) -> None:
        """As many as there are workers; what was running when one died goes out alone."""
        source = suspects or waiting
        most = 1 if suspects else self.count if self._given is None else len(waiting) + len(running)
        while source and len(running) < most:
            try:
                future = self._submit()(source[0])
                running[future] = source.popleft()
            except BrokenExecutor:
                if running:
                    return  # they end first
                self._stop()

    def _is_hopeless(self, task: Task) -> bool:
        """True for a task at which too many workers died."""
        self._attempts[task] = self._attempts.get(task, 0) + 1
        return self._attempts[task] >= MOST_ATTEMPTS

    def _submit(self) -> Callable[[Task], Future[Results]]:
        if self._given is not None:
            problem = self.runner.problem if self._shared is None else self._shared
            given = self._given
            return lambda task: given.submit(run_task, problem, self.options, task)
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self.count, multiprocessing.get_context("spawn"), _hold, (self.runner.problem, self.options)
            )
        pool = self._pool
        return lambda task: pool.submit(_run_held, task)

    def _stop(self) -> None:
        """End our own processes; what runs there is given up."""
        pool, self._pool = self._pool, None
        if pool is None:
            return
        for process in list((pool._processes or {}).values()):
            with suppress(OSError):
                process.terminate()
        pool.shutdown(wait=True, cancel_futures=True)
