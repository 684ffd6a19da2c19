"""Silence for log lines that TVM writes for its developers: one a constant when code is saved and loaded."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from typing import IO

from tvmq.base.forks import HOLDING_BACK, ForkLock

_LOCK = ForkLock("loading or saving a model", HOLDING_BACK)
STDERR = 2
NOISE = (b"Warning: Scope Saving:", b"Warning: Scope Loaded:")


@contextlib.contextmanager
def without_noise() -> Iterator[None]:
    """Hold back what C++ writes to stderr; all of it but the NOISE lines is written afterwards.

    Where stderr is closed, or nothing can be held, nothing is.
    """
    with _LOCK, contextlib.ExitStack() as stack:
        try:
            stderr = os.dup(STDERR)
            stack.callback(os.close, stderr)
            held = stack.enter_context(_scratch())
        except OSError:
            yield
            return
        if sys.stderr is not None:
            sys.stderr.flush()
        os.dup2(held.fileno(), STDERR)
        try:
            yield
        finally:
            os.dup2(stderr, STDERR)
            held.seek(0)
            kept = [line for line in held if not any(noise in line for noise in NOISE)]
            if kept:
                os.write(STDERR, b"".join(kept))


def _scratch() -> IO[bytes]:
    """A file without a name, in memory where the system can."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("tvmq-stderr"), "w+b")
    return tempfile.TemporaryFile()
