"""Bad saved models and data for them, through Python and the command line."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmq
from tests.support.bad_input import X, make_place, network, refused, save_network
from tvmq.errors import (
    TvmqError,
)


@pytest.fixture
def place(tmp_path, monkeypatch, capsys):
    """Folder without the saved model."""
    return make_place(tmp_path, monkeypatch, capsys)


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> Path:
    """The network, quantized and saved."""
    return save_network(tmp_path_factory.mktemp("saved"))


def damage(path: Path, kind: str) -> None:
    """Spoil a saved model."""
    data = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    if kind == "truncated":
        path.write_bytes(data[: len(data) // 2])
    elif kind == "flipped":
        middle = len(data) // 2
        path.write_bytes(data[:middle] + bytes([data[middle] ^ 0x55]) + data[middle + 1 :])
    elif kind == "missing":
        path.unlink()
    elif kind == "foreign":
        path.write_bytes(network().SerializeToString())
    else:
        manifest = json.loads(members["manifest.json"])
        manifest.update({"schema": 99} if kind == "schema" else {"needs": [*manifest["needs"], "hyperdrive"]})
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in {**members, "manifest.json": json.dumps(manifest).encode()}.items():
                archive.writestr(name, content)


DAMAGE = {
    "missing": "there is no such file", "truncated": "is no tvmq file, or it is damaged", "flipped": "damaged",
    "foreign": "is no tvmq file", "schema": "has schema 99, this tvmq", "features": "hyperdrive, which this CPU lacks",
}  # fmt: skip


@pytest.mark.slow_cases("run-missing", "run-truncated", "run-flipped")
@pytest.mark.parametrize("kind", DAMAGE)
@pytest.mark.parametrize("command", ["run", "verify", "explain", "bench"])
def test_saved_models_that_cannot_be_used(place, saved, kind, command):
    path = place / "broken.tvmq"
    path.write_bytes(saved.read_bytes())
    damage(path, kind)
    with pytest.raises(TvmqError) as caught:
        tvmq.load(path)
    if (kind, command) == ("features", "explain"):  # code is not looked at: only a CPU that runs it needs them
        assert tvmq.explain(tvmq.load(path, code=False)).ledger.layers
        return
    data = ["--data", place / "data.npz"] if command in ("run", "verify") else []
    sentence = refused(place, command, path, *data)
    assert sentence == str(caught.value)
    assert "broken.tvmq" in sentence and DAMAGE[kind] in sentence and ";" in sentence


@pytest.mark.parametrize("command", ["run", "verify", "bench"])
@pytest.mark.parametrize("data, words", [
    ({"x": X[:, :, :4]}, ["input 'x' has shape (1, 3, 4, 8)|input 'x' has shape (8, 3, 4, 8)"]),
    ({"x": X.astype(str)}, ["input 'x' is <U32, the model takes float32"]),
    ({"y": X, "z": X}, ["lacks input 'x' and holds 'y', 'z'"]),
    ({"x": X[:0]}, ["must hold equally many samples of each input, at least 1"]),
], ids=["shape", "type", "name", "empty"])  # fmt: skip
def test_data_of_a_saved_model(place, saved, command, data, words):
    np.savez(place / "bad.npz", **data)
    sentence = refused(place, command, saved, "--data", place / "bad.npz")
    assert all(any(choice in sentence for choice in word.split("|")) for word in words), sentence


def test_a_layer_that_is_not_there(place, saved):
    assert "is '/conv_9'; did you mean '/conv_0'" in refused(place, "explain", saved, "/conv_9")
    assert "/conv_0" in place.command("explain", saved, "/conv_0").out


def test_results_that_cannot_be_written(place, saved, monkeypatch):
    """`tvmq run -o`: as for models."""

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    (place / "scores.npz").write_bytes(b"old")
    sentence = refused(place, "run", saved, "--data", place / "data.npz", "-o", place / "scores.npz", "--quiet")
    assert "output: cannot write" in sentence and "scores.npz'" in sentence and "No space left" in sentence


def test_a_saved_model_cannot_write_on_the_terminal(place, saved):
    """Names in a manifest that somebody changed: it has no hash of its own."""
    with zipfile.ZipFile(saved) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["manifest.json"] = members["manifest.json"].replace(b'"name":"x"', b'"name":"\\u001b[31mx"')
    assert b"u001b" in members["manifest.json"]
    with zipfile.ZipFile(place / "evil.tvmq", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    np.savez(place / "two.npz", a=X, b=X)
    result = place.command("run", place / "evil.tvmq", "--data", place / "two.npz")
    assert r"\x1b[31mx" in result.err and "\x1b" not in result.err
