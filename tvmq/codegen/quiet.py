"""Silence for log lines that TVM writes for its developers: one a constant when code is saved and loaded."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import threading
from collections.abc import Iterator

_LOCK = threading.Lock()
STDERR = 2
NOISE = (b"Warning: Scope Saving:", b"Warning: Scope Loaded:")


@contextlib.contextmanager
def without_noise() -> Iterator[None]:
    """Hold back what C++ writes to stderr; all of it but the NOISE lines is written afterwards.

    Where stderr is closed there is nothing to hold back.
    """
    with _LOCK, contextlib.ExitStack() as stack:
        try:
            stderr = os.dup(STDERR)
        except OSError:
            yield
            return
        stack.callback(os.close, stderr)
        held = stack.enter_context(tempfile.TemporaryFile())
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
