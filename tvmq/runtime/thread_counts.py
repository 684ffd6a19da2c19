"""How many threads a model may use: what was asked for, else what the environment says, else one for each core.

Without TVM, as a C library is loaded; `threads.py` has TVM use so many.

Tests: tests/runtime/test_threads.py
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from tvmq.base.cpu_mask import allowed_cpus
from tvmq.errors import ConfigError

VARIABLES = ("TVMQ_NUM_THREADS", "TVM_NUM_THREADS")
ALLOWED_CPUS = allowed_cpus()
SIBLINGS = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"


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
