"""Saved models that are cut, changed or packed otherwise, and other files: each is refused."""

from __future__ import annotations

import io
import json
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmq
from tests.support.models.saved_files import refused, remade, small
from tvmq.errors import ArtifactError, TargetError
from tvmq.runtime.artifact import container, members, saved_file
from tvmq.runtime.artifact.code_bytes import BYTECODE, CONSTANTS, MODULE
from tvmq.runtime.artifact.container import MANIFEST, MEMBERS, unpack


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small saved model."""
    path = tmp_path_factory.mktemp("small") / "small.tvmq"
    small().save(path)
    return path


def test_truncated_files(digits, tmp_path):
    data = digits.path.read_bytes()
    places = sorted({0, 1, 4, 30, len(data) - 1, len(data) - 22, *range(0, len(data), len(data) // 15)})
    path = tmp_path / "cut.tvmq"
    for place in places:
        path.write_bytes(data[:place])
        assert str(path) in refused(path)


@pytest.mark.slow
def test_flipped_bytes(digits):
    """A change is refused, or lies where the zip format does not care; then all contents are intact."""
    data = digits.path.read_bytes()
    manifest, blobs = unpack("here", data)
    random = np.random.default_rng(7)
    harmless = 0
    for place in [*random.integers(0, len(data), 150), *range(len(data) - 400, len(data), 7), *range(60)]:
        changed = bytearray(data)
        changed[place] ^= int(random.integers(1, 256))
        try:
            assert unpack("here", bytes(changed)) == (manifest, blobs), f"byte {place}"
            harmless += 1
        except (ArtifactError, TargetError) as error:
            assert "\n" not in str(error)
    assert harmless < 150


def test_what_is_not_needed_is_held_against_how_it_lies_in_the_file(digits, monkeypatch):
    """And not inflated; damage of it is found all the same, and who packs a file anew has the same model."""
    data = digits.path.read_bytes()
    manifest, _ = unpack("here", data)
    assert manifest["packed"].keys() >= {MODULE, CONSTANTS} and MANIFEST not in manifest["packed"]
    readers = {MODULE: container._nothing, CONSTANTS: container._nothing}
    anew = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(anew, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name), compresslevel=1)
        begin = old.getinfo(MODULE).header_offset + 30 + len(MODULE)
    assert anew.getvalue() != data and unpack("here", anew.getvalue(), lambda _: readers)[0] == manifest
    for place in (begin, begin + 100):
        changed = bytearray(data)
        changed[place] ^= 1
        with pytest.raises(ArtifactError, match="'module.json' is damaged|is no tvmq file, or it is damaged"):
            unpack("here", bytes(changed), lambda _: readers)
    inflated: list[str] = []
    readinto = members.DeflatedMember.readinto
    monkeypatch.setattr(members.DeflatedMember, "readinto", lambda m, b: inflated.append(m.name) or readinto(m, b))
    container.load(digits.path)
    assert MODULE not in inflated and BYTECODE in inflated


@pytest.mark.parametrize("change, message", [
    *[(lambda m, n=name: m.pop(n) and None, f"no item named '{name}' in the arch") for name in MEMBERS],
    (lambda m: m.update({"more.txt": b"?"}), "holds 1 members 'more.txt'; it is no tvmq file"),
    (lambda m: m.update({"../evil": b"?"}), "holds 1 members '../evil'"),
    (lambda m: m.update({"a" * 60000: b"?"}), f"holds 1 members '{'a' * 500}...~"),
    (lambda m: m.update({"/etc/passwd": b"?"}), "holds 1 members '/etc/passwd'"),
    (lambda m: m.update({"__main__.pkl": b"?"}), "'__main__.pkl'"),
    *[(lambda m, n=n: m.update({n: m[n] + b"?"}), f"'{n}' is damaged") for n in MEMBERS[1:]],
    (lambda m: m.update({BYTECODE: b""}), f"'{BYTECODE}' is damaged"),
    (lambda m: m.update({MANIFEST: b"{"}), "is no tvmq file, or it is damaged"),
    (lambda m: m.update({MANIFEST: b"\xff\xfe"}), "is no tvmq file, or it is damaged"),
    (lambda m: m.update({MANIFEST: b"[" * 100000}), "is no tvmq file, or it is damaged"),
    (lambda m: m.update({MANIFEST: b"[]"}), "its manifest has no schema version"),
    (lambda m: m.update({MANIFEST: b"{}"}), "its manifest has no schema version"),
    (lambda m: {"mimetype": b"application/zip"}, f"no item named '{MANIFEST}'"),
    (lambda m: {"empty": b""} and m.clear(), f"no item named '{MANIFEST}'"),
])  # fmt: skip
def test_other_members(saved, tmp_path, change, message):
    path = tmp_path / "changed.tvmq"
    path.write_bytes(remade(saved.read_bytes(), change))
    assert message in refused(path)


def test_contents_that_only_look_right(saved, tmp_path):
    """Right hashes, wrong code: what TVM says becomes a sentence."""

    def change(members: dict[str, bytes]) -> None:
        manifest = json.loads(members[MANIFEST])
        members[BYTECODE] = b"no bytecode"
        manifest["bytecode"] = manifest["sha256"][BYTECODE] = container._sha256(members[BYTECODE])
        members[MANIFEST] = json.dumps(manifest).encode()

    path = tmp_path / "changed.tvmq"
    path.write_bytes(remade(saved.read_bytes(), change))
    assert "TVM cannot read the code" in refused(path)


def test_a_foreign_way_of_packing(saved, tmp_path):
    path = tmp_path / "packed.tvmq"
    path.write_bytes(remade(saved.read_bytes(), lambda m: None, zipfile.ZIP_LZMA))
    assert "packed in an unknown way" in refused(path)
    encrypted = bytearray(saved.read_bytes())
    first = encrypted.index(b"PK\x01\x02")
    encrypted[first + 8] |= 1
    path.write_bytes(encrypted)
    assert "is encrypted" in refused(path)


def test_a_member_that_is_there_twice(saved, tmp_path):
    path = tmp_path / "twice.tvmq"
    path.write_bytes(saved.read_bytes())
    with pytest.warns(UserWarning), zipfile.ZipFile(path, "a") as archive:
        archive.writestr(MODULE, b"{}")
    assert f"holds 2 members '{MODULE}'" in refused(path)


@pytest.mark.slow
def test_a_zip_bomb_is_not_unpacked(saved, tmp_path, monkeypatch):
    path = tmp_path / "bomb.tvmq"
    path.write_bytes(remade(saved.read_bytes(), lambda m: m.update({CONSTANTS: bytes(10**8)})))
    assert path.stat().st_size < 10**6

    def unpacked(*_: Any) -> None:
        raise AssertionError("unpacked")

    monkeypatch.setattr(zipfile.ZipFile, "open", unpacked)
    assert "bytes packed into" in refused(path)


@pytest.mark.parametrize("data", [b"", b"hello", b"PK\x03\x04", b"PK\x05\x06" + bytes(18), bytes(1000)])
def test_other_files(tmp_path, data):
    path = tmp_path / "other.tvmq"
    path.write_bytes(data)
    assert "is no tvmq file, or it is damaged" in refused(path)


@pytest.mark.parametrize("name", ["net.onnx", "net.pt2"])
def test_a_float_model_is_called_one(tmp_path, name):
    (tmp_path / name).write_bytes(b"anything")
    assert "it is named as a float model: `tvmq quantize` makes a .tvmq of one" in refused(tmp_path / name)


@pytest.mark.parametrize("name", ["net.pt", "net.pth", "net.ckpt"])
def test_a_checkpoint_is_called_one(tmp_path, name):
    (tmp_path / name).write_bytes(b"anything")
    assert "named as a torch checkpoint: export its network (torch.onnx.export)" in refused(tmp_path / name)


def test_no_file(tmp_path, monkeypatch):
    assert "there is no such file; `tvmq quantize` makes one" in refused(tmp_path / "none.tvmq")
    assert "has 0 libraries of models, one is expected; name a folder" in refused(tmp_path)
    assert "cannot be read" in refused(tmp_path / "nul\0l")
    path = tmp_path / "big.tvmq"
    path.write_bytes(bytes(100))
    monkeypatch.setattr(saved_file, "LARGEST_FILE", 99)
    assert refused(path) == f"load: '{path}' has 100 bytes, the limit is 99; it is no tvmq file"


def test_a_manifest_of_many_entries_is_refused_before_it_is_read(saved: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(saved) as archive:
        blobs = {name: archive.read(name) for name in archive.namelist()}
    blobs[MANIFEST] = b"[" + b"[]," * 3_000_000 + b"0]"
    (tmp_path / "m.tvmq").write_bytes(remade(saved.read_bytes(), lambda _: blobs))
    tracemalloc.start()
    with pytest.raises(ArtifactError, match=r"its manifest has 9000003 bytes and 6000001 entries, the limits are"):
        tvmq.load(tmp_path / "m.tvmq")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 40e6  # the text alone has 9
