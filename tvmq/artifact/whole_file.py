"""Files that appear whole or not at all, and leave nothing behind, not even where the process is killed.

Where the system can, the file has no name until it is whole. Elsewhere, and for the moment in which it takes the place
of another one, it is called .tvmq-*.part and locked; the next save removes those that nobody has locked any more.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO

PART = ".tvmq-{}.part"


def write_whole(path: Path, pieces: Callable[[], Iterable[bytes]]) -> None:
    """Write a file, or leave the one that was there.

    pieces   gives the content; it may be called twice
    raises   OSError
    """
    _remove_left_parts(path.parent)
    # Beside the file, so that renaming stays on one disk.
    part = path.with_name(PART.format(secrets.token_hex(8))) if path.name else path
    try:
        if _write_nameless(part, path, pieces):
            return
        # 0o666 less the umask, as any new file
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        with os.fdopen(descriptor, "wb") as file:
            _write(file, pieces)
            if os.name == "posix":  # locked until it has its name; Windows renames no open file
                part.replace(path)
                return
        part.replace(path)
    finally:
        with contextlib.suppress(OSError, ValueError):
            part.unlink()


def _write_nameless(part: Path, path: Path, pieces: Callable[[], Iterable[bytes]]) -> bool:
    """The same with a file that has no name at first; False where there are none, or it can get no name."""
    descriptor = _nameless(part.parent)
    if descriptor is None:
        return False
    with os.fdopen(descriptor, "wb") as file:
        _write(file, pieces)
        try:  # src_dir_fd: else Python asks for a link to the link
            os.link(f"/proc/self/fd/{descriptor}", part, src_dir_fd=descriptor, follow_symlinks=True)
        except OSError:
            return False
        part.replace(path)
    return True


def _write(file: IO[bytes], pieces: Callable[[], Iterable[bytes]]) -> None:
    _lock(file.fileno())
    file.writelines(pieces())
    file.flush()
    os.fsync(file.fileno())


def _nameless(folder: Path) -> int | None:
    """A new file without a name; None where the system, or the file system, has none."""
    if not hasattr(os, "O_TMPFILE") or not os.path.isdir("/proc/self/fd"):
        return None
    try:
        return os.open(folder, os.O_WRONLY | os.O_TMPFILE, 0o666)
    except OSError:  # the ordinary way says what is wrong
        return None


def _lock(descriptor: int) -> None:
    """Say that the file has a writer."""
    try:
        import fcntl
    except ImportError:
        return
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _remove_left_parts(folder: Path) -> None:
    """Remove what writers left that were killed."""
    try:
        import fcntl
    except ImportError:
        return
    with contextlib.suppress(OSError, ValueError):
        for part in folder.glob(PART.format("*")):
            with contextlib.suppress(OSError), open(part, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                part.unlink()
