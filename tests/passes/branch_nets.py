"""Networks of branches: sums, shared tensors, several outputs, splits and concatenations."""

from __future__ import annotations

import numpy as np

from tests.passes.corner import Corner, Nets, lists_in, start
from tests.support.models.networks import Net

NETS: Nets = {}
net = lists_in(NETS)


@net
def conv_relu() -> Corner:
    n, y = start()
    return n, [n.conv(n.op("Relu", y), 6, 4, strides=[2, 2])]


@net
def residual() -> Corner:
    n, y = start()
    z = n.conv(n.op("Relu", n.conv(y, 6, 6)), 6, 6)
    return n, [n.conv(n.op("Relu", n.op("Add", y, z)), 6, 2, 1)]


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
def two_inputs() -> Corner:
    n = Net((1, 3, 8, 8), (1, 3, 8, 8))
    return n, [n.op("Add", n.conv("x", 3, 4), n.conv("x1", 3, 4, 1))]


@net
def sum_of_inputs() -> Corner:
    n = Net((1, 3, 8, 8), (1, 3, 8, 8))
    return n, [n.conv(n.op("Add", "x", "x1"), 3, 4)]


@net
def several_outputs() -> Corner:
    n, y = start()
    return n, [n.conv(y, 6, 2), n.op("MaxPool", y, kernel_shape=[2, 2]), n.op("Sigmoid", y)]


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
def input_returned() -> Corner:
    n, y = start()
    return n, [n.op("Identity", "x"), y]


@net
def same_output_twice() -> Corner:
    n, y = start()
    return n, [n.op("Identity", y), n.op("Identity", y), y]


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
def concat_shared_part() -> Corner:
    n, y = start()
    z = n.conv(y, 6, 4)
    return n, [n.conv(n.op("Concat", y, z, axis=1), 10, 3, 1), n.conv(y, 6, 3, 1)]


@net
def concat_with_input() -> Corner:
    n, y = start()
    return n, [n.conv(n.op("Concat", y, "x", axis=1), 9, 3, 1)]


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


@net
def concat_of_one_tensor_twice() -> Corner:
    n, y = start()
    return n, [n.conv(n.op("Concat", y, y, axis=1), 12, 3, 1)]


@net
def concat_is_an_output() -> Corner:
    n, y = start()
    return n, [n.op("Concat", n.conv(y, 6, 2), n.op("Relu", y), axis=1)]


@net
def concat_of_pictures() -> Corner:
    n, y = start()
    return n, [n.conv(n.op("Concat", y, n.conv(y, 6, 6), axis=2), 6, 3)]
