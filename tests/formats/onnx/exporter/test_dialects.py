"""to_onnx(dialect=...): what TensorRT's rules want, the types of newer opsets, and what is refused."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import tvmq
from tests.formats.onnx.exporter.test_to_onnx import assert_same_results, come_back, exported
from tests.support.models.networks import Net, feeds_of
from tests.support.random.graphs import random_inputs, random_model
from tvmq.errors import ConfigError, UnsupportedOpError
from tvmq.formats.onnx.exporter.tensorrt_rules import RULES, check_tensorrt

SYMMETRIC = {"scheme": "symmetric", "dtype_input": "int8", "calibrate_mode": "minmax"}
LEVELS = onnxruntime.GraphOptimizationLevel


def residual() -> onnx.ModelProto:
    """Convolutions with a sum, a pool and a product of matrices."""
    net = Net((1, 3, 8, 8))
    first = net.op("Relu", net.conv("x", 3, 4))
    y = net.op("Relu", net.op("Add", net.conv(first, 4, 4), first))
    y = net.op("Flatten", net.op("GlobalAveragePool", y))
    return net.model(net.op("MatMul", y, net.constant(net.random.normal(size=(4, 5)).astype(np.float32))))


def quantized(model: onnx.ModelProto, **options: Any) -> Any:
    with tvmq.qconfig(**{"calibrate_mode": "minmax", **options}):
        return tvmq.quantize(*tvmq.from_onnx(model), feeds_of(model), guard=None)


@cache
def plain() -> Any:
    """In uint8 and int8, as by default."""
    return quantized(residual())


def onnxruntime_results(model: onnx.ModelProto, feed: dict[str, np.ndarray]) -> list[np.ndarray]:
    """Results of onnxruntime for the file, with nothing fused."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = LEVELS.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, feed)


def written(module: Any, folder: Path, **options: Any) -> onnx.ModelProto:
    """The file, as ONNX's checker accepts it."""
    tvmq.to_onnx(module, folder / "model.onnx", **options)
    model = onnx.load(folder / "model.onnx")
    onnx.checker.check_model(model, full_check=True)
    return model


@pytest.mark.slow
def test_a_file_for_tensorrt(tmp_path: Path) -> None:
    """Float biases, int8 around zero, nothing that its rules refuse; within a step of the module, and back the same."""
    source = residual()
    module = quantized(source, **SYMMETRIC)
    model = written(module, tmp_path, dialect="tensorrt")
    found = check_tensorrt(model)
    assert [finding for finding in found if finding.is_refused] == []
    assert [finding.rule for finding in found] == ["residual sums"] and "is a layer beside" in str(found[0])
    stored = {tensor.name: tensor.data_type for tensor in model.graph.initializer}
    assert TensorProto.INT32 not in stored.values() and TensorProto.UINT8 not in stored.values()
    biases = [name for name in stored if name.endswith(".bias")]
    assert biases and all(stored[name] == TensorProto.FLOAT for name in biases)
    assert "Clip" not in {node.op_type for node in model.graph.node}
    for feed in feeds_of(source)[:2]:
        (ours,), (theirs,) = tvmq.reference.run(module, feed), onnxruntime_results(model, feed)
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
    assert_same_results(module, come_back(model), feeds_of(source)[:2])


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 5, 8, 9, 18, 24, 40])
def test_random_graphs_for_tensorrt(seed: int, tmp_path: Path) -> None:
    """Whatever is in the graph, codes of several tensors at once too: no rule is broken, and it is read again."""
    source = random_model(seed)
    module = tvmq.quantize(
        *tvmq.from_onnx(source), random_inputs(source, 0, 8), guard=None, config=tvmq.QConfig(**SYMMETRIC)
    )
    model = written(module, tmp_path, dialect="tensorrt")
    assert not [finding for finding in check_tensorrt(model) if finding.is_refused]
    feed = random_inputs(source, 1, 1)[0]
    assert len(onnxruntime_results(model, feed)) == len(tvmq.reference.run(come_back(model), feed))


@pytest.mark.slow
def test_codes_that_tensorrt_has_not(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError,
        match=r"^to_onnx, layer '.*': dialect 'tensorrt' takes only int8 codes with zero point 0, "
        r"and \d+ tensors have other codes \(here uint8, zero point \d+\); quantize with target='tensorrt' "
        r"\(--backend tensorrt\), or with "
        r"qconfig\(scheme='symmetric', dtype_input='int8'\)$",
    ):
        tvmq.to_onnx(plain(), tmp_path / "model.onnx", dialect="tensorrt")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow_cases("options0*", "options1*")
