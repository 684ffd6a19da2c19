"""Compiled kernels on disk, by what they were compiled from: a later build takes them from there.

    <TVMQ_CACHE>/kernels/<sha256 of the source>     sha256 of that name and the object file, object file

Any number of processes may read and write at once: entries appear whole, by renaming. One that is damaged, stands
under another name or belongs to another user is removed and built anew. Reading an entry makes it young; beyond
MOST_BYTES the oldest ones go.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from pathlib import Path

from tvmq.cache import replace_file, trusted_folder

FOLDER = "kernels"
MOST_BYTES = 256 * 2**20
KEPT = 0.75  # share of MOST_BYTES that is left after old entries went
DIGEST = 32


def read(key: str) -> bytes | None:
    """The object file; None if there is none, or it is damaged."""
    path = _place(key)
    if path is None:
        return None
    try:
        data = _own_file(path)
    except FileNotFoundError:
        return None
    except OSError:
        data = b""
    if _digest(key, data[DIGEST:]) != data[:DIGEST]:
        remove(key)
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return data[DIGEST:]


def remove(key: str) -> None:
    """Forget an entry."""
    path = _place(key)
    if path is not None:
        with contextlib.suppress(OSError):
            path.unlink()


def write(key: str, data: bytes) -> None:
    """Keep an object file; nothing happens where nothing can be written."""
    path = _place(key)
    if path is not None:
        with contextlib.suppress(OSError):
            replace_file(path, _digest(key, data) + data)


def trim() -> None:
    """Remove the entries that were read longest ago, if there are too many bytes."""
    folder = trusted_folder(FOLDER)
    with contextlib.suppress(OSError):
        entries = _entries(folder) if folder else []
        total = sum(size for _, size, _ in entries)
        if total <= MOST_BYTES:
            return
        for _, size, path in sorted(entries):
            with contextlib.suppress(OSError):  # another process was faster
                os.unlink(path)
            total -= size
            if total <= KEPT * MOST_BYTES:
                return


def _entries(folder: Path) -> list[tuple[float, int, str]]:
    """(time of the last use, bytes, path) of all entries."""
    found = []
    with os.scandir(folder) as listing:
        for entry in listing:
            with contextlib.suppress(FileNotFoundError):
                facts = entry.stat()
                found.append((facts.st_mtime, facts.st_size, entry.path))
    return found


def _place(key: str) -> Path | None:
    folder = trusted_folder(FOLDER)
    return folder / key if folder else None


def _digest(key: str, data: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\n" + data).digest()


def _own_file(path: Path) -> bytes:
    """What stands in a file of this user; OSError for a link, a pipe and what another user wrote."""
    # does not wait for the other end of a pipe
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or (hasattr(os, "geteuid") and facts.st_uid != os.geteuid()):
            raise OSError(f"'{path}' is no file of this user")
        return file.read()
