"""relay.quantize.quantize and its passes, on modules written with a BlockBuilder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

import tvmq
from tests.support.models.built_modules import build_module
from tvmq.errors import CalibrationError, ConfigError, IntegralError, ModelError
from tvmq.graph.ledger import get_ledger
from tvmq.graph.view import View, const_value, op_name
from tvmq.relay import quantize as q
from tvmq.relay.quantize import _annotate, _calibrate, _partition, kl_divergence
from tvmq.relay.quantize.context import ANNOTATE, PARTITION

Body = Callable[[relax.BlockBuilder, list[relax.Var]], relax.Expr]
SHAPE = (1, 4, 8, 8)


def module(body: Body, *shapes: Sequence[int], names: Sequence[str] = ("data", "other")) -> tvm.IRModule:
    """A module of one function over these inputs."""
    params = [relax.Var(name, relax.TensorType(shape, "float32")) for name, shape in zip(names, shapes, strict=False)]
    return build_module(params, lambda builder, *given: body(builder, list(given)))


def weight(*shape: int, seed: int = 0) -> relax.Expr:
    return relax.const(np.random.RandomState(seed).uniform(-0.9, 0.9, shape).astype("float32"))


def conv(builder: relax.BlockBuilder, x: relax.Expr, seed: int = 0) -> relax.Var:
    return builder.emit(relax.op.nn.conv2d(x, weight(4, 4, 3, 3, seed=seed), padding=1))


def chain(builder: relax.BlockBuilder, params: list[relax.Var]) -> relax.Expr:
    """Two convolutions with a bias and a relu between them."""
    sums = builder.emit(relax.op.add(conv(builder, params[0]), weight(1, 4, 1, 1, seed=1)))
    return relax.op.nn.conv2d(builder.emit(relax.op.nn.relu(sums)), weight(4, 4, 3, 3, seed=2), padding=1)


def quantized(mod: tvm.IRModule, dataset: Any = None, params: Any = None, **options: Any) -> tvm.IRModule:
    with q.qconfig(**{"skip_conv_layers": [], **options}):
        return q.quantize(mod, params, dataset)


def feed(mod: tvm.IRModule, seed: int = 5) -> dict[str, np.ndarray]:
    random = np.random.RandomState(seed)
    return {p.name: random.uniform(-1, 1, [int(d) for d in p.ty.shape]).astype("float32") for p in mod["main"].params}


def convolutions(mod: tvm.IRModule) -> list[str]:
    """Element types of the convolutions' results, in the order of execution."""
    return [str(var.ty.dtype) for var, value in View(mod).bindings if op_name(value) == "nn.conv2d"]


def check(mod: tvm.IRModule, integers: tvm.IRModule, least: float = 15.0) -> None:
    """Compiled equals the NumPy definition, and is near the float model: at least so many dB."""
    inputs = feed(mod)
    executable = tvmq.build(integers)
    verification = tvmq.verify(executable, [inputs])
    assert verification.exact, str(verification)
    for ours, floats in zip(executable.run(inputs), tvmq.build(mod).run(inputs), strict=True):
        assert 10 * np.log10((floats**2).sum() / ((ours - floats) ** 2).sum()) > least


# ---- all stages


@pytest.mark.slow
def test_defaults() -> None:
    mod = module(chain, SHAPE)
    result = quantized(mod, global_scale=4.0)
    assert convolutions(result) == ["int32", "int32"] and get_ledger(result).stage == "realized"
    check(mod, result)


def test_passes_one_by_one_give_what_quantize_gives() -> None:
    mod = module(chain, SHAPE)
    with q.qconfig(skip_conv_layers=[1]):
        calibrate = tvm.transform.module_pass(q.calibrate(), opt_level=1, name="QuantizeCalibrate")
        road = tvm.transform.Sequential([q.partition(), q.annotate(), calibrate, q.realize()])
        stepwise = road(q.prerequisite_optimize(mod))
        assert convolutions(stepwise) == ["int32", "float32"]
        tvm.ir.assert_structural_equal(stepwise, q.quantize(mod))


def test_the_callers_module_stays() -> None:
    kernel = np.full((4, 4, 3, 3), 0.5, np.float32)
    mod = module(lambda b, p: relax.op.nn.conv2d(p[0], p[1], padding=1), SHAPE, (4, 4, 3, 3))
    before = mod.script()
    result = quantized(mod, params={"other": kernel, "nobody": kernel})
    assert mod.script() == before
    assert [p.name for p in result["main"].params] == ["data"] and convolutions(result) == ["int32"]


def test_weights_that_are_no_constants_stay_float() -> None:
    mod = module(lambda b, p: relax.op.nn.conv2d(p[0], p[1], padding=1), SHAPE, (4, 4, 3, 3))
    result = quantized(mod)
    assert convolutions(result) == ["float32"]
    assert "computed in the graph" in str(tvmq.explain(result))