@pytest.mark.parametrize(("options", "message"), [
    ({"dialect": "tensorRT"}, "dialect must be one of onnxruntime, tensorrt. Got 'tensorRT' instead; did you mean"),
    ({"dialect": 3}, "dialect must be one of onnxruntime, tensorrt. Got 3 instead$"),
    ({"opset": 18}, "opset must be None or one of 17, 21. Got 18 instead$"),
])  # fmt: skip
def test_unknown_names(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=f"^to_onnx: {message}"):
        tvmq.to_onnx(plain(), tmp_path / "model.onnx", **options)


@pytest.mark.slow
def test_codes_of_four_and_sixteen_bits(tmp_path: Path) -> None:
    """Opset 21 has types for both; the file holds half the bytes, and gives what the module gives."""
    source = residual()
    feed = feeds_of(source)[0]
    for options, kind in (
        ({"nbit_weight": 4}, TensorProto.INT4),
        ({"dtype_input": "int16", "nbit_input": 12}, TensorProto.INT16),
    ):
        module = quantized(source, **options)
        model = written(module, tmp_path)
        assert model.opset_import[0].version == 21 and model.ir_version == 10
        assert kind in {tensor.data_type for tensor in model.graph.initializer}
        (ours,), (theirs,) = tvmq.reference.run(module, feed), onnxruntime_results(model, feed)
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4 * np.abs(ours).max())
        assert_same_results(module, come_back(model), [feed])


@pytest.mark.slow
def test_opset_17_has_neither(tmp_path: Path) -> None:
    """Codes of 4 bits are int8 there, codes of 16 bits are refused."""
    model = written(quantized(residual(), nbit_weight=4), tmp_path, opset=17)
    assert model.opset_import[0].version == 17
    assert TensorProto.INT4 not in {tensor.data_type for tensor in model.graph.initializer}
    wide = quantized(residual(), dtype_input="int16", nbit_input=12)
    with pytest.raises(UnsupportedOpError, match="16-bit codes cannot be written in ONNX opset 17.*use opset=21, or"):
        tvmq.to_onnx(wide, tmp_path / "wide.onnx", opset=17)


@pytest.mark.slow
def test_everything_else_in_opset_21(tmp_path: Path) -> None:
    """Axes of reductions are inputs there."""
    module = plain()
    model = written(module, tmp_path, opset=21)
    feed = feeds_of(residual())[0]
    (ours,), (theirs,) = tvmq.reference.run(module, feed), onnxruntime_results(model, feed)
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
    assert_same_results(module, come_back(model), [feed])


# ---- the rules


class Faulty:
    """A convolution between conversions, whose parts can be given."""

    def __init__(self, **parts: Any) -> None:
        self.parts = parts

    def _part(self, name: str, usual: Any) -> np.ndarray:
        return np.asarray(self.parts.get(name, usual))

    def model(self) -> onnx.ModelProto:
        """The file."""
        weight = self._part("weight", np.ones((4, 2, 1, 1), np.int8))
        stored = {
            "scale": self._part("scale", np.float32(0.5)), "zero": self._part("zero", np.int8(0)), "w": weight,
            "w_scale": self._part("w_scale", np.ones(4, np.float32)), "w_zero": self._part("w_zero", np.zeros(4, np.int8)),
            "bias": self._part("bias", np.zeros(4, np.float32)),
        }  # fmt: skip
        nodes = [
            helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["q"], "q"),
            helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["d"], "d"),
            helper.make_node(
                "DequantizeLinear", ["w", "w_scale", "w_zero"], ["wd"], "wd", axis=self.parts.get("axis", 0)
            ),
            helper.make_node("Conv", ["x" if self.parts.get("bare") else "d", "wd", "bias"], ["c"], "conv"),
            *self.parts.get("more", []),
        ]
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 3, 3])
        y = helper.make_tensor_value_info("c", TensorProto.FLOAT, [1, 4, 3, 3])
        constants = [numpy_helper.from_array(np.asarray(value), name) for name, value in stored.items()]
        graph = helper.make_graph(nodes, "net", [x], [y], constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.parts.get("opset", 17))])


def pair(x: str, number: int) -> list[onnx.NodeProto]:
    return [
        helper.make_node("QuantizeLinear", [x, "scale", "zero"], [f"q{number}"], f"q{number}"),
        helper.make_node("DequantizeLinear", [f"q{number}", "scale", "zero"], [f"d{number}"], f"d{number}"),
    ]


