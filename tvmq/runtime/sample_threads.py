"""Samples of a batch on several threads: each runs its share of them alone, with a virtual machine of its own.

Kernels of small layers gain little from threads of their own, or nothing; samples need nothing of each other.

Tests: tests/runtime/test_sample_threads.py
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

import numpy as np

from tvmq.runtime.threads import use_one_thread, with_one_thread

Result = TypeVar("Result")


class SampleThreads:
    """Threads for all shares of a batch but the first, started when they are needed; a child process starts its own."""

    def __init__(self) -> None:
        self._executor: ThreadPoolExecutor | None = None
        self._process = self._count = 0

    def run(self, shares: Sequence[Callable[[], Result]]) -> list[Result]:
        """Run the shares at the same time, the first here, and return their results in order.

        raises  what the first share that fails raises, when all have ended
        """
        futures = [self._threads(len(shares) - 1).submit(share) for share in shares[1:]]
        try:
            first = with_one_thread(shares[0])
        finally:
            wait(futures)  # they use the memory of the model
        return [first, *(future.result() for future in futures)]

    def _threads(self, count: int) -> ThreadPoolExecutor:
        if self._executor is None or self._process != os.getpid() or self._count < count:
            self._executor = ThreadPoolExecutor(count, "tvmq-samples", initializer=use_one_thread)
            self._process, self._count = os.getpid(), count
        return self._executor


def share_out(widths: Sequence[int], count: int) -> list[range]:
    """Neighbouring pieces for each of `count` threads, as equal in samples as they can be; none are empty.

    widths  samples of each piece, at least `count` pieces

    >>> share_out([1, 1, 1, 1], 2), share_out([8, 2, 1, 1], 2), share_out([2, 1, 1], 3)
    ([range(0, 2), range(2, 4)], [range(0, 1), range(1, 4)], [range(0, 1), range(1, 2), range(2, 3)])
    """
    sums = np.cumsum([0, *widths])
    ends = [0]
    for number in range(1, count):
        nearest = int(np.abs(sums - sums[-1] * number / count).argmin())
        ends.append(min(max(nearest, ends[-1] + 1), len(widths) - (count - number)))
    return [range(*pair) for pair in itertools.pairwise([*ends, len(widths)])]