def test_no_opt_level_changes_anything() -> None:
    mod = module(chain, SHAPE)
    results = []
    for level in (0, 3):
        with tvm.transform.PassContext(opt_level=level):
            results.append(quantized(mod))
    tvm.ir.assert_structural_equal(*results)


@pytest.mark.slow
def test_simulation_has_the_scales_and_computes_in_floats() -> None:
    mod = module(chain, SHAPE)
    simulated, integers = quantized(mod, do_simulation=True), quantized(mod)
    kinds = [v.attrs.kind for _, v in View(simulated).bindings if op_name(v) == "tvmq.simulated_quantize"]
    assert sorted(kinds) == ["activation", "input", "weight", "weight"]
    ours, theirs = (tvmq.build(one).run(feed(mod))[0] for one in (simulated, integers))
    assert np.abs(ours - theirs).max() < 0.02 * np.abs(theirs).max()


def test_biases_have_eight_bits() -> None:
    result = quantized(module(chain, SHAPE))
    sums = next(v for _, v in View(result).bindings if op_name(v) == "add")
    codes = const_value(sums.args[1]).ravel()
    # the bias: 2^-7 a step; the sums: 2^-4 * 2^-7
    bias = np.random.RandomState(1).uniform(-0.9, 0.9, 4)
    assert codes.tolist() == (np.clip(np.rint(bias * 2**7), -127, 127).astype(int) << 4).tolist()


# ---- which layers


def branches(builder: relax.BlockBuilder, params: list[relax.Var]) -> relax.Expr:
    """add(conv(relu(conv(x))), conv(x)), the shortcut computed first."""
    shortcut = conv(builder, params[0], seed=3)
    main = conv(builder, builder.emit(relax.op.nn.relu(conv(builder, params[0], seed=1))), seed=2)
    return relax.op.add(main, shortcut)


@pytest.mark.parametrize("skipped, floats", [
    ([], []), (None, []), ([0], [1]), ([1], [2]), ([2], [0]), ([0, 2], [0, 1]), ([7], []), ([0, 1, 2], [0, 1, 2]),
])  # fmt: skip
def test_layers_are_counted_in_relays_order(skipped: list[int] | None, floats: list[int]) -> None:
    """The main branch is number 0 and 1, the shortcut 2, though it is computed first."""
    found = convolutions(quantized(module(branches, SHAPE), skip_conv_layers=skipped))
    assert [index for index, dtype in enumerate(found) if dtype == "float32"] == floats


def test_the_option_is_named_as_the_reason() -> None:
    assert "rule skip_conv_layers" in str(tvmq.explain(quantized(module(chain, SHAPE), skip_conv_layers=[1])))


def test_outside_of_scopes_the_first_convolution_is_quantized() -> None:
    mod = module(chain, SHAPE)
    assert convolutions(q.quantize(mod)) == ["int32", "int32"]
    with q.qconfig():
        assert convolutions(q.quantize(mod)) == ["float32", "int32"]


@pytest.mark.parametrize("skip, dtype", [(True, "float32"), (False, "int32")])
def test_dense(skip: bool, dtype: str) -> None:
    mod = module(lambda b, p: relax.op.matmul(p[0], weight(16, 8)), (1, 16))
    result = quantized(mod, skip_dense_layer=skip)
    assert [str(var.ty.dtype) for var, v in View(result).bindings if op_name(v) == "matmul"] == [dtype]


def test_debug_enabled_ops() -> None:
    mod = module(lambda b, p: relax.op.matmul(p[0], weight(16, 8)), (1, 16))
    result = quantized(mod, skip_dense_layer=False, debug_enabled_ops=["nn.conv2d"])
    assert get_ledger(result).layers and "option debug_enabled_ops" in str(tvmq.explain(result))
    result = quantized(mod, skip_dense_layer=False, debug_enabled_ops=["nn.dense"])
    assert [str(var.ty.dtype) for var, v in View(result).bindings if op_name(v) == "matmul"] == ["int32"]


@pytest.fixture
def rules() -> Iterator[None]:
    """Registered rules of a test go with it."""
    yield
    ANNOTATE.clear()
    PARTITION.clear()


@pytest.mark.usefixtures("rules")
def test_a_rule_that_returns_none_keeps_a_layer_float() -> None:
    seen: list[Any] = []

    @q.register_annotate_function("nn.conv2d")
    def first_only(ref_call: relax.Call, new_args: list[Any], ctx: q.QuantizeContext) -> Any:
        seen.append((op_name(ref_call), [type(arg).__name__ for arg in new_args]))
        return None if ctx.check_to_skip(ref_call) else _annotate.QAnnotateExpr(ref_call)

    mod = module(chain, SHAPE)
    assert convolutions(quantized(mod)) == ["int32", "int32"]
    assert seen == [("nn.conv2d", ["QAnnotateExpr", "GenericConst"])] * 2
    assert convolutions(quantized(mod, skip_conv_layers=[1])) == ["int32", "float32"]


