"""The cases of Relay's own quantizer tests, written from their description: models, options and what they assert.

Relay's test                              here                                    differs
test_mul_rewrite                          test_mul_rewrite
test_skip_conv                            test_skip_conv                          and which layers are float
test_stop_quantize                        test_stop_quantize                      what follows the pool is integers
test_batch_flatten_rewrite                test_batch_flatten_rewrite
test_batch_matmul_rewrite                 test_batch_matmul_rewrite
test_calibrate_target                     test_calibrate_target
test_calibrate_memory_bound               test_calibrate_memory_bound
test_calibrate_percentile                 test_calibrate_percentile
test_add_partition                        test_add_partition
test_conv2d_partition                     test_conv2d_partition                   equal, not close
test_multiple_arg_conversions_partition   test_multiple_arg_conversions_partition equal, not close
test_unquantizable_prefix_partition       test_unquantizable_prefix_partition
test_unquantizable_core_partition         test_unquantizable_core_partition       a bias is no float operator here
test_unquantizable_suffix_partition       test_unquantizable_suffix_partition     the same
test_left_shift_negative                  test_left_shift_negative                multipliers and shifts, no left_shift
test_dense_conv2d_rewrite                 test_dense_conv2d_rewrite
test_add_lhs_is_none_annotate             test_add_lhs_is_none_annotate
test_add_lhs_rhs_is_input_annotate        test_add_lhs_rhs_is_input_annotate
test_simulated_quantize_uses_specified... test_simulated_quantize_in_layouts      it keeps its own layout

Every integer module is compiled and equals its NumPy definition. Sizes are smaller where only time depends on them.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
import tvm
import tvm_ffi

import tvmq
from tvmq import relay
from tvmq.graph.module_functions import inline_functions
from tvmq.graph.view import View, const_value, is_const, op_name
from tvmq.passes.integrality import integrality

BASE = {"skip_conv_layers": [], "dtype_input": "int8", "dtype_weight": "int8", "dtype_activation": "int32"}


def weights(func: Any) -> dict[str, np.ndarray]:
    """Random values of every variable that is no data."""
    random = np.random.RandomState(0)
    found = {}
    for var in func.params:
        if not var.name_hint.startswith(("data", "x")):
            shape = [int(size) for size in var.checked_type.shape]
            found[var.name_hint] = random.uniform(-0.5, 0.5, shape).astype("float32")
    return found


def quantize_and_build(out: Any, skip_conv_layers: Any = ()) -> relay.IRModule:
    """Quantized and compiled; equal to the NumPy definition."""
    mod = relay.IRModule.from_expr(relay.Function(relay.analysis.free_vars(out), out))
    with relay.quantize.qconfig(skip_conv_layers=skip_conv_layers):
        qmod = relay.quantize.quantize(mod, weights(mod["main"]))
    random = np.random.RandomState(1)
    feed = {
        p.name: random.uniform(-1, 1, [int(d) for d in p.ty.shape]).astype("float32") for p in qmod.relax["main"].params
    }
    verification = tvmq.verify(tvmq.build(qmod.relax), [feed])
    assert verification.exact, str(verification)
    return qmod


def conv(data: Any, weight: Any, kernel: int = 3) -> Any:
    return relay.nn.conv2d(data, weight, kernel_size=(kernel, kernel), padding=(kernel // 2,) * 2, channels=16)


def constant(seed: int) -> Any:
    """A kernel of float64 numbers behind a cast."""
    return relay.const(np.random.RandomState(seed).uniform(-0.5, 0.5, (16, 16, 3, 3))).astype("float32")


def types(qmod: relay.IRModule, name: str) -> list[str]:
    return [str(var.ty.dtype) for var, value in View(qmod.relax).bindings if op_name(value) == name]


@pytest.mark.slow
def test_mul_rewrite() -> None:
    data = relay.var("data", shape=(1, 16, 16, 16))
    act = relay.nn.relu(conv(data, relay.var("weight")))
    quantize_and_build(act * relay.sigmoid(relay.var("data_gate", shape=(1, 16, 1, 1))))
    quantize_and_build(act * relay.nn.global_avg_pool2d(act))


@pytest.mark.slow
@pytest.mark.parametrize("skipped", [[], [0], [1], [0, 1]])
def test_skip_conv(skipped: list[int]) -> None:
    data = relay.var("data", shape=(1, 16, 16, 16))
    act = relay.nn.relu(conv(relay.nn.relu(conv(data, constant(0))), constant(1)))
    qmod = quantize_and_build(act * relay.sigmoid(relay.var("data_gate", shape=(1, 16, 1, 1))), skipped)
    assert types(qmod, "nn.conv2d") == ["float32" if index in skipped else "int32" for index in (0, 1)]


@pytest.mark.slow
def test_stop_quantize() -> None:
    """The convolution behind the pool, which stayed float in Relay, is integers here."""
    data = relay.var("data", shape=(1, 16, 16, 16))
    pooled = relay.nn.global_avg_pool2d(relay.nn.relu(conv(data, relay.var("w0"))))
    act = relay.nn.relu(conv(pooled, relay.var("w1"), 1))
    qmod = quantize_and_build(act * relay.sigmoid(relay.var("data_gate", shape=(1, 16, 1, 1))))
    assert types(qmod, "nn.conv2d") == ["int32", "int32"]


@pytest.mark.slow
def test_batch_flatten_rewrite() -> None:
    data = relay.var("data", shape=(1, 16, 8, 8))
    qmod = quantize_and_build(relay.nn.batch_flatten(conv(data, relay.var("weight"))))
    moved = types(qmod, "reshape") + types(qmod, "flatten")
    assert moved == ["int8"]


@pytest.mark.slow
def test_batch_matmul_rewrite() -> None:
    data = relay.var("data", shape=(1, 4, 16, 16))
    sums = relay.nn.conv2d(data, relay.var("weight"), kernel_size=(3, 3), padding=(1, 1), channels=8)
    flat = relay.reshape(relay.nn.batch_flatten(sums), (1, 32, 64))
    other = relay.sigmoid(relay.var("data_other", shape=(4, 16, 64)))
    qmod = quantize_and_build(relay.nn.batch_matmul(flat, other))
    assert types(qmod, "nn.conv2d") == ["int32"] and types(qmod, "tvmq.matmul") == ["int32"]


@pytest.mark.slow
def test_left_shift_negative() -> None:
    """Weights of 256, so that codes grow where they become those of the next layer: no shift is negative."""
    data = relay.var("data", shape=(1, 16, 16, 16))
    kernel = relay.const(np.full((16, 16, 3, 3), 256.0, "float32"))
    act = relay.nn.relu(relay.nn.conv2d(data, kernel, kernel_size=(3, 3), padding=(1, 1), channels=16))
    qmod = quantize_and_build(conv(act, constant(1)), None)
    shifts = [
        const_value(arg)
        for _, value in View(qmod.relax).bindings
        if op_name(value) == "tvmq.requantize"
        for arg in value.args
        if is_const(arg)
    ]
    assert shifts and all((shift >= 0).all() for shift in shifts)


def test_dense_conv2d_rewrite() -> None:
    dense = relay.nn.dense(relay.var("data_dense", shape=(1, 64)), relay.const(np.full((1, 64), 0.25, "float32")))
    both = relay.Tuple([
        relay.nn.bias_add(dense, relay.const(np.ones(1, "float32"))),
        conv(relay.var("data", shape=(1, 16, 8, 8)), constant(0)),
    ])  # fmt: skip
    mod = relay.IRModule.from_expr(both)
    with relay.quantize.qconfig(calibrate_mode="global_scale", skip_dense_layer=False):
        qmod = relay.quantize.quantize(mod)
    products = {
        op_name(value): value for _, value in View(qmod.relax).bindings if op_name(value) in ("matmul", "nn.conv2d")
    }
    operands = {name: [str(arg.ty.dtype) for arg in value.args] for name, value in products.items()}
    assert operands == {"matmul": ["int8", "int8"], "nn.conv2d": ["float32", "float32"]}
    assert types(qmod, "matmul") == ["int32"] and types(qmod, "nn.conv2d") == ["float32"]


@pytest.mark.slow
def test_add_lhs_is_none_annotate() -> None:
    _close_to_float(relay.var("data_add", shape=(16, 1, 1)))


@pytest.mark.slow
def test_add_lhs_rhs_is_input_annotate() -> None:
    _close_to_float(conv(relay.var("data_l", shape=(1, 16, 16, 16)), constant(3)))


def _close_to_float(left: Any) -> None:
    """The mean of a sum with a convolution, quantized by data that have an input too many."""
    out = relay.nn.global_avg_pool2d(relay.add(left, conv(relay.var("data_r", shape=(1, 16, 16, 16)), constant(2))))
    mod = relay.IRModule.from_expr(out)
    random = np.random.RandomState(0)
    feed = {p.name_hint: random.uniform(0, 1, p.checked_type.shape).astype("float32") for p in mod["main"].params}
    with tvm.transform.PassContext(opt_level=3):
        with relay.quantize.qconfig(calibrate_mode="kl_divergence", skip_conv_layers=None):
            qmod = relay.quantize.quantize(mod, None, [feed | {"unused": np.zeros(1)}])
    ours, floats = (relay.create_executor("vm", one, tvm.cpu(0)).evaluate()(**feed).numpy() for one in (qmod, mod))
    np.testing.assert_allclose(ours, floats, rtol=0.1, atol=0.1)


def partitioned(out: Any, how: str) -> relay.IRModule:
    mod = relay.IRModule.from_expr(out)
    with relay.quantize.qconfig(**BASE, partition_conversions=how):
        return relay.quantize.quantize(mod, weights(mod["main"]))


def kernel(name: str = "w") -> Any:
    return relay.var(name, shape=(4, 4, 3, 3))


def small_conv(data: Any, name: str = "w") -> Any:
    return relay.nn.conv2d(data, kernel(name), padding=(1, 1), channels=4, kernel_size=(3, 3))


def test_conv2d_partition() -> None:
    verify_partition(small_conv(relay.var("x", shape=(1, 4, 16, 16))))


@pytest.mark.slow
def test_multiple_arg_conversions_partition() -> None:
    left, right = (small_conv(relay.var(f"x{i}", shape=(1, 4, 16, 16)), f"w{i}") for i in range(2))
    verify_partition(relay.add(left, right))


def verify_partition(out: Any) -> None:
    """Check that one function and four give the same results."""
    whole, split = partitioned(out, "disabled"), partitioned(out, "fully_integral")
    assert len(whole.get_global_vars()) == 1
    names = {var.name_hint for var in split.get_global_vars()}
    assert names == {"main", "quantize_inputs", "quantized_main", "dequantize_outputs"}
    random = np.random.RandomState(0)
    inputs = [random.uniform(0, 1, param.checked_type.shape) for param in whole["main"].params]
    results = [relay.create_executor("vm", one, tvm.cpu(0), "llvm").evaluate()(*inputs) for one in (whole, split)]
    np.testing.assert_array_equal(*(result.numpy() for result in results))


def verify_integral(out: Any) -> None:
    """Relay quantized nothing of it, and refused it; here it becomes integers on request, and is exact."""
    partitioned(out, "enabled")
    split = partitioned(out, "fully_integral").relax
    feed = {p.name: np.random.RandomState(0).randn(*map(int, p.ty.shape)).astype("f4") for p in split["main"].params}
    assert integrality(inline_functions(split)).is_integral and tvmq.verify(tvmq.build(split), [feed]).exact


@pytest.mark.slow
def test_add_partition() -> None:
    verify_integral(relay.add(relay.var("x", shape=(10, 10)), relay.var("xy", shape=(10, 10))))


@pytest.mark.slow
def test_unquantizable_prefix_partition() -> None:
    verify_integral(small_conv(_biased(relay.var("x", shape=(1, 4, 16, 16)))))


def _biased(out: Any) -> Any:
    return relay.nn.bias_add(out, relay.const(np.ones(4, "float32")))


@pytest.mark.slow
def test_unquantizable_core_partition() -> None:
    """Relay refused this below opt_level 3."""
    verify_partition(small_conv(_biased(small_conv(relay.var("x", shape=(1, 4, 16, 16)))), "w2"))


@pytest.mark.slow
def test_unquantizable_suffix_partition() -> None:
    """Relay refused this below opt_level 3."""
    verify_partition(_biased(small_conv(relay.var("x", shape=(1, 4, 16, 16)))))


def calibrated(**options: Any) -> relay.IRModule:
    """The network of the calibration tests, by five samples of float64."""
    mod, params = relay.testing.synthetic.get_workload()
    shape = next(p.checked_type.concrete_shape for p in mod["main"].params if p.name_hint == "data")
    dataset = [{"data": np.random.RandomState(i).uniform(size=shape)} for i in range(5)]
    with relay.quantize.qconfig(**options):
        qmod = relay.quantize.quantize(mod, params, dataset)
    assert "int32" in types(qmod, "nn.conv2d")
    return qmod


@pytest.fixture(scope="module")
def by_divergence() -> relay.IRModule:
    return calibrated(calibrate_mode="kl_divergence")


@pytest.mark.slow
def test_calibrate_target(by_divergence: relay.IRModule) -> None:
    """A target of the scope changes nothing; nor does its absence."""
    with tvm.target.Target("llvm"):
        assert same(by_divergence, calibrated(calibrate_mode="kl_divergence"))


@pytest.mark.slow
def test_calibrate_memory_bound(by_divergence: relay.IRModule) -> None:
    """Tensors are calibrated in groups as large as the number of CPUs; the results do not depend on it."""
    assert same(by_divergence, calibrated(calibrate_mode="kl_divergence", calibrate_chunk_by=os.cpu_count()))


def same(*mods: relay.IRModule) -> bool:
    """True for equal integers, constants included."""
    return tvm_ffi.structural_equal(*(mod.relax["main"].without_attr("tvmq.ledger") for mod in mods))


def test_calibrate_percentile() -> None:
    calibrated(calibrate_mode="percentile")


def test_simulated_quantize_in_layouts() -> None:
    """In another layout of convolutions there are as many transpositions with simulated_quantize as without."""
    kinds = relay.quantize.QAnnotateKind

    def converted(attach: bool) -> list[str]:
        sums = relay.nn.conv2d(
            relay.var("x", shape=(1, 64, 56, 56)), relay.var("w"), channels=64, kernel_size=(3, 3), padding=(1, 1)
        )
        sums = relay.quantize._annotate.attach_simulated_quantize(sums, kinds.INPUT) if attach else sums
        mod = relay.IRModule.from_expr(relay.nn.relu(sums))
        convert = relay.transform.ConvertLayout({"nn.conv2d": ["NHWC", "OHWI"]})
        blocks = convert(mod).relax["main"].body.blocks
        return [op_name(binding.value) for block in blocks for binding in block.bindings]

    plain, simulated = converted(False), converted(True)
    assert plain.count("permute_dims") == simulated.count("permute_dims") == 3
    assert sorted(simulated) == sorted([*plain, "tvmq.simulated_quantize"])


def test_attach_simulated_quantize_to_expressions() -> None:
    attach, kinds = relay.quantize._annotate.attach_simulated_quantize, relay.quantize.QAnnotateKind
    with relay.quantize.quantize_context():
        x = relay.var("x", shape=(2, 3))
        once = attach(x, kinds.INPUT)
        assert attach(x, kinds.INPUT) is once and attach(once, kinds.INPUT) is once
        assert attach(once, kinds.WEIGHT) is not once and attach(x, kinds.IDENTITY) is x
    assert once.op.name == "relay.op.annotation.simulated_quantize" and once.attrs.kind == kinds.INPUT
    found = relay.create_executor("graph").evaluate(once, {x: np.full((2, 3), 0.7, "float32")})
    assert (found.numpy() == np.float32(0.7)).all(), "the identity until it has a scale"


def test_as_scripts_for_accelerators_quantize() -> None:
    """Powers of two for all scales: behind convolutions every requantize is a shift; the first stays float."""
    mod, params = relay.testing.resnet.get_workload(num_layers=8, num_classes=10, image_shape=(3, 28, 28))
    with tvm.transform.PassContext(opt_level=3):
        with relay.quantize.qconfig(global_scale=8.0, skip_conv_layers=[0], round_for_shift=True):
            qmod = relay.quantize.quantize(mod, params=params)
    assert types(qmod, "nn.conv2d")[0] == "float32" and set(types(qmod, "nn.conv2d")[1:]) == {"int32"}
    bindings = View(qmod.relax).bindings
    multipliers = [const_value(value.args[1]) for _, value in bindings if op_name(value) == "tvmq.requantize"]
    *convolutions, pool = [int(found) for found in multipliers]  # of the pool: one in 49 pixels
    assert set(convolutions) == {2**30} and pool != 2**30
