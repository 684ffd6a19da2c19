"""A saved file that is read piece by piece, and is the same for as long as a model needs it.

The hash of each block is taken when it is first read; whatever is read later is held against it. So the file need not
stay in memory for its hash to mean something, for the module to be read when it is asked for, or to be saved again.
A file that is removed or replaced stays readable, as it is held open.

Files that appear whole or not at all, and leave nothing behind, not even where the process is killed.

Where the system can, the file has no name until it is whole. Elsewhere, and for the moment in which it takes the place
of another one, it is called .tvmq-*.part and locked; the next save removes those that nobody has locked any more.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import os
import secrets
import stat
import weakref
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import IO, Any, Protocol

from tvmq.errors import ArtifactError

BLOCK = 2**18
# Bound against what is no model: bytes of a file
LARGEST_FILE = 16 * 2**30


class SavedFile:
    """Bytes that do not change.

    where   begins the messages
    read    a function of (place, count) that gives the bytes there, fewer at the end
    size    bytes that there are
    """

    def __init__(self, where: str, read: Callable[[int, int], bytes], size: int) -> None:
        self.where, self._read, self.size = where, read, size
        self._hashes: list[bytes] = [b""] * -(-size // BLOCK)  # empty: not read yet

    @cached_property
    def sha256(self) -> str:
        """Of all bytes."""
        whole = hashlib.sha256()
        for block in self.blocks():
            whole.update(block)
        return whole.hexdigest()

    def settle(self) -> None:
        """Read what nobody has read yet: all bytes are from now on what they are now."""
        for number, known in enumerate(self._hashes):
            if not known:
                self.block(number)

    @classmethod
    def of(cls, where: str, data: bytes) -> SavedFile:
        """Bytes in memory."""
        return cls(where, lambda place, count: data[place : place + count], len(data))

    @classmethod
    def open(cls, where: str, path: Path) -> SavedFile:
        """A file on disk; what is none, a pipe for instance, is read at once.

        raises   ArtifactError if it cannot be read
        """
        try:
            with open(path, "rb") as file:
                facts = os.fstat(file.fileno())
                if facts.st_size > LARGEST_FILE:
                    raise ArtifactError(
                        f"{where} has {facts.st_size} bytes, the limit is {LARGEST_FILE}; it is no tvmq file"
                    )
                # without os.pread, on Windows, an open file could not be replaced either
                if not stat.S_ISREG(facts.st_mode) or not hasattr(os, "pread"):
                    return cls.of(where, file.read())
                return cls._of_descriptor(where, os.dup(file.fileno()), facts.st_size)
        except ArtifactError:  # too large
            raise
        except FileNotFoundError:
            raise ArtifactError(f"{where}: there is no such file; `tvmq quantize` makes one") from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ArtifactError(f"{where} cannot be read ({reason}); name a .tvmq file") from error

    @classmethod
    def _of_descriptor(cls, where: str, descriptor: int, size: int) -> SavedFile:
        def read(place: int, count: int) -> bytes:
            pieces = []
            while count and (piece := os.pread(descriptor, count, place)):
                pieces.append(piece)
                place, count = place + len(piece), count - len(piece)
            return b"".join(pieces)

        found = cls(where, read, size)
        weakref.finalize(found, os.close, descriptor)
        return found

    def block(self, number: int) -> bytes:
        """The bytes from BLOCK * number on, fewer than BLOCK at the end.

        raises   ArtifactError if they have changed
        """
        data = self._read(BLOCK * number, min(BLOCK, self.size - BLOCK * number))
        digest = hashlib.sha256(data).digest()
        self._hashes[number] = self._hashes[number] or digest
        if digest != self._hashes[number]:
            raise ArtifactError(f"{self.where} was changed while it was in use; load it again")
        return data

    def blocks(self) -> Iterator[bytes]:
        """All bytes, block by block."""
        return map(self.block, range(len(self._hashes)))

    def stream(self) -> io.BufferedReader:
        """The same as a file, independent of other streams."""
        return io.BufferedReader(_Stream(self), BLOCK)


class _Stream(io.RawIOBase):
    """Reads blocks and keeps the last one."""

    def __init__(self, file: SavedFile) -> None:
        super().__init__()
        self.file, self.place = file, 0
        self.number, self.last = -1, b""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self.place, os.SEEK_END: self.file.size}[whence]
        if base + offset < 0:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        self.place = base + offset
        return self.place

    def tell(self) -> int:
        return self.place

    def readinto(self, buffer: Any) -> int:
        if self.place >= self.file.size:
            return 0
        number, begin = divmod(self.place, BLOCK)
        if number != self.number:
            self.number, self.last = number, self.file.block(number)
        piece = self.last[begin : begin + len(buffer)]
        buffer[: len(piece)] = piece
        self.place += len(piece)
        return len(piece)


class Readable(Protocol):
    """What is read forward."""

    def read(self, count: int, /) -> bytes:
        """The next bytes, fewer at the end only."""
        ...


class HashingReader:
    """A file that is read forward, with the hash of what was read."""

    def __init__(self, file: Readable) -> None:
        self.file, self._hash = file, hashlib.sha256()

    def read(self, count: int, /) -> bytes:
        """The next bytes, fewer at the end only."""
        data = self.file.read(count)
        self._hash.update(data)
        return data

    @property
    def sha256(self) -> str:
        """Of all bytes until here."""
        return self._hash.hexdigest()


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
