"""How many threads models use: one number an executable, whatever other models and Python threads do.

TVM has a pool of threads for each Python thread that runs models, as many as there are CPUs. How many of them work can
be changed at any time (7 us), so models of different numbers may take turns; what asks for more than there are runs in
a Python thread of its own. TVM would bind the second thread to the second CPU and leave the first one free to sit there
too, which halves the speed, whatever taskset or a container says: here the threads of a pool share all CPUs that the
thread which starts it may use.

A child process has none of its parent's threads, and the pool would wait at its end for those that waited for work at
the fork. So they all stand in a task of ours while a thread forks, and the child starts new ones at once.
"""

from __future__ import annotations

import ctypes
import os
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache
from typing import Any, TypeVar

from tvmq.base import tvm_runtime
from tvmq.base.cpus import allowed_cpus
from tvmq.base.tvm_internals import PENDING_TASKS, SET_THREADS, global_function

# Mode of TVM's thread pool: its threads share the CPUs that are listed.
SHARE_ALL_CORES = -3
MOST_THREADS = 2**15  # more than any pool has

Result = TypeVar("Result")


class _Here(threading.local):
    """State of the calling Python thread.

    count    threads that models use now; 0: never set
    size     of its pool; 0: not started
    fixed    it stays so
    held     its pool's other threads, while it forks
    lost     its pool is of a parent process, and nothing runs there
    """

    count = 0
    size = 0
    fixed = False
    held: _HeldPool | None = None
    lost = False


here = _Here()


def in_threads(count: int, work: Callable[[], Result]) -> Result:
    """Call a function, here if possible, where models use `count` threads; under `with_threads`, as many as there."""
    if here.count == count or here.fixed or _try_configure(count):
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
    _start_pool(count)
    here.fixed = True


def with_one_thread(work: Callable[[], Result]) -> Result:
    """Call a function here, where models use this thread alone meanwhile."""
    count = here.count
    _try_configure(1)
    try:
        return work()
    finally:
        _try_configure(count)


def use_one_thread() -> None:
    """Have models use this thread alone from now on; no pool is started for it."""
    _pool_function("SetMaxConcurrency", "i", ctypes.c_int)(1)
    here.count, here.size, here.fixed = 1, 1, True


def _try_configure(count: int) -> bool:
    """Have models in this thread use `count` threads; False if its pool has fewer."""
    if here.lost:
        return count == 1
    if here.size == 0:
        _start_pool(count)
    if count > here.size:
        return False
    _set(count, allowed_cpus())
    here.count = count
    return True


def _start_pool(count: int) -> None:
    """Start this thread's pool, of which `count` threads work then."""
    cpus = allowed_cpus()  # where the user has TVM bind threads, it binds this one first
    _set(MOST_THREADS, cpus)
    here.size = tvm_runtime.num_threads()
    _set(count, cpus)


def _set(count: int, cpus: frozenset[int]) -> None:
    """Have this many threads of the pool work, all of them and this one on these CPUs."""
    _configure()(SHARE_ALL_CORES, count, [str(cpu) for cpu in sorted(cpus)])


@lru_cache(maxsize=1)
def _configure() -> Any:
    return global_function(SET_THREADS)


class _HeldPool:
    """The other threads of this thread's pool, all inside of a task until `release`.

    held  False where TVM's count of tasks is not found where it should be: the threads are free then

    TVM returns to the thread that started a task when all threads have ended it, by a count of those that have not. The
    first thread takes the others off that count, once all are inside, and `release` puts them back.
    """

    def __init__(self, size: int) -> None:
        self.others, self.held = size - 1, False
        self._inside: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._end = threading.Lock()
        self._end.acquire()
        self._task = _TASK(self._work)
        _launch()(self._task, None, 0)

    def _work(self, number: int, group: int, _data: int | None) -> int:
        if number:
            self._inside.put(number)
            with self._end:
                return 0
        for _ in range(self.others):
            self._inside.get()
        self._pending = ctypes.c_int32.from_address(group + PENDING_TASKS)
        self.held = self._pending.value == self.others + 1
        if self.held:
            self._pending.value = 1
        else:
            self._end.release()
        return 0

    def release(self) -> None:
        """Let them go, and wait until they have gone."""
        if self.held:
            self._pending.value = self.others
            self._end.release()
            while self._pending.value:
                time.sleep(1e-5)


def _hold_pool() -> None:
    """Have no thread of this thread's pool wait for work while the process forks: its queue could not be destroyed."""
    if here.size > 1:
        # with a list of one CPU, to which the process may be bound by now, TVM would start no task in the pool
        _configure()(SHARE_ALL_CORES, here.size, here.size * [str(cpu) for cpu in sorted(allowed_cpus())])
        here.held = _HeldPool(here.size)


def _keep_pool() -> None:
    """In the parent, behind a fork."""
    if here.held is not None:
        here.held.release()
        here.held = None
        _set(here.count or here.size, allowed_cpus())


def _renew_pool() -> None:
    """In the child, before it starts any thread: those of the pool are gone, new ones are started.

    A pool whose threads were not held stays as it is, never used again: models of this thread run in threads of their
    own.
    """
    _worker.cache_clear()
    pool, here.held = here.held, None
    if pool is None:
        return
    if not pool.held:
        _pool_function("SetMaxConcurrency", "i", ctypes.c_int)(1)
        here.count, here.size, here.fixed = 1, 1, False
        here.lost = True
        return
    cpus = allowed_cpus()
    _pool_function("ResetThreadPool", "v")()
    _set(here.count or here.size, cpus)


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


@lru_cache(maxsize=1)
def _runtime() -> Any:
    return ctypes.CDLL(tvm_runtime.library()._name)  # functions of its own, whose types are set here


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold_pool, after_in_parent=_keep_pool, after_in_child=_renew_pool)
