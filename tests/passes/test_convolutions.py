"""Convolutions of all kinds on the road: imported, folded, quantized, exact, and in float, beside onnxruntime."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest

import tvmq
from tests.support.models.networks import Net, drive, feeds_of, run_onnx
from tvmq.graph.view import View, op_name
from tvmq.passes.prepare import prepare


def layer(n: Net, operator: str, x: str, shape: tuple[int, ...], bias: int = 0, **attributes: Any) -> str:
    """Conv or ConvTranspose with a weight of this shape."""
    constants = [n.constant(n.weight(*shape))]
    if bias:
        constants.append(n.constant((0.3 * n.random.standard_normal(bias)).astype(np.float32)))
    return n.op(operator, x, *constants, **attributes)


def lines() -> onnx.ModelProto:
    """Strides, dilation, depthwise, a residual add, pooling."""
    n = Net((2, 3, 37))
    y = n.op("Relu", layer(n, "Conv", "x", (6, 3, 5), 6, pads=[2, 1], strides=[2]))
    y = n.op("MaxPool", y, kernel_shape=[2], strides=[2], pads=[0, 1])
    y = n.op("Add", y, layer(n, "Conv", y, (6, 1, 3), pads=[2, 2], dilations=[2], group=6))
    return n.model(layer(n, "Conv", n.op("HardSwish", y), (4, 6, 1), 4))


def volumes() -> onnx.ModelProto:
    """A residual add, pooling over all three axes, groups."""
    n = Net((2, 3, 5, 6, 7))
    y = n.op("Relu", layer(n, "Conv", "x", (6, 3, 3, 3, 3), 6, pads=[1, 0, 1, 1, 1, 0], strides=[2, 1, 1]))
    y = n.op("Add", y, layer(n, "Conv", y, (6, 6, 1, 1, 1), 6))
    y = n.op("MaxPool", y, kernel_shape=[2, 2, 2], strides=[1, 2, 2], pads=[0, 1, 0, 1, 0, 0])
    return n.model(layer(n, "Conv", y, (4, 3, 1, 3, 3), 4, group=2, pads=[0, 1, 1, 0, 1, 1]))


def transposed_lines() -> onnx.ModelProto:
    n = Net((2, 4, 9))
    y = n.op(
        "Relu", layer(n, "ConvTranspose", "x", (4, 5, 3), 10, strides=[3], group=2, pads=[1, 0], output_padding=[1])
    )
    return n.model(layer(n, "ConvTranspose", y, (10, 1, 4), strides=[2], group=10))


def transposed_pictures() -> onnx.ModelProto:
    """With a batch norm that folds, and a skip connection that is read beside it."""
    n = Net((1, 4, 9, 7))
    y = n.op("Relu", layer(n, "Conv", "x", (6, 4, 3, 3), 6, pads=[1] * 4))
    z = layer(n, "ConvTranspose", y, (6, 5, 3, 3), 5, strides=[2, 2], pads=[1] * 4, output_padding=[1, 1])
    z = n.op("Relu", n.batch_norm(z, 5))
    z = n.op("MaxPool", z, kernel_shape=[2, 2], strides=[2, 2])
    return n.model(layer(n, "Conv", n.op("Concat", y, z, axis=1), (3, 11, 3, 3), 3, dilations=[2, 1]))


def transposed_volumes() -> onnx.ModelProto:
    n = Net((1, 4, 3, 5, 4))
    y = n.op("Relu", layer(n, "ConvTranspose", "x", (4, 5, 2, 2, 3), 5, strides=[2, 2, 1], pads=[0, 0, 1, 0, 1, 1]))
    return n.model(layer(n, "Conv", y, (2, 5, 2, 1, 1), 2))


MODELS = [lines, volumes, transposed_lines, transposed_pictures, transposed_volumes]


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("make", MODELS)
def test_the_road(make: Callable[[], onnx.ModelProto]) -> None:
    """In float as onnxruntime; everything becomes integers, the compiled module is exact, the error is that of 8 bits."""
    model = make()
    mod, params = tvmq.from_onnx(model)
    feed = feeds_of(model)[0]
    (expected,), (found,) = run_onnx(model, feed), tvmq.build(mod, params=params).run(feed)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    road = drive(model, least_snr=28.0)
    assert set(road.precision().values()) == {"int8"}
    assert not road.verification.islands


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("mode", ["fixed_point", "power_of_two"])
def test_other_ways_to_requantize(mode: str) -> None:
    drive(transposed_pictures(), requantize=mode, least_snr=18.0)
    drive(lines(), requantize=mode, least_snr=18.0)


def normalized(n: Net, y: str, gamma: list[float]) -> str:
    """A batch norm with these factors."""
    statistics = [gamma, [0.1, -0.4, 0.2, 0.6], [0.1, 0.4, 0.2, 0.6], [0.1, 0.4, 0.2, 0.6]]
    return n.op("BatchNormalization", y, *(n.constant(np.float32(s)) for s in statistics))


@pytest.mark.slow
@pytest.mark.thinned(4)
@pytest.mark.parametrize("high", [None, 0.9])
@pytest.mark.parametrize("shape", [(2, 3, 9, 8), (1, 3, 20)])
@pytest.mark.parametrize("gamma", [[1.2, 0.4, 0.7, 0.9], [1.2, -0.4, 0.0, -0.9]])
def test_batch_norm_behind_a_clip_folds(high: float | None, shape: tuple[int, ...], gamma: list[float]) -> None:
    """Into the weights and bounds of each channel, which negative factors swap."""
    n, spatial = Net(shape), len(shape) - 2
    y = layer(n, "Conv", "x", (4, 3) + (3,) * spatial, 4, pads=[1] * 2 * spatial)
    y = n.op("Relu", y) if high is None else n.op("Clip", y, *(n.constant(np.float32(v)) for v in (0.0, high)))
    model = n.model(normalized(n, y, gamma))
    mod, params = tvmq.from_onnx(model)
    names = [op_name(value) for _, value in View(prepare(mod, params)).bindings]
    assert names[:2] == [f"nn.conv{spatial}d", "add"] and set(names[2:]) <= {"maximum", "minimum"}
    feed = feeds_of(model)[0]
    np.testing.assert_allclose(tvmq.build(mod, params=params).run(feed)[0], run_onnx(model, feed)[0], atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("also_result", [False, True])
def test_batch_norm_behind_a_clip_in_integers(also_result: bool) -> None:
    n = Net((2, 3, 9, 8))
    y = normalized(n, n.op("Relu", n.conv("x", 3, 4)), [1.2, -0.4, 0.0, 0.9])
    outputs = [n.conv(y, 4, 5), y] if also_result else [n.conv(y, 4, 5)]
    road = drive(n.model(*outputs), least_snr=28.0)
    assert set(road.precision().values()) == {"int8"}
    assert "/relu_1" in road.precision(), "the name of the relu is lost"


def test_a_relu_that_others_read_keeps_its_batch_norm() -> None:
    n = Net((2, 3, 9, 8))
    y = n.op("Relu", n.conv("x", 3, 4))
    model = n.model(normalized(n, y, [1.2, 0.4, 0.7, 0.9]), y)
    mod, params = tvmq.from_onnx(model)
    assert "nn.relu" in [op_name(value) for _, value in View(prepare(mod, params)).bindings]


@pytest.mark.slow
def test_scales_of_a_transposed_weight() -> None:
    """Scales of output channels: along the second axis, which groups share, or along the first if depthwise."""
    for groups, shape in ((1, (4, 5, 3)), (2, (4, 5, 3)), (4, (4, 1, 3)), (4, (4, 2, 3))):
        n = Net((1, 4, 9))
        road = drive(n.model(layer(n, "ConvTranspose", "x", shape, shape[1] * groups, group=groups)))
        (entry,) = road.ledger.layers.values()
        assert entry["weight"]["scales"] == shape[1] * groups
        assert entry["macs"] == 4 * 9 * shape[1] * 3