@pytest.mark.usefixtures("rules")
def test_a_rule_can_stop_all_that_follows() -> None:
    def stop(ref_call: relax.Call, new_args: list[Any], ctx: q.QuantizeContext) -> Any:
        ctx.stop_quantize()
        return ref_call

    q.register_annotate_function("nn.relu", stop)
    assert convolutions(quantized(module(branches, SHAPE))) == ["float32", "int32", "float32"]


@pytest.mark.usefixtures("rules")
def test_rules_of_partition_are_kept_and_not_called() -> None:
    with pytest.warns(UserWarning, match="the rule of 'nn.conv2d' is not called.*tvmq.Rule"):
        q.register_partition_function("nn.conv2d", lambda *args: 1 / 0)
    assert convolutions(quantized(module(chain, SHAPE))) == ["int32", "int32"]


# ---- what crashed in Relay


@pytest.mark.slow
def test_a_sum_with_one_float_operand() -> None:
    mod = module(branches, SHAPE)
    check(mod, quantized(mod, skip_conv_layers=[2], global_scale=8.0), least=10)


@pytest.mark.slow
def test_a_product_of_two_quantized_tensors() -> None:
    mod = module(lambda b, p: relax.op.multiply(conv(b, p[0], 1), conv(b, p[0], 2)), SHAPE)
    check(mod, quantized(mod, global_scale=4.0), least=10)


def test_convolutions_behind_a_global_average_pool() -> None:
    def body(builder: relax.BlockBuilder, params: list[relax.Var]) -> relax.Expr:
        pooled = builder.emit(relax.op.nn.adaptive_avg_pool2d(conv(builder, params[0]), (1, 1)))
        return relax.op.nn.conv2d(pooled, weight(4, 4, 1, 1, seed=3))

    assert convolutions(quantized(module(body, SHAPE))) == ["int32", "int32"]


@pytest.mark.slow
def test_max_weights_of_zeros() -> None:
    zeros = relax.const(np.zeros((4, 4, 3, 3), np.float32))
    mod = module(lambda b, p: relax.op.nn.conv2d(p[0], zeros, padding=1), SHAPE)
    assert not tvmq.build(quantized(mod, weight_scale="max")).run(feed(mod))[0].any()


@pytest.mark.slow
def test_16_bits_do_not_overflow() -> None:
    mod = module(chain, SHAPE)
    with pytest.warns(UserWarning, match="is 'int16' here"):
        result = quantized(mod, nbit_input=12)
    check(mod, result, least=25)


# ---- data


def batches(count: int = 3) -> list[dict[str, np.ndarray]]:
    return [{"data": np.random.RandomState(seed).uniform(-1, 1, SHAPE)} for seed in range(count)]  # float64


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["kl_divergence", "percentile"])
def test_thresholds_are_those_of_all_samples_at_once(mode: str) -> None:
    mod, data = module(chain, SHAPE), batches()
    with q.qconfig(calibrate_mode=mode, skip_conv_layers=[]):
        annotated = q.annotate()(q.prerequisite_optimize(mod))
        (samples,) = _calibrate.collect_stats(annotated, data)
        calibrated = q.calibrate(iter(data))(annotated)  # can be read once only
    rule = kl_divergence._find_scale_by_kl if mode == "kl_divergence" else _calibrate._find_scale_by_percentile
    scales = [
        const_value(v.args[1])
        for _, v in View(calibrated).bindings
        if op_name(v) == "tvmq.simulated_quantize" and v.attrs.kind != "weight"
    ]
    assert [float(s) for s in scales] == [float(np.float32(rule(one) / 128)) for one in samples]
    assert samples[0].size == 3 * np.prod(SHAPE)


@pytest.mark.slow_cases("-1-sizes0")
@pytest.mark.parametrize("chunk_by, sizes", [(-1, [2]), (1, [1, 1]), (8, [2])])
def test_samples_come_in_chunks(chunk_by: int, sizes: list[int]) -> None:
    with q.qconfig(skip_conv_layers=[]):
        annotated = q.annotate()(q.prerequisite_optimize(module(chain, SHAPE)))
    assert [len(chunk) for chunk in _calibrate.collect_stats(annotated, batches(), chunk_by)] == sizes


def test_inputs_that_no_layer_reads_may_be_missing_and_others_too_many() -> None:
    mod = module(lambda b, p: relax.op.subtract(relax.op.sigmoid(p[1]), conv(b, p[0])), SHAPE, SHAPE)
    data = [batch | {"of no use": np.zeros(3)} for batch in batches()]
    with q.qconfig(calibrate_mode="percentile", skip_conv_layers=[], debug_enabled_ops=["nn.conv2d"]):
        assert convolutions(q.quantize(mod, None, data)) == ["int32"]


