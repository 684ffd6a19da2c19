"""Memory and time of loading and building: what a fresh process reports, and the bounds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import tvmq
from tests.support.models.networks import Net

CHANNELS = 1024  # 9 MiB of weights
FILES = {"tvmq": "tvmq", "ort": "onnx"}


@pytest.fixture
def model() -> onnx.ModelProto:
    """A float convolution of 9 MiB."""
    net = Net((1, 256, 4, 4))
    return net.model(net.conv("x", 256, CHANNELS, kernel=3))


def built(model: onnx.ModelProto) -> tvmq.Executable:
    module, params = tvmq.from_onnx(model)
    return tvmq.build(module, params=params)


@pytest.mark.slow
@pytest.mark.usefixtures("whole_cpu")
def test_figures_of_a_fresh_process(script: Any, model: onnx.ModelProto, tmp_path: Path) -> None:
    """tvmq and onnxruntime hold the weights, and hardly more than twice that while they load."""
    loading = script("loading")
    built(model).save(tmp_path / "m.tvmq")
    onnx.save(model, tmp_path / "m.onnx")
    inputs, weights = tmp_path / "x.npz", CHANNELS * 256 * 9 * 4 / 2**20
    np.savez(inputs, x=np.ones((1, 256, 4, 4), np.float32))
    found = loading.measure({name: tmp_path / f"m.{end}" for name, end in FILES.items()}, inputs, 1, sys.executable)
    for figures in found.values():
        assert 0.9 * weights < figures["resident"] - figures["imported"] <= figures["peak"] - figures["imported"]
        assert 0 < figures["private"] < figures["resident"] and figures["imported"] > 20
        assert min(value for name, value in figures.items() if name.endswith("seconds")) > 0
    assert found["tvmq"]["peak"] - found["tvmq"]["imported"] < weights + 12  # and not twice


def test_bounds_of_loading(script: Any) -> None:
    loading = script("loading")
    ours = {"task": "t", "runtime": "tvmq", "peak": 30.0, "resident": 20.0}
    peer = {"task": "t", "runtime": "ort", "peak": 30.0, "resident": 20.0}
    assert not loading.missed([ours, peer])
    assert loading.missed([{**ours, "peak": 30.1}, peer]) == ["t: peak 30.1 MiB, onnxruntime has 30.0"]
    assert loading.missed([{**ours, "resident": 21.0}, peer]) == ["t: resident 21.0 MiB, onnxruntime has 20.0"]


def test_weights_of_openvino_lie_beside_the_model(script: Any, tmp_path: Path) -> None:
    (tmp_path / "m.xml").write_bytes(bytes(3))
    (tmp_path / "m.bin").write_bytes(bytes(40))
    assert script("loading").file_bytes(tmp_path / "m.xml") == 43
    assert script("loading").file_bytes(tmp_path / "m.bin") == 40


@pytest.mark.slow
def test_a_model_is_quantized_and_built(
    script: Any, model: onnx.ModelProto, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    building, network = script("building"), script("harness.networks").Network
    onnx.save(model, tmp_path / "m.onnx")
    feeds = [{"x": np.random.default_rng(i).standard_normal((1, 256, 4, 4)).astype(np.float32)} for i in range(2)]
    monkeypatch.setattr(building, "find", lambda name, _: network(name, tmp_path / "m.onnx", feeds))
    seconds = building.first("m", tmp_path / "m.tvmq", None)
    names = ("import", "quantize", "build", "save")
    assert seconds.keys() == {f"{name}_seconds" for name in names} and min(seconds.values()) > 0
    assert tvmq.load(tmp_path / "m.tvmq").run(feeds[0])[0].shape == (1, CHANNELS, 4, 4)


@pytest.mark.slow
def test_a_model_is_built_again(script: Any, model: onnx.ModelProto, tmp_path: Path) -> None:
    built(model).save(tmp_path / "m.tvmq")
    figures = script("building").again(tmp_path / "m.tvmq")
    assert figures.keys() == {"load_seconds", "again_seconds"} and min(figures.values()) > 0


def test_bounds_of_building(script: Any) -> None:
    missed = script("building").missed
    row = {"task": "t", "quantize_seconds": 50.0, "build_seconds": 9.9, "again_seconds": 9.9}
    assert not missed([row])
    assert missed([{**row, "build_seconds": 10.0}]) == ["t: quantize and build took 60.0 s, under 60 asked"]
    assert missed([{**row, "again_seconds": 10.0}]) == ["t: built again in 10.0 s, under 10 asked"]
