"""Modules written with Relay's names as arguments and results of relay.quantize."""

from __future__ import annotations

import numpy as np
import pytest
import tvm

import tvmq
from tvmq import relay
from tvmq.graph.view import View, op_name


def network(shape: tuple[int, ...] = (1, 4, 8, 8)) -> relay.IRModule:
    """relu(conv2d(data) + bias) and a conv2d behind it."""
    data = relay.var("data", shape=shape)
    sums = relay.nn.conv2d(data, relay.var("w1"), channels=8, kernel_size=(3, 3), padding=(1, 1))
    act = relay.nn.relu(relay.nn.bias_add(sums, relay.var("b1")))
    out = relay.nn.conv2d(act, relay.var("w2"), channels=8, kernel_size=(3, 3), padding=(1, 1))
    return relay.IRModule.from_expr(relay.Function(relay.analysis.free_vars(out), out))


def params() -> dict[str, np.ndarray]:
    random = np.random.RandomState(0)
    shapes = {"w1": (8, 4, 3, 3), "b1": (8,), "w2": (8, 8, 3, 3)}
    return {name: random.uniform(-0.5, 0.5, shape).astype("float32") for name, shape in shapes.items()}


@pytest.mark.slow
def test_a_module_of_relays_names() -> None:
    mod = network()
    with relay.quantize.qconfig(skip_conv_layers=[]):
        qmod = relay.quantize.quantize(mod, params())
    assert isinstance(qmod, relay.IRModule)
    plain = qmod.relax
    assert [str(v.ty.dtype) for v, c in View(plain).bindings if op_name(c) == "nn.conv2d"] == ["int32", "int32"]
    feed = {"data": np.random.RandomState(1).uniform(-1, 1, (1, 4, 8, 8)).astype("float32")}
    verification = tvmq.verify(tvmq.build(plain), [feed])
    assert verification.exact, str(verification)


def test_a_module_of_relax_stays_one() -> None:
    qmod = relay.quantize.quantize(network().relax, params())
    assert type(qmod) is tvm.IRModule


def test_each_step_takes_relays_modules() -> None:
    q = relay.quantize
    with q.qconfig(skip_conv_layers=[], partition_conversions="fully_integral"):
        prepared = q.prerequisite_optimize(network(), params())
        assert isinstance(prepared, relay.IRModule)
        split = q.partition_conversions(q.realize()(q.calibrate()(prepared, None)), (), True)
        whole = q.quantize(network(), params())
    assert {var.name_hint for var in split.get_global_vars()} == {var.name_hint for var in whole.get_global_vars()}
