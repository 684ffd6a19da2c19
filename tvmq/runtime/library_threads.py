"""The threads in which a model of a C library runs: a pool of the library, in memory of ours.

A forked child has none of its parent's threads, so it starts a pool of its own when it first runs the model.

Tests: tests/library/test_threads.py
"""

from __future__ import annotations

import ctypes
import os
import weakref
from typing import Any

from tvmq.base.cpus import check_counts, default_threads
from tvmq.errors import ConfigError
from tvmq.runtime.c_structures import Threads, buffer_of
from tvmq.runtime.inputs import aligned_zeros

MOST_THREADS = 256  # of a pool


class ThreadPool:
    """Threads for the runs of one model; they end when the pool is garbage, or the process ends.

    functions  of the library
    count      threads of a run, its own included; None: one for each core, see `default_threads`
    raises     ConfigError for a count below 1, and where the library starts no such number
    """

    def __init__(self, functions: Any, count: int | None) -> None:
        check_counts("load", num_threads=count)
        self.count = min(default_threads(), MOST_THREADS) if count is None else count
        self._functions = functions
        self._start("load")

    def reference(self) -> Any:
        """Pointer for NAME_run, of one run at a time; null for one thread."""
        if self.count == 1:
            return None
        if self._process != os.getpid():
            self._stop()
            self._start("run")
        return self._reference

    def _start(self, where: str) -> None:
        self._process, self._threads = os.getpid(), Threads()
        if self.count == 1:
            return
        size = self._functions.pool_bytes(self.count)
        self._memory = aligned_zeros([max(size, 0)], "uint8")
        self._reference = ctypes.byref(self._threads)
        status = size if size < 0 else self._functions.pool_start(buffer_of(self._memory), self.count, self._reference)
        if status:
            raise ConfigError(
                f"{where}: '{self._functions.path}' starts no {self.count} threads: "
                f"{self._functions.text_of(status)}; give a smaller num_threads"
            )
        self._stop = weakref.finalize(self, _stop_pool, self._functions, self._threads, self._memory)


def _stop_pool(functions: Any, threads: Threads, memory: Any) -> None:
    """End the threads; in a child of the process that started them, which has none of them, nothing.

    memory   of the pool, kept until here
    """
    functions.pool_stop(ctypes.byref(threads))
    del memory
