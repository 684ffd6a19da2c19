"""`tvmq.quantize`: the effect of options on a network, and refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import tvm

import tvmq
from tests.passes.nets import NETS
from tests.support.models.networks import Net, Road, drive, feeds_of, run_onnx, snr
from tests.support.random.graphs import random_inputs, random_model
from tvmq.errors import CalibrationError, ConfigError, DataError
from tvmq.graph.ledger import get_ledger
from tvmq.graph.module_functions import unpack_weights
from tvmq.graph.view import View, const_value, dtype_of, is_const, op_name
from tvmq.numerics.deviation import unequal_bits


def model_of(name: str) -> onnx.ModelProto:
    """A network of passes/nets.py."""
    made, outputs = NETS[name]()
    return made.model(*outputs)


def wide() -> onnx.ModelProto:
    """Convolution, residual sum, concat, pools, squeeze-excite, table and dense head in one network."""
    n = Net((2, 3, 8, 8))
    y = n.op("Relu", n.conv("x", 3, 8))
    y = n.op("Add", y, n.conv(y, 8, 8, groups=8))
    gate = n.op("HardSigmoid", n.conv(n.op("GlobalAveragePool", y), 8, 8, 1))
    y = n.op("Concat", n.op("Mul", y, gate), n.op("HardSwish", n.conv(y, 8, 4, 1)), axis=1)
    y = n.op("AveragePool", n.op("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2]), kernel_shape=[2, 2])
    return n.model(n.dense(n.op("Flatten", y), 108, 5))


@pytest.mark.slow
@pytest.mark.thinned(9)
@pytest.mark.parametrize(
    "options, least_snr",
    [
        ({}, 25),
        ({"dtype_input": "int8"}, 25),
        ({"dtype_input": "int8", "scheme": "symmetric"}, 22),
        ({"per_channel": False}, 22),
        ({"requantize": "fixed_point"}, 25),
        ({"requantize": "fixed_point", "rounding": "TONEAREST"}, 25),
        ({"requantize": "fixed_point", "dtype_input": "int8", "scheme": "symmetric"}, 22),
        ({"requantize": "power_of_two"}, 18),
        ({"requantize": "power_of_two", "rounding": "TONEAREST"}, 18),
        ({"requantize": "power_of_two", "dtype_input": "int8", "scheme": "symmetric"}, 15),
        ({"nbit_weight": 4}, 8),
        ({"nbit_input": 6}, 12),
        ({"nbit_input": 5, "dtype_input": "int8"}, 8),
        ({"weight_scale": "mse"}, 25),
        ({"weight_scale": "power2"}, 20),
        ({"bias_correction": False}, 25),
        *(({"calibrate_mode": mode}, 20) for mode in ("auto", "moving_average", "histogram", "kl_divergence")),
        ({"calibrate_mode": "percentile", "percentile": 99.9}, 15),
    ],
    ids=str,
)
def test_options_are_exact_and_sane(options: dict[str, object], least_snr: float) -> None:
    drive(wide(), least_snr=least_snr, **options)


@pytest.mark.slow
def test_relay_defaults() -> None:
    """Relay's own defaults: int8 symmetric, one power-of-two-like range for all, a global scale, no data."""
    model = wide()
    mod, params = tvmq.from_onnx(model)
    with tvmq.qconfig.relay() as config:
        quantized = tvmq.quantize(mod, params, feeds_of(model) if config.calibrate_mode != "global_scale" else None)
    verification = tvmq.verify(tvmq.build(quantized), feeds_of(model, 2))
    assert verification.exact, str(verification)
    assert get_ledger(quantized).config["calibrate_mode"] == config.calibrate_mode


@pytest.mark.slow
def test_global_scale_needs_no_data() -> None:
    model = model_of("residual")
    mod, params = tvmq.from_onnx(model)
    with tvmq.qconfig(calibrate_mode="global_scale", global_scale=6.0):
        quantized = tvmq.quantize(mod, params)
    scales = {
        const_value(value.args[1]).item() for _, value in View(quantized).bindings if op_name(value) == "tvmq.quantize"
    }
    assert scales == {6 / 128}
    executable = tvmq.build(quantized)
    feed = feeds_of(model)[0]
    assert tvmq.verify(executable, [feed]).exact
    assert snr(run_onnx(model, feed)[0], executable.run(feed)[0]) > 12


def test_data_modes_say_that_they_need_data() -> None:
    mod, params = tvmq.from_onnx(model_of("conv_relu"))
    with (
        tvmq.qconfig(calibrate_mode="histogram"),
        pytest.raises(CalibrationError, match="'histogram' chooses ranges from data"),
    ):
        tvmq.quantize(mod, params)


