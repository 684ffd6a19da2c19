"""The Python of README.md runs unchanged, on a model that a reader would have."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tvmq
from tests.docs.test_docs import blocks
from tests.support.project import ROOT


def model() -> onnx.ModelProto:
    """Means of channels and a classifier: input "x" of 1 x 3 x 224 x 224."""
    weight = np.random.default_rng(0).normal(size=(3, 5)).astype("float32")
    nodes = [
        helper.make_node("GlobalAveragePool", ["x"], ["mean"], name="/pool"),
        helper.make_node("Flatten", ["mean"], ["flat"], name="/flat"),
        helper.make_node("MatMul", ["flat", "w"], ["y"], name="/classifier/fc"),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3, 224, 224])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 5])
    graph = helper.make_graph(nodes, "net", [x], [y], [numpy_helper.from_array(weight, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.slow
def test_the_example_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    (example,) = blocks(ROOT / "README.md")
    monkeypatch.chdir(tmp_path)
    onnx.save(model(), "model.onnx")
    batches = [{"x": np.random.default_rng(i).normal(size=(1, 3, 224, 224)).astype("float32")} for i in range(4)]
    names = {"calibration_batches": batches, "x": batches[0]["x"]}
    exec(example, names)
    assert "/classifier/fc" in capsys.readouterr().out
    assert isinstance(names["exe"], tvmq.Executable) and names["y"][0].shape == (1, 5)
