"""Networks as TFLite: on the codes of the module the runtimes' reference kernels give the codes of the definition."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from formats.exporting.formats_networks import FAST, NETWORKS, ONLY_TFLITE, compared, quantized

import tvmq
from tests.support.models.networks import Net
from tvmq.errors import ConfigError, ModelError, OutputError, StageError, UnsupportedOpError
from tvmq.formats.tflite import flatbuffer

SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in NETWORKS | ONLY_TFLITE if name not in FAST]


@pytest.fixture(autouse=True)
def needs_the_packages(request: pytest.FixtureRequest) -> None:
    if "without" not in request.node.name:
        pytest.importorskip("tflite", reason="pip install 'tvmq[tflite]' writes TFLite files")


@pytest.mark.slow_cases("strided", "residual")
@pytest.mark.parametrize("name", [*FAST, *SLOW])
def test_codes_of_the_runtimes(name: str, tmp_path: Path) -> None:
    pytest.importorskip("ai_edge_litert", reason="pip install ai-edge-litert runs TFLite files")
    pytest.importorskip("tflite_micro", reason="pip install tflite-micro runs TFLite files")
    import tests.support.devices.tflite_runtimes as runtimes

    qmod, feeds = quantized(name, "tflite")
    export = tvmq.to_tflite(qmod, tmp_path / "model.tflite")
    data = export.path.read_bytes()
    with runtimes.silent():
        tools = {"LiteRT": (runtimes.litert(data), runtimes.run_litert),
                 "micro": (runtimes.micro(data), runtimes.run_micro)}  # fmt: skip
    for codes, wanted in compared(qmod, feeds):
        given = [end.to_file(array) for end, array in zip(export.inputs, codes, strict=True)]
        for tool, (interpreter, run) in tools.items():
            (found,) = run(interpreter, given)
            np.testing.assert_array_equal(export.outputs[0].from_file(found), wanted[0], err_msg=tool)


def test_the_file_says_what_the_module_says(tmp_path: Path) -> None:
    import tflite

    qmod, _ = quantized("plain", "tflite")
    export = tvmq.to_tflite(qmod, tmp_path / "model.tflite")
    model = tflite.Model.GetRootAs(export.path.read_bytes(), 0)
    graph = model.Subgraphs(0)
    codes = [model.OperatorCodes(graph.Operators(i).OpcodeIndex()) for i in range(graph.OperatorsLength())]
    assert [code.BuiltinCode() for code in codes] == [tflite.BuiltinOperator.CONV_2D] * 2
    assert export.operators == {"CONV_2D": 2} and str(export).endswith(f"{export.size} bytes; 2 CONV_2D")
    given = graph.Tensors(graph.Inputs(0))
    assert list(given.ShapeAsNumpy()) == [1, 8, 8, 3] and given.Type() == tflite.TensorType.INT8
    (end,) = export.inputs
    assert given.Quantization().Scale(0) == np.float32(end.scale)
    assert given.Quantization().ZeroPoint(0) == end.zero_point
    weight = graph.Tensors(graph.Operators(0).Inputs(1))
    assert list(weight.ShapeAsNumpy()) == [8, 3, 3, 3] and weight.Quantization().ScaleLength() == 8
    assert model.SignatureDefs(0).Inputs(0).Name() == b"x"
    again = tvmq.to_tflite(qmod, tmp_path / "again.tflite")
    assert again.path.read_bytes() == export.path.read_bytes()


def test_what_is_no_core_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StageError, match="expects the module that tvmq.quantize returns. Got int instead"):
        tvmq.to_tflite(3, tmp_path / "x.tflite")
    net = Net((1, 3, 8, 8))
    mod, _ = tvmq.from_onnx(net.model(NETWORKS["plain"](net)))
    with pytest.raises(StageError, match="in one function; quantize with target='tflite'"):
        tvmq.to_tflite(mod, tmp_path / "x.tflite")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_other_arithmetic_is_refused_by_layer(tmp_path: Path) -> None:
    qmod, _ = quantized("plain", "cpu", requantize="fixed_point", dtype_input="int8")
    with pytest.raises(
        UnsupportedOpError, match=r"layer '/conv_0.*rounded UPWARD, has no equivalent in TFLite; TFLite rounds"
    ):
        tvmq.to_tflite(qmod, tmp_path / "x.tflite")
    qmod, _ = quantized("plain", "cpu", requantize="fixed_point", rounding="DOUBLE")
    with pytest.raises(UnsupportedOpError, match=r"a result of int32 sums has no equivalent in TFLite; a TFLite file returns codes"):
        tvmq.to_tflite(qmod, tmp_path / "x.tflite")
    qmod, _ = quantized("residual", "cpu", requantize="fixed_point", dtype_input="int8")
    with pytest.raises(UnsupportedOpError, match="to_tflite, layer"):
        tvmq.to_tflite(qmod, tmp_path / "x.tflite")


def test_codes_of_uint8_are_moved(tmp_path: Path) -> None:
    """A module of uint8 that rounds as TFLite does is written too."""
    qmod, _ = quantized("residual", "cpu", requantize="fixed_point", rounding="DOUBLE")
    (end,) = tvmq.to_tflite(qmod, tmp_path / "x.tflite").inputs
    assert (end.dtype, end.uint8_offset) == ("uint8", 128)


@pytest.mark.slow
def test_a_dynamic_size_is_refused(tmp_path: Path) -> None:
    net = Net(("n", 3, 8, 8))
    model = net.model(NETWORKS["plain"](net))
    feeds = [{"x": np.random.default_rng(0).standard_normal((2, 3, 8, 8)).astype(np.float32)}]
    mod, params = tvmq.from_onnx(model)
    with tvmq.qconfig(calibrate_mode="minmax", partition_conversions="fully_integral"):
        qmod = tvmq.quantize(mod, params, feeds, target="tflite", guard=None)
    with pytest.raises(ModelError, match="axis 0 of input 'x' has the dynamic size 'n'; an exported core needs fixed sizes: set it"):
        tvmq.to_tflite(qmod, tmp_path / "x.tflite")


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    qmod, _ = quantized("plain", "tflite")
    with pytest.raises(OutputError, match="to_tflite: cannot write"):
        tvmq.to_tflite(qmod, tmp_path / "no" / "x.tflite")


def test_without_the_packages_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "tflite", None)
    with pytest.raises(ConfigError, match=r"to_tflite: the package 'tflite' is missing; pip install 'tvmq\[tflite\]'"):
        flatbuffer.schema()


def test_a_tensor_of_another_type() -> None:
    with pytest.raises(ConfigError, match="tensor 'x' is complex64; must be one of float32, int32"):
        flatbuffer.Flatbuffer().tensor("x", (1,), "complex64")