@pytest.mark.slow
def test_without_data_scales_are_made_at_run_time() -> None:
    """The line of our front page, without data: one warning; the same module as activations="dynamic"; exact."""
    model = model_of("conv_relu")
    mod, params = tvmq.from_onnx(model)
    with tvmq.qconfig(), pytest.warns(UserWarning, match="no calibration data") as told:
        qmod = tvmq.quantize(mod, params)
    assert len(told) == 1 and told[0].filename == __file__
    tvm.ir.assert_structural_equal(qmod, tvmq.quantize(mod, params, config=tvmq.qconfig(activations="dynamic")))
    assert tvmq.verify(tvmq.build(qmod), feeds_of(model)[:1]).exact
    with tvmq.qconfig(nbit_weight=4, skip_conv_layers=[0]), pytest.warns(UserWarning, match="no calibration data"):
        floats = tvmq.explain(tvmq.quantize(mod, params)).ledger.layers.values()
    assert "option skip_conv_layers: 0" in {entry["why"] for entry in floats}


@pytest.mark.slow
@pytest.mark.parametrize("options, target, why", [
    ({"nbit_input": 4}, None, "'nbit_input' asks for calibrated ones"),
    ({"activations": "static"}, None, "'activations' asks for calibrated ones"),
    ({"rules": [tvmq.Rule("*", activations=tvmq.QuantSpec("int8"))]}, None, "'rules' asks for calibrated ones"),
    ({}, tvmq.Backend("npu", floats=False, requantize=("fixed_point",)), "backend npu cannot express activations='dynamic'"),
    ({}, tvmq.Backend("sums", families=frozenset({"conv2d"})), "backend sums does not say that it computes with them"),
])  # fmt: skip
def test_what_asks_for_data_says_so(options: dict[str, Any], target: Any, why: str) -> None:
    mod, params = tvmq.from_onnx(model_of("conv_relu"))
    with tvmq.qconfig(**options), pytest.raises(CalibrationError, match=f"there are none; give dataset=.*{why}"):
        tvmq.quantize(mod, params, target=target)
    with tvmq.qconfig(), pytest.raises(CalibrationError, match="tune= measures layers with calibrated scales"):
        tvmq.quantize(mod, params, tune=0)


def with_dynamic_axis(model: onnx.ModelProto, axis: int) -> onnx.ModelProto:
    model.graph.input[0].type.tensor_type.shape.dim[axis].dim_param = "dynamic"
    del model.graph.value_info[:]
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    return model


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("axis", [0, 2])
@pytest.mark.parametrize("size", [1, 3, 9])
def test_dynamic_dimensions_take_any_size(axis: int, size: int) -> None:
    """Quantized once; scales are those of the model whose dimensions are fixed."""
    mod, params = tvmq.from_onnx(with_dynamic_axis(model_of("conv_relu"), axis))
    feeds = feeds_of(model_of("conv_relu"))
    with tvmq.qconfig(calibrate_mode="minmax"):
        quantized = tvmq.quantize(mod, params, feeds)
        fixed = tvmq.quantize(*tvmq.from_onnx(model_of("conv_relu")), feeds)
    executable = tvmq.build(quantized)
    assert executable.input_info[0].shape[axis] == "dynamic"
    assert executable.output_info[0].scale == tvmq.build(fixed).output_info[0].scale
    x = np.repeat(feeds[0]["x"], 9, axis=axis).take(range(size), axis=axis)
    (result,), (defined,) = executable.run({"x": x}), tvmq.reference.run(quantized, {"x": x})
    assert result.shape == defined.shape and not unequal_bits(result, defined).any()


@pytest.mark.slow
def test_a_dynamic_dimension_without_data() -> None:
    mod, params = tvmq.from_onnx(with_dynamic_axis(model_of("conv_relu"), 3))
    with tvmq.qconfig(calibrate_mode="global_scale"):
        executable = tvmq.build(tvmq.quantize(mod, params))
    assert tvmq.verify(executable, feeds_of(model_of("conv_relu"))[:1]).exact


