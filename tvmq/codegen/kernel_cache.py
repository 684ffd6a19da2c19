"""Compiled kernels on disk, by what they were compiled from: a later build takes them from there.

    <TVMQ_CACHE>/kernels/<sha256 of the source>     sha256 of the object file, object file

Any number of processes may read and write at once: entries appear whole, by renaming. One that is damaged is removed
and built anew. Reading an entry makes it young; beyond MOST_BYTES the oldest ones go.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

from tvmq.cache import cache_folder, replace_file

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
        data = path.read_bytes()
    except OSError:
        return None
    with contextlib.suppress(OSError):
        if hashlib.sha256(data[DIGEST:]).digest() == data[:DIGEST]:
            os.utime(path)
            return data[DIGEST:]
        path.unlink()
    return None


def write(key: str, data: bytes) -> None:
    """Keep an object file; nothing happens where nothing can be written."""
    path = _place(key)
    if path is not None:
        with contextlib.suppress(OSError):
            replace_file(path, hashlib.sha256(data).digest() + data)


def trim() -> None:
    """Remove the entries that were read longest ago, if there are too many bytes."""
    folder = cache_folder()
    with contextlib.suppress(OSError):
        entries = _entries(folder / FOLDER) if folder else []
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
    folder = cache_folder()
    return folder / FOLDER / key if folder else None
