"""Adapters of peers without the peers: layers of an ONNX file, ncnn's files in int8."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "adapters"
PARAM = """7767517
6 6
Input in0 0 1 in0
Convolution first 1 1 in0 a 0=2 1=1 5=1 6=2 9=1
Convolution second 1 1 a b 0=2 1=1 5=0 6=4
ConvolutionDepthWise third 1 1 b c 0=2 1=1 5=0 6=2 7=2
ReLU relu 1 1 c d 0=0.0
InnerProduct fc 1 1 d out0 0=1 1=1 2=2
"""


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports a module of the folder by name."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module


def weights_of(*values: float) -> bytes:
    """Weights in float with the word before them that says so."""
    return np.uint32(0).tobytes() + np.array(values, np.float32).tobytes()


def bias_of(*values: float) -> bytes:
    """Floats without that word."""
    return np.array(values, np.float32).tobytes()


@pytest.fixture
def network(adapter: Any, tmp_path: Path) -> Any:
    """Three convolutions in a row and a dense layer, read from files."""
    (tmp_path / "net.param").write_text(PARAM)
    parts = (weights_of(1, -2), bias_of(5, 6), weights_of(1, 2, 3, 4), weights_of(1, 0), weights_of(1, 2), bias_of(7))
    (tmp_path / "net.bin").write_bytes(b"".join(parts))
    return adapter("ncnn_int8").Network.read(tmp_path / "net")


def test_files_of_ncnn_are_read_and_written(network: Any, tmp_path: Path) -> None:
    """The .bin comes back to the byte, the .param by its words."""
    network.write(tmp_path / "again")
    assert (tmp_path / "again.bin").read_bytes() == (tmp_path / "net.bin").read_bytes()
    assert (tmp_path / "again.param").read_text().split() == PARAM.split()
    assert [layer.bottom for layer in network.int8_layers()] == ["in0", "a", "b", "d"]


def test_int8_files_of_ncnn(adapter: Any, network: Any) -> None:
    """Scales a channel and a tensor; codes go to the next convolution, floats to what takes no codes."""
    int8 = adapter("ncnn_int8").quantize(network, {"in0": 2.0, "a": 4.0, "b": 0.0, "d": 127.0})
    _, first, second, third, _, dense = int8.layers
    assert [layer.options[8] for layer in (first, second, third, dense)] == ["102", "102", "1", "2"]
    assert "8=102" in first.text()
    np.testing.assert_array_equal(first.weights, np.array([[127], [-127]], np.int8))
    np.testing.assert_array_equal(np.concatenate(first.scales), np.array([127, 63.5, 63.5, 31.75], np.float32))
    np.testing.assert_array_equal(third.weights, np.array([[127], [0]], np.int8))
    assert first.data() == np.uint32(0x000D4B38).tobytes() + bytes([127, 129, 0, 0]) + bias_of(
        5, 6, 127, 63.5, 63.5, 31.75
    )


def test_layers_of_ncnn_without_a_known_file_are_refused(adapter: Any, tmp_path: Path) -> None:
    """The refusal names the layer, since no layer after it could be read."""
    (tmp_path / "net.param").write_text("7767517\n1 1\nLayerNorm norm 1 1 in0 a 0=2\n")
    (tmp_path / "net.bin").write_bytes(b"")
    with pytest.raises(NotImplementedError, match="ncnn_int8 has no LayerNorm"):
        adapter("ncnn_int8").Network.read(tmp_path / "net")


def test_layers_of_a_file(adapter: Any, tmp_path: Path) -> None:
    """Convolutions with groups and pads, products of rows and of batches, dynamic sizes by the sample or 1."""
    onnx = pytest.importorskip("onnx")
    text = (
        """<ir_version: 8, opset_import: ["" : 18]>
        net (float[N,4,8,8] x) => (float[N,6] y)
        <float[4,2,3,3] w = {"""
        + ",".join(["0"] * 72)
        + """}, float[6,4] d = {"""
        + ",".join(["0"] * 24)
        + """}> {
          c = Conv <group = 2, strides = [2, 2], pads = [1, 1, 1, 1]> (x, w)
          t = Transpose <perm = [0, 1, 3, 2]> (c)
          m = MatMul (c, t)
          g = GlobalAveragePool (m)
          f = Flatten (g)
          y = Gemm <transB = 1> (f, d)
        }"""
    )
    onnx.save(onnx.parser.parse_model(text), tmp_path / "net.onnx")
    layers = adapter("onnx_layers").read_layers(tmp_path / "net.onnx", {"x": (5, 4, 8, 8)})
    assert [(layer.source, layer.weights, layer.output) for layer in layers] == [
        ((5, 4, 8, 8), (2, 2, 2, 3, 3), (5, 4, 4, 4)),
        ((5, 4, 4, 4), (5, 4, 4, 4), (5, 4, 4, 4)),
        ((5, 4), (4, 6), (5, 6)),
    ]
    assert (layers[0].strides, layers[0].dilations, layers[0].pads) == ((2, 2), (1, 1), (1, 1, 1, 1))
    assert layers[1].strides == ()
    assert adapter("onnx_layers").read_layers(tmp_path / "net.onnx")[2].source == (1, 4)