@pytest.mark.slow
def test_thresholds_can_be_kept_and_used_again(tmp_path: Path) -> None:
    """Same module as with the data; refused for another model."""
    model = model_of("residual")
    mod, params = tvmq.from_onnx(model)
    feeds = feeds_of(model)
    calibration = tvmq.run_calibration(mod, params, feeds)
    calibration.save(tmp_path / "thresholds")
    loaded = tvmq.CalibrationResult.load(tmp_path / "thresholds")
    again = tvmq.quantize(mod, params, calibration=loaded)
    assert tvm.ir.save_json(again) == tvm.ir.save_json(tvmq.quantize(mod, params, feeds))
    other, weights = tvmq.from_onnx(model_of("conv_relu"))
    with pytest.raises(CalibrationError, match="made for another model or other options"):
        tvmq.quantize(other, weights, calibration=loaded)


@pytest.mark.slow
def test_a_calibration_brings_its_options_where_nobody_gives_others() -> None:
    """Rules included; a rule that is a function cannot be kept, and options that were given win."""
    model = model_of("residual")
    mod, params = tvmq.from_onnx(model)
    feeds, rule = feeds_of(model), tvmq.Rule("op:add", None)
    config = tvmq.qconfig(calibrate_mode="minmax", per_channel=False, weight_rounding="nearest", rules=[rule])
    calibration = tvmq.run_calibration(mod, params, feeds, config=config)
    again = tvmq.quantize(mod, params, calibration=calibration)
    assert tvm.ir.save_json(again) == tvm.ir.save_json(tvmq.quantize(mod, params, feeds, config=config))
    with tvmq.qconfig(per_channel=True), pytest.raises(CalibrationError, match="other options"):
        tvmq.quantize(mod, params, calibration=calibration)
    function = tvmq.qconfig(rules=[tvmq.Rule(lambda layer: layer.op == "add", None)])
    unreadable = tvmq.run_calibration(mod, params, feeds, config=function)
    tvmq.quantize(mod, params, calibration=unreadable, config=function)
    with pytest.raises(CalibrationError, match="other options"):
        tvmq.quantize(mod, params, calibration=unreadable)


def test_empty_data_are_refused() -> None:
    mod, params = tvmq.from_onnx(model_of("conv_relu"))
    with pytest.raises((CalibrationError, DataError), match="no samples|0 batches"):
        tvmq.quantize(mod, params, [])


@pytest.mark.slow
def test_a_rule_keeps_a_layer_in_float() -> None:
    road = drive(model_of("residual"), rules=[tvmq.Rule("/conv_3", None)])
    precision = road.precision()
    assert precision["/conv_3"] == "float" and precision["/conv_0"] == precision["/conv_6"] == "int8"
    entry = next(e for e in road.ledger.layers.values() if "/conv_3" in e["layers"])
    assert entry["why"] == "rule '/conv_3'" and entry["macs"] > 0
    assert road.verification.islands


@pytest.mark.slow
def test_everything_float_is_the_float_network() -> None:
    road = drive(model_of("residual"), least_snr=90, rules=[tvmq.Rule("*", None)])
    assert set(road.precision().values()) == {"float"}


@pytest.mark.slow
def test_bits_of_one_layer() -> None:
    """A rule's weight spec reaches the integer module: at most 15 levels there, all elsewhere."""
    rule = tvmq.Rule("/conv_2", weights=tvmq.QuantSpec("int8", 4, symmetric=True, per_channel=True))
    road = drive(model_of("conv_relu"), least_snr=15, rules=[rule])
    weights = [
        const_value(value.args[1])
        for _, value in View(unpack_weights(road.quantized)).bindings
        if op_name(value) == "nn.conv2d"
    ]
    assert [int(np.abs(w).max()) for w in weights] == [127, 7]


@pytest.mark.slow
def test_activation_bits_of_one_layer() -> None:
    """A rule's activation spec is about what the layer reads."""
    rule = tvmq.Rule("/conv_2", activations=tvmq.QuantSpec("uint8", 5))
    road = drive(model_of("conv_relu"), least_snr=10, rules=[rule])
    (requantize,) = [value for _, value in View(road.quantized).bindings if op_name(value) == "tvmq.requantize"]
    assert (requantize.attrs.qmin, requantize.attrs.qmax) == (0, 31)


@pytest.mark.slow
def test_activations_of_two_specs_of_one_tensor() -> None:
    """If one reader asks for 5 bits and the other for nothing, both read the tensor that the rule describes."""
    rule = tvmq.Rule("/conv_2", activations=tvmq.QuantSpec("int8", 5, symmetric=True))
    drive(model_of("shared_activation"), least_snr=10, rules=[rule])


