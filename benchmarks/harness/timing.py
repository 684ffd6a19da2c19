"""Times of runs, the contestants taking turns, so that a change of clock or load meets them all."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

BLOCK_SECONDS, FEWEST, MOST = 0.15, 3, 60  # of one contestant in one round
WARM_UP = 3
Run = Callable[[], object]
Timer = Callable[[int], np.ndarray]  # seconds of each of so many runs


def timer_of(run: Run, clock: Callable[[], float] = time.perf_counter) -> Timer:
    """A timer of runs of this very process."""

    def seconds(count: int) -> np.ndarray:
        stamps = [clock()]
        for _ in range(count):
            run()
            stamps.append(clock())
        return np.diff(stamps)

    return seconds


def time_blocks(timers: Mapping[str, Timer], rounds: int) -> dict[str, list[np.ndarray]]:
    """Seconds of the runs of each contestant, a block a round, the contestants taking turns."""
    for seconds in timers.values():
        seconds(WARM_UP)
    times: dict[str, list[np.ndarray]] = {name: [] for name in timers}
    for _ in range(rounds):
        for name, seconds in timers.items():
            count = int(np.clip(BLOCK_SECONDS / seconds(1)[0], FEWEST, MOST))
            times[name].append(seconds(count))
    return times


def least_seconds(
    runs: Mapping[str, Run], rounds: int, repeats: int = 1, *, block: float = 0.0,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:  # fmt: skip
    """Least seconds of a run of each, in blocks of `repeats` runs by turns, and as many more as `block` seconds take.

    The first round of blocks of seconds only warms up.
    """
    least = dict.fromkeys(runs, np.inf)
    for turn in range(rounds):
        for name, run in runs.items():
            calls, begin = 0, clock()
            while not calls or clock() - begin < block:
                for _ in range(repeats):
                    run()
                calls += repeats
            if turn or not block:
                least[name] = min(least[name], (clock() - begin) / calls)
    return least


def median_seconds(run: Callable[[Any], object], feeds: Sequence[Any], seconds: float) -> float:
    """Median of single runs on one sample after the other, for so many seconds behind one run to warm up."""
    run(feeds[0])
    taken: list[float] = []
    while sum(taken) < seconds:
        begin = time.perf_counter()
        run(feeds[len(taken) % len(feeds)])
        taken.append(time.perf_counter() - begin)
    return float(np.median(taken))


def median_milliseconds(times: Mapping[str, Sequence[np.ndarray]]) -> dict[str, float]:
    """Median of the times that `time_blocks` returns, in milliseconds."""
    return {name: 1e3 * float(np.median(np.concatenate(parts))) for name, parts in times.items()}


class Watch:
    """Seconds of blocks by name."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.clock, self.seconds = clock, dict[str, float]()

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Note the seconds of the block."""
        start = self.clock()
        yield
        self.seconds[name] = self.clock() - start
