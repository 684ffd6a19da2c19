"""Networks of branches: sums, shared tensors, several outputs, splits and concatenations."""

from __future__ import annotations

import numpy as np

from tests.passes.corner import Corner, Nets, from_a_convolution, from_inputs, lists_in, start
from tests.support.models.networks import Net

NETS: Nets = {}
net = lists_in(NETS)


@net
def squeeze_excite() -> Corner:
    n, y = start()
    y = n.op("Mul", y, n.op("Sigmoid", y))
    gate = n.op("Sigmoid", n.conv(n.op("Relu", n.conv(n.op("GlobalAveragePool", y), 6, 3, 1)), 3, 6, 1))
    return n, [n.conv(n.op("Mul", y, gate), 6, 4, 1)]


@net
def shared_weight() -> Corner:
    n = Net((1, 3, 8, 8))
    weight = n.constant(n.weight(3, 3, 3, 3))
    y = n.op("Conv", "x", weight, kernel_shape=[3, 3], pads=[1] * 4)
    return n, [n.op("Conv", n.op("Relu", y), weight, kernel_shape=[3, 3], pads=[1] * 4)]


@net
def shared_activation() -> Corner:
    n, y = start()
    y = n.op("Relu", y)
    return n, [n.op("Add", n.conv(y, 6, 5), n.conv(y, 6, 5, 1))]


@net
def output_read_inside() -> Corner:
    n, y = start()
    y = n.op("Relu", y)
    return n, [y, n.conv(y, 6, 3)]


@net
def output_read_by_shape() -> Corner:
    n, y = start()
    z = n.op("Transpose", y, perm=[0, 2, 3, 1])
    return n, [z, n.conv(y, 6, 3), n.op("Flatten", z)]


@net
def split_branches() -> Corner:
    n, y = start()
    a, b, c = n.ops("Split", y, n.constant(np.int64([1, 3, 2])), outputs=3, axis=1)
    return n, [n.op("Concat", n.op("Relu", b), a, axis=1), n.conv(c, 2, 3)]


@net
def split_channels_rejoined() -> Corner:
    n, y = start()
    a, b = n.ops("Split", y, n.constant(np.int64([2, 4])), outputs=2, axis=1)
    return n, [n.conv(n.op("Concat", b, a, axis=1), 6, 3, 1)]


@net
def concat_of_concat() -> Corner:
    n, y = start()
    a, b = n.conv(y, 6, 3), n.op("Relu", n.conv(y, 6, 2, 1))
    inner = n.op("Concat", a, b, axis=1)
    return n, [n.conv(n.op("Concat", inner, n.op("MaxPool", a, kernel_shape=[1, 1]), axis=1), 8, 3, 1)]


@net
def concat_of_a_concat_and_its_part() -> Corner:
    n, y = start()
    a, b = n.conv(y, 6, 3), n.conv(y, 6, 2, 1)
    inner = n.op("Concat", a, b, axis=1)
    return n, [n.conv(n.op("Concat", inner, a, axis=1), 8, 3, 1)]


NETS |= from_a_convolution(
    conv_relu=lambda n, y: [n.conv(n.op("Relu", y), 6, 4, strides=[2, 2])],
    residual=lambda n, y: [n.conv(n.op("Relu", n.op("Add", y, n.conv(n.op("Relu", n.conv(y, 6, 6)), 6, 6))), 6, 2, 1)],
    several_outputs=lambda n, y: [n.conv(y, 6, 2), n.op("MaxPool", y, kernel_shape=[2, 2]), n.op("Sigmoid", y)],
    input_returned=lambda n, y: [n.op("Identity", "x"), y],
    same_output_twice=lambda n, y: [n.op("Identity", y), n.op("Identity", y), y],
    concat_shared_part=lambda n, y: [n.conv(n.op("Concat", y, n.conv(y, 6, 4), axis=1), 10, 3, 1), n.conv(y, 6, 3, 1)],
    concat_with_input=lambda n, y: [n.conv(n.op("Concat", y, "x", axis=1), 9, 3, 1)],
    concat_of_one_tensor_twice=lambda n, y: [n.conv(n.op("Concat", y, y, axis=1), 12, 3, 1)],
    concat_is_an_output=lambda n, y: [n.op("Concat", n.conv(y, 6, 2), n.op("Relu", y), axis=1)],
    concat_of_pictures=lambda n, y: [n.conv(n.op("Concat", y, n.conv(y, 6, 6), axis=2), 6, 3)],
)
NETS |= from_inputs(
    (1, 3, 8, 8),
    (1, 3, 8, 8),
    two_inputs=lambda n: [n.op("Add", n.conv("x", 3, 4), n.conv("x1", 3, 4, 1))],
    sum_of_inputs=lambda n: [n.conv(n.op("Add", "x", "x1"), 3, 4)],
)
