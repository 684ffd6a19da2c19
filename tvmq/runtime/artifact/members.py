"""Members of a zip, read forward from where they lie in the file, each byte hashed once.

A stored member is read to where its bytes stay. Of a deflated one that nobody needs the hash of how it lies there is
enough, and it is not inflated.
"""

from __future__ import annotations

import hashlib
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from tvmq.runtime.artifact.saved_file import CHUNK, SavedFile, Span

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
LOCAL = struct.Struct("<4s5HIIIHH")  # the header in front of a member
MARK, UTF_8 = b"PK\x03\x04", 0x800


class Archive:
    """The members of a file; each is a span of it."""

    def __init__(self, file: SavedFile, archive: zipfile.ZipFile) -> None:
        self.file, self.members = file, archive.infolist()
        self.names = archive.namelist()
        self._info = archive.getinfo
        spans = (_span(file, info) for info in self.members if info.compress_size)
        file.cut(span for span in spans if span is not None)

    def size(self, name: str) -> int:
        """Bytes of its content."""
        return self._info(name).file_size

    def open(self, name: str, *, hashed: bool = False) -> Member:
        """A member; hashed: also what is inflated.

        raises   KeyError if there is none, BadZipFile if it is not where the directory says
        """
        info = self._info(name)
        span = _span(self.file, info)
        if span is None or (info.compress_size and self.file.end_of(span[0]) != span[1]):
            raise zipfile.BadZipFile(f"'{name}' is not where the directory says")
        content = self.file.span(span[0]) if info.compress_size else None
        if info.compress_type == zipfile.ZIP_DEFLATED:
            return DeflatedMember(name, content, info.file_size, hashed=hashed)
        if info.file_size != info.compress_size:
            raise zipfile.BadZipFile(f"'{name}' has two sizes")
        return Member(name, content, info.file_size)

    def text(self, name: str) -> bytes:
        """A member that no hash but the zip's own is known of."""
        content = self.open(name).read(self.size(name))
        if zlib.crc32(content) != self._info(name).CRC:
            raise zipfile.BadZipFile(f"Bad CRC-32 for file '{name}'")
        return content


@contextmanager
def open_archive(file: SavedFile) -> Iterator[Archive]:
    """The archive that a file is; raises what zipfile does for one that is none."""
    with file.stream() as stream, zipfile.ZipFile(stream) as archive:
        yield Archive(file, archive)


def _span(file: SavedFile, info: zipfile.ZipInfo) -> tuple[int, int] | None:
    """Where the bytes of a member lie; None where there is no such member."""
    head = file.read_resident(info.header_offset, LOCAL.size) if info.header_offset >= 0 else b""
    if len(head) < LOCAL.size:
        return None
    mark, _, flags, *_, name, extra = LOCAL.unpack(head)
    begin = info.header_offset + LOCAL.size
    text = file.read_resident(begin, name).decode("utf-8" if flags & UTF_8 else "cp437", "replace")
    begin += name + extra
    is_there = mark == MARK and text == info.orig_filename and begin + info.compress_size <= file.size
    return (begin, begin + info.compress_size) if is_there else None


class Member:
    """A stored member, read forward."""

    def __init__(self, name: str, span: Span | None, size: int) -> None:
        self.name, self.bytes_left, self._span = name, size, span

    def read(self, count: int, /) -> bytes:
        """The next bytes, fewer at the end only."""
        data = bytearray(max(0, min(count, self.bytes_left)))
        size = self.readinto(memoryview(data))
        return bytes(data) if size == len(data) else bytes(data[:size])

    def readinto(self, buffer: memoryview, /) -> int:
        """The next bytes into a buffer, their number; fewer at the end only."""
        size = self._span.readinto(buffer) if self._span is not None else 0
        self.bytes_left -= size
        return size

    def digests(self) -> tuple[str, str | None]:
        """sha256 of all that lies in the file, and of the content, None where that was not asked for.

        raises  ArtifactError if the file was changed
        """
        digest = self._span.digest() if self._span is not None else hashlib.sha256().hexdigest()
        return digest, digest


class DeflatedMember(Member):
    """A deflated member, read forward; hashed: also what is inflated."""

    def __init__(self, name: str, span: Span | None, size: int, *, hashed: bool) -> None:
        super().__init__(name, span, size)
        self._inflate, self._hash = zlib.decompressobj(-zlib.MAX_WBITS), hashlib.sha256() if hashed else None

    def readinto(self, buffer: memoryview, /) -> int:
        done, wanted = 0, min(len(buffer), self.bytes_left)
        while done < wanted:
            compressed = self._inflate.unconsumed_tail or (self._span.read(CHUNK) if self._span is not None else b"")
            piece = self._inflate.decompress(compressed, wanted - done)
            if not piece and not compressed:
                raise zipfile.BadZipFile(f"'{self.name}' ends too early")
            buffer[done : done + len(piece)] = piece
            done += len(piece)
        self.bytes_left -= done
        if self._hash is not None:
            self._hash.update(buffer[:done])
        return done

    def digests(self) -> tuple[str, str | None]:
        """SHA-256 of all that lies in the file, and of the content, None where that was not asked for."""
        if self._hash is not None:
            while self.read(CHUNK):
                pass
        if not self.bytes_left and self._more():
            raise zipfile.BadZipFile(f"'{self.name}' is longer than the directory says")
        return super().digests()[0], self._hash.hexdigest() if self._hash is not None else None

    def _more(self) -> bool:
        """True if there is something behind all that was to be read."""
        while not self._inflate.eof:
            compressed = self._inflate.unconsumed_tail or (self._span.read(CHUNK) if self._span is not None else b"")
            if self._inflate.decompress(compressed, 1):
                return True
            if not compressed:
                return True
        return False
