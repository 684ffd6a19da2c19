"""Networks at the corners of the passes, one function a corner; each returns the Net and its outputs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.support.models.networks import Net

Corner = tuple[Net, list[str]]
NETS: dict[str, Callable[[], Corner]] = {}


def net(function: Callable[[], Corner]) -> Callable[[], Corner]:
    """List a network under its name."""
    NETS[function.__name__] = function
    return function


def start(*shapes: tuple[int, ...], filters: int = 6) -> tuple[Net, str]:
    """A network that begins with a convolution."""
    made = Net(*(shapes or ((2, 3, 9, 8),)))
    return made, made.conv("x", made.shapes[0][1], filters)


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


@net
def add_to_itself() -> Corner:
    n, y = start()
    return n, [n.conv(n.op("Relu", n.op("Add", y, y)), 6, 4)]


@net
def square() -> Corner:
    n, y = start()
    return n, [n.conv(n.op("Mul", y, y), 6, 4)]


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
def relu6_never_reached() -> Corner:
    n, y = start()
    bounds = [n.constant(np.float32(v)) for v in (0, 60)]
    return n, [n.conv(n.op("Clip", y, *bounds), 6, 4)]


@net
def clip_without_zero() -> Corner:
    n, y = start()
    bounds = [n.constant(np.float32(v)) for v in (0.4, 1.3)]
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
        ("LeakyRelu", {"alpha": 0.2}),
        ("HardSwish", {}),
        ("HardSigmoid", {}),
        ("Tanh", {}),
        ("Elu", {}),
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
def softmax_of_channels() -> Corner:
    n, y = start()
    return n, [n.conv(n.op("Softmax", y, axis=1), 6, 4)]


@net
def pad_before_conv() -> Corner:
    n, y = start()
    pads = n.constant(np.int64([0, 0, 1, 2, 0, 0, 3, 0]))
    return n, [
        n.conv(n.op("Pad", n.op("Relu", y), pads), 6, 4),
        n.op("Pad", "x", pads, n.constant(np.float32(0.5))),
    ]


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


def attention(n: Net, x: str, features: int, heads: int, mask: str | None = None, scale: str = "after") -> str:
    """Self-attention of [1, length, features], written as exporters do."""
    length, width = n.shapes[0][1], features // heads
    shape = n.constant(np.int64([1, length, heads, width]))
    biased = [
        n.op(
            "Add", n.op("MatMul", x, n.constant(n.weight(features, features))), n.constant(n.weight(features, 1)[:, 0])
        )
        for _ in range(3)
    ]
    q, k, v = (n.op("Transpose", n.op("Reshape", y, shape), perm=[0, 2, 1, 3]) for y in biased)
    number = n.constant(np.float32(width**-0.5))
    if scale == "before":
        q = n.op("Mul", q, number)
    scores = n.op("MatMul", q, n.op("Transpose", k, perm=[0, 1, 3, 2]))
    if scale == "after":
        scores = n.op("Div", scores, n.constant(np.float32(width**0.5)))
    if mask:
        scores = n.op("Add", scores, mask)
    mixed = n.op("MatMul", n.op("Softmax", scores, axis=-1), v)
    joined = n.op("Reshape", n.op("Transpose", mixed, perm=[0, 2, 1, 3]), n.constant(np.int64([1, length, features])))
    return n.op("MatMul", joined, n.constant(n.weight(features, features)))


def layer_norm(n: Net, x: str, features: int) -> str:
    """Layer norm of the last axis."""
    scale = n.constant(np.linspace(0.5, 2, features, dtype=np.float32))
    return n.op("LayerNormalization", x, scale, n.constant(np.zeros(features, np.float32)), axis=-1)


@net
def transformer_with_norm_first() -> Corner:
    n = Net((1, 7, 12))
    y = n.op("Add", "x", attention(n, layer_norm(n, "x", 12), 12, 3, scale="before"))
    inner = n.op("MatMul", layer_norm(n, y, 12), n.constant(n.weight(12, 20)))
    half = n.op(
        "Mul",
        n.op("Add", n.op("Erf", n.op("Div", inner, n.constant(np.float32(2**0.5)))), n.constant(np.float32(1))),
        n.constant(np.float32(0.5)),
    )
    gelu = n.op("Mul", inner, half)
    y = n.op("Add", y, n.op("MatMul", gelu, n.constant(n.weight(20, 12))))
    return n, [n.op("MatMul", layer_norm(n, y, 12), n.constant(n.weight(12, 5)))]


@net
def transformer_with_mask() -> Corner:
    n = Net((1, 6, 8))
    mask = n.constant(np.float32([0, 0, 0, 0, -10000, -10000]).reshape(1, 1, 1, 6))
    y = layer_norm(n, n.op("Add", "x", attention(n, "x", 8, 2, mask)), 8)
    return n, [n.op("MatMul", y, n.constant(n.weight(8, 4)))]


@net
def product_with_constant_on_the_left() -> Corner:
    n = Net((2, 5, 6))
    y = n.op("MatMul", n.constant(n.weight(4, 5)), n.op("MatMul", "x", n.constant(n.weight(6, 7))))
    return n, [n.op("MatMul", n.constant(n.weight(2, 3, 4)), y)]


@net
def product_with_a_matrix_for_each_head() -> Corner:
    n = Net((2, 3, 5, 6))
    return n, [n.op("Relu", n.op("MatMul", "x", n.constant(n.weight(3, 6, 4))))]


@net
def product_with_itself() -> Corner:
    n = Net((2, 5, 6))
    y = n.op("MatMul", "x", n.constant(n.weight(6, 6)))
    return n, [n.op("MatMul", n.op("MatMul", y, n.op("Transpose", y, perm=[0, 2, 1])), y)]


@net
def product_of_two_inputs_that_broadcast() -> Corner:
    n = Net((2, 1, 5, 6), (3, 6, 4))
    return n, [n.op("Mul", n.op("MatMul", "x", "x1"), n.constant(np.float32(0.3)))]


@net
def products_of_vectors() -> Corner:
    n = Net((2, 5, 6), (6,))
    y = n.op("MatMul", "x", n.constant(n.weight(6, 6)))
    return n, [
        n.op("MatMul", y, "x1"),
        n.op("MatMul", y, n.constant(n.weight(6))),
        n.op("MatMul", n.constant(n.weight(5)), y),
    ]
