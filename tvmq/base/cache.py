"""Where results of earlier work on this machine are kept, and how several processes share files there.

The environment variable TVMQ_CACHE names the folder; without it, it is ~/.cache/tvmq (or what XDG_CACHE_HOME says).
An empty TVMQ_CACHE, or 0, turns it off: nothing is read or written.

What lies there is machine code that builds take as their own. So the folder is made for its user alone, and one that
others can write, or that belongs to another user, is not used.

Tests: tests/codegen/compile/test_kernel_cache.py
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from tvmq.base.deprecation import warn_user
from tvmq.base.whole_file import write_whole
from tvmq.errors import ConfigError

VARIABLE = "TVMQ_CACHE"
PRIVATE = 0o700  # mode of a new folder
WRITABLE_BY_OTHERS = 0o022

_warned: set[str] = set()


def cache_folder() -> Path | None:
    """The folder, which need not exist yet; None where the cache is turned off.

    raises  ConfigError for the home of a user that there is not

    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, {VARIABLE: "/tmp/kept"}):
    ...     print(cache_folder())
    /tmp/kept
    """
    named = os.environ.get(VARIABLE)
    if named in ("", "0"):
        return None
    if named:
        try:
            return Path(named).expanduser()
        except RuntimeError as error:
            raise ConfigError(f"cache: {VARIABLE} is {named!r}, and there is no such home; name a folder") from error
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tvmq"
    except RuntimeError:  # no home
        return None


def trusted_folder(*inside: str) -> Path | None:
    """The cache folder, or a folder inside of it, which need not exist yet; None where there is none to be trusted.

    That another user could write it is said once, as a warning.
    """
    folder = cache_folder()
    for name in ("", *inside):
        if folder is None:
            return None
        folder = folder / name
        reason = why_untrusted(folder)
        if reason and str(folder) not in _warned:
            _warned.add(str(folder))
            warn_user(f"cache: '{folder}' is not used, since {reason}")
        if reason:
            return None
    return folder


def why_untrusted(folder: Path) -> str:
    """Why a folder is no place for a cache, and what to do; empty if it is one, or does not exist."""
    try:
        facts = os.stat(folder)
    except OSError:  # nothing there, or nothing that can be read: writing will tell
        return ""
    if not stat.S_ISDIR(facts.st_mode):
        return f"it is no folder; set {VARIABLE} to a folder of yours"
    if not hasattr(os, "geteuid"):
        return ""
    mode = stat.S_IMODE(facts.st_mode)
    if facts.st_uid != os.geteuid():
        return (
            f"it belongs to user {facts.st_uid} (mode {mode:04o}) and this is user {os.geteuid()}, and what lies there "
            f"is run; set {VARIABLE} to a folder of yours"
        )
    if mode & WRITABLE_BY_OTHERS:
        return (
            f"others than its owner, user {facts.st_uid}, can write it (mode {mode:04o}), and what lies there is run; "
            f"empty it and `chmod go-w` it, or set {VARIABLE} to another folder"
        )
    return ""


def _make_private(folder: Path) -> None:
    """Make a folder for the user alone; `Path.mkdir` would give those above it to all."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(PRIVATE, exist_ok=True)
    folder.mkdir(PRIVATE, exist_ok=True)


def replace_file(path: Path, content: bytes) -> None:
    """Write a file under a temporary name and rename it: readers see the old one or the new one, whole.

    raises  OSError
    """
    _make_private(path.parent)
    write_whole(path, lambda file: file.write(content), private=True)


@contextlib.contextmanager
def lock_path(path: Path) -> Iterator[None]:
    """Lock a path: a single process (and thread) at a time is inside of the block.

    Where the system has no such locks, there is none: then the last one who writes wins.
    """
    _make_private(path.parent)
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