@pytest.mark.parametrize("data, message", [
    (None, "chooses thresholds from data and there are none; give dataset="),
    ([], "the data gave 0 samples for 'data'"),
    ([{"x": np.zeros(SHAPE)}], r"has no input 'data', it has \['x'\]; add it"),
])  # fmt: skip
def test_missing_data(data: Any, message: str) -> None:
    with pytest.raises(CalibrationError, match=message):
        quantized(module(chain, SHAPE), data, calibrate_mode="percentile")


def test_scales_of_functions() -> None:
    with q.qconfig(skip_conv_layers=[]):
        annotated = q.annotate()(q.prerequisite_optimize(module(chain, SHAPE)))
        calibrated = _calibrate._set_params(annotated, lambda call: 2.0, _calibrate._power2_scale)
        usual = _calibrate._set_params(annotated, _calibrate._global_scale, _calibrate._power2_scale)
        tvm.ir.assert_structural_equal(usual, q.calibrate()(annotated))
    scales = {
        float(const_value(v.args[1]))
        for _, v in View(calibrated).bindings
        if op_name(v) == "tvmq.simulated_quantize" and v.attrs.kind != "weight"
    }
    assert scales == {2 / 128}


# ---- partition_conversions


@pytest.mark.slow
def test_partition_conversions() -> None:
    mod = module(chain, SHAPE)
    whole = quantized(mod)
    split = quantized(mod, partition_conversions="fully_integral")
    assert {var.name_hint for var in split.get_global_vars()} == {
        "main", "quantize_inputs", "quantized_main", "dequantize_outputs",
    }  # fmt: skip
    assert np.array_equal(*(tvmq.build(one).run(feed(mod))[0] for one in (whole, split)))


def test_floats_in_the_core() -> None:
    mod = module(lambda b, p: conv(b, b.emit(relax.op.nn.softmax(conv(b, p[0])))), SHAPE)
    assert len(quantized(mod, partition_conversions="enabled").get_global_vars()) == 4
    with pytest.raises(AssertionError, match="(?s)'fully_integral' allows no float:.*softmax") as raised:
        quantized(mod, partition_conversions="fully_integral")
    assert isinstance(raised.value, IntegralError)


# ---- names


def test_attach_simulated_quantize() -> None:
    x = relax.Var("x", relax.TensorType(SHAPE, "float32"))
    with q.quantize_context():
        call = _annotate.attach_simulated_quantize(x, q.QAnnotateKind.INPUT)
        assert _annotate.attach_simulated_quantize(x, q.QAnnotateKind.INPUT).same_as(call)
        assert _annotate.attach_simulated_quantize(call, q.QAnnotateKind.INPUT).same_as(call)
        assert not _annotate.attach_simulated_quantize(call, q.QAnnotateKind.WEIGHT).same_as(call)
    assert (op_name(call), call.attrs.kind, call.attrs.bits) == ("tvmq.simulated_quantize", "input", 8)
    assert _annotate.attach_simulated_quantize(x, q.QAnnotateKind.IDENTITY).same_as(x)
    for options in ({"sign": False}, {"rounding": "floor"}):
        with pytest.raises(ConfigError, match="codes are signed and rounded"):
            _annotate.attach_simulated_quantize(x, q.QAnnotateKind.INPUT, **options)


def test_temporary_expressions() -> None:
    x = relax.Var("x", relax.TensorType(SHAPE, "float32"))
    assert _annotate.QAnnotateExpr(x, q.QAnnotateKind.INPUT).realize().same_as(x)
    assert _partition.QPartitionExpr(x).realize().same_as(x)


def test_names_without_a_counterpart_say_so() -> None:
    with pytest.raises(AttributeError, match="conv2d_rewrite: rules for single operators are families here"):
        _annotate.conv2d_rewrite  # noqa: B018
    with pytest.raises(ConfigError, match="the search has 8001 bins"):
        kl_divergence._find_scale_by_kl(np.zeros(3, "float32"), num_bins=100)


def test_what_is_no_module() -> None:
    with pytest.raises(ModelError, match="must be an IRModule or a function. Got int instead"):
        q.quantize(3)


def test_two_parameters_of_one_name() -> None:
    mod = module(lambda b, p: relax.op.add(p[0], p[1]), SHAPE, SHAPE, names=("data", "data"))
    with pytest.raises(ValueError, match="Multiple args in the function have name data"):
        q.quantize(mod, {"data": np.zeros(SHAPE, "float32")})


def test_the_function_and_its_module() -> None:
    from tvmq.relay.quantize.quantize import prerequisite_optimize

    assert callable(q.quantize) and prerequisite_optimize is q.prerequisite_optimize
