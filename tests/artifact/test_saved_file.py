"""A file that is read piece by piece: the same bytes at any place, and no others."""

from __future__ import annotations

import hashlib
import os
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tvmq.artifact import saved_file
from tvmq.artifact.saved_file import HashingReader, SavedFile
from tvmq.errors import ArtifactError

DATA = bytes(np.random.default_rng(0).integers(0, 256, 1000, np.uint8))


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(saved_file, "BLOCK", 64)


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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are not everywhere")
def test_a_pipe_is_read_once(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(DATA))
    writer.start()
    file = SavedFile.open("here", path)
    writer.join()
    assert file.stream().read() == DATA == file.stream().read()


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


def test_an_archive_with_the_hash_of_what_is_read(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("member", DATA)
    with zipfile.ZipFile(SavedFile.open("here", path).stream()) as archive, archive.open("member") as member:
        reader = HashingReader(member)
        assert reader.read(10) + reader.read(2000) == DATA
    assert reader.sha256 == hashlib.sha256(DATA).hexdigest()
