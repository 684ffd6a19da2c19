"""`tvmq tune` on a real file, in this process."""

import json

import onnx
import pytest

from tests.support.models.networks import Net


@pytest.mark.isa("avx512_vnni")  # below it the kernel of this product has one tile
def test_tune(cli, tmp_path, monkeypatch):
    monkeypatch.setenv("TVMQ_CACHE", str(tmp_path / "cache"))
    net = Net((1, 8, 10, 10))
    onnx.save(net.model(net.conv("x", 8, 24)), tmp_path / "model.onnx")
    result = cli("tune", tmp_path / "model.onnx", "--budget", 0)
    assert result.code == 0 and "0 of 1 products measured" in result.out and "1 products are left" in result.err
    printed = json.loads(cli("tune", tmp_path / "model.onnx", "--budget", 3600, "--json", "--quiet").out)
    assert printed["measured"] == 1 and printed["folder"] == str(tmp_path / "cache")
    assert "(1 were known)" in cli("tune", tmp_path / "model.onnx", "--budget", 3600).out
    monkeypatch.setenv("TVMQ_CACHE", "")
    assert "TVMQ_CACHE is empty" in cli("tune", tmp_path / "model.onnx").err
