"""Forks: the child gets models, locks and the compiler as they are between two calls, and threads of its own.

A fork copies one thread. What the others hold stays held in the child for ever, and what they were changing stays half
changed; TVM's pool of threads is a pool of none. So a fork waits until no other thread is inside of TVM, with the locks
that are made here; `runtime/threads.py` gives up the pool before and starts another one afterwards.

It also waits for imports of other threads. A thread that stays inside for longer than PATIENCE is not waited for. In
the child, what it was at gives an error then.
"""

from __future__ import annotations

import concurrent.futures.thread
import importlib
import logging
import os
import threading
import time
import weakref
from types import TracebackType
from typing import Any, NoReturn

from tvmq.errors import BuildError

PATIENCE = 60.0  # seconds
# Who holds a lock may ask for locks of higher levels only; a fork takes them level by level.
LEVELS = COMPILING, RUNNING, LOADING, HOLDING_BACK, MULTIPLYING = range(5)

_all: dict[int, weakref.ref[ForkLock]] = {}
_one_fork = threading.Lock()
_closed: list[tuple[ForkLock, Any]] = []
_held: list[Any] = []


class ForkLock:
    """A lock that a child process finds free, or else refuses.

    what    is done under it, for the message
    level   of what may be done inside of what
    lock    what to enter where every 0.1 us counts; entering this object is the same
    """

    def __init__(self, what: str, level: int, *, reentrant: bool = False) -> None:
        self.what, self.level = what, level
        self.lock: Any = threading.RLock() if reentrant else threading.Lock()
        number = id(self)
        _all[number] = weakref.ref(self, lambda _: _all.pop(number, None))

    def __enter__(self) -> None:
        self.lock.__enter__()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.lock.__exit__(kind, error, at)


class _ClosedLock:
    """In place of a lock that a fork is waiting for: it would go on waiting if others could come first."""

    def __init__(self, lock: Any) -> None:
        self.lock = lock

    def __enter__(self) -> None:
        # who has it already must get it again, or would never give it back
        if not (hasattr(self.lock, "_is_owned") and self.lock._is_owned()):
            with _one_fork:
                pass
        self.lock.acquire()

    def __exit__(self, *_: object) -> None:
        self.lock.release()


class _LostLock:
    """In place of a lock that was held by a thread that the child does not have."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __enter__(self) -> NoReturn:
        raise BuildError(
            f"fork: this process was forked while another thread was {self.what} for more than {PATIENCE:g} s, and has "
            "half of it; fork before, or start processes by 'spawn'"
        )

    def __exit__(self, *_: object) -> None:
        """Nothing was entered."""


def _hold_locks() -> None:
    _one_fork.acquire()
    end = time.monotonic() + PATIENCE
    _wait_for_imports(end)
    for level in LEVELS:
        locks = [lock for lock in _locks() if lock.level == level and not isinstance(lock.lock, _LostLock)]
        for lock in locks:
            _closed.append((lock, lock.lock))
            lock.lock = _ClosedLock(lock.lock)
        for lock in locks:
            if lock.lock.lock.acquire(timeout=max(0, end - time.monotonic())):
                _held.append(lock.lock.lock)
    _wait_for_imports(end)


def _wait_for_imports(end: float) -> None:
    """Wait until no other thread imports a module: Python has a lock for each, and leaves them held in the child."""
    importing: dict[str, Any] = getattr(importlib._bootstrap, "_module_locks", {})
    own = (None, threading.get_ident())
    while any(getattr(reference(), "owner", None) not in own for reference in list(importing.values())):
        if time.monotonic() > end:
            return
        time.sleep(0.001)


def _locks() -> list[ForkLock]:
    return [lock for reference in list(_all.values()) if (lock := reference()) is not None]


def _release_locks() -> None:
    while _closed:
        lock, real = _closed.pop()
        lock.lock = real
    while _held:
        _held.pop().release()
    _one_fork.release()


def _after_in_child() -> None:
    _release_locks()
    for lock in _locks():
        if not isinstance(lock.lock, _LostLock) and not _is_free(lock.lock):
            lock.lock = _LostLock(lock.what)


def _is_free(lock: Any) -> bool:
    if not lock.acquire(timeout=0):
        return False
    lock.release()
    return True


# They take locks before a fork that threads which are waited for may need; who registers last comes first.
_COME_LATER = (concurrent.futures.thread, logging)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold_locks, after_in_parent=_release_locks, after_in_child=_after_in_child)
