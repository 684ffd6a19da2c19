"""Networks of layers at their corners: weights, biases, norms, pools, resizes, dimensions of one, constants."""

from __future__ import annotations

import numpy as np

from tests.passes.corner import Corner, Nets, lists_in, start
from tests.support.models.networks import Net

NETS: Nets = {}
net = lists_in(NETS)


@net
def tiny_weights_big_bias() -> Corner:
    n = Net((1, 3, 6, 6))
    weight = n.weight(4, 3, 3, 3)
    weight[1] *= 1e-9
    return n, [n.op("Relu", n.conv("x", 3, 4, weight=weight))]


@net
def filters_of_zeros() -> Corner:
    n = Net((1, 3, 6, 6))
    weight = n.weight(4, 3, 3, 3)
    weight[:2] = 0
    return n, [n.conv(n.conv("x", 3, 4, weight=weight), 4, 2)]


@net
def no_bias() -> Corner:
    n = Net((1, 3, 8, 8))
    return n, [n.conv(n.op("Relu", n.conv("x", 3, 5, bias=False)), 5, 4, bias=False)]


@net
def batch_norm_folded() -> Corner:
    n = Net((1, 4, 8, 8))
    y = n.op("Relu", n.batch_norm(n.conv("x", 4, 6, bias=False), 6))
    return n, [n.batch_norm(n.conv(y, 6, 6, groups=3), 6)]


@net
def batch_norm_of_transposed() -> Corner:
    n = Net((1, 4, 5, 5))
    weight = n.constant(n.weight(4, 3, 3, 3))
    y = n.op("ConvTranspose", n.conv("x", 4, 4), weight, kernel_shape=[3, 3], strides=[2, 2], group=2)
    return n, [n.op("Relu", n.batch_norm(y, 6))]


@net
def batch_norm_behind_relu() -> Corner:
    n, y = start()
    return n, [n.conv(n.batch_norm(n.op("Relu", y), 6), 6, 3)]


@net
def dense_head_of_pixels() -> Corner:
    n, y = start((2, 3, 4, 5), filters=6)
    return n, [n.dense(n.op("Flatten", n.op("Relu", y)), 120, 7)]


@net
def dense_only() -> Corner:
    n = Net((3, 12))
    return n, [n.dense(n.op("Relu", n.dense("x", 12, 9)), 9, 5, bias=False)]


@net
def average_pool() -> Corner:
    n, y = start()
    y = n.op("AveragePool", y, kernel_shape=[2, 3], strides=[2, 1], pads=[1, 0, 1, 2], count_include_pad=1)
    return n, [n.conv(n.op("AveragePool", y, kernel_shape=[2, 2]), 6, 3)]


@net
def average_pools_that_count_pixels() -> Corner:
    n, y = start()
    uneven = n.op("AveragePool", y, kernel_shape=[3, 2], strides=[2, 2], pads=[1, 1, 1, 0], ceil_mode=1)
    return n, [n.conv(n.op("AveragePool", y, kernel_shape=[3, 3], pads=[1] * 4), 6, 3), uneven]


@net
def maxima() -> Corner:
    n, y = start()
    padded = n.op("MaxPool", y, kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 0, 1], ceil_mode=1)
    gate = n.conv(n.op("GlobalMaxPool", y), 6, 6, 1)
    return n, [n.conv(padded, 6, 3), n.op("ReduceMax", y, axes=[1], keepdims=0), n.op("Mul", y, gate)]


@net
def maxima_of_floats() -> Corner:
    n, y = start()
    return n, [n.op("MaxPool", n.op("Exp", y), kernel_shape=[3, 3], pads=[1] * 4), n.op("GlobalMaxPool", "x")]


@net
def resizes_of_every_rule() -> Corner:
    n, y = start((1, 2, 4, 3), filters=2)
    scales = n.constant(np.float32([1, 1, 2, 2]))
    rules = [
        ("nearest", "half_pixel", "floor"),
        ("nearest", "asymmetric", "ceil"),
        ("nearest", "half_pixel", "round_prefer_ceil"),
    ]
    rules += [("nearest", "align_corners", "round_prefer_floor"), ("linear", "half_pixel", "floor")]
    outputs = []
    for mode, coordinates, rounding in rules:
        named = {"mode": mode, "nearest_mode": rounding, "coordinate_transformation_mode": coordinates}
        outputs.append(n.conv(n.op("Resize", y, "", scales, **named), 2, 2, 1))
    return n, outputs


@net
def one_row() -> Corner:
    n = Net((2, 3, 1, 9))
    y = n.op("Conv", "x", n.constant(n.weight(4, 3, 1, 3)), pads=[0, 1, 0, 1])
    return n, [n.op("MaxPool", n.conv(n.op("Relu", y), 4, 5, 1), kernel_shape=[1, 2]), y]


@net
def one_column() -> Corner:
    n = Net((2, 3, 9, 1))
    y = n.op("Conv", "x", n.constant(n.weight(4, 3, 3, 1)), pads=[1, 0, 1, 0])
    return n, [n.op("MaxPool", n.conv(n.op("Relu", y), 4, 5, 1), kernel_shape=[2, 1]), y]


@net
def one_channel() -> Corner:
    n = Net((2, 1, 6, 5))
    y = n.conv("x", 1, 1)
    return n, [n.conv(n.op("Relu", y), 1, 1), y, n.op("Transpose", y, perm=[0, 2, 3, 1])]


@net
def one_pixel() -> Corner:
    n = Net((2, 5, 1, 1))
    y = n.conv("x", 5, 4, 1)
    return n, [n.conv(n.op("Relu", y), 4, 3, 1), y, n.op("Flatten", y)]


@net
def constants_that_are_no_bias() -> Corner:
    n, y = start((1, 3, 4, 4), filters=4)
    row, picture = (
        n.constant(np.float32([1, 2, 3, 4])),
        n.constant(np.linspace(0, 1, 16, dtype=np.float32).reshape(1, 1, 4, 4)),
    )
    return n, [n.conv(n.op("Add", y, row), 4, 3, 1), n.op("Add", n.conv(y, 4, 16, bias=False), picture)]


@net
def constant_pictures() -> Corner:
    n, y = start((1, 3, 6, 6), filters=4)
    picture = n.constant(n.weight(1, 4, 6, 6))
    made = n.op("Conv", picture, n.constant(n.weight(4, 4, 3, 3)), pads=[1] * 4)
    return n, [
        n.op("Add", y, made),
        n.op("Add", n.op("MaxPool", y, kernel_shape=[2, 2]), n.op("MaxPool", picture, kernel_shape=[2, 2])),
    ]


@net
def a_constant_that_adds_an_axis() -> Corner:
    n = Net((2, 12))
    return n, [n.op("Mul", n.dense("x", 12, 9), n.constant(np.full((1, 1, 1), 2, np.float32)))]


@net
def two_functions_that_share_a_link() -> Corner:
    n, y = start()
    gate = n.op("Sigmoid", y)
    return n, [n.conv(n.op("Mul", y, gate), 6, 2), n.conv(n.op("Add", gate, y), 6, 2)]


@net
def one_dimension() -> Corner:
    n = Net((2, 3, 16))
    y = n.op("Relu", n.op("Conv", "x", n.constant(n.weight(4, 3, 3)), pads=[1, 1]))
    return n, [n.op("MatMul", y, n.constant(n.weight(16, 5)))]


@net
def global_pool_without_keepdims() -> Corner:
    n, y = start()
    return n, [n.dense(n.op("ReduceMean", y, axes=[2, 3], keepdims=0), 6, 4)]
