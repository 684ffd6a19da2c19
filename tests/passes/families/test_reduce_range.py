"""Weights of 7 bits: which layers get them, for which targets, and what that makes of the kernels."""

from __future__ import annotations

import numpy as np
import pytest

import tvmq
from tests.support.models.networks import Net, feeds_of
from tvmq.backends import backend_named
from tvmq.codegen.target.backend import backend_of
from tvmq.errors import ConfigError, TargetError
from tvmq.graph.view import View, const_value, dtype_of, is_const, op_name

HASWELL = "llvm -mcpu=haswell"


def network():
    """Convolution, depthwise convolution, convolution under a rule, dense layer."""
    n = Net((1, 3, 8, 8))
    y = n.op("Relu", n.conv("x", 3, 16))
    y = n.op("Relu", n.conv(y, 16, 16, groups=16))
    y = n.op("Relu", n.conv(y, 16, 16, 1))
    y = n.dense(n.op("Flatten", n.op("GlobalAveragePool", y)), 16, 5)
    return n.model(y)


def largest(module) -> list[int]:
    """Largest weights of the layers in turn."""
    view, found = View(module), []
    for _, value in view.bindings:
        if op_name(value) in ("nn.conv2d", "matmul") and is_const(value.args[1]) and dtype_of(value.args[1]) == "int8":
            found.append(int(np.abs(const_value(value.args[1])).max()))
    return found


def quantized(target=None, **options):
    model = network()
    with tvmq.qconfig(calibrate_mode="minmax", **{"weight_scale": "max", **options}):
        return tvmq.quantize(*tvmq.from_onnx(model), feeds_of(model), target=target, guard=None), model


@pytest.mark.slow
def test_targets_without_vnni_get_7_bits_where_lanes_are_used():
    module, model = quantized(HASWELL)
    assert largest(module) == [63, 127, 63, 63]
    assert module_precision(module) == ["int8 (w7)", "int8", "int8 (w7)", "int8 (w7)"]
    assert largest(quantized("llvm -mcpu=cascadelake")[0]) == [127] * 4
    assert largest(quantized()[0]) == [127] * 4
    assert largest(quantized(HASWELL, reduce_range=False)[0]) == [127] * 4
    assert largest(quantized(reduce_range=True)[0]) == [63, 127, 63, 63]


def module_precision(module) -> list[str]:
    """Entry of explain about the layers with weights."""
    return [row[2] for row in tvmq.explain(module).rows() if row[1] in ("conv2d", "dense")]


@pytest.mark.slow
def test_rules_for_weights_win():
    rules = [tvmq.Rule("/conv_0", weights=tvmq.QuantSpec("int8", 8, symmetric=True))]
    assert largest(quantized(HASWELL, rules=rules)[0]) == [127, 127, 63, 63]


@pytest.mark.slow
def test_fewer_bits_stay():
    assert largest(quantized(HASWELL, nbit_weight=5)[0]) == [15] * 4


@pytest.mark.slow
@pytest.mark.isa("avx2")
def test_kernels_use_lanes_and_explain_says_so():
    module, model = quantized(HASWELL)
    exe = tvmq.build(module, target=HASWELL)
    assert sum("lanes" in name for name in exe.kernels.values()) >= 2
    assert "int16 lanes proved: " in str(tvmq.explain(exe, "/conv_4")) and "would hold" not in str(tvmq.explain(exe))
    assert any("% fold" in str(notes) for notes in tvmq.explain(exe).to_dict()["kernel_notes"].values())
    eight = tvmq.explain(tvmq.build(quantized(HASWELL, reduce_range=False)[0], target=HASWELL))
    assert "weights or activations of 7 bits would hold" in eight.summary()
    feed = feeds_of(model)[0]
    np.testing.assert_array_equal(exe.run(feed)[0], tvmq.build(module).run(feed)[0])
    assert tvmq.verify(exe, [feed]).exact


@pytest.mark.slow
@pytest.mark.isa("avx2")
def test_portable_weights_fit_lanes():
    """8 bits, and no product in 16 bits; with scales by the largest weight alone they have some."""
    notes = {}
    for scale in ("lanes", "max"):
        module, model = quantized(weight_scale=scale)
        exe = tvmq.build(module, target=HASWELL)
        notes[scale] = [note for note in exe.notes.values() if note.startswith("int16")]
        assert tvmq.verify(exe, feeds_of(model)[:1]).exact
    assert max(largest(module)) == 127 and max(largest(quantized(weight_scale="lanes")[0])) > 63
    assert any("in 16 bits" in note or "would hold" in note for note in notes["max"])
    assert len(notes["lanes"]) == len(notes["max"])
    assert sum("lanes proved" in note for note in notes["lanes"]) > sum("lanes proved" in n for n in notes["max"])


def test_dynamic_products_too():
    model = network()
    with tvmq.qconfig(activations="dynamic", reduce_range=True):
        found = largest(tvmq.quantize(*tvmq.from_onnx(model)))
    assert found[0] == 63 and max(found[1:]) == 127


def test_backends_and_cpus_are_told_apart():
    for target in ({"kind": "llvm", "mcpu": "skylake-avx512"}, "cpu_without_vnni"):
        assert backend_of(target).name == "cpu_without_vnni"
    for cpu, name in (("cortex-a76", "cpu_with_dot_product"), ("cortex-a72", "cpu")):
        assert backend_of({"kind": "llvm", "mtriple": "aarch64-linux-gnu", "mcpu": cpu}).name == name
    assert backend_of("llvm -mcpu=cascadelake").name == "cpu_with_dot_product" and backend_of(None).name == "cpu"
    assert backend_named("cpu_without_vnni").options() == {"reduce_range": True}
    with pytest.raises(TargetError, match="no CPU 'haswel'"):
        backend_of("llvm -mcpu=haswel")
    with pytest.raises(ConfigError, match="did you mean 'cpu'"):
        backend_of("cpuu")
    with pytest.raises(ConfigError, match="reduce_range is for products of integers"):
        tvmq.qconfig(activations=None, reduce_range=True)