FAULTS: dict[str, tuple[Faulty, str]] = {
    "opset": (Faulty(opset=12), "opset 12, it reads 13 to 25"),
    "importers": (Faulty(more=[helper.make_node("MatMulInteger", ["q", "q"], ["m"], "m")]), "MatMulInteger has no importer"),
    "zero points": (Faulty(zero=np.int8(3)), "zero point 3, it must be 0"),
    "types": (Faulty(zero=np.uint8(0)), "codes of uint8, it takes int8"),
    "scales": (Faulty(scale=np.float32(-1)), r"its scale is \[-1.\] of float32, it must be positive float32"),
    "sizes of scales": (Faulty(axis=1), "4 scales for 2 channels of axis 1"),
    "activations": (Faulty(scale=np.ones(2, np.float32), zero=np.zeros(2, np.int8)), "2 scales for an activation, it takes one"),
    "biases": (Faulty(bias=np.zeros(4, np.int32)), r"its bias is int32 of shape \(4,\), it must be float32 of one axis"),
    "axes of weights": (
        Faulty(weight=np.ones((4, 4, 1, 1), np.int8), axis=1),
        "its weight has scales along axis 1, its output channels are axis 0",
    ),
    "both inputs": (Faulty(bare=True), "its activation is not quantized, so it computes in floats"),
    "before activations": (
        Faulty(more=[*pair("c", 2), helper.make_node("Relu", ["d2"], ["r"], "relu")]),
        "QuantizeLinear stands between 'conv' and its Relu",
    ),
    "results": (
        Faulty(more=[helper.make_node("GlobalAveragePool", ["d"], ["p"], "pool")]),
        "GlobalAveragePool reads int8 and its result is not quantized, so it computes in floats",
    ),
    "residual sums": (
        Faulty(more=[*pair("c", 2), *pair("x", 3), helper.make_node("Add", ["d2", "d3"], ["s"], "sum"), *pair("s", 4)]),
        "both its inputs are quantized, so it is a layer beside 'conv' and not part of it",
    ),
}  # fmt: skip


@pytest.mark.parametrize("rule", [*FAULTS])
def test_each_rule_finds_its_fault(rule: str) -> None:
    """And the same file without the fault breaks no rule."""
    faulty, text = FAULTS[rule]
    found = [finding for finding in check_tensorrt(faulty.model()) if finding.rule == rule]
    assert found and found[0].is_refused == RULES[rule].is_refused and found[0].source == RULES[rule].source
    assert re.search(text, found[0].text), found[0].text
    assert check_tensorrt(Faulty().model()) == []


def test_every_rule_has_a_fault(tmp_path: Path) -> None:
    """Halves of bytes: an odd number of codes of 4 bits."""
    assert RULES.keys() - FAULTS.keys() == {"halves of bytes"}
    model = Faulty().model()
    for tensor in model.graph.initializer:
        if tensor.name in ("w", "w_zero", "w_scale"):
            model.graph.initializer.remove(tensor)
    model.graph.initializer.append(helper.make_tensor("w", TensorProto.INT4, [3, 1, 1, 1], b"\x11\x01", raw=True))
    model.graph.initializer.append(helper.make_tensor("w_zero", TensorProto.INT4, [], b"\x00", raw=True))
    model.graph.initializer.append(numpy_helper.from_array(np.float32(1), "w_scale"))
    onnx.save(model, tmp_path / "odd.onnx")
    found = check_tensorrt(tmp_path / "odd.onnx")
    assert [str(finding) for finding in found if finding.rule == "halves of bytes"] == [
        "refused: 'wd': 3 codes of 4 bits, their number must be even (halves of bytes; QuantDequantLinearHelper)"
    ]


@pytest.mark.slow
def test_a_module_that_tensorrt_would_refuse(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A module that the exporter cannot write by TensorRT's rules is refused by the name of its layer."""
    module = quantized(residual(), **SYMMETRIC)
    monkeypatch.setattr("tvmq.formats.onnx.exporter.tensorrt_rules.WITHOUT_IMPORTER", {"Relu"})
    with pytest.raises(
        UnsupportedOpError,
        match=r"^to_onnx, layer '.*': TensorRT would refuse the file: Relu has no importer \(2 such places\); keep this",
    ):
        tvmq.to_onnx(module, tmp_path / "model.onnx", dialect="tensorrt")


def test_the_default_is_as_before(tmp_path: Path) -> None:
    model = exported(plain(), tmp_path)
    assert model.opset_import[0].version == 17 and model.ir_version == 8
