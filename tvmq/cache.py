"""Where results of earlier work on this machine are kept, and how several processes share files there.

The environment variable TVMQ_CACHE names the folder; without it, it is ~/.cache/tvmq (or what XDG_CACHE_HOME says).
An empty TVMQ_CACHE, or 0, turns it off: nothing is read or written.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

VARIABLE = "TVMQ_CACHE"


def cache_folder() -> Path | None:
    """The folder, which need not exist yet; None where the cache is turned off.

    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, {VARIABLE: "/tmp/kept"}):
    ...     print(cache_folder())
    /tmp/kept
    """
    named = os.environ.get(VARIABLE)
    if named in ("", "0"):
        return None
    if named:
        return Path(named).expanduser()
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tvmq"
    except RuntimeError:  # no home
        return None


def replace_file(path: Path, content: bytes) -> None:
    """Write a file under a temporary name and rename it: readers see the old one or the new one, whole.

    raises  OSError
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    finally:
        Path(temporary).unlink(missing_ok=True)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """One process (and thread) at a time inside of the block, for those that name the same path.

    Where the system has no such locks, there is none: then the last one who writes wins.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:
        yield
        return
    with open(path.with_name(f"{path.name}.lock"), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:  # closing is not enough: a child that was forked meanwhile has the file open, too
            fcntl.flock(file, fcntl.LOCK_UN)
