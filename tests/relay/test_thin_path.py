"""A network written with Relay's names, quantized, compiled, and equal to the NumPy definition."""

from __future__ import annotations

import numpy as np
import pytest

import tvmq
from tvmq import relay


def small_network() -> relay.Function:
    data = relay.var("data", shape=(1, 3, 12, 12))
    conv = relay.nn.conv2d(data, relay.var("weight"), channels=8, kernel_size=3, padding=1)
    out = relay.nn.relu(relay.nn.bias_add(conv, relay.var("bias")))
    return relay.Function(relay.analysis.free_vars(out), out)


@pytest.mark.slow
def test_quantized_network_equals_the_definition():
    rng = np.random.default_rng(0)
    params = {"weight": rng.normal(size=(8, 3, 3, 3)).astype("float32"), "bias": rng.normal(size=8).astype("float32")}
    batches = [{"data": rng.normal(size=(1, 3, 12, 12)).astype("float32")} for _ in range(3)]
    mod = relay.IRModule.from_expr(small_network())
    qmod = tvmq.quantize(mod, params, batches, guard=None)
    compiled = tvmq.build(qmod).run(batches[0])
    expected = tvmq.reference.run(qmod, batches[0])
    np.testing.assert_array_equal(compiled[0], expected[0])


def test_float_network_equals_numpy():
    data = np.arange(16, dtype="float32").reshape(1, 1, 4, 4)
    x = relay.var("data", shape=(1, 1, 4, 4))
    weight = relay.const(np.full((1, 1, 2, 2), 0.25, "float32"))
    mean = relay.nn.conv2d(x, weight, strides=(2, 2))
    out = tvmq.build(relay.IRModule.from_expr(mean).relax).run({"data": data})
    np.testing.assert_array_equal(out[0], data.reshape(1, 1, 2, 2, 2, 2).mean(axis=(3, 5)))
