"""Entries of a description that the integer module must obey, and violations that check_backend must find."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tvm

import tvmq
from tests.backends.test_json_form import described
from tests.conftest import Digits
from tests.support.models.networks import Net
from tvmq.backends import BACKENDS, backend_named
from tvmq.backends.description import Backend
from tvmq.backends.operator_entry import OperatorEntry
from tvmq.backends.tensor_forms import TensorForm, WeightForm
from tvmq.errors import AccumulatorError, BackendWarning, BuildError
from tvmq.graph.ledger import get_ledger
from tvmq.graph.module_functions import inline_functions, unpack_weights
from tvmq.graph.view import View, const_value, is_const, op_name
from tvmq.numerics.known_rules import KNOWN_RULES
from tvmq.numerics.requantize_rule import RequantizeRule
from tvmq.numerics.spec import QuantSpec
from tvmq.options.config import QConfig, qconfig

INT8 = TensorForm(("int8",))
AWAY = RequantizeRule("integer", roundings=("away",))


def network() -> Net:
    """Two convolutions, a depthwise one, a sum, an average and a dense layer."""
    net = Net((1, 4, 8, 8))
    y = net.op("Relu", net.conv("x", 4, 8))
    z = net.op("Relu", net.conv(y, 8, 8, groups=8))
    total = net.op("Add", net.conv(z, 8, 8, 1), y)
    mean = net.op("AveragePool", total, kernel_shape=[4, 4], strides=[4, 4])
    net.result = net.dense(net.op("Flatten", mean, axis=1), 32, 6)  # type: ignore[attr-defined]
    return net


def quantized(backend: Backend, **options: Any) -> tvm.IRModule:
    net = network()
    mod, params = tvmq.from_onnx(net.model(net.result))  # type: ignore[attr-defined]
    data = [{"x": net.random.standard_normal(net.shapes[0]).astype(np.float32)} for _ in range(4)]
    return tvmq.quantize(mod, params, data, target=backend, config=qconfig(**options), guard=None)


def calls(mod: tvm.IRModule, name: str) -> list[Any]:
    return [value for _, value in View(mod).bindings if op_name(value) == name]


def rules(mod: tvm.IRModule, backend: Backend) -> set[str]:
    return {violation.rule for violation in tvmq.check_backend(mod, backend).violations}


def floats(mod: tvm.IRModule) -> dict[str, str]:
    """{operator: why} of layers that stay float."""
    return {entry["op"]: entry["why"] for entry in get_ledger(mod).layers.values() if entry["precision"] == "float"}


def largest(mod: tvm.IRModule) -> list[int]:
    """Largest weight of each convolution and product."""
    mod = unpack_weights(inline_functions(mod))
    found = [call for name in ("nn.conv2d", "matmul") for call in calls(mod, name)]
    return [int(np.abs(const_value(call.args[1]).astype(np.int32)).max()) for call in found]


@pytest.mark.slow
def test_every_entry_reaches_its_layers():
    backend = described("mixed")
    mod = quantized(backend)
    assert tvmq.check_backend(mod, backend).conforms, str(tvmq.check_backend(mod, backend))
    first, depthwise, last, dense = largest(mod)
    assert first <= 15 < depthwise and last <= 15 and dense <= 7, "int5, of the depthwise one int8, int4"
    attrs = [call.attrs for call in calls(mod, "tvmq.requantize")]
    assert {str(one.rounding) for one in attrs} == {"TONEAREST", "UPWARD"}
    (add,) = calls(mod, "tvmq.add")
    assert add.attrs.a_multiplier == add.attrs.b_multiplier == 2**add.attrs.shift, "one scale"
    assert get_ledger(mod).layers and floats(mod) == {}


@pytest.mark.slow
def test_layers_that_an_entry_leaves_out_stay_float():
    only = Backend("x", operators=(
        OperatorEntry(("conv2d",), largest_kernel=1), OperatorEntry(("dense",), channel_alignment=4),
        OperatorEntry(("add",), computes="float16"),
    ))  # fmt: skip
    mod = quantized(only)
    found = floats(mod)
    assert found["nn.conv2d"].endswith("has kernels up to 1, not 3") or "stays float" in found["nn.conv2d"]
    assert found["add"] == "limit: backend x computes it in float16"
    assert found["matmul"] == "limit: backend x takes channels in multiples of 4, not 6"
    assert tvmq.check_backend(mod, only).conforms
    assert {"kernel", "channels", "operator"} <= rules(quantized(Backend("x")), only)


@pytest.mark.slow
def test_narrow_biases_fit():
    narrow = Backend("x", activations=("int8",), zero_points=False, bias="int12")
    mod = quantized(narrow)
    assert tvmq.check_backend(mod, narrow).conforms
    assert "bias" in rules(quantized(replace(narrow, bias="int32")), narrow)


@pytest.mark.slow
def test_accumulators_of_single_operators():
    wide = Backend(
        "x", operators=(OperatorEntry(("*",), accumulator_bits=32), OperatorEntry(("depthwise",), accumulator_bits=20))
    )
    mod = quantized(wide)
    assert tvmq.check_backend(mod, wide).conforms
    narrow = replace(wide, operators=(OperatorEntry(("depthwise",), accumulator_bits=12),))
    assert rules(mod, narrow) == {"accumulator"}
    with pytest.raises(AccumulatorError, match="sums of backend x have 12 bits and end at 2047: layer '/conv_2"):
        quantized(narrow)
    wraps = Backend("x", operators=(OperatorEntry(("depthwise",), accumulator_bits=12, overflow="wrap"),))
    assert tvmq.check_backend(quantized(wraps), wraps).conforms


@pytest.mark.slow
def test_what_an_entry_lacks_is_found():
    mod = quantized(Backend("x", activations=("int8",)))
    for entry, rule in (
        (OperatorEntry(("conv2d",), inputs=TensorForm(("int4",))), "bits"),
        (OperatorEntry(("conv2d",), weights=WeightForm(("int4",))), "bits"),
        (OperatorEntry(("conv2d",), weights=WeightForm(granularity="per_tensor")), "per_channel"),
        (OperatorEntry(("avg_pool",), same_scales=True), "scale"),
        (OperatorEntry(("dense",), most_channels=16), "channels"),
    ):
        assert rules(mod, Backend("x", activations=("int8",), operators=(entry,))) == {rule}, entry
    fixed = Backend("x", requantize=("fixed_point",), operators=(OperatorEntry(("conv2d",), requantize=AWAY),))
    assert rules(quantized(Backend("x"), requantize="fixed_point"), fixed) == {"rounding"}


def test_shifts_to_the_left_that_wrap_are_found():
    net = Net((1, 4, 4, 4))
    weight = 2.0**-12 * np.ones((4, 4, 1, 1), np.float32)
    y = net.conv(net.conv("x", 4, 4, 1, weight=weight, bias=False), 4, 4, 1)
    mod, params = tvmq.from_onnx(net.model(y))
    data = [{"x": net.random.standard_normal((1, 4, 4, 4)).astype(np.float32)} for _ in range(2)]
    tflite = backend_named("tflite")
    mod = tvmq.quantize(mod, params, data, target=tflite, guard=None)
    assert tvmq.check_backend(mod, tflite).conforms
    call = calls(mod, "tvmq.requantize")[0]
    raised = tvm.relax.const(np.full(const_value(call.args[2]).shape, 25, np.int32))
    view = View(mod)
    from tvmq.graph.rewrite import rewrite

    first = next(var.name for var, value in view.bindings if value.same_as(call))
    wild = rewrite(mod, lambda _, var, value: tvm.relax.Call(value.op, [value.args[0], value.args[1], raised], value.attrs)
                   if var.name == first else None)  # fmt: skip
    assert rules(wild, tflite) == {"left_shift"} and rules(wild, backend_named("tosa")) == {"rounding"}


def test_options_follow_what_all_entries_share():
    assert described("groups").options() == {"activations": "dynamic", "nbit_weight": 4, "group_size": 32}
    entry = OperatorEntry(
        ("*",), inputs=TensorForm(("int6",), scheme="symmetric", observer="minmax"),
        weights=WeightForm(("int16",), "per_tensor", observer="mse"),
    )  # fmt: skip
    backend = Backend("x", activations=("int8",), operators=(entry,))
    options = {
        "dtype_input": "int8", "nbit_input": 6, "scheme": "symmetric", "calibrate_mode": "minmax", "dtype_weight": "int16",
        "nbit_weight": 16, "per_channel": False, "equalization": True, "weight_scale": "mse",
    }  # fmt: skip
    assert backend.options() == options
    assert backend.refused_options(QConfig().for_backend(backend).to_dict()) == []
    refused = backend.refused_options(
        {"nbit_input": 8, "dtype_input": "int8", "scheme": "symmetric", "per_channel": True}
    )
    assert refused == [
        "nbit_input=8: reads int6, not int8; use nbit_input=6",
        "per_channel=True: takes one scale for a weight, not one for each channel; use per_channel=False",
    ]


def test_refusals_ask_the_entry():
    backend = Backend("x", per_channel=False, operators=(
        OperatorEntry(("*",), inputs=TensorForm(("uint8", "uint4"))),
        OperatorEntry(("conv2d",), weights=WeightForm(("int8",), "per_channel"), most_channels=8),
    ))  # fmt: skip
    weights = QuantSpec("int8", symmetric=True, per_channel=True)
    assert backend.refusal("conv2d", QuantSpec(), weights, "float") is None
    assert "takes one scale" in str(backend.refusal("dense", QuantSpec(), weights, "float"))
    assert backend.refusal("conv2d", QuantSpec(), weights, "float", channels=(3, 9)).endswith(
        "at most 8 channels, not 9"
    )
    assert backend.refusal("add", QuantSpec("int8"), None, "float").endswith("reads uint8 or uint4, not int8")


def test_rules_and_accumulators_of_families():
    mixed = described("mixed")
    assert mixed.rule("conv2d").roundings == ("away",) and mixed.rule("conv2d").bias_bits == 16
    assert mixed.rule("conv2d", depthwise=True).accumulator_bits == 24
    assert mixed.rule("add") == KNOWN_RULES["fixed_point"]
    assert backend_named("cpu").rule() == RequantizeRule()


@pytest.mark.slow
def test_a_rule_that_no_code_has_is_refused_by_build():
    backend = described("shifts")
    mod = quantized(backend)
    assert tvmq.check_backend(mod, backend).conforms
    with pytest.raises(
        BuildError, match="build: backend shifts: requantize_rule .* would give other codes .*use tvmq.emulate"
    ):
        tvmq.build(mod)


@pytest.mark.slow
def test_sums_that_may_wrap_on_the_device_are_said_by_build():
    mod = quantized(Backend("x", accumulator_bits=16, overflow="wrap"))
    with pytest.warns(BackendWarning, match="build: backend x: sums of 16 bits wrap, .*; tvmq.emulate computes") as told:
        tvmq.build(mod)
    assert [warning.filename for warning in told if warning.category is BackendWarning] == [__file__]


@pytest.mark.slow
def test_scales_made_at_run_time():
    backend = described("groups")
    mod = quantized(backend)
    assert tvmq.check_backend(mod, backend).conforms and get_ledger(mod).config["group_size"] == 32


@pytest.mark.slow
def test_floats_around_products():
    backend = described("halves")
    mod = quantized(backend)
    assert tvmq.check_backend(mod, backend).conforms
    assert set(floats(mod)) >= {"add", "nn.avg_pool2d"} and len(calls(mod, "nn.conv2d")) == 3


def assert_built_in(name: str, mod: tvm.IRModule) -> None:
    """Check that the module conforms, and that its requantizes are those of the description."""
    backend = backend_named(name)
    found = tvmq.check_backend(mod, backend)
    assert found.conforms, str(found)
    modes = {(str(call.attrs.mode), str(call.attrs.rounding)) for call in calls(mod, "tvmq.requantize")}
    assert modes <= {backend.rule(family).nearest_mode for family in ("conv2d", "dense")}
    assert modes or name.startswith("cpu")


MODES = {"tflite": ("fixed_point", "DOUBLE"), "cmsis_nn": ("fixed_point", "DOUBLE"), "tosa": ("fixed_point", "UPWARD"),
           "tensorrt": ("float", "UPWARD")}  # fmt: skip


FAST = ("tflite", "tensorrt")


@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n in FAST else [pytest.mark.slow]) for n in BACKENDS])
@pytest.mark.slow_cases("tflite")
def test_built_in_descriptions(name: str):
    """On a network that has an operator of most kinds; compiled code gives the same bits."""
    mod = quantized(backend_named(name))
    assert_built_in(name, mod)
    modes = {(str(call.attrs.mode), str(call.attrs.rounding)) for call in calls(mod, "tvmq.requantize")}
    assert modes == {MODES.get(name, ("float", "UPWARD"))}
    if name == "tflite":
        feed = {"x": np.random.default_rng(5).standard_normal((1, 4, 8, 8)).astype(np.float32)}
        assert tvmq.verify(tvmq.build(mod), feed).exact


@pytest.mark.slow
@pytest.mark.parametrize("name", BACKENDS)
def test_the_demo_for_built_in_descriptions(digits: Digits, name: str):
    data = {"image": digits.example.calibration[:32]}
    mod = tvmq.quantize(digits.mod, digits.params, data, target=name, guard=None)
    assert_built_in(name, mod)
    assert tvmq.verify(tvmq.build(mod), digits.pictures(1)).exact


@pytest.mark.slow
@pytest.mark.parametrize("name", BACKENDS)
def test_resnet8_for_built_in_descriptions(zoo_task: Callable[[str], Any], name: str):
    task = zoo_task("resnet8_cifar10")
    data = list(task.calibration(batch=1, limit=16))
    mod, params = tvmq.from_onnx(task.model_path, shape={key: value.shape for key, value in data[0].items()})
    mod = tvmq.quantize(mod, params, data, target=name, guard=None)
    assert_built_in(name, mod)


@pytest.mark.slow
def test_a_file_is_a_target(tmp_path: Any):
    path = tmp_path / "mychip.json"
    path.write_text(json.dumps({"name": "mychip", "activations": ["int8"], "zero_points": False}))
    mod = quantized(str(path))
    assert get_ledger(mod).backend == "mychip" and tvmq.check_backend(mod, str(path)).conforms
    assert all(is_const(call.args[1]) for call in calls(mod, "nn.conv2d"))
