"""Small networks that the tests of formats without floats share: each is one function of a Net."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tvmq
from tests.support.models.networks import Net, feeds_of
from tvmq import reference

Compared = list[tuple[list[np.ndarray], list[np.ndarray]]]


def plain(net: Net) -> str:
    """A convolution with relu, and one of single pixels."""
    return net.conv(net.op("Relu", net.conv(net.inputs[0], 3, 8)), 8, 4, kernel=1)


def strided(net: Net) -> str:
    """Strides, borders that no name stands for, depthwise with a clip, dilation, groups."""
    x = net.op("Relu", net.conv(net.inputs[0], 3, 8, strides=[2, 2]))
    bounds = [net.constant(np.float32(0)), net.constant(np.float32(1.5))]
    x = net.op("Clip", net.conv(x, 8, 8, groups=8, pads=[0, 0, 1, 1], strides=[2, 2]), *bounds)
    return net.conv(x, 8, 16, dilations=[2, 2], pads=[2, 2, 2, 2], groups=4)


def residual(net: Net) -> str:
    """A sum with relu, and a difference."""
    x = net.op("Relu", net.conv(net.inputs[0], 3, 8))
    y = net.op("Relu", net.op("Add", net.conv(x, 8, 8), x))
    return net.op("Sub", net.conv(y, 8, 8, kernel=1), y)


def pooled(net: Net) -> str:
    """Pools by maximum and average, a mean, a dense layer."""
    x = net.op("MaxPool", net.conv(net.inputs[0], 3, 6), kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    x = net.op("AveragePool", net.conv(x, 6, 6), kernel_shape=[2, 3], strides=[1, 1])
    return net.dense(net.op("Flatten", net.op("GlobalAveragePool", x)), 6, 5)


def flattened(net: Net) -> str:
    """A picture becomes a row, whose order is that of the model; a dense layer of one result."""
    x = net.op("Relu", net.conv(net.inputs[0], 3, 4, strides=[2, 2]))
    return net.dense(net.op("Relu", net.dense(net.op("Flatten", x), 64, 10)), 10, 1)


def joined(net: Net) -> str:
    """A concat of parts in several scales, pixels repeated."""
    a, b = net.op("Relu", net.conv(net.inputs[0], 3, 4)), net.op("Sigmoid", net.conv(net.inputs[0], 3, 4, kernel=1))
    x = net.op("Resize", net.op("Concat", a, b, axis=1), "", net.constant(np.float32([1, 1, 2, 2])), mode="nearest",
               nearest_mode="floor", coordinate_transformation_mode="asymmetric")  # fmt: skip
    return net.conv(x, 8, 4)


def gated(net: Net) -> str:
    """Squeeze and excite: a product of a picture and a number for each channel."""
    x = net.op("Relu", net.conv(net.inputs[0], 3, 8))
    s = net.op("Sigmoid", net.conv(net.op("GlobalAveragePool", x), 8, 8, kernel=1, pads=[0, 0, 0, 0]))
    return net.conv(net.op("Mul", x, s), 8, 4)


def activated(net: Net) -> str:
    """Functions of one tensor."""
    x = net.op("HardSwish", net.conv(net.inputs[0], 3, 6))
    x = net.op("LeakyRelu", net.conv(x, 6, 6), alpha=0.1)
    return net.op("Tanh", net.conv(x, 6, 4))


def enlarged(net: Net) -> str:
    """Transposed convolutions: whole, with a border that TFLite names, and with one that it does not."""
    x = net.op("Relu", net.conv(net.inputs[0], 3, 4))
    for kernel, pads in ((2, [0, 0, 0, 0]), (4, [1, 1, 1, 1]), (3, [1, 0, 1, 1])):
        weight = net.constant(net.weight(4, 4, kernel, kernel))
        bias = net.constant((0.3 * net.random.standard_normal(4)).astype(np.float32))
        x = net.op("ConvTranspose", x, weight, bias, kernel_shape=[kernel] * 2, strides=[2, 2], pads=pads)
    return net.conv(x, 4, 2, kernel=1)


def cut(net: Net) -> str:
    """Slices, a transpose and a reshape between convolutions."""
    x = net.conv(net.inputs[0], 3, 6)
    a, b = (
        net.ops("Split", x, outputs=2, axis=1)
        if net.opset < 18
        else net.ops("Split", x, outputs=2, axis=1, num_outputs=2)
    )
    x = net.op("Transpose", net.op("Concat", a, b, axis=3), perm=[0, 1, 3, 2])
    return net.conv(net.op("Reshape", x, net.constant(np.int64([1, 6, 8, 8]))), 6, 4)


def sloped(net: Net) -> str:
    """A prelu with a slope for each channel, which TOSA's description has not."""
    slopes = net.constant(np.linspace(-0.2, 0.5, 6, dtype=np.float32).reshape(6, 1, 1))
    return net.conv(net.op("PRelu", net.conv(net.inputs[0], 3, 6), slopes), 6, 4)


Network = Callable[[Net], str]
NETWORKS: dict[str, Network] = {
    function.__name__: function
    for function in (strided, residual, pooled, gated, plain, flattened, joined, activated, enlarged, cut)
}


def shuffled(net: Net) -> str:
    """Channels become pixels: a transpose of six axes."""
    x = net.conv(net.inputs[0], 3, 12)
    x = net.op("Reshape", x, net.constant(np.int64([1, 3, 2, 2, 8, 8])))
    x = net.op("Transpose", x, perm=[0, 1, 4, 2, 5, 3])
    return net.conv(net.op("Reshape", x, net.constant(np.int64([1, 3, 16, 16]))), 3, 4)


ONLY_TFLITE: dict[str, Network] = {"sloped": sloped, "shuffled": shuffled}
FAST = ("strided", "residual", "pooled", "gated")


def quantized(name: str, target: str, **options: Any) -> tuple[Any, list[dict[str, np.ndarray]]]:
    """The integer module of a network, and its data."""
    net = Net((1, 3, 8, 8), seed=len(name))
    model = net.model((NETWORKS | ONLY_TFLITE)[name](net))
    feeds = feeds_of(model, 8)
    mod, params = tvmq.from_onnx(model)
    wanted = {"calibrate_mode": "minmax", "partition_conversions": "fully_integral", **options}
    with tvmq.qconfig(**wanted):
        return tvmq.quantize(mod, params, feeds, target=target, guard=None), feeds


def compared(qmod: Any, feeds: list[dict[str, np.ndarray]], count: int = 3) -> Compared:
    """Codes in and out of the core, by the definition."""
    codes = [reference.run(qmod, feed, function="quantize_inputs") for feed in feeds[:count]]
    return [(given, reference.run(qmod, given, function="quantized_main")) for given in codes]
