"""A saved file that is read piece by piece, and is the same for as long as a model needs it.

Each byte is hashed once. What says where the members of the zip lie is small and stays in memory; it cuts the file into
spans, each member one and what lies between two of them one. The hash of a span is taken when it is first read, and
whatever is read later is held against it. So the file need not stay in memory for its hash to mean something, for the
module to be read when it is asked for, or to be saved again. A file that is removed or replaced stays readable, as it
is held open.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import weakref
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

from tvmq.base.regular_file import check_regular
from tvmq.errors import ArtifactError

HELD = 2**12  # bytes that are kept together of what says where members lie
CHUNK = 2**18  # bytes that are hashed while they are in a core's cache
# Bounds against what is no model: bytes of its directory, some 70 for each of a few dozen members; bytes of a file
MOST_AT_ONCE = 2**17
LARGEST_FILE = 16 * 2**30


class Readable(Protocol):
    """A source of bytes that is read forward."""

    def read(self, count: int, /) -> bytes:
        """The next bytes, fewer at the end only."""
        ...

    def readinto(self, buffer: memoryview, /) -> int | None:
        """The next bytes into a buffer, their number; fewer at the end only."""
        ...


class SavedFile:
    """Bytes that do not change.

    where      begins the messages
    read_into  a function of (place, buffer) that puts the bytes there into the buffer; their number, fewer at the end
    size       bytes that there are
    """

    def __init__(self, where: str, read_into: Callable[[int, memoryview], int], size: int) -> None:
        self.where, self._read_into, self.size = where, read_into, size
        self._held: dict[int, bytes] = {}
        self._ends = {0: size}  # of spans, by where they begin
        self._digests: dict[int, bytes] = {}  # of those that were read

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of all bytes, in hexadecimal."""
        whole = hashlib.sha256()
        for block in self.blocks():
            whole.update(block)
        return whole.hexdigest()

    def cut(self, spans: Iterable[tuple[int, int]]) -> None:
        """Read these at once from now on, (begin, end) each; called once, before all reads but `read_resident`."""
        places = sorted({0, self.size, *(place for span in spans for place in span)})
        if not self._digests and places[0] == 0 and places[-1] == self.size:
            self._ends = dict(pairwise(places)) or self._ends

    def settle(self) -> None:
        """Read what nobody has read yet: all bytes are from now on what they are now."""
        for begin in self._ends.keys() - self._digests.keys():
            self.span(begin).digest()

    @classmethod
    def of(cls, where: str, data: bytes) -> SavedFile:
        """Saved file of bytes in memory."""

        def read_into(place: int, buffer: memoryview) -> int:
            piece = data[place : place + len(buffer)]
            buffer[: len(piece)] = piece
            return len(piece)

        return cls(where, read_into, len(data))

    @classmethod
    def of_source(cls, where: str, source: Path | bytes) -> SavedFile:
        """A file on disk, or its bytes; errors as those of `open`."""
        return cls.of(where, source) if isinstance(source, bytes) else cls.open(where, source)

    @classmethod
    def open(cls, where: str, path: Path) -> SavedFile:
        """A file on disk; what is none, a pipe for instance, may never end and is refused.

        raises   ArtifactError if it cannot be read
        """
        try:
            check_regular(path)
            with open(path, "rb", buffering=0) as file:
                facts = os.fstat(file.fileno())
                if facts.st_size > LARGEST_FILE:
                    raise ArtifactError(
                        f"{where} has {facts.st_size} bytes, the limit is {LARGEST_FILE}; it is no tvmq file"
                    )
                # without os.preadv, on Windows, an open file could not be replaced either
                if not hasattr(os, "preadv"):
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
        def read_into(place: int, buffer: memoryview) -> int:
            done = 0
            while done < len(buffer) and (count := os.preadv(descriptor, [buffer[done:]], place + done)):
                done += count
            return done

        file = cls(where, read_into, size)
        weakref.finalize(file, os.close, descriptor)
        return file

    def read_resident(self, place: int, count: int) -> bytes:
        """Bytes that stay in memory, fewer at the end."""
        end = min(place + count, self.size)
        numbers = range(place // HELD, -(-end // HELD))
        whole = b"".join(map(self._hold, numbers))
        return whole[place - HELD * numbers.start :][: end - place] if numbers else b""

    def _hold(self, number: int) -> bytes:
        if number not in self._held:
            data = bytearray(min(HELD, self.size - HELD * number))
            self.fetch(HELD * number, memoryview(data))
            self._held[number] = bytes(data)
            for begin in self._digests:  # what was read before is what is held
                if begin < HELD * number + len(data) and HELD * number < self._ends[begin]:
                    self.span(begin).digest()
        return self._held[number]

    def fetch(self, place: int, buffer: memoryview) -> None:
        """Fill a buffer; what is held must be what it was.

        raises   ArtifactError if it is not, and where the file has become shorter
        """
        count = self._read_into(place, buffer)
        touched = range(place // HELD, -(-(place + len(buffer)) // HELD))
        for number in touched if len(touched) < len(self._held) else list(self._held):
            known = self._held.get(number, b"")
            begin = max(HELD * number, place)
            end = min(HELD * number + len(known), place + len(buffer))
            if begin < end and buffer[begin - place : end - place] != known[begin - HELD * number :][: end - begin]:
                count = -1
        if count != len(buffer):
            raise ArtifactError(f"{self.where} was changed while it was in use; load it again")

    def end_of(self, begin: int) -> int | None:
        """End of the span that begins there; None if none does."""
        return self._ends.get(begin)

    def span(self, begin: int) -> Span:
        """The span that begins there, to be read."""
        return Span(self, begin, self._ends[begin])

    def pin(self, begin: int, digest: bytes) -> None:
        """Set the expected hash of a span.

        raises   ArtifactError if it was another one
        """
        if self._digests.setdefault(begin, digest) != digest:
            raise ArtifactError(f"{self.where} was changed while it was in use; load it again")

    def blocks(self) -> Iterator[bytes]:
        """All bytes, block by block.

        raises   ArtifactError if they have changed, behind the last block of a span at the latest
        """
        for begin in sorted(self._ends):
            span = self.span(begin)
            while block := span.read(CHUNK):
                yield block
            span.digest()

    def stream(self) -> io.BufferedReader:
        """Open a file of which every byte that is read stays in memory, independent of other streams."""
        return _BoundedReader(_Stream(self), HELD)


class Span:
    """Bytes of a file that are read forward, and hashed when they are first read, or read again."""

    def __init__(self, file: SavedFile, begin: int, end: int) -> None:
        self.file, self.begin, self.place, self.end = file, begin, begin, end
        self._hash = hashlib.sha256()

    def read(self, count: int, /) -> bytes:
        """The next bytes, fewer at the end only."""
        data = bytearray(min(count, self.end - self.place))
        self.readinto(memoryview(data))
        return bytes(data)

    def readinto(self, buffer: memoryview, /) -> int:
        """The next bytes into a buffer, their number; fewer at the end only."""
        size = min(len(buffer), self.end - self.place)
        for first in range(0, size, CHUNK):
            piece = buffer[first : min(first + CHUNK, size)]
            self.file.fetch(self.place, piece)
            self._hash.update(piece)
            self.place += len(piece)
        return size

    def digest(self) -> str:
        """sha256 of all bytes, also of those that nobody has read.

        raises   ArtifactError if it was another one when they were read before
        """
        buffer = memoryview(bytearray(min(CHUNK, self.end - self.place)))
        while self.place < self.end:
            self.readinto(buffer)
        self.file.pin(self.begin, self._hash.digest())
        return self._hash.hexdigest()


class _BoundedReader(io.BufferedReader):
    """A reader of what says where members lie: of a model it is small, and whoever claims more gets nothing."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > MOST_AT_ONCE:
            raise OSError(errno.EFBIG, f"a directory of {size} bytes, the limit is {MOST_AT_ONCE}")
        return super().read(size)


class _Stream(io.RawIOBase):
    """A saved file as a raw file of Python."""

    def __init__(self, file: SavedFile) -> None:
        super().__init__()
        self.file, self.place = file, 0

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
        piece = self.file.read_resident(self.place, len(buffer)) if self.place < self.file.size else b""
        buffer[: len(piece)] = piece
        self.place += len(piece)
        return len(piece)


def name_source(source: Path | bytes) -> str:
    """Begin of a message about a file, or about its bytes."""
    return "load: the model in memory" if isinstance(source, bytes) else f"load: '{source}'"
