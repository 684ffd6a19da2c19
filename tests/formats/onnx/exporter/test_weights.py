"""Models of weights alone, and of 4-bit weights, as ONNX: the same numbers in onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto

import tvmq
from tests.support.models.networks import Net, feeds_of
from tests.support.models.onnx_models import words
from tvmq.errors import UnsupportedOpError


def picture() -> onnx.ModelProto:
    n = Net((1, 4, 6, 5))
    return n.model(n.op("Relu", n.conv("x", 4, 6)))


LEVELS = onnxruntime.GraphOptimizationLevel


def exported(module: object, path: Path, level: object, opset: int | None = None) -> onnxruntime.InferenceSession:
    tvmq.to_onnx(module, path, opset=opset)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


@pytest.mark.slow_cases(
    "words-options0-None", "words-options1-None", "words-options2-None", "picture-options0-None",
    "picture-options1-None", "words-options0-17", "words-options1-17", "picture-options0-17", "picture-options1-17",
    "words-options2-17", "picture-options2-None",
)  # fmt: skip
@pytest.mark.parametrize("opset", [None, 17])
@pytest.mark.parametrize("options", [{}, {"nbit_weight": 4}, {"nbit_weight": 4, "group_size": 4}])
@pytest.mark.parametrize("model", [words, picture])
def test_weights_alone(model: object, options: dict, opset: int | None, tmp_path: Path) -> None:
    mod, params = tvmq.from_onnx(model())
    module = tvmq.quantize(mod, params, config=tvmq.qconfig(activations=None, **options))
    feed = {"ids": np.int64([[0, 3, 19], [7, 7, 1]])} if model is words else feeds_of(model())[0]
    # beyond that level onnxruntime quantizes what such a product reads: 0.4 % of error here
    (found,) = exported(module, tmp_path / "m.onnx", LEVELS.ORT_ENABLE_BASIC, opset).run(None, feed)
    (expected,) = tvmq.build(module).run(feed)
    # the products are summed in another order
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


@pytest.mark.slow
def test_narrow_integer_weights_are_written_as_int8(tmp_path: Path) -> None:
    model = picture()
    mod, params = tvmq.from_onnx(model)
    feeds = feeds_of(model)
    module = tvmq.quantize(mod, params, feeds, config=tvmq.qconfig(nbit_weight=4, calibrate_mode="minmax"), guard=None)
    exported(module, tmp_path / "m.onnx", LEVELS.ORT_ENABLE_ALL, 17)
    back = tvmq.quantize(*tvmq.from_onnx(tmp_path / "m.onnx"))
    for a, b in zip(tvmq.reference.run(module, feeds[0]), tvmq.reference.run(back, feeds[0]), strict=True):
        np.testing.assert_array_equal(a, b)
    types = {tensor.data_type for tensor in onnx.load(tmp_path / "m.onnx").graph.initializer}
    assert TensorProto.INT8 in types and TensorProto.INT4 not in types


def test_scales_of_run_time_are_refused_by_name(tmp_path: Path) -> None:
    mod, params = tvmq.from_onnx(picture())
    module = tvmq.quantize(mod, params, config=tvmq.qconfig(activations="dynamic"))
    with pytest.raises(UnsupportedOpError, match="to_onnx, layer '/conv_0': tvmq.dynamic_scale has no equivalent in ONNX"):
        tvmq.to_onnx(module, tmp_path / "m.onnx")
