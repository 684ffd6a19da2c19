"""Timing of single runs, with a given number of threads.

Tests: tests/runtime/test_executable.py
"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tvmq.base.cpus import check_counts
from tvmq.runtime.threads import with_threads

WARM_UP = 3
TURNS, BLOCK_SECONDS = 15, 10e-3  # of runs by turns, and what a turn takes at least


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
        """Fields as a dict, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        median, fastest, slowest = (f"{s * 1e6:.1f} us" for s in (self.median, self.fastest, self.slowest))
        return f"median {median}, fastest {fastest}, slowest {slowest} of {self.runs} runs"


def time_by_turns(runs: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Median seconds of a run of each, in blocks by turns: a machine that slows down slows all of them."""
    begin = time.perf_counter()
    for run in runs.values():
        run()
    once = (time.perf_counter() - begin) / len(runs)
    calls = max(1, round(BLOCK_SECONDS / max(once, 1e-6)))
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(TURNS):
        for name, run in runs.items():
            begin = time.perf_counter()
            for _ in range(calls):
                run()
            times[name].append((time.perf_counter() - begin) / calls)
    return {name: statistics.median(own) for name, own in times.items()}


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
