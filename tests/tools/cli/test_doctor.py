"""`tvmq doctor`: its output and its exit codes."""

from __future__ import annotations

import json

import numpy as np
import onnx
import pytest

import tests.support.models.doctor_faults as faults
import tvmq
from tvmq.errors import DataError
from tvmq.tools.cli.doctor import read_model_and_data
from tvmq.tools.doctor.findings import note, ok, problem
from tvmq.tools.doctor.weights import check_weights


def test_the_command(cli, monkeypatch):
    checks = {"x": lambda: [note("cache", "off", "unset it"), ok("python", "3.11")]}
    monkeypatch.setattr("tvmq.tools.doctor.installation_checks.PLAIN", checks)
    monkeypatch.setattr("tvmq.tools.doctor.installation_checks.WITH_TVM", {})
    result = cli("doctor")
    assert result.code == 0 and result.out.splitlines()[:2] == [
        "note     cache            off", "                          -> unset it",
    ]  # fmt: skip
    assert result.out.endswith("no problems\n") and "python" not in cli("doctor", "--quiet").out
    checks["y"] = lambda: [problem("numpy", "1.0", "newer")]
    result = cli("doctor", "--json")
    printed = json.loads(result.out)
    assert result.code == 1 and printed["problems"] == 1
    assert [finding["subject"] for finding in printed["findings"]] == ["cache", "python", "numpy", "tvm"]
    assert cli("doctor").out.endswith("1 problem: numpy\n")


@pytest.mark.slow
def test_a_model(cli, tmp_path):
    """Samples with their channels last, and labels beside them: the exit code says that something is to be mended."""
    model, data = tmp_path / "net.onnx", tmp_path / "samples.npz"
    onnx.save(faults.network(), model)
    x = faults.pictures()
    np.savez(data, x=x)
    np.save(tmp_path / "labels.npy", np.arange(len(x)) % 6)
    printed = json.loads(cli("doctor", model, "--data", data, "--budget", 0, "--json", "-q").out)
    assert printed["problems"] == 0
    coarse = cli("doctor", model, "--data", data, "--budget", 0, "--json", "-q", "--nbit-weight", 2)
    assert coarse.code == 1 and '"sqnr"' in coarse.out and "dB" in coarse.out
    assert [finding["subject"] for finding in printed["findings"]][:4] == [
        "weights",
        "samples",
        "float model",
        "layers",
    ]
    np.savez(data, x=np.moveaxis(x, 1, -1), labels=np.arange(len(x)) % 6)
    result = cli("doctor", model, "--data", data, "--budget", 0, "--samples", 16)
    assert result.code == 1 and "problem  layout" in result.out and "1 problem: layout" in result.out
    assert "% of labels" in result.out and "look at every layer" in result.err


def test_what_nobody_expects_is_a_finding(cli, tmp_path, monkeypatch):
    """Reading the model, or a stage: one line each, and the other stages are run."""
    model, data = tmp_path / "net.onnx", tmp_path / "samples.npz"
    onnx.save(faults.network(), model)
    np.savez(data, x=faults.pictures())

    def breaks(*_: object) -> None:
        raise KeyError("level")

    monkeypatch.setattr("tvmq.tools.doctor.model_checks.STAGES", {"look here": breaks, "look there": check_weights})
    result = cli("doctor", model, "--data", data, "-q")
    assert result.code == 1 and "problem  look here        the check itself failed: KeyError: 'level'" in result.out
    assert [f["subject"] for f in json.loads(cli("doctor", model, "--data", data, "--json").out)["findings"]] == [
        "look here", "weights",
    ]  # fmt: skip
    monkeypatch.setattr("tvmq.tools.cli.doctor.read_model_and_data", breaks)
    result = cli("doctor", model, "--data", data, "--json")
    assert result.code == 1 and "failed: KeyError: 'level'" in json.loads(result.out)["findings"][0]["what"]


def test_a_model_that_cannot_be_read_is_a_finding_of_the_guard(cli, tmp_path):
    (tmp_path / "text.onnx").write_text("hello")
    np.save(tmp_path / "x.npy", np.zeros((4, 3), np.float32))
    result = cli("doctor", tmp_path / "text.onnx", "--data", tmp_path / "x.npy")
    assert result.code == 1 and result.err.count("\n") == 2 and "tvmq: from_onnx" in result.err


def test_what_belongs_together(cli, tmp_path):
    assert "add --data" in cli("doctor", tmp_path / "net.onnx").err
    assert "need a model: tvmq doctor model.onnx" in cli("doctor", "--data", tmp_path / "x.npy").err


def test_labels(tmp_path):
    model, data, labels = tmp_path / "net.onnx", tmp_path / "x.npz", tmp_path / "labels.npy"
    onnx.save(faults.network(), model)
    x = faults.pictures()

    def classes(**more):
        np.savez(data, x=x, **more)
        given = labels if labels.exists() else None
        return read_model_and_data(model, str(data), given, 3, (), tvmq.QConfig())[0].labels

    assert classes() is None and classes(y=np.zeros((32, 2))) is None
    assert classes(y=np.arange(32)).tolist() == [0, 1, 2]
    np.save(labels, np.arange(32) + 4)
    assert classes(y=np.arange(32)).tolist() == [4, 5, 6]
    np.save(labels, np.zeros((32, 2)))
    with pytest.raises(DataError, match="one integer per sample"):
        classes()
    labels.write_text("hello")
    with pytest.raises(DataError, match="cannot be read as labels"):
        classes()


def test_samples_of_a_function(tmp_path):
    onnx.save(faults.network(), tmp_path / "net.onnx")
    np.save(tmp_path / "x.npy", faults.pictures())
    lines = [
        "import numpy as np",
        "def batches():",
        f"    for x in np.load({str(tmp_path / 'x.npy')!r}):",
        "        yield x[None], [1]",
    ]
    (tmp_path / "mine.py").write_text("\n".join(lines))
    context, found = read_model_and_data(
        tmp_path / "net.onnx", f"{tmp_path / 'mine.py'}:batches", None, 5, (), tvmq.QConfig()
    )
    assert found == [] and np.array_equal(context.arrays["x"], faults.pictures()[:5])
    assert context.labels is None or context.labels.tolist() == [1] * 5


@pytest.mark.slow
def test_samples_of_a_folder(tmp_path):
    images = pytest.importorskip("PIL.Image", reason="pillow is in the extra test")
    onnx.save(faults.network(), tmp_path / "net.onnx")
    for index, x in enumerate(faults.pictures()[:6]):
        folder = tmp_path / "pictures" / str(index % 2)
        folder.mkdir(parents=True, exist_ok=True)
        images.fromarray(np.uint8(np.moveaxis(x, 0, -1) * 255)).save(folder / f"{index}.png")
    context, _ = read_model_and_data(tmp_path / "net.onnx", str(tmp_path / "pictures"), None, 4, (), tvmq.QConfig())
    assert context.arrays["x"].shape == (4, 3, faults.SIZE, faults.SIZE) and set(context.labels.tolist()) <= {0, 1}
