"""Networks of functions between layers: products of tensors, clips, tables, floats, padding, slices."""

from __future__ import annotations

import numpy as np

from tests.passes.corner import Corner, Nets, from_a_convolution, lists_in, start
from tests.support.models.networks import Net

NETS: Nets = {}
net = lists_in(NETS)


@net
def multiply_broadcast() -> Corner:
    n, y = start()
    gate = n.conv(n.op("GlobalMaxPool", y), 6, 6, 1)
    return n, [n.op("Mul", gate, y), n.conv(n.op("Relu", n.op("Mul", y, gate)), 6, 3)]


@net
def clip_inside_the_range() -> Corner:
    n, y = start()
    bounds = [n.constant(np.float32(v)) for v in (-0.7, 0.9)]
    return n, [n.conv(n.op("Clip", y, *bounds), 6, 4)]


@net
def clip_of_a_sum() -> Corner:
    n, y = start()
    bounds = [n.constant(np.float32(v)) for v in (-0.5, 1.0)]
    return n, [n.conv(n.op("Clip", n.op("Add", y, n.conv(y, 6, 6)), *bounds), 6, 4)]


@net
def tables() -> Corner:
    n, y = start()
    for operator, named in (
        ("LeakyRelu", {"alpha": 0.2}), ("HardSwish", {}), ("HardSigmoid", {}), ("Tanh", {}), ("Elu", {}),
    ):
        y = n.conv(n.op(operator, y, **named), 6, 6)
    return n, [y]


@net
def table_of_a_chain_that_others_read() -> Corner:
    n, y = start()
    y = n.op("MaxPool", y, kernel_shape=[2, 2])
    positive = n.op("Relu", y)
    return n, [n.conv(n.op("Add", positive, y), 6, 4), n.conv(positive, 6, 2)]


@net
def island_of_layer_norm() -> Corner:
    n, y = start()
    scale, shift = n.constant(np.linspace(0.5, 2, 8, dtype=np.float32)), n.constant(np.zeros(8, np.float32))
    return n, [n.conv(n.op("LayerNormalization", n.op("Relu", y), scale, shift, axis=-1), 6, 4)]


@net
def island_of_tanh() -> Corner:
    n, y = start()
    mixed = n.op("Tanh", n.op("Div", n.conv(y, 6, 6), n.op("Exp", n.conv(y, 6, 6, 1))))
    return n, [n.conv(mixed, 6, 3)]


@net
def island_at_the_start() -> Corner:
    n = Net((1, 3, 8, 8))
    return n, [n.conv(n.op("Exp", "x"), 3, 4)]


@net
def pad_before_conv() -> Corner:
    n, y = start()
    pads = n.constant(np.int64([0, 0, 1, 2, 0, 0, 3, 0]))
    return n, [n.conv(n.op("Pad", n.op("Relu", y), pads), 6, 4), n.op("Pad", "x", pads, n.constant(np.float32(0.5)))]


@net
def pad_of_ones_before_conv() -> Corner:
    n, y = start()
    pads = n.constant(np.int64([0, 0, 1, 2, 0, 0, 3, 0]))
    return n, [n.conv(n.op("Pad", n.op("Relu", y), pads, n.constant(np.float32(1))), 6, 4, pads=[0] * 4)]


@net
def upsampled() -> Corner:
    n, y = start()
    scales = n.constant(np.float32([1, 1, 2, 2]))
    named = {"mode": "nearest", "nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"}
    return n, [n.conv(n.op("Resize", y, "", scales, **named), 6, 4)]


@net
def sliced() -> Corner:
    n, y = start()
    arrays = [n.constant(np.int64(v)) for v in ([1, 0], [5, 2**31 - 1], [1, 3], [2, 1])]
    return n, [n.conv(n.op("Slice", y, *arrays), 2, 4)]


@net
def one_sum_read_twice() -> Corner:
    n, y = start()
    total = n.op("Add", y, n.conv(y, 6, 6))
    return n, [n.op("Add", total, n.conv(n.op("Relu", total), 6, 6)), total]


NETS |= from_a_convolution(
    add_to_itself=lambda n, y: [n.conv(n.op("Relu", n.op("Add", y, y)), 6, 4)],
    square=lambda n, y: [n.conv(n.op("Mul", y, y), 6, 4)],
    relu6_never_reached=lambda n, y: [n.conv(n.op("Clip", y, *[n.constant(np.float32(v)) for v in (0, 60)]), 6, 4)],
    clip_without_zero=lambda n, y: [n.conv(n.op("Clip", y, *[n.constant(np.float32(v)) for v in (0.4, 1.3)]), 6, 4)],
    softmax_of_channels=lambda n, y: [n.conv(n.op("Softmax", y, axis=1), 6, 4)],
)
