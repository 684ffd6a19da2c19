"""The Python of README.md runs unchanged, on a model that a reader would have."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper

import tvmq
from tests.docs.test_docs import blocks
from tests.support.models.onnx_models import make_model
from tests.support.project import ROOT


def model() -> onnx.ModelProto:
    """Means of channels and a classifier: input "x" of 1 x 3 x 224 x 224."""
    weight = np.random.default_rng(0).normal(size=(3, 5)).astype("float32")
    nodes = [
        helper.make_node("GlobalAveragePool", ["x"], ["mean"], name="/pool"),
        helper.make_node("Flatten", ["mean"], ["flat"], name="/flat"),
        helper.make_node("MatMul", ["flat", "w"], ["y"], name="/classifier/fc"),
    ]
    return make_model(nodes, {"x": ["batch", 3, 224, 224]}, ["y"], {"w": weight}, 17)


@pytest.mark.slow
def test_the_examples_of_the_readme_run(tmp_path, monkeypatch, capsys):
    image = pytest.importorskip("PIL.Image", reason="pillow is an extra: pip install 'tvmq[images]'")
    one_call, steps = blocks(ROOT / "README.md")
    monkeypatch.chdir(tmp_path)
    for name in ("model.onnx", "resnet18.onnx"):
        onnx.save(model(), name)
    (tmp_path / "pictures").mkdir()
    for number in range(24):
        pixels = np.random.default_rng(number).integers(0, 256, (40, 50, 3), np.uint8)
        image.fromarray(pixels).save(f"pictures/{number}.png")
    image.fromarray(pixels).save("photo.jpg")
    batches = [{"x": np.random.default_rng(i).normal(size=(1, 3, 224, 224)).astype("float32")} for i in range(4)]
    names = {"calibration_batches": batches, "x": batches[0]["x"]}
    exec(one_call, names)
    assert names["scores"].shape == (1, 5) and "signal to error" in capsys.readouterr().out
    exec(steps, names)
    assert "/classifier/fc" in capsys.readouterr().out
    assert isinstance(names["exe"], tvmq.Executable) and names["y"][0].shape == (1, 5)
