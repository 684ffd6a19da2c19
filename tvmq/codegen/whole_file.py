"""Files that appear whole or not at all, and leave nothing behind, not even where the process is killed.

Where the system can, the file has no name until it is whole. Elsewhere, and for the moment in which it takes the place of
another one, it is called .tvmq-*.part and locked; those that nobody has locked any more are removed by the next save.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

PART = ".tvmq-{}.part"


def write_whole(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file, or leave the one that was there.

    raises   OSError
    """
    _remove_left_parts(path.parent)
    # Beside the file, so that renaming stays on one disk.
    part = path.with_name(PART.format(secrets.token_hex(8))) if path.name else path
    try:
        with _opened(part) as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
            if not os.path.lexists(part):
                os.link(f"/proc/self/fd/{file.fileno()}", part, follow_symlinks=True)
            part.replace(path)
    finally:
        with contextlib.suppress(OSError, ValueError):
            part.unlink()


@contextlib.contextmanager
def _opened(part: Path) -> Iterator[IO[bytes]]:
    descriptor = _nameless(part.parent)
    if descriptor is None:  # 0o666 less the umask, as any new file
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    with os.fdopen(descriptor, "wb") as file:
        _lock(descriptor)
        yield file


def _nameless(folder: Path) -> int | None:
    """A new file without a name; None where the system, or the file system, has none."""
    if not hasattr(os, "O_TMPFILE") or not os.path.isdir("/proc/self/fd"):
        return None
    try:
        return os.open(folder, os.O_WRONLY | os.O_TMPFILE, 0o666)
    except OSError:  # the ordinary way says what is wrong
        return None


def _lock(descriptor: int) -> bool:
    """True if nobody else writes the file, or where nobody can know."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return not isinstance(error, BlockingIOError)
    return True


def _remove_left_parts(folder: Path) -> None:
    """Remove what writers left that were killed."""
    with contextlib.suppress(OSError, ValueError, ImportError):
        import fcntl

        for part in folder.glob(PART.format("*")):
            with contextlib.suppress(OSError), open(part, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                part.unlink()
