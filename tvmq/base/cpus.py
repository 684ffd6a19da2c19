"""The CPUs that a process may use, as taskset or a container says, and how many threads a model runs on them.

No library that is loaded changes that. Without TVM, as a C library is loaded; `runtime/threads.py` has TVM use so many.

Tests: tests/base/test_forks.py, tests/runtime/test_threads.py
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from tvmq.errors import ConfigError

VARIABLES = ("TVMQ_NUM_THREADS", "TVM_NUM_THREADS")
SIBLINGS = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"


def allowed_cpus() -> frozenset[int]:
    """Numbers of the CPUs that this thread may use; of all, where the system does not tell."""
    if hasattr(os, "sched_getaffinity"):
        return frozenset(os.sched_getaffinity(0))
    return frozenset(range(os.cpu_count() or 1))


@contextmanager
def keep_cpu_mask() -> Iterator[None]:
    """Give this thread the CPUs that it had back: loading TVM loads torch where it is, whose MKL may take all of them.

    >>> with keep_cpu_mask():
    ...     import tvm_ffi
    """
    before = allowed_cpus()
    try:
        yield
    finally:
        if allowed_cpus() != before and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, before)


ALLOWED_CPUS = allowed_cpus()


def check_counts(where: str, **counts: int | None) -> None:
    """ConfigError for a count below 1; None is none."""
    for name, count in counts.items():
        if count is not None and (not isinstance(count, int) or isinstance(count, bool) or count < 1):
            raise ConfigError(f"{where}: {name} must be an integer of at least 1. Got {count!r} instead")


def default_threads() -> int:
    """TVMQ_NUM_THREADS or else TVM_NUM_THREADS, read now; else one for each core that the process may use.

    raises  ConfigError for other values than integers of at least 1
    """
    for variable in VARIABLES:
        text = os.environ.get(variable, "")
        if text:
            if not text.isdecimal() or int(text) < 1:
                raise ConfigError(f"run: {variable} must be an integer of at least 1. Got {text!r} instead")
            return int(text)
    return _cores()


@lru_cache(maxsize=1)
def _cores() -> int:
    """Cores of the CPUs that the process may use: two threads of one core gain kernels nothing."""
    return len({_siblings(cpu) for cpu in ALLOWED_CPUS})


def _siblings(cpu: int) -> str:
    try:
        return Path(SIBLINGS.format(cpu)).read_text().strip()
    except OSError:
        return str(cpu)
