"""Members of a zip: reading their bytes in order, and the hashes of a member as stored and unpacked."""

from __future__ import annotations

import hashlib
import io
import struct
import zipfile
import zlib

import numpy as np
import pytest

from tvmq.errors import ArtifactError
from tvmq.runtime.artifact.members import open_archive
from tvmq.runtime.artifact.saved_file import SavedFile

NOISE = bytes(np.random.default_rng(0).integers(0, 256, 300_000, np.uint8))
CONTENTS = {"stored": NOISE, "deflated": NOISE[:1000] * 400, "empty": b"", "nothing": b""}


def archive_of(contents: dict[str, bytes], head: bytes = b"") -> bytes:
    buffer = io.BytesIO(head)
    buffer.seek(len(head))
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in contents.items():
            method = zipfile.ZIP_STORED if name in ("stored", "empty") else zipfile.ZIP_DEFLATED
            archive.writestr(name, content, method)
    return buffer.getvalue()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("head", [b"", b"something in front"])
def test_contents_and_hashes(head):
    data = archive_of(CONTENTS, head)
    with open_archive(SavedFile.of("here", data)) as archive:
        for name, content in CONTENTS.items():
            assert archive.size(name) == len(content) and archive.text(name) == content
            member, pieces, buffer = archive.open(name, hashed=True), [], bytearray(70_000)
            pieces.append(member.read(10))
            while count := member.readinto(memoryview(buffer)):
                pieces.append(bytes(buffer[:count]))
            assert b"".join(pieces) == content
            lying = content if name in ("stored", "empty") else zlib_of(content)
            assert member.digests() == (sha256(lying), sha256(content))
            # also of one that nobody reads, or reads in part
            unread = archive.open(name)
            unread.read(5)
            assert unread.digests()[0] == sha256(lying)
            assert archive.open(name, hashed=True).digests()[1] == sha256(content)


def zlib_of(content: bytes) -> bytes:
    deflate = zlib.compressobj(wbits=-15)
    return deflate.compress(content) + deflate.flush()


def test_a_changed_member_is_found(tmp_path):
    path = tmp_path / "a.zip"
    path.write_bytes(archive_of(CONTENTS))
    file = SavedFile.open("here", path)
    with open_archive(file) as archive:
        archive.open("stored").digests()
        with open(path, "r+b") as changed:
            changed.seek(1000)
            changed.write(b"changed")
        with pytest.raises(ArtifactError, match="here was changed while it was in use; load it again"):
            archive.open("stored").digests()


def directory_entry(data: bytes, name: bytes) -> int:
    """Offset of a member's entry in the directory of the zip."""
    return data.index(b"PK\x01\x02", data.rindex(name) - 46)


@pytest.mark.parametrize("name, offset, form, value, message", [
    ("deflated", 24, "<I", 399_999, "'deflated' is longer than the directory says"),
    ("deflated", 24, "<I", 400_001, "'deflated' ends too early"),
    ("stored", 24, "<I", 299_999, "'stored' has two sizes"),
    ("stored", 20, "<I", 10**8, "'stored' is not where the directory says"),
    ("deflated", 42, "<I", 7, "'deflated' is not where the directory says"),
    ("deflated", 42, "<I", 0, "'deflated' is not where the directory says"),
])  # fmt: skip
def test_directories_that_lie(name, offset, form, value, message):
    data = bytearray(archive_of(CONTENTS))
    struct.pack_into(form, data, directory_entry(bytes(data), name.encode()) + offset, value)
    with open_archive(SavedFile.of("here", bytes(data))) as archive, pytest.raises(zipfile.BadZipFile, match=message):
        member = archive.open(name)
        member.read(archive.size(name))
        member.digests()


def test_members_that_overlap_are_refused():
    data = bytearray(archive_of({"stored": NOISE[:1000], "deflated": NOISE[:500]}))
    struct.pack_into("<II", data, directory_entry(bytes(data), b"stored") + 20, 1100, 1100)
    with open_archive(SavedFile.of("here", bytes(data))) as archive, pytest.raises(zipfile.BadZipFile, match="stored"):
        archive.open("stored")


def test_a_text_is_held_against_the_hash_of_the_zip():
    data = bytearray(archive_of({"stored": NOISE[:1000]}))
    data[500] ^= 1
    with open_archive(SavedFile.of("here", bytes(data))) as archive, pytest.raises(zipfile.BadZipFile, match="CRC-32"):
        archive.text("stored")
