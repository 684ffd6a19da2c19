"""tvmq.quantize_model: the command's steps in one call."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

import tvmq
from tests.support.models.linear_digits import linear_digits, write_pictures
from tests.support.models.onnx_models import make_model
from tvmq.errors import AccuracyWarning, ConfigError, DataError

FAST = tvmq.qconfig(calibrate_mode="minmax")


@pytest.fixture(scope="module")
def path(tmp_path_factory, example):
    path = tmp_path_factory.mktemp("models") / "digits.onnx"
    path.write_bytes(linear_digits(example))
    return path


def test_arrays_with_labels(path, example, tmp_path, capfd):
    data = {"image": example.test[:100], "labels": example.labels[:100]}
    result = tvmq.quantize_model(path, data, config=FAST, bench=False)
    assert capfd.readouterr() == ("", "")
    text = str(result)
    assert f"model      {path}" in text and "saved      not yet (" in text and "20 held-out samples" in text
    assert "top1: float" in text and "2 of 2 operators, 100.0% of multiply-accumulates" in text
    assert result.facts["comparison"]["metric"] == "top1" and "speed" not in result.facts
    digest = result.save(tmp_path / "m.tvmq")
    np.testing.assert_array_equal(
        tvmq.load(tmp_path / "m.tvmq", sha256=digest).run({"image": example.test[:1]})[0],
        tvmq.reference.run(result.module, {"image": example.test[:1]})[0],
    )


@pytest.mark.parametrize("arrays", [True, False], ids=["arrays", "file"])
def test_a_report_of_the_result(path, example, tmp_path, arrays):
    pytest.importorskip("jinja2", reason="an extra: pip install 'tvmq[report]'")
    data = {"image": example.test[:60], "labels": example.labels[:60]}
    np.savez(tmp_path / "samples.npz", **data)
    result = tvmq.quantize_model(path, data if arrays else tmp_path / "samples.npz", config=FAST, bench=False)
    result.report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "<title>digits.onnx: report of tvmq</title>" in page and '"histogram"' in page and "top1" in page


def test_it_is_what_the_command_makes(path, example, tmp_path, cli):
    np.savez(tmp_path / "samples.npz", image=example.test[:100], labels=example.labels[:100])
    options = ("--calibrate-mode", "minmax", "--no-bench", "-q")
    assert cli("quantize", path, "--data", tmp_path / "samples.npz", *options, "-o", tmp_path / "m.tvmq").code == 0
    result = tvmq.quantize_model(path, tmp_path / "samples.npz", config=FAST, bench=False)
    assert result.executable.to_bytes() == (tmp_path / "m.tvmq").read_bytes()


def test_pictures(path, example, tmp_path):
    pytest.importorskip("PIL.Image", reason="pillow is an extra: pip install 'tvmq[images]'")
    names = [f"{label} of ten" for label in range(10)]
    write_pictures(example, tmp_path, names, 100)
    with FAST:
        result = tvmq.quantize_model(str(path), tmp_path, bench=False, pictures={"normalize": "unit"})
    assert result.executable.labels == tuple(names) and result.facts["normalization"]["name"] == "unit"
    assert result.executable.preprocessing is not None


def test_without_data_scales_are_made_at_run_time(path, example):
    result = tvmq.quantize_model(path)
    assert result.facts["samples"] is None and tvmq.explain(result.module).int8_share() == 1
    assert result.executable.run({"image": example.test[:1]})[0].shape == (1, 10)


def test_what_is_refused(path, example, tmp_path):
    with pytest.raises(ConfigError, match="quantize_model: pictures has no option 'colour'; it takes normalize, mean,"):
        tvmq.quantize_model(path, tmp_path, pictures={"colour": "rgb"})
    with pytest.raises(DataError, match="data: 'nowhere' does not exist"):
        tvmq.quantize_model(path, "nowhere")
    node = onnx.helper.make_node("MatMul", ["x", "w"], ["y"], name="head")
    weight = np.float32([[1e4, 1], [1e-3, 1e4]])
    onnx.save(make_model([node], {"x": [1, 2]}, ["y"], {"w": weight}, 17), tmp_path / "one.onnx")
    samples = {"x": np.random.default_rng(0).standard_normal((64, 2)).astype(np.float32)}
    with pytest.raises(AccuracyWarning, match="400"):
        tvmq.quantize_model(tmp_path / "one.onnx", samples, guard="sqnr >= 400", bench=False)
