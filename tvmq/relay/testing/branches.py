"""Networks whose blocks put branches side by side: DenseNet, Inception v3.

DenseNet (Huang et al., 2017) as Relay's workload had it: a block joins the results of its layers alone, each of
which reads the one before it.
Inception v3 (Szegedy et al., 2015).

Tests: tests/relay/test_testing.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tvm

from tvmq import relay
from tvmq.errors import ConfigError
from tvmq.relay.analysis import free_vars
from tvmq.relay.expr import Expr, Function, var
from tvmq.relay.module import IRModule
from tvmq.relay.op import nn
from tvmq.relay.testing import layers
from tvmq.relay.testing.init import create_workload

# Size -> (channels of the first convolution, growth, layers of each block); 69 as the workload had it
DENSENET_SIZES = {
    121: (64, 32, (6, 12, 24, 16)), 161: (96, 48, (6, 12, 36, 24)), 169: (69, 32, (6, 12, 32, 32)),
    201: (64, 32, (6, 12, 48, 32)),
}  # fmt: skip
WIDER = 4  # channels inside of a layer for one that it gives


def dense_layer(data: Expr, growth: int, name: str) -> Expr:
    """Norm, relu and a 1 x 1 convolution; norm, relu and a 3 x 3."""
    body: Expr = nn.relu(layers.batch_norm_infer(data, name=f"batch_1_{name}"))
    body = layers.conv2d(body, channels=WIDER * growth, kernel_size=(1, 1), name=f"conv2d_1_{name}")
    body = nn.relu(layers.batch_norm_infer(body, name=f"batch_2_{name}"))
    return layers.conv2d(body, channels=growth, kernel_size=(3, 3), padding=(1, 1), name=f"conv2d_2_{name}")


def dense_block(data: Expr, count: int, growth: int, block: int) -> Expr:
    """Layers one behind the other, and the results of all side by side."""
    results: list[Expr] = []
    for number in range(count):
        data = dense_layer(data, growth, f"{block}_{number}")
        results.append(data)
    return relay.concatenate(results, 1)


def transition(data: Expr, channels: int, block: int) -> Expr:
    """Norm, relu, a 1 x 1 convolution and a pooling that halves the sides."""
    body: Expr = nn.relu(layers.batch_norm_infer(data, name=f"batch_t_{block}"))
    body = layers.conv2d(body, channels=channels, kernel_size=(1, 1), name=f"conv_t_{block}")
    return nn.avg_pool2d(body, pool_size=(2, 2), strides=(2, 2))


def get_densenet(densenet_size: int, classes: int, data_shape: Sequence[int], dtype: str) -> Function:
    """The network of size 121, 161, 169 or 201; ConfigError, a ValueError, for others."""
    if densenet_size not in DENSENET_SIZES:
        known = ", ".join(map(str, DENSENET_SIZES))
        raise ConfigError(f"relay.testing: no DenseNet-{densenet_size}; there are {known}")
    channels, growth, blocks = DENSENET_SIZES[densenet_size]
    body = layers.conv2d(
        var("data", shape=data_shape, dtype=dtype), channels=channels, kernel_size=(7, 7), strides=(2, 2),
        padding=(3, 3), name="conv1",
    )  # fmt: skip
    body = nn.relu(layers.batch_norm_infer(body, name="batch1"))
    body = nn.max_pool2d(body, pool_size=(3, 3), strides=(2, 2), padding=(1, 1))
    for block, count in enumerate(blocks):
        body = dense_block(body, count, growth, block)
        channels += count * growth
        if block + 1 < len(blocks):
            channels //= 2
            body = transition(body, channels, block)
    body = nn.relu(layers.batch_norm_infer(body, name="batch2"))
    flat = nn.batch_flatten(nn.avg_pool2d(body, pool_size=(7, 7)))
    net = layers.dense_add_bias(flat, units=classes, name="dense")
    return Function(free_vars(net), net)


def get_densenet_workload(
    densenet_size: int = 121, classes: int = 1000, batch_size: int = 4, image_shape: Sequence[int] = (3, 224, 224),
    dtype: str = "float32",
) -> tuple[IRModule, dict[str, tvm.runtime.Tensor]]:  # fmt: skip
    """The network as a module, and its weights."""
    return create_workload(get_densenet(densenet_size, classes, (batch_size, *image_shape), dtype))


Sizes = tuple[int, int]


def conv_norm_relu(
    data: Expr, name: str, channels: int, kernel: Sizes = (1, 1), *, stride: int = 1, same: bool = True
) -> Expr:
    """Convolution, norm and relu; `same` keeps the sides where the stride is 1."""
    padding = (kernel[0] // 2, kernel[1] // 2) if same else (0, 0)
    body = layers.conv2d(
        data, channels=channels, kernel_size=kernel, strides=(stride, stride), padding=padding, name=f"{name}_conv1"
    )
    return nn.relu(layers.batch_norm_infer(body, epsilon=2e-5, name=f"{name}_bn"))


def tower(data: Expr, name: str, *steps: tuple[Any, ...]) -> Expr:
    """Convolutions one behind the other: (channels,), (channels, kernel) or (channels, kernel, stride, same)."""
    usual: tuple[Any, ...] = ((1, 1), 1, True)
    for number, (channels, *rest) in enumerate(steps):
        kernel, stride, same = [*rest, *usual[len(rest) :]]
        suffix = f"_{number}" if number else ""
        data = conv_norm_relu(data, f"{name}_conv{suffix}", channels, kernel, stride=stride, same=same)
    return data


def pool_and_keep_sides(data: Expr, kind: str) -> Expr:
    """3 x 3 pooling that keeps the sides; averages count the padding."""
    if kind == "max":
        return nn.max_pool2d(data, pool_size=(3, 3), strides=(1, 1), padding=(1, 1))
    return nn.avg_pool2d(data, pool_size=(3, 3), strides=(1, 1), padding=(1, 1), count_include_pad=True)


def halve_sides(data: Expr) -> Expr:
    """3 x 3 pooling without padding that halves the sides."""
    return nn.max_pool2d(data, pool_size=(3, 3), strides=(2, 2))


def block_a(data: Expr, name: str, proj: int) -> Expr:
    """1 x 1, 5 x 5, twice 3 x 3, and a pooling."""
    return relay.concatenate(
        (
            conv_norm_relu(data, f"{name}_conv", 64),
            tower(data, f"{name}_tower", (48,), (64, (5, 5))),
            tower(data, f"{name}_tower_1", (64,), (96, (3, 3)), (96, (3, 3))),
            tower(pool_and_keep_sides(data, "avg"), f"{name}_tower_2", (proj,)),
        ),
        axis=1,
    )


def block_b(data: Expr, name: str) -> Expr:
    """Halves the sides: 3 x 3, twice 3 x 3, and a pooling."""
    return relay.concatenate(
        (
            conv_norm_relu(data, f"{name}_conv", 384, (3, 3), stride=2, same=False),
            tower(data, f"{name}_tower", (64,), (96, (3, 3)), (96, (3, 3), 2, False)),
            halve_sides(data),
        ),
        axis=1,
    )


def block_c(data: Expr, name: str, inner: int) -> Expr:
    """1 x 1, 7 x 7 in two steps, 7 x 7 twice in four, and a pooling."""
    row, column = (1, 7), (7, 1)
    return relay.concatenate(
        (
            conv_norm_relu(data, f"{name}_conv", 192),
            tower(data, f"{name}_tower", (inner,), (inner, row), (192, column)),
            tower(data, f"{name}_tower_1", (inner,), (inner, column), (inner, row), (inner, column), (192, row)),
            tower(pool_and_keep_sides(data, "avg"), f"{name}_tower_2", (192,)),
        ),
        axis=1,
    )


def block_d(data: Expr, name: str) -> Expr:
    """Halves the sides: 3 x 3, 7 x 7 and 3 x 3, and a pooling."""
    return relay.concatenate(
        (
            tower(data, f"{name}_tower", (192,), (320, (3, 3), 2, False)),
            tower(data, f"{name}_tower_1", (192,), (192, (1, 7)), (192, (7, 1)), (192, (3, 3), 2, False)),
            halve_sides(data),
        ),
        axis=1,
    )


def block_e(data: Expr, name: str, pool: str) -> Expr:
    """1 x 1, rows and columns behind a 1 x 1 and behind a 3 x 3, and a pooling."""

    def split_tower(body: Expr, name: str) -> tuple[Expr, Expr]:
        row = conv_norm_relu(body, f"{name}_mixed_conv", 384, (1, 3))
        return row, conv_norm_relu(body, f"{name}_mixed_conv_1", 384, (3, 1))

    return relay.concatenate(
        (
            conv_norm_relu(data, f"{name}_conv", 320),
            *split_tower(tower(data, f"{name}_tower", (384,)), f"{name}_tower"),
            *split_tower(tower(data, f"{name}_tower_1", (448,), (384, (3, 3))), f"{name}_tower_1"),
            tower(pool_and_keep_sides(data, pool), f"{name}_tower_2", (192,)),
        ),
        axis=1,
    )


def stem(body: Expr) -> Expr:
    """The convolutions before the blocks."""
    body = conv_norm_relu(body, "conv", 32, (3, 3), stride=2, same=False)
    body = conv_norm_relu(body, "conv_1", 32, (3, 3), same=False)
    body = halve_sides(conv_norm_relu(body, "conv_2", 64, (3, 3)))
    body = conv_norm_relu(body, "conv_3", 80)
    return halve_sides(conv_norm_relu(body, "conv_4", 192, (3, 3), same=False))


def get_inception(batch_size: int, num_classes: int, image_shape: Sequence[int], dtype: str) -> Function:
    """The network; pictures of 299 x 299 end in 8 x 8."""
    body = stem(var("data", shape=(batch_size, *image_shape), dtype=dtype))
    for name, proj in (("mixed", 32), ("mixed_1", 64), ("mixed_2", 64)):
        body = block_a(body, name, proj)
    body = block_b(body, "mixed_3")
    for name, inner in (("mixed_4", 128), ("mixed_5", 160), ("mixed_6", 160), ("mixed_7", 192)):
        body = block_c(body, name, inner)
    body = block_d(body, "mixed_8")
    body = block_e(block_e(body, "mixed_9", "avg"), "mixed_10", "max")
    body = nn.avg_pool2d(body, pool_size=(8, 8), strides=(1, 1), count_include_pad=True)
    scores = nn.dense(nn.batch_flatten(body), var("fc1_weight"), units=num_classes)
    net = nn.softmax(nn.bias_add(scores, var("fc2_bias")))
    return Function(free_vars(net), net)


def get_inception_workload(
    batch_size: int = 1, num_classes: int = 1000, image_shape: Sequence[int] = (3, 299, 299), dtype: str = "float32"
) -> tuple[IRModule, dict[str, tvm.runtime.Tensor]]:
    """The network as a module, and its weights."""
    return create_workload(get_inception(batch_size, num_classes, image_shape, dtype))
