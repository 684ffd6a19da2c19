"""Timing of single runs, with a given number of threads."""

from __future__ import annotations

import os
import statistics
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, TypeVar

import tvm_ffi

from tvmq.errors import ConfigError

WARM_UP = 3
# Mode of TVM's thread pool: its threads share the CPUs that are listed.
SHARE_ALL_CORES = -3
# Asked before TVM pins the thread that runs the first model to one CPU; new threads inherit that.
ALLOWED_CPUS = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)

Result = TypeVar("Result")


@dataclass(frozen=True)
class Timing:
    """Seconds of single runs.

    >>> print(Timing(median=0.00042, fastest=0.0004, slowest=0.001, runs=50))
    median 420.0 us, fastest 400.0 us, slowest 1000.0 us of 50 runs
    """

    median: float
    fastest: float
    slowest: float
    runs: int

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    def __str__(self) -> str:
        median, fastest, slowest = (f"{s * 1e6:.1f} us" for s in (self.median, self.fastest, self.slowest))
        return f"median {median}, fastest {fastest}, slowest {slowest} of {self.runs} runs"


def measure(run: Callable[[], object], *, repeat: int, threads: int | None = None) -> Timing:
    """Run `repeat` times after a warm-up.

    threads  that models may use meanwhile, at most one a CPU; None: as many as TVM uses in this thread
    raises   ConfigError for counts below 1
    """
    check_counts("benchmark", repeat=repeat, threads=threads)
    stop = threading.Event()

    def work() -> list[float]:
        for _ in range(WARM_UP):
            run()
        seconds: list[float] = []
        while len(seconds) < repeat and not stop.is_set():
            start = time.perf_counter()
            run()
            seconds.append(time.perf_counter() - start)
        return seconds

    try:
        seconds = work() if threads is None else with_threads(threads, work)
    finally:
        stop.set()  # after an interrupt the other thread is not to go on
    return Timing(statistics.median(seconds), min(seconds), max(seconds), repeat)


def check_counts(where: str, **counts: int | None) -> None:
    """ConfigError for a count below 1; None is none."""
    for name, count in counts.items():
        if count is not None and (not isinstance(count, int) or count < 1):
            raise ConfigError(f"{where}: {name} must be an integer of at least 1. Got {count!r} instead")


def with_threads(count: int, work: Callable[[], Result]) -> Result:
    """Call a function where models use `count` threads, whatever they use here and in other threads."""
    return _worker(count).submit(work).result()


@cache
def _worker(count: int) -> ThreadPoolExecutor:
    """A thread where models use `count`: TVM cannot resize a pool, but has one for each thread."""
    return ThreadPoolExecutor(1, f"tvmq-{count}-threads", initializer=lambda: _configure(count))


def _configure(count: int) -> None:
    cpus = [str(cpu) for cpu in sorted(ALLOWED_CPUS)]
    tvm_ffi.get_global_func("runtime.config_threadpool")(SHARE_ALL_CORES, count, cpus, count)
