"""The CPUs that this thread may use, as taskset or a container says: no library that is loaded changes that.

Tests: tests/base/test_forks.py
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


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
