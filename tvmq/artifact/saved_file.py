"""A saved file that is read piece by piece, and is the same for as long as a model needs it.

The first pass over it takes the hash of each block; whatever is read later is held against them. So the file need not
stay in memory for its hash to mean something, for the module to be read when it is asked for, or to be saved again.
A file that is removed or replaced stays readable, as it is held open.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import stat
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

from tvmq.errors import ArtifactError

BLOCK = 2**18
# Bound against what is no model: bytes of a file
LARGEST_FILE = 16 * 2**30


class SavedFile:
    """Bytes that do not change.

    where   begins the messages
    read    a function of (place, count) that gives the bytes there, fewer at the end
    """

    def __init__(self, where: str, read: Callable[[int, int], bytes]) -> None:
        self.where, self._read = where, read
        self.size = 0
        self._hashes: list[bytes] = []
        whole = hashlib.sha256()
        while block := read(self.size, BLOCK):
            whole.update(block)
            self._hashes.append(hashlib.sha256(block).digest())
            self.size += len(block)
        self.sha256 = whole.hexdigest()

    @classmethod
    def of(cls, where: str, data: bytes) -> SavedFile:
        """Bytes in memory."""
        return cls(where, lambda place, count: data[place : place + count])

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
                return cls._of_descriptor(where, os.dup(file.fileno()))
        except ArtifactError:  # too large
            raise
        except FileNotFoundError:
            raise ArtifactError(f"{where}: there is no such file; `tvmq quantize` makes one") from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ArtifactError(f"{where} cannot be read ({reason}); name a .tvmq file") from error

    @classmethod
    def _of_descriptor(cls, where: str, descriptor: int) -> SavedFile:
        def read(place: int, count: int) -> bytes:
            pieces = []
            while count and (piece := os.pread(descriptor, count, place)):
                pieces.append(piece)
                place, count = place + len(piece), count - len(piece)
            return b"".join(pieces)

        try:
            found = cls(where, read)
        except BaseException:
            os.close(descriptor)
            raise
        weakref.finalize(found, os.close, descriptor)
        return found

    def block(self, number: int) -> bytes:
        """The bytes from BLOCK * number on, fewer than BLOCK at the end.

        raises   ArtifactError if they have changed
        """
        data = self._read(BLOCK * number, min(BLOCK, self.size - BLOCK * number))
        if hashlib.sha256(data).digest() != self._hashes[number]:
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
