"""`tvmq export-onnx` and `tvmq export-torch`: a saved model as files for other tools."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest

import tvmq
from tests.formats.onnx.exporter.test_dialects import SYMMETRIC, quantized, residual
from tests.support.models.networks import feeds_of


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model in int8 around zero."""
    path = tmp_path_factory.mktemp("saved") / "net.tvmq"
    tvmq.build(quantized(residual(), **SYMMETRIC)).save(path)
    return path


def test_a_file_for_tensorrt(cli, saved, tmp_path):
    done = cli("export-onnx", saved, "-o", tmp_path / "net.onnx", "--dialect", "tensorrt")
    assert done.code == 0 and "dialect" in done.out and "tensorrt" in done.out, done.err
    assert "residual sums, 1 times; " in done.err and "is a layer beside" in done.err
    biases = [tensor for tensor in onnx.load(tmp_path / "net.onnx").graph.initializer if tensor.name.endswith(".bias")]
    assert biases and {tensor.data_type for tensor in biases} == {onnx.TensorProto.FLOAT}


def test_a_file_for_onnxruntime(cli, saved, tmp_path):
    done = cli("export-onnx", saved, "-o", tmp_path / "net.onnx", "--opset", 21, "--json", "--quiet")
    facts = json.loads(done.out)
    assert done.code == 0 and facts["bytes"] == (tmp_path / "net.onnx").stat().st_size and facts["slower"] == []
    assert onnx.load(tmp_path / "net.onnx").opset_import[0].version == 21


@pytest.mark.slow
def test_a_program_of_torch(cli, saved, tmp_path):
    torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')
    done = cli("export-torch", saved, "-o", tmp_path / "net.pt2", "--json", "--quiet")
    assert done.code == 0 and json.loads(done.out)["bytes"] > 0, done.err
    exact = cli("export-torch", saved, "-o", tmp_path / "exact.pt2", "--form", "exact")
    feed = feeds_of(residual())[0]
    same = torch.export.load(tmp_path / "exact.pt2").module()(torch.from_numpy(feed["x"])).numpy()
    assert exact.code == 0 and (same == tvmq.load(saved).run(feed)[0]).all()
    found = torch.export.load(tmp_path / "net.pt2").module()(torch.from_numpy(feed["x"])).numpy()
    (expected,) = tvmq.load(saved).run(feed)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=0.02 * np.abs(expected).max())


def test_what_is_refused(cli, fake, saved, tmp_path):
    fake.exe.input_info[0].shape = ("batch", 3)
    done = cli("export-torch", "m.tvmq", "-o", tmp_path / "net.pt2")
    assert done.code == 1 and "export-torch: input 'x' has dynamic sizes; fix them" in done.err


@pytest.mark.slow
def test_quantize_writes_a_dialect(cli, tmp_path):
    """--onnx with --dialect; codes that the dialect has not are an error that names the options."""
    onnx.save(residual(), tmp_path / "net.onnx")
    np.savez(tmp_path / "data.npz", x=np.concatenate([feed["x"] for feed in feeds_of(residual())]))
    quickly = ("--calibrate-mode", "minmax", "--weight-rounding", "nearest", "--no-bias-correction", "--no-bench")
    given = ("quantize", tmp_path / "net.onnx", "--data", tmp_path / "data.npz", "-o", tmp_path / "net.tvmq", *quickly)
    given = (*given, "--onnx", tmp_path / "out.onnx", "--dialect", "tensorrt", "--guard", "none", "--no-compare")
    done = cli(*given)
    assert done.code == 1 and "quantize with target='tensorrt' (--backend tensorrt), or with qconfig(scheme='symmetric'" in done.err
    done = cli(*given, "--scheme", "symmetric", "--dtype-input", "int8")
    assert done.code == 0 and (tmp_path / "out.onnx").exists(), done.err
