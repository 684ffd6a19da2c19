"""Channels between convolutions get ranges of one size; what the network computes stays the same, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
import tvm

import tvmq
from tests.support.models.networks import Net
from tvmq.graph.ledger import get_ledger
from tvmq.graph.view import View, const_value, op_name
from tvmq.passes.equalize import equalize, pairs
from tvmq.passes.prepare import prepare

Steps = tuple[str, ...]


def uneven(net: Net, *shape: int) -> np.ndarray:
    """Weights whose output channels differ by up to 2^6."""
    return net.weight(*shape) * np.exp2(np.arange(shape[0]) % 7).reshape(-1, 1, 1, 1).astype(np.float32)


def network(*between: str, groups: int = 1, **attributes: object) -> tuple[Net, str]:
    """A convolution of uneven channels, operators, and another convolution."""
    net = Net((1, 3, 8, 8))
    y = net.conv("x", 3, 8, weight=uneven(net, 8, 3, 3, 3))
    for operator in between:
        y = net.op(operator, y, **attributes)
    return net, net.conv(y, 8, 8, groups=groups)


def prepared(net: Net, *outputs: str) -> tvm.IRModule:
    return prepare(*tvmq.from_onnx(net.model(*outputs)))


def weights(mod: tvm.IRModule) -> list[np.ndarray]:
    return [const_value(value.args[1]) for _, value in View(mod).bindings if op_name(value) == "nn.conv2d"]


def spread(weight: np.ndarray, axis: int = 0) -> float:
    """Largest range of a channel over the smallest one."""
    ranges = np.abs(np.moveaxis(weight, axis, 0)).reshape(weight.shape[axis], -1).max(axis=1)
    return float(ranges.max() / ranges.min())


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize(("between", "groups", "attributes"), [
    ((), 1, {}),
    (("Relu",), 1, {}),
    (("Relu",), 8, {}),
    (("LeakyRelu",), 1, {"alpha": 0.25}),
    (("MaxPool",), 1, {"kernel_shape": [2, 2]}),
])  # fmt: skip
def test_ranges_come_together_and_results_stay(between: Steps, groups: int, attributes: dict[str, object]):
    net, y = network(*between, groups=groups, **attributes)
    before = prepared(net, y)
    after = equalize(before)
    (first, second), (new_first, new_second) = weights(before), weights(after)
    assert spread(first) > 30 and spread(new_first) < spread(first) / 4
    factors = np.abs(new_first).reshape(8, -1).max(axis=1) / np.abs(first).reshape(8, -1).max(axis=1)
    assert (np.frexp(factors)[0] == 0.5).all() and len(set(factors)) > 1
    axis = (slice(None), None) if groups > 1 else (None, slice(None))
    np.testing.assert_array_equal(new_second, second / factors[(*axis, None, None)].astype(np.float32))
    feed = {"x": net.random.standard_normal((1, 3, 8, 8)).astype(np.float32)}
    one, other = (tvmq.build(mod).run(feed)[0] for mod in (before, after))
    np.testing.assert_array_equal(one, other)
    assert "equalization: the channels of 1 convolutions" in get_ledger(after).notes[-1]


def test_clips_residuals_and_results_are_left():
    net = Net((1, 3, 8, 8))
    clipped = net.op("Clip", net.conv("x", 3, 8, weight=uneven(net, 8, 3, 3, 3)), net.constant(np.float32(0)),
                     net.constant(np.float32(6)))  # fmt: skip
    summed = net.conv(clipped, 8, 8, weight=uneven(net, 8, 8, 3, 3))
    total = net.op("Add", summed, clipped)
    result = net.conv(total, 8, 8, weight=uneven(net, 8, 8, 3, 3))
    mod = prepared(net, result, net.conv(result, 8, 4))
    assert pairs(View(mod)) == pairs(View(prepared(*network("Relu", groups=2)))) == []  # of groups: neither one nor all
    assert equalize(mod) is mod


@pytest.mark.slow
def test_several_readers_share_the_factors():
    net = Net((1, 3, 8, 8))
    y = net.op("Relu", net.conv("x", 3, 8, weight=uneven(net, 8, 3, 3, 3)))
    mod = prepared(net, net.conv(y, 8, 4), net.conv(y, 8, 5, 1))
    (pair,) = pairs(View(mod))
    assert len(pair.readers) == 2
    feed = {"x": net.random.standard_normal((1, 3, 8, 8)).astype(np.float32)}
    for one, other in zip(tvmq.build(mod).run(feed), tvmq.build(equalize(mod)).run(feed), strict=True):
        np.testing.assert_array_equal(one, other)


def test_channels_of_zeros_keep_their_factor():
    net = Net((1, 3, 8, 8))
    weight = uneven(net, 8, 3, 3, 3)
    weight[2] = 0
    mod = equalize(prepared(net, net.conv(net.op("Relu", net.conv("x", 3, 8, weight=weight)), 8, 4)))
    first, second = weights(mod)
    assert not first[2].any() and np.isfinite(second).all()


@pytest.mark.slow
def test_the_option_lowers_the_error_of_one_scale_a_weight():
    net, y = network("Relu", groups=8)
    mod, params = tvmq.from_onnx(net.model(net.op("Relu", y)))
    data = [{"x": net.random.standard_normal((1, 3, 8, 8)).astype(np.float32)} for _ in range(8)]
    true = tvmq.build(mod, params=params).run(data[0])[0]

    def error(**options: object) -> float:
        config = tvmq.qconfig(per_channel=False, **options)
        found = tvmq.build(tvmq.quantize(mod, params, data, config=config, guard=None)).run(data[0])[0]
        scale = np.abs(true).max(axis=(0, 2, 3), keepdims=True) + 1e-9
        return float(np.square((found - true) / scale).mean())

    assert error(equalization=True) < error() / 2