@pytest.mark.slow
def test_skip_conv_layers() -> None:
    road = drive(model_of("residual"), skip_conv_layers=[0])
    assert road.precision()["/conv_0"] == "float"
    entry = next(e for e in road.ledger.layers.values() if "/conv_0" in e["layers"])
    assert entry["why"] == "option skip_conv_layers: 0"


@pytest.mark.slow
def test_skip_dense_layer() -> None:
    road = drive(model_of("dense_head_of_pixels"), skip_dense_layer=True)
    assert [e["why"] for e in road.ledger.layers.values() if e["op"] == "matmul"] == ["option skip_dense_layer"]


@pytest.mark.slow
def test_debug_enabled_ops() -> None:
    road = drive(model_of("residual"), debug_enabled_ops=["nn.conv2d"])
    assert {e["op"] for e in road.ledger.layers.values() if e["precision"] == "int8"} == {"conv2d"}


def test_a_rule_that_matches_nothing_is_refused() -> None:
    mod, params = tvmq.from_onnx(model_of("residual"))
    with tvmq.qconfig(rules=[tvmq.Rule("/conv_33", None)]), pytest.raises(ConfigError, match="did you mean '/conv_3'"):
        tvmq.quantize(mod, params, feeds_of(model_of("residual")))


@pytest.mark.slow
def test_simulation_rounds_as_the_integers_do() -> None:
    """do_simulation stops at float operators; its results differ from the integer module's by rounding only."""
    model = wide()
    mod, params = tvmq.from_onnx(model)
    feeds = feeds_of(model)
    with tvmq.qconfig(calibrate_mode="minmax"):
        integer = tvmq.build(tvmq.quantize(mod, params, feeds))
        with tvmq.qconfig(do_simulation=True):
            simulated = tvmq.quantize(mod, params, feeds)
    assert get_ledger(simulated).stage == "calibrated"
    assert all(dtype_of(var) == "float32" for var, _ in View(simulated).bindings)
    compiled = tvmq.build(simulated)
    assert tvmq.verify(compiled, feeds[:2]).exact
    assert snr(compiled.run(feeds[0])[0], integer.run(feeds[0])[0]) > 35


@pytest.mark.slow
def test_same_inputs_same_module() -> None:
    """Equal model, data and options give equal bytes; other data do not."""
    model = wide()
    mod, params = tvmq.from_onnx(model)
    one, two = (tvm.ir.save_json(tvmq.quantize(mod, params, feeds_of(model))) for _ in range(2))
    assert one == two
    assert tvm.ir.save_json(tvmq.quantize(mod, params, feeds_of(model, seed=9))) != one


@pytest.mark.slow
def test_nothing_float_hides_in_the_integer_core() -> None:
    """Between quantize and the last dequantize every tensor of the wide network is integer."""
    road = drive(wide())
    floats = [var.name for var, _ in View(road.quantized).bindings if dtype_of(var) == "float32"]
    assert len(floats) == 1, floats


@pytest.mark.slow
def test_weights_are_stored_as_integers() -> None:
    road = drive(wide())
    stored = [arg for _, value in View(road.quantized).bindings for arg in getattr(value, "args", ()) if is_const(arg)]
    assert not [c for c in stored if dtype_of(c) == "float32" and const_value(c).size > 16]


@pytest.fixture(scope="module")
def road_of_names() -> Road:
    """A run of `drive` whose names are examined."""
    return drive(model_of("batch_norm_folded"))


@pytest.mark.slow
def test_every_layer_keeps_its_name(road_of_names: Road) -> None:
    names = {name for sources in View(road_of_names.quantized).names.values() for name in sources}
    expected = {"/conv_0", "/batchnormalization_1", "/relu_2", "/conv_3", "/batchnormalization_4"}
    assert expected <= names
    assert set(road_of_names.precision()) >= expected


# Together they hold every family of operators that random graphs have, and every float definition.
RANDOM_NETWORKS = [2, 4, 10, 14, 18, 27, 40, 44, 49, 59]


@pytest.mark.slow
@pytest.mark.parametrize("seed", RANDOM_NETWORKS)
def test_random_networks(seed: int) -> None:
    """Equal to the definition, close to float, and close to the simulation."""
    model = random_model(seed)
    feeds = random_inputs(model, seed, 6)
    road = drive(model, feeds=feeds, bias_correction=False)
    with tvmq.qconfig(calibrate_mode="minmax", bias_correction=False, do_simulation=True):
        simulated = tvmq.quantize(*tvmq.from_onnx(model), feeds)
    for a, b in zip(tvmq.build(simulated).run(feeds[0]), road.executable.run(feeds[0]), strict=True):
        assert snr(a, b) > 28
