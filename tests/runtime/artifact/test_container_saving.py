"""Saving: places, permissions and failures; copies of executables, and their memory."""

from __future__ import annotations

import copy
import errno
import gc
import hashlib
import io
import multiprocessing
import os
import pickle
import re
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmq
from tests.support.models.networks import parse
from tests.support.models.saved_files import RESHAPE, SMALL, X, linux, small
from tvmq.errors import ArtifactError, ConfigError, OutputError
from tvmq.runtime.artifact import container


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small saved model."""
    path = tmp_path_factory.mktemp("small") / "small.tvmq"
    small().save(path)
    return path


def test_a_model_that_compresses_too_well_is_stored_plainly(tmp_path, monkeypatch):
    monkeypatch.setattr(container, "UNPACKED_BASE", 0)
    monkeypatch.setattr(container, "RATIO", 2)
    exe = tvmq.build(parse(SMALL, w=np.zeros(8, np.float32)))
    exe.save(tmp_path / "zeros.tvmq")
    with zipfile.ZipFile(tmp_path / "zeros.tvmq") as archive:
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_STORED}
    assert np.array_equal(tvmq.load(tmp_path / "zeros.tvmq")(X), exe(X))


def test_a_saved_file_has_the_permissions_of_any_new_file(tmp_path):
    mask = os.umask(0o027)
    try:
        small().save(tmp_path / "m.tvmq")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "m.tvmq").stat().st_mode) == 0o640


def test_saving_takes_text_as_path_and_replaces_files(tmp_path):
    path = tmp_path / "m.tvmq"
    path.write_bytes(b"old")
    digest = small().save(str(path))
    assert tvmq.load(str(path), sha256=digest).target == small().target
    assert os.listdir(tmp_path) == ["m.tvmq"]


@pytest.mark.parametrize("name, reason", [
    ("none/m.tvmq", "No such file or directory"), ("folder", "Is a directory"), ("nul\0l", "null"),
    ("x" * 300, "File name too long"), ("file/m.tvmq", "Not a directory"),
])  # fmt: skip
def test_places_where_nothing_can_be_saved(tmp_path, name, reason):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"file")
    with pytest.raises(OutputError) as caught:
        small().save(tmp_path / name)
    text = str(caught.value)
    assert text.startswith("save: '") and reason in text and text.count("\n") == 0
    assert "nothing was changed; make room or name another place" in text
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"] and not os.listdir(tmp_path / "folder")


def failure(code: int) -> OSError:
    """Error of the operating system with this code."""
    return OSError(code, os.strerror(code))


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EACCES, KeyboardInterrupt])
@pytest.mark.parametrize("step", ["open", "fdopen", "fsync", "replace"])
@pytest.mark.parametrize("before", [None, b"the file that was there"])
def test_a_save_that_fails_leaves_what_was_there(tmp_path, monkeypatch, error, step, before):
    """A full disk, a missing permission, an interrupt: at any step."""
    path = tmp_path / "m.tvmq"
    if before is not None:
        path.write_bytes(before)
    exe = tvmq.build(parse(RESHAPE))

    def fail(*_: Any, **__: Any) -> None:
        raise error if error is KeyboardInterrupt else failure(error)

    owner = Path if step == "replace" else os
    with monkeypatch.context() as patch:
        patch.setattr(owner, step, fail)
        with pytest.raises((OutputError, KeyboardInterrupt)) as caught:
            exe.save(path)
    if error is KeyboardInterrupt:
        assert caught.type is KeyboardInterrupt
    else:
        assert os.strerror(error) in str(caught.value) and str(path) in str(caught.value)
    assert [file.read_bytes() for file in tmp_path.iterdir()] == ([before] if before is not None else [])
    exe.save(path)
    assert np.array_equal(tvmq.load(path)(X), exe(X))


@pytest.mark.slow
def test_a_full_temporary_folder_does_not_matter(tmp_path, monkeypatch):
    """TVM writes code to files; a full disk must not truncate it. On Linux those files lie in memory."""
    if not hasattr(os, "memfd_create"):
        pytest.skip("needs files in memory")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    small().save(tmp_path / "m.tvmq")
    monkeypatch.setattr("tempfile.tempdir", None)
    assert np.array_equal(tvmq.load(tmp_path / "m.tvmq")(X), small()(X))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda exe: pickle.loads(pickle.dumps(exe))])
@pytest.mark.parametrize("was_loaded", [False, True])
def test_executables_pickle_and_copy(
    saved: Path, copied: Callable[[tvmq.Executable], tvmq.Executable], was_loaded: bool
) -> None:
    exe = tvmq.load(saved, num_threads=2) if was_loaded else small()
    other = copied(exe)
    assert other is not exe
    assert np.array_equal(other(X), exe(X))
    assert (other.input_info, other.target.name, other.num_threads) == (
        exe.input_info,
        exe.target.name,
        exe.num_threads,
    )
    assert other.save(saved.with_name("copy.tvmq")) == exe.save(saved.with_name("again.tvmq"))


@pytest.mark.parametrize("was_loaded", [False, True])
@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview, io.BytesIO])
def test_bytes_are_loaded_as_the_file_is(saved: Path, wrap: Callable[[bytes], Any], was_loaded: bool) -> None:
    content = (tvmq.load(saved) if was_loaded else small()).to_bytes()
    assert content == saved.read_bytes()
    exe = tvmq.load(wrap(content), sha256=hashlib.sha256(content).hexdigest(), num_threads=2)
    assert np.array_equal(exe(X), small()(X)) and exe.num_threads == 2
    assert exe.to_bytes() == content
    tvmq.load(io.BytesIO(content), code=False)
    with open(saved, "rb") as file:
        assert np.array_equal(tvmq.load(file)(X), exe(X))


@pytest.mark.parametrize(("content", "error", "message"), [
    (b"PK", ArtifactError, "load: the model in memory is no tvmq file, or it is damaged"),
    (b"", ArtifactError, "load: the model in memory is no tvmq file, or it is damaged"),
    (io.StringIO("PK"), ConfigError, "load: the file is open for text; open it for reading in binary mode, 'rb'"),
    (3, ConfigError, "load: takes a path, bytes or a file that is open for reading. Got int instead"),
])  # fmt: skip
def test_what_is_no_model_in_memory_is_refused(content: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        tvmq.load(content)


def test_bytes_of_another_hash_are_refused(saved: Path) -> None:
    with pytest.raises(ArtifactError, match="load: the model in memory has sha256 .*, expected 00; it is not the file"):
        tvmq.load(saved.read_bytes(), sha256="00")


@pytest.mark.slow
def test_an_executable_goes_to_a_spawned_process(saved: Path) -> None:
    exe = tvmq.load(saved)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        result = pool.apply_async(exe.run, ({"x": X},)).get(timeout=120)
    assert np.array_equal(result[0], exe(X))


@pytest.mark.slow
@linux
def test_code_is_unmapped_with_the_last_executable(saved: Path) -> None:
    def mappings() -> int:
        return len(Path("/proc/self/maps").read_text().splitlines())

    expected = tvmq.load(saved)(X)
    gc.collect()
    before = mappings()
    results = [tvmq.load(saved)(X) for _ in range(30)]
    gc.collect()
    assert mappings() < before + 20  # 60, were they kept
    assert all(np.array_equal(result, expected) for result in results)  # and these are memory of their own
