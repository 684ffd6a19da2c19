"""Files that can run code do so with --trust alone."""

import json
import sys

import numpy as np
import onnx
import pytest

import tvmq
from tests.support.models.networks import Net, feeds_of
from tvmq.graph.ledger import get_ledger, with_ledger

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
    monkeypatch.delitem(sys.modules, "mine", raising=False)  # another test's
    return tmp_path


@pytest.mark.parametrize("name", FORMS)
def test_options_of_a_file_that_name_code(cli, folder, name):
    (folder / "options.json").write_text(json.dumps(FORMS[name]))
    done = cli("quantize", "net.onnx", "--data", "x.npz", "--config", "options.json")
    assert done.code == 1 and "names code, 'mine:" in done.err and "tvmq --trust" in done.err
    assert not (folder / "ran").exists()


COMMANDS = {
    "backend check": ["backend", "check", "chip.json"],
    "backend show": ["backend", "show", "chip.json"],
    "conformance": ["conformance", "chip.json", "-o", "vectors"],
    "quantize": ["quantize", "net.onnx", "--random-data", "--backend", "chip.json", "-o", "net.tvmq", "--force", "--no-bench"],
    "verify": ["verify", "net.tvmq", "--data", "x.npy", "--backend", "chip.json"],
    "compare": ["compare", "net.tvmq", "--data", "x.npy", "--backend", "chip.json"],
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_runs_what_a_description_names(cli, folder, name):
    """Lowerings of a description are loaded by `tvmq.build(backend=...)`, and by no command."""
    net = Net((1, 4))
    model = net.model(net.dense("x", 4, 3))
    onnx.save(model, folder / "net.onnx")
    np.save(folder / "x.npy", np.zeros((2, 4), np.float32))
    if name in ("verify", "compare"):
        with tvmq.qconfig(calibrate_mode="minmax", weight_rounding="nearest"):
            tvmq.build(tvmq.quantize(*tvmq.from_onnx(model), feeds_of(model, 2), guard=None)).save("net.tvmq")
    description = {"tvmq_backend": 1, "name": "chip", "activations": ["uint8"], "lowerings": ["mine:LOWERING"]}
    (folder / "chip.json").write_text(json.dumps(description))
    done = cli(*COMMANDS[name])
    assert done.code == 0, done.err
    assert not (folder / "ran").exists()


def test_a_saved_model_read_without_its_code_runs_none(cli, folder):
    """Packages of operators that its options name are imported where the code runs, or behind --trust."""
    net = Net((1, 4))
    model = net.model(net.dense("x", 4, 3))
    with tvmq.qconfig(calibrate_mode="minmax", weight_rounding="nearest"):
        module = tvmq.quantize(*tvmq.from_onnx(model), feeds_of(model, 2), guard=None)
    ledger = get_ledger(module)
    ledger.config["operators"] = ["mine:FAMILY"]
    module = with_ledger(module, ledger)
    tvmq.build(module).save("net.tvmq")
    assert not (folder / "ran").exists()
    for command in (["explain", "net.tvmq"], ["build", "net.tvmq", "-o", "other.tvmq"], ["export-onnx", "net.tvmq", "-o", "net.onnx"]):
        done = cli(*command)
        assert done.code == 1 and "'mine:FAMILY', which would be run; import it before" in done.err
        assert not (folder / "ran").exists(), command
    done = cli("--trust", "build", "net.tvmq", "-o", "other.tvmq")
    assert done.code == 0 and (folder / "ran").exists(), done.err


def test_the_options_of_a_saved_model_are_texts(cli, folder):
    """The ledger of the module itself, too, whatever the manifest says."""
    net = Net((1, 4))
    with tvmq.qconfig(calibrate_mode="minmax", weight_rounding="nearest"):
        module = tvmq.quantize(*tvmq.from_onnx(net.model(net.dense("x", 4, 3))), [{"x": np.ones((1, 4), np.float32)}])
    ledger = get_ledger(module)
    ledger.config.update(calibrate_mode="mine:Observer", weight_scale="mine:Observer", passes=["mine:widen"])
    tvmq.build(with_ledger(module, ledger)).save("net.tvmq")
    for command in (["explain", "net.tvmq"], ["build", "net.tvmq", "-o", "other.tvmq"], ["export-onnx", "net.tvmq", "-o", "net.onnx"]):
        done = cli(*command)
        assert done.code == 0, done.err
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
    assert done.code == 1 and "was not written by torch.export.save" in done.err
