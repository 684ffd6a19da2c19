"""Timing of single runs."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import tvm_ffi

WARM_UP = 3
# Mode of TVM's thread pool: one thread a fast core, as at its start.
BIG_CORES = 1


@dataclass(frozen=True)
class Timing:
    """Seconds of single runs."""

    median: float
    fastest: float
    slowest: float
    runs: int

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def set_threads(count: int) -> None:
    """Number of threads that compiled models use from now on, in this process."""
    tvm_ffi.get_global_func("runtime.config_threadpool")(BIG_CORES, count)


def measure(run: Callable[[], object], *, repeat: int, threads: int | None = None) -> Timing:
    """Run `repeat` times after a warm-up."""
    if threads is not None:
        set_threads(threads)
    for _ in range(WARM_UP):
        run()
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return Timing(statistics.median(seconds), min(seconds), max(seconds), repeat)
