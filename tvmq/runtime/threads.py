"""How many threads models use: one number an executable, whatever other models and Python threads do.

TVM has a pool of threads for each Python thread that runs models. Its size is fixed when it is first asked for; how
many of its threads work can be changed at any time (7 us), so models of different numbers may take turns. Here a pool
gets as many threads as the first model asks for or, if that is more, `default_threads()`; what asks for still more
runs in a Python thread of its own. TVM would bind the second thread to the second CPU and leave the first one free to
sit there too, which halves the speed: here the threads of a pool share all CPUs that the process may use.

A child process has none of its parent's threads, and the pool would wait for them for ever, at its end too, where it
joins them. So the child starts new ones at once; the parent sees to it that the old ones do not wait for a signal then.
"""

from __future__ import annotations

import ctypes
import math
import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from tvmq import tvm_runtime
from tvmq.errors import ConfigError
from tvmq.tvm_internals import SET_THREADS, global_function

VARIABLES = ("TVMQ_NUM_THREADS", "TVM_NUM_THREADS")
# Mode of TVM's thread pool: its threads share the CPUs that are listed.
SHARE_ALL_CORES = -3
# Asked before TVM pins the thread that runs the first model to one CPU; new threads inherit that.
ALLOWED_CPUS = frozenset(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1))
THREAD = "/proc/{}/task/{}"
# Seconds of CPU; a thread of the pool looks 300,000 times for work before it waits: 0.06 s at least
SURELY_AWAKE = 0.03
SIBLINGS = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"

Result = TypeVar("Result")


class _Here(threading.local):
    """Of each Python thread.

    count    threads that models use now; 0: never set
    size     of its pool
    fixed    it stays so
    workers  threads of its pool, as the system numbers them, once a fork has asked
    woken    {thread: seconds of CPU} of these when they last looked for work because of a fork
    lost     its pool is of a parent process, and nothing runs there
    """

    count = 0
    size = 0
    fixed = False
    workers: frozenset[int] = frozenset()
    woken: Mapping[int, float] = MappingProxyType({})
    lost = False


here = _Here()


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


def in_threads(count: int, work: Callable[[], Result]) -> Result:
    """Call a function, here if possible, where models use `count` threads; under `with_threads`, as many as there."""
    if here.count == count or here.fixed or _configured(count):
        return work()
    return with_threads(count, work)


def with_threads(count: int, work: Callable[[], Result]) -> Result:
    """Call a function where all models use `count` threads, whatever they use here and in other threads."""
    return _worker(count).submit(work).result()


@cache
def _worker(count: int) -> ThreadPoolExecutor:
    """A thread where models use `count`."""
    return ThreadPoolExecutor(1, f"tvmq-{count}-threads", initializer=lambda: _fix(count))


def _fix(count: int) -> None:
    _set(count)
    here.fixed = True


def _configured(count: int) -> bool:
    """Have models in this thread use `count` threads; False if its pool has fewer."""
    if here.lost:
        return count == 1
    if here.size == 0:
        _set(max(count, default_threads()))
        here.size = tvm_runtime.num_threads()
    if count > here.size:
        return False
    _set(count)
    here.count = count
    return True


def _set(count: int) -> None:
    cpus = [str(cpu) for cpu in sorted(ALLOWED_CPUS)]
    _configure()(SHARE_ALL_CORES, count, cpus, count)


@lru_cache(maxsize=1)
def _configure() -> Any:
    return global_function(SET_THREADS)


@lru_cache(maxsize=1)
def _cores() -> int:
    """Cores of the CPUs that the process may use: two threads of one core gain kernels nothing."""
    return len({_siblings(cpu) for cpu in ALLOWED_CPUS})


def _siblings(cpu: int) -> str:
    try:
        return Path(SIBLINGS.format(cpu)).read_text().strip()
    except OSError:
        return str(cpu)


def _wake_pool() -> None:
    """Have the other threads of this thread's pool look for work: for about 0.1 s none of them waits for a signal."""
    if here.size > 1:
        _set(here.size)
        if not here.workers:
            here.workers = _list_workers()
        _launch()(_idle(), None, 0)
        here.woken = {worker: _seconds(os.getpid(), worker) for worker in here.workers}


def _keep_pool() -> None:
    """In the parent, behind a fork."""
    if here.size > 1:
        _set(here.count or here.size)


def _renew_pool() -> None:
    """In the child, before it starts any thread: those of the pool are gone, new ones are started.

    To end a pool whose threads wait takes for ever where there are none. After a fork of many GB they may wait again:
    then the pool stays as it is, never used again, and models of this thread run in threads of their own.
    """
    _worker.cache_clear()
    if here.size <= 1:
        return
    parent, woken, here.workers = os.getppid(), here.woken, frozenset()
    # who was looking for work before the fork and still is did not wait in between
    if not all(_is_running(parent, w) or _seconds(parent, w) - woken[w] < SURELY_AWAKE for w in woken):
        _pool_function("SetMaxConcurrency", "i", ctypes.c_int)(1)
        here.count, here.size, here.fixed = 1, 1, False
        here.lost = True
        return
    _pool_function("ResetThreadPool", "v")()
    _set(here.count or here.size)


def _list_workers() -> frozenset[int]:
    """The threads of this thread's pool but itself."""
    workers = set()

    def note(_task: int, _group: int | None, _data: int | None) -> int:
        workers.add(threading.get_native_id())
        return 0

    _launch()(_TASK(note), None, 0)
    return frozenset(workers - {threading.get_native_id()})


def _is_running(process: int, thread: int) -> bool:
    """True for a thread that runs or could; False where the system does not tell."""
    try:
        return Path(THREAD.format(process, thread), "stat").read_text().rpartition(") ")[2].startswith("R")
    except OSError:
        return False


def _seconds(process: int, thread: int) -> float:
    """Seconds of CPU that a thread has used; infinitely many where the system does not tell."""
    try:
        return int(Path(THREAD.format(process, thread), "schedstat").read_text().split()[0]) / 1e9
    except (OSError, ValueError, IndexError):
        return math.inf


def _pool_function(name: str, signature: str, *types: Any) -> Any:
    """A function of tvm::runtime::threading, which TVM gives to C++ only."""
    function = getattr(_runtime(), f"_ZN3tvm7runtime9threading{len(name)}{name}E{signature}")
    function.argtypes, function.restype = types, None
    return function


# What TVM runs in each thread of a pool: (number of the task, its group, data) -> 0 if all is well
_TASK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


@cache
def _launch() -> Any:
    """TVM's function that runs a C function in all threads of the pool."""
    launch = _runtime().TVMBackendParallelLaunch
    launch.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
    return launch


@cache
def _idle() -> ctypes.c_void_p:
    """A C function that does nothing and returns 0, which tells TVM that all is well."""
    return ctypes.cast(ctypes.CDLL(None).sched_yield, ctypes.c_void_p)


@lru_cache(maxsize=1)
def _runtime() -> Any:
    return ctypes.CDLL(tvm_runtime.library()._name)  # functions of its own, whose types are set here


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_wake_pool, after_in_parent=_keep_pool, after_in_child=_renew_pool)
