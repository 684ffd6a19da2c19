"""Piecewise reading of a file: equal bytes at any offset, and nothing beyond them."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

import numpy as np
import pytest

from tvmq.errors import ArtifactError
from tvmq.runtime.artifact import saved_file
from tvmq.runtime.artifact.saved_file import SavedFile

DATA = bytes(np.random.default_rng(0).integers(0, 256, 1000, np.uint8))


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch):
    monkeypatch.setattr(saved_file, "HELD", 64)
    monkeypatch.setattr(saved_file, "CHUNK", 64)


@pytest.fixture(params=["disk", "memory"])
def file(request, tmp_path: Path) -> SavedFile:
    if request.param == "memory":
        return SavedFile.of("here", DATA)
    (tmp_path / "data").write_bytes(DATA)
    return SavedFile.open("here", tmp_path / "data")


def test_the_same_bytes(file):
    assert (file.size, file.sha256) == (1000, hashlib.sha256(DATA).hexdigest())
    assert b"".join(file.blocks()) == DATA == file.stream().read()
    first, second = file.stream(), file.stream()
    for place, count in ((0, 1), (63, 2), (500, 300), (999, 5), (1000, 1), (2000, 1)):
        assert first.seek(place) == place == first.tell()
        assert first.read(count) == DATA[place : place + count]
    assert second.read(3) == DATA[:3]
    assert first.seek(-3, os.SEEK_END) == 997 and first.read() == DATA[-3:]
    with pytest.raises(OSError):
        first.seek(-1001, os.SEEK_END)


def test_no_bytes(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    empty = SavedFile.open("here", tmp_path / "empty")
    assert empty.size == 0 and list(empty.blocks()) == [] and empty.stream().read() == b""


@pytest.mark.parametrize(
    "change", [lambda path: path.write_bytes(DATA[:-1]), lambda path: path.write_bytes(b"x" * 1000)]
)
def test_changed_bytes(tmp_path, change):
    path = tmp_path / "data"
    path.write_bytes(DATA)
    file = SavedFile.open("load: 'data'", path)
    file.settle()
    change(path)
    for read in (lambda: b"".join(file.blocks()), lambda: file.stream().read()):
        with pytest.raises(ArtifactError, match="^load: 'data' was changed while it was in use; load it again$"):
            read()


def test_longer_files_are_what_they_were(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(DATA)
    file = SavedFile.open("here", path)
    with path.open("ab") as more:
        more.write(b"more")
    assert file.stream().read() == DATA


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are counted where Linux lists them")
def test_files_are_closed(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(DATA)
    before = len(os.listdir("/proc/self/fd"))
    files = [SavedFile.open("here", path) for _ in range(5)]
    assert len(os.listdir("/proc/self/fd")) == before + 5
    del files
    assert len(os.listdir("/proc/self/fd")) == before


def test_streams_of_threads_do_not_meet(file):
    found: list[bytes] = []
    threads = [threading.Thread(target=lambda: found.append(file.stream().read())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [DATA] * 4


def test_spans_are_hashed_once(file):
    file.cut([(100, 400), (400, 400), (500, 1000)])
    span, buffer = file.span(100), bytearray(200)
    assert span.read(50) == DATA[100:150] and span.readinto(memoryview(buffer)) == 200 and buffer == DATA[150:350]
    assert span.read(200) == DATA[350:400] and span.read(1) == b""
    assert span.digest() == hashlib.sha256(DATA[100:400]).hexdigest() == file.span(100).digest()
    assert [file.end_of(place) for place in (0, 100, 400, 500, 150)] == [100, 400, 500, 1000, None]
    file.cut([(7, 9)])  # too late: what was read stays as it was
    assert file.end_of(7) is None and b"".join(file.blocks()) == DATA


@pytest.mark.parametrize("place", [0, 150, 450, 999])
def test_a_change_of_any_span_is_found_when_it_is_read(tmp_path, place):
    path = tmp_path / "data"
    path.write_bytes(DATA)
    file = SavedFile.open("here", path)
    assert file.read_resident(440, 20) == DATA[440:460]
    file.cut([(100, 400), (500, 1000)])
    file.settle()
    changed = bytearray(DATA)
    changed[place] ^= 1
    path.write_bytes(changed)
    for begin in (0, 100, 400, 500):
        if begin <= place < (file.end_of(begin) or 0):
            with pytest.raises(ArtifactError, match="^here was changed while it was in use; load it again$"):
                file.span(begin).digest()
        else:
            file.span(begin).digest()
    assert file.read_resident(440, 20) == DATA[440:460]


def test_a_change_before_a_span_was_read_is_what_it_says(tmp_path):
    """A change before reading goes unnoticed: the hash is that of the bytes that were read."""
    path = tmp_path / "data"
    path.write_bytes(DATA)
    file = SavedFile.open("here", path)
    file.cut([(100, 400)])
    path.write_bytes(bytes(1000))
    assert file.span(100).digest() == hashlib.sha256(bytes(300)).hexdigest()
