"""check_backend finds each kind of feature that a core uses and a description lacks, by layer name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import tvm
from tvm.script import ir as I
from tvm.script import relax as R

import tvmq
from tests.support.devices.emulated_device import DEVICE
from tests.support.models.built_modules import build_module
from tests.support.models.networks import Net, at_stage
from tvmq.backends.description import Backend
from tvmq.chips.comparison.conformity import RULES, Violation, check_backend
from tvmq.errors import AccumulatorError, StageError
from tvmq.graph import ops
from tvmq.passes.realize.accumulators import check_accumulators


def quantized(net: Net, *outputs: str, target: Backend | None = DEVICE, **options: object) -> tvm.IRModule:
    """A small network with random data."""
    mod, params = tvmq.from_onnx(net.model(*outputs))
    data = [{"x": net.random.standard_normal(net.shapes[0]).astype(np.float32)} for _ in range(4)]
    return tvmq.quantize(mod, params, data, target=target, config=tvmq.qconfig(**options), guard=None)


def small(between: str = "Relu") -> tuple[Net, str]:
    """Two convolutions and what is between them."""
    net = Net((1, 4, 6, 6))
    return net, net.conv(net.op(between, net.conv("x", 4, 8)), 8, 4, 1)


def bare() -> tuple[Net, str]:
    """Two convolutions: what is between them has both signs, so it has a zero point where there are any."""
    net = Net((1, 4, 6, 6))
    return net, net.conv(net.conv("x", 4, 8), 8, 4, 1)


def rules(mod: tvm.IRModule, backend: Backend = DEVICE) -> set[str]:
    return {violation.rule for violation in check_backend(mod, backend).violations}


def residual() -> tvm.IRModule:
    """A sum, an average of 9 and a product behind convolutions."""
    net = Net((1, 4, 6, 6))
    y = net.conv("x", 4, 4)
    total = net.op("Add", y, net.conv(net.op("Relu", y), 4, 4))
    mean = net.op("AveragePool", total, kernel_shape=[3, 3], strides=[3, 3])
    return quantized(net, net.conv(mean, 4, 2, 1))


@pytest.mark.slow
def test_what_is_quantized_for_the_device_conforms():
    found = check_backend(quantized(*small()), DEVICE)
    assert found.conforms and str(found).startswith("conforms: yes (all ")
    assert set(found.dtypes) == {"int8", "int32"} and found.operators["nn.conv2d"] == 2
    assert found.to_dict()["conforms"] and found.to_dict()["backend"] == "emulated"


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("bits", [20, 24])
def test_what_quantize_lets_pass_conforms(bits: int):
    """Sums of other operators than convolutions count too: those of an addition, which are the largest here."""
    toy = Backend("toy", accumulator_bits=bits)
    net = Net((1, 4, 6, 6))
    y = net.op("Relu", net.conv("x", 4, 4, 1))
    outputs = [net.op("Add", y, net.op("Relu", net.conv(y, 4, 4, 1)))]
    assert check_backend(quantized(net, *outputs, target=toy), toy).conforms
    assert rules(quantized(net, *outputs, target=None), toy) >= {"accumulator"}, "constants of 32 bits"
    with pytest.raises(AccumulatorError, match="sums of backend toy have 12 bits .*layer '/conv_0.*' can reach"):
        quantized(net, *outputs, target=replace(toy, accumulator_bits=12))


def test_a_dynamic_batch():
    """Counts that depend on no dynamic dimension are known; one that does is a finding, no error."""
    net = Net((1, 4, 6, 6))
    model = net.model(net.conv(net.op("GlobalAveragePool", net.op("Relu", net.conv("x", 4, 8))), 8, 4, 1))
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = "batch"
    data = [{"x": net.random.standard_normal((2, 4, 6, 6)).astype(np.float32)} for _ in range(2)]
    mod = tvmq.quantize(*tvmq.from_onnx(model), data, target=DEVICE, guard=None)
    assert check_backend(mod, DEVICE).conforms
    assert rules(mod, replace(DEVICE, accumulator_bits=10)) == {"accumulator"}


def test_a_sum_over_a_dynamic_dimension_is_not_known():
    mod = build_module({"x": (("n", 4), "int8")}, lambda _, x: ops.sum(x, axes=[0]))
    dynamic = at_stage(mod, "realized")
    found = check_backend(dynamic, DEVICE)
    assert [violation.what for violation in found.violations] == ["how large its sums get is not known"]
    with pytest.raises(AccumulatorError, match="can reach any number"):
        check_accumulators(dynamic, replace(DEVICE, accumulator_bits=24))


@pytest.mark.slow
def test_weights_two_to_a_byte_are_read_as_codes():
    found = check_backend(quantized(*small(), nbit_weight=4), DEVICE)
    assert found.conforms and "tvmq.unpack" not in found.operators


@pytest.mark.slow
def test_the_default_module_of_a_cpu_does_not():
    found = check_backend(quantized(*bare(), target=None), DEVICE)
    assert not found.conforms
    assert {v.rule for v in found.violations} == {"dtype", "zero_point", "per_channel", "requantize", "float"}
    assert "conforms: no" in str(found) and "zero_point: layer '/conv_0', tvmq.requantize" in str(found)
    assert check_backend(quantized(*bare(), target=None), "cpu").conforms


@pytest.mark.slow
@pytest.mark.parametrize(("options", "wanted"), [
    ({"per_channel": True}, {"per_channel"}),
    ({"requantize": "fixed_point"}, {"requantize"}),
    ({"rounding": "TONEAREST"}, {"rounding"}),
    ({"scheme": "asymmetric"}, {"zero_point"}),
])  # fmt: skip
def test_one_option_outside_is_found(options: dict[str, object], wanted: set[str]):
    like_device = {**DEVICE.options(), "scheme": "symmetric", **options}
    strict = replace(DEVICE, roundings=("UPWARD",))
    assert rules(quantized(*bare(), target=None, **like_device), strict) == wanted


def test_float_islands_are_found_by_layer():
    net = Net((1, 4, 6, 6))
    island = net.op("Softmax", net.conv("x", 4, 4), axis=1)
    mod = quantized(net, net.conv(island, 4, 2), partition_conversions="disabled")
    violations = check_backend(mod, DEVICE).violations
    assert {v.rule for v in violations} == {"float"}
    assert ("tvmq.softmax", ("/softmax_1",)) in {(v.operator, v.layers) for v in violations}


@I.ir_module
class Wide:
    @R.function
    def main(x: R.Tensor((4,), "int8")) -> R.Tensor((4,), "int32"):
        with R.dataflow():
            a = R.astype(x, dtype="int64")
            b = R.astype(a, dtype="int32")
            c = R.divide(b, R.const(3, "int32"))
            R.output(c)
        return c


def test_int64_and_division_are_found():
    mod = at_stage(Wide, "realized")
    assert {"int64", "division"} <= rules(mod)
    found = {v.rule: v for v in check_backend(mod, DEVICE).violations}
    assert (found["division"].variable, found["division"].operator) == ("c", "divide")
    assert found["int64"].variable in ("a", "b")


@pytest.mark.slow
def test_tables_are_found():
    assert rules(quantized(*small("Sigmoid")), replace(DEVICE, tables=False)) == {"table"}


@pytest.mark.slow
def test_factors_that_are_no_shifts_are_found():
    strict = replace(DEVICE, multipliers=False)
    found = check_backend(residual(), strict).violations
    assert {v.rule for v in found} == {"multiplier"}
    assert all("multiplies by 466034" in v.what for v in found), "2^22 / 9, of the average"


@pytest.mark.slow
def test_families_are_found():
    only = replace(DEVICE, families=frozenset({"conv2d", "avg_pool"}))
    found = check_backend(residual(), only).violations
    assert {(v.rule, v.operator) for v in found} == {("operator", "tvmq.add")}


@pytest.mark.slow
def test_narrow_accumulators_are_found():
    mod = quantized(*small())
    narrow = check_backend(mod, replace(DEVICE, accumulator_bits=16)).violations
    assert {v.rule for v in narrow} == {"accumulator"} and "16 bits end at 32767" in narrow[0].what
    assert rules(mod, replace(DEVICE, accumulator_bits=24)) == set()


@pytest.mark.slow
def test_large_kernels_are_found():
    assert rules(quantized(*small()), replace(DEVICE, largest_kernel=1)) == {"kernel"}
    assert rules(quantized(*small()), replace(DEVICE, largest_kernel=3)) == set()


def test_every_rule_has_a_test_and_prints():
    text = str(Violation("c", ("head",), "divide", "division", "divide divides"))
    assert text == "division: layer 'head', divide 'c': divide divides"
    assert len(set(RULES)) == len(RULES) == 18


def test_only_realized_modules_are_checked():
    with pytest.raises(StageError, match="check_backend: the module is 'imported'"):
        check_backend(Wide, DEVICE)
