"""Scripts written for Relay run with no change but their import lines."""

from __future__ import annotations

import os
import re
import runpy
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from tests.support.models.onnx_models import make_model
from tests.support.project import ROOT
from tvmq.demo import load_demo

ZOO = Path(os.environ.get("TVMQ_ZOO", ROOT.parent / "shared" / "zoo"))
SCRIPTS = sorted((Path(__file__).parent / "scripts").glob("*.py"))
RULES = (
    (r"^from tvm\.relay\b", "from tvmq.relay"),
    (r"^import tvm\.relay\b", "import tvmq.relay"),
    (r"^from tvm import relay$", "from tvmq import relay"),
    (r"^import tvm$", "from tvmq.relay import tvm"),
    (r"^from tvm\b", "from tvmq.relay.tvm"),
)


def changed(line: str) -> str:
    """An import line of old as it is written now: the first rule that fits."""
    return next(re.sub(pattern, new, line) for pattern, new in RULES if re.search(pattern, line))


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    """A convolution and a dense layer: input "image" of 1 x 16 x 16, ten classes."""
    random = np.random.default_rng(0)
    weights = {
        "conv_weight": random.normal(size=(8, 1, 3, 3)),
        "conv_bias": random.normal(size=8),
        "weight": random.normal(size=(8 * 14 * 14, 10)) / 40,
    }
    nodes = [
        helper.make_node("Conv", ["image", "conv_weight", "conv_bias"], ["sums"]),
        helper.make_node("Relu", ["sums"], ["act"]),
        helper.make_node("Flatten", ["act"], ["flat"]),
        helper.make_node("MatMul", ["flat", "weight"], ["scores"]),
    ]
    given = {name: value.astype("float32") for name, value in weights.items()}
    path = tmp_path_factory.mktemp("model") / "float.onnx"
    onnx.save(make_model(nodes, {"image": ["batch", 1, 16, 16]}, ["scores"], given, 17), path)
    return path


@pytest.fixture(scope="module")
def prequantized(model: Path) -> list[str]:
    """Pictures, and the network as onnxruntime quantizes it."""
    quantization = pytest.importorskip("onnxruntime.quantization")

    class Reader(quantization.CalibrationDataReader):
        def __init__(self) -> None:
            self.batches = iter({"image": picture[None]} for picture in load_demo().calibration[:32])

        def get_next(self):
            return next(self.batches, None)

    path, pictures = model.with_name("prequantized.onnx"), model.with_name("pictures.npy")
    quantization.quantize_static(model, path, Reader(), quant_format=quantization.QuantFormat.QDQ)
    np.save(pictures, load_demo().test[:64])
    return [str(path), str(pictures)]


@pytest.fixture
def arguments(request, model: Path) -> list[str]:
    """Command line arguments of a script."""
    zoo = ZOO / "resnet8_cifar10.onnx"  # in the place of MXNet's networks, where there is one
    chosen = [str(zoo), "image", "3x32x32", "10"] if zoo.exists() else [str(model), "image", "1x16x16", "10"]
    script = request.node.callspec.params["script"].stem
    if script == "deploy_prequantized":
        return request.getfixturevalue("prequantized")
    return chosen if script in ("from_onnx", "deploy_quantized", "deploy_on_vta") else []


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:relay.quantize.qconfig")
def test_scripts_run(script: Path, arguments: list[str], monkeypatch, capsys) -> None:
    if "import torch" in script.read_text():
        pytest.importorskip("torch")
    monkeypatch.setattr(sys, "argv", [str(script), *arguments])
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_only_import_lines_are_new(script: Path) -> None:
    lines = [line for line in script.read_text().splitlines() if "tvmq" in line]
    assert lines
    for line in lines:
        new, old = line.split("  # was: ")
        assert new == changed(old)
