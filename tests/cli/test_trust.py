"""What a file can run, it runs behind --trust alone."""

from __future__ import annotations

import json

import pytest

FORMS = {
    "an observer": {"calibrate_mode": "mine:Observer"},
    "passes": {"passes": ["mine:widen"]},
    "in a rule": {"rules": [{"layer": "*", "weight_observer": "mine:Observer"}]},
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder has a module that says when it is imported; Python looks there, as `python -m tvmq` does."""
    (tmp_path / "mine.py").write_text("from pathlib import Path\nPath('ran').touch()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", FORMS)
def test_options_of_a_file_that_name_code(cli, folder, name):
    (folder / "options.json").write_text(json.dumps(FORMS[name]))
    done = cli("quantize", "net.onnx", "--data", "x.npz", "--config", "options.json")
    assert done.code == 1 and "names code, 'mine:" in done.err and "tvmq --trust" in done.err
    assert not (folder / "ran").exists()


def test_trust_is_of_one_command_line(cli, folder):
    (folder / "options.json").write_text(json.dumps(FORMS["an observer"]))
    done = cli("--trust", "quantize", "net.onnx", "--data", "x.npz", "--config", "options.json")
    assert done.code == 1 and "names code" not in done.err
    done = cli("quantize", "net.onnx", "--data", "x.npz", "--config", "options.json")
    assert "names code, 'mine:Observer'" in done.err


def test_programs_of_torch(cli, tmp_path):
    pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')
    (tmp_path / "net.pt2").write_bytes(b"PK")
    done = cli("inspect", tmp_path / "net.pt2", "--quiet")
    assert done.code == 1 and "can run code of whoever wrote it" in done.err
    done = cli("--trust", "inspect", tmp_path / "net.pt2", "--quiet")
    assert done.code == 1 and "is no program that torch.export.save wrote" in done.err
