"""Weights of at most 4 bits stand in the module two to a byte, and mean what they meant."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
import tvm

import tvmq
from tests.support.models.networks import Net, assert_healthy, drive, feeds_of
from tvmq.graph.ledger import get_ledger
from tvmq.graph.module_functions import unpack_weights
from tvmq.graph.view import View, const_value, is_const, op_name, shape_of

WEIGHTED = ("nn.conv2d", "nn.conv1d", "tvmq.conv_transpose", "matmul")


def mixed() -> onnx.ModelProto:
    """Convolutions plain, depthwise and transposed, and a dense layer of an odd number of weights."""
    n = Net((2, 4, 9, 8))
    y = n.op("Relu", n.conv("x", 4, 6))
    y = n.conv(y, 6, 6, 3, groups=6)
    y = n.op("ConvTranspose", y, n.constant(n.weight(6, 3, 2, 2)), strides=[2, 2])
    y = n.op("Flatten", n.op("GlobalAveragePool", y))
    return n.model(n.dense(y, 3, 5))


def weights_of(mod: tvm.IRModule) -> list[tuple[str, str]]:
    """(operator, dtype of the constant that holds its weight) of all layers with weights."""
    view, found = View(mod), []
    for _, value in view.bindings:
        if op_name(value) in WEIGHTED:
            weight = value.args[1]
            weight = weight if is_const(weight) else view.producer(weight).args[0]
            found.append((op_name(value), str(const_value(weight).dtype)))
    return found


@pytest.mark.thinned(3)
@pytest.mark.parametrize("bits", [2, 3, 4])
@pytest.mark.slow
def test_narrow_weights_are_packed(bits: int) -> None:
    road = drive(mixed(), least_snr=3.0, nbit_weight=bits)
    assert [dtype for _, dtype in weights_of(road.quantized)] == ["uint8"] * 4
    plain = unpack_weights(road.quantized)
    assert [dtype for _, dtype in weights_of(plain)] == ["int8"] * 4
    most = max(np.abs(const_value(v.args[1])).max() for _, v in View(plain).bindings if op_name(v) in WEIGHTED)
    assert most == 2 ** (bits - 1) - 1
    assert road.verification.exact
    assert_healthy(road.quantized)


@pytest.mark.slow
def test_wider_weights_stay() -> None:
    road = drive(mixed(), least_snr=3.0, nbit_weight=5)
    assert [dtype for _, dtype in weights_of(road.quantized)] == ["int8"] * 4
    assert unpack_weights(road.quantized) is road.quantized


@pytest.mark.slow
def test_rules_choose_layers() -> None:
    spec = tvmq.QuantSpec("int8", 4, symmetric=True, per_channel=True)
    road = drive(mixed(), least_snr=10.0, rules=[tvmq.Rule("/gemm_*", weights=spec)])
    assert weights_of(road.quantized)[-1] == ("matmul", "uint8")
    assert [dtype for _, dtype in weights_of(road.quantized)[:-1]] == ["int8"] * 3
    assert "of 4 bits, two to a byte" in str(tvmq.explain(road.quantized, "/gemm_6"))


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("mode", ["dynamic", None])
def test_without_data(mode: str | None) -> None:
    model = mixed()
    mod, params = tvmq.from_onnx(model)
    wide = tvmq.quantize(mod, params, config=tvmq.qconfig(activations=mode))
    narrow = tvmq.quantize(mod, params, config=tvmq.qconfig(activations=mode, nbit_weight=4))
    assert "tvmq.unpack" not in [op_name(value) for _, value in View(wide).bindings]
    unpacks = [value for _, value in View(narrow).bindings if op_name(value) == "tvmq.unpack"]
    assert sorted(shape_of(value) for value in unpacks) == [(3, 5), (6, 1, 3, 3), (6, 3, 2, 2), (6, 4, 3, 3)]
    assert tvmq.verify(tvmq.build(narrow), feeds_of(model)[:2]).exact


def test_shared_weights_stay_shared() -> None:
    n = Net((1, 6))
    weight = n.constant(n.weight(6, 6))
    y = n.op("MatMul", n.op("Relu", n.op("MatMul", "x", weight)), weight)
    mod, params = tvmq.from_onnx(n.model(y))
    narrow = tvmq.quantize(mod, params, config=tvmq.qconfig(activations="dynamic", nbit_weight=4))
    first, second = (v.args[0] for _, v in View(narrow).bindings if op_name(v) == "tvmq.unpack")
    assert first.same_as(second)


@pytest.mark.slow
def test_saves_and_prints(tmp_path: Path) -> None:
    road = drive(mixed(), least_snr=3.0, nbit_weight=4)
    tvm.ir.assert_structural_equal(tvm.script.from_source(road.quantized.script(show_meta=True)), road.quantized)
    road.executable.save(tmp_path / "m.tvmq")
    loaded = tvmq.load(tmp_path / "m.tvmq")
    tvm.ir.assert_structural_equal(loaded.module, road.quantized)
    feed = feeds_of(mixed())[0]
    for a, b in zip(loaded.run(feed), road.executable.run(feed), strict=True):
        np.testing.assert_array_equal(a, b)
    assert get_ledger(loaded.module).layers == get_ledger(road.quantized).layers
