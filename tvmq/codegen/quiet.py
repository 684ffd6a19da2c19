"""Silence for TVM's C++ log lines: one a constant when code is saved and loaded, meant for TVM's developers."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import threading
from collections.abc import Iterator

_LOCK = threading.Lock()
NOISE = ("Warning: Scope Saving:", "Warning: Scope Loaded:")


@contextlib.contextmanager
def without_noise() -> Iterator[None]:
    """Hold back what C++ writes to stderr; all of it but the NOISE lines is written afterwards."""
    with _LOCK, tempfile.TemporaryFile() as held:
        sys.stderr.flush()
        stderr = os.dup(2)
        try:
            os.dup2(held.fileno(), 2)
            yield
        finally:
            os.dup2(stderr, 2)
            held.seek(0)
            kept = [line for line in held.read().splitlines(True) if not any(n.encode() in line for n in NOISE)]
            os.write(stderr, b"".join(kept))
            os.close(stderr)
