"""The cases of Relay's own quantizer tests, written from their description: models, options and what they assert."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tvmq
from tvmq import relay
from tvmq.graph.view import View, op_name

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
    with relay.quantize.qconfig(skip_conv_layers=list(skip_conv_layers)):
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


def test_mul_rewrite() -> None:
    data = relay.var("data", shape=(1, 16, 16, 16))
    act = relay.nn.relu(conv(data, relay.var("weight")))
    quantize_and_build(act * relay.sigmoid(relay.var("data_gate", shape=(1, 16, 1, 1))))
    quantize_and_build(act * relay.nn.global_avg_pool2d(act))


@pytest.mark.parametrize("skipped", [[], [0], [1], [0, 1]])
def test_skip_conv(skipped: list[int]) -> None:
    data = relay.var("data", shape=(1, 16, 16, 16))
    act = relay.nn.relu(conv(relay.nn.relu(conv(data, constant(0))), constant(1)))
    qmod = quantize_and_build(act * relay.sigmoid(relay.var("data_gate", shape=(1, 16, 1, 1))), skipped)
    assert types(qmod, "nn.conv2d") == ["float32" if index in skipped else "int32" for index in (0, 1)]


def test_stop_quantize() -> None:
    """The convolution behind the pool, which stayed float in Relay, is integers here."""
    data = relay.var("data", shape=(1, 16, 16, 16))
    pooled = relay.nn.global_avg_pool2d(relay.nn.relu(conv(data, relay.var("w0"))))
    act = relay.nn.relu(conv(pooled, relay.var("w1"), 1))
    qmod = quantize_and_build(act * relay.sigmoid(relay.var("data_gate", shape=(1, 16, 1, 1))))
    assert types(qmod, "nn.conv2d") == ["int32", "int32"]


def test_batch_flatten() -> None:
    data = relay.var("data", shape=(1, 16, 8, 8))
    qmod = quantize_and_build(relay.nn.batch_flatten(conv(data, relay.var("weight"))))
    moved = types(qmod, "reshape") + types(qmod, "flatten")
    assert moved == ["int8"]


def test_batch_matmul() -> None:
    data = relay.var("data", shape=(1, 4, 16, 16))
    sums = relay.nn.conv2d(data, relay.var("weight"), kernel_size=(3, 3), padding=(1, 1), channels=8)
    flat = relay.reshape(relay.nn.batch_flatten(sums), (1, 32, 64))
    other = relay.sigmoid(relay.var("data_other", shape=(4, 16, 64)))
    qmod = quantize_and_build(relay.nn.batch_matmul(flat, other))
    assert types(qmod, "nn.conv2d") == ["int32"] and types(qmod, "tvmq.matmul") == ["int32"]


def test_left_shift_negative() -> None:
    """No shift to the left by a negative number: scales of weights of 256."""
    data = relay.var("data", shape=(1, 16, 16, 16))
    kernel = relay.const(np.full((16, 16, 3, 3), 256.0, "float32"))
    act = relay.nn.relu(conv(data, kernel))
    quantize_and_build(conv(act, constant(1)))


def test_dense_conv2d() -> None:
    dense = relay.nn.dense(relay.var("data_dense", shape=(1, 64)), relay.const(np.full((1, 64), 0.25, "float32")))
    both = relay.Tuple([
        relay.nn.bias_add(dense, relay.const(np.ones(1, "float32"))),
        conv(relay.var("data", shape=(1, 16, 8, 8)), constant(0)),
    ])  # fmt: skip
    mod = relay.IRModule.from_expr(both)
    with relay.quantize.qconfig(calibrate_mode="global_scale", skip_dense_layer=False):
        qmod = relay.quantize.quantize(mod)
    assert types(qmod, "matmul") == ["int32"] and types(qmod, "nn.conv2d") == ["float32"]


@pytest.mark.parametrize("mode", ["lhs is none", "both are convolutions"])
def test_add_annotate(mode: str) -> None:
    random = np.random.RandomState(0)
    right = conv(relay.var("data_r", shape=(1, 16, 16, 16)), constant(2))
    left = relay.var("data_add", shape=(16, 1, 1))
    if mode != "lhs is none":
        left = conv(relay.var("data_l", shape=(1, 16, 16, 16)), constant(3))
    out = relay.nn.global_avg_pool2d(relay.add(left, right))
    mod = relay.IRModule.from_expr(out)
    shapes = {p.name: [int(d) for d in p.ty.shape] for p in mod.relax["main"].params}
    feed = {name: random.uniform(0, 1, shape).astype("float32") for name, shape in shapes.items()}
    with relay.quantize.qconfig(calibrate_mode="kl_divergence", skip_conv_layers=None):
        qmod = relay.quantize.quantize(mod, None, [feed | {"unused": np.zeros(1)}])
    ours, floats = (tvmq.build(one).run(feed)[0] for one in (qmod.relax, mod.relax))
    np.testing.assert_allclose(ours, floats, rtol=0.1, atol=0.1)


def partitioned(out: Any, how: str) -> relay.IRModule:
    mod = relay.IRModule.from_expr(out)
    with relay.quantize.qconfig(**BASE, partition_conversions=how):
        return relay.quantize.quantize(mod, weights(mod["main"]))


def kernel(name: str = "w") -> Any:
    return relay.var(name, shape=(4, 4, 3, 3))


def small_conv(data: Any, name: str = "w") -> Any:
    return relay.nn.conv2d(data, kernel(name), padding=(1, 1), channels=4, kernel_size=(3, 3))


@pytest.mark.parametrize("inputs", [1, 2])
def test_conv2d_partition(inputs: int) -> None:
    parts = [small_conv(relay.var(f"x{i}", shape=(1, 4, 16, 16)), f"w{i}") for i in range(inputs)]
    out = parts[0] if inputs == 1 else relay.add(*parts)
    whole, split = partitioned(out, "disabled"), partitioned(out, "fully_integral")
    assert len(whole.get_global_vars()) == 1 and len(split.get_global_vars()) == 4
    random = np.random.RandomState(0)
    feed = {f"x{i}": random.uniform(0, 1, (1, 4, 16, 16)).astype("float32") for i in range(inputs)}
    assert np.array_equal(*(tvmq.build(one.relax).run(feed)[0] for one in (whole, split)))


def test_add_partition() -> None:
    """Nothing is quantized: the core is not integral."""
    out = relay.add(relay.var("x", shape=(10, 10)), relay.var("xy", shape=(10, 10)))
    partitioned(out, "enabled")
    with pytest.raises(AssertionError, match="allows no float"):
        partitioned(out, "fully_integral")


def test_unquantizable_prefix() -> None:
    out = small_conv(relay.nn.bias_add(relay.var("x", shape=(1, 4, 16, 16)), relay.const(np.ones(4, "float32"))))
    partitioned(out, "enabled")
    with pytest.raises(AssertionError, match="allows no float"):
        partitioned(out, "fully_integral")


@pytest.mark.parametrize("again", [True, False])
def test_bias_behind_a_convolution_is_quantizable_here(again: bool) -> None:
    """Relay refused these below opt_level 3."""
    out = relay.nn.bias_add(small_conv(relay.var("x", shape=(1, 4, 16, 16))), relay.const(np.ones(4, "float32")))
    assert len(partitioned(small_conv(out, "w2") if again else out, "fully_integral").get_global_vars()) == 4


def test_calibrate_workload() -> None:
    mod, params = relay.testing.synthetic.get_workload()
    func = mod["main"]
    shape = next([int(d) for d in p.checked_type.shape] for p in func.params if p.name_hint == "data")
    dataset = [{"data": np.random.RandomState(i).uniform(size=shape)} for i in range(5)]
    for options in ({"calibrate_mode": "percentile"}, {"calibrate_mode": "kl_divergence", "calibrate_chunk_by": 2}):
        with relay.quantize.qconfig(**options):
            qmod = relay.quantize.quantize(mod, params, dataset)
        assert "int32" in types(qmod, "nn.conv2d")
