"""DenseNet (Huang et al., 2017) as Relay's workload had it: a block joins the results of its layers alone, each of
which reads the one before it.
"""

from __future__ import annotations

from collections.abc import Sequence

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
SIZES = {
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


def get_net(densenet_size: int, classes: int, data_shape: Sequence[int], dtype: str) -> Function:
    """The network of size 121, 161, 169 or 201; ConfigError, a ValueError, for others."""
    if densenet_size not in SIZES:
        raise ConfigError(f"relay.testing: no DenseNet-{densenet_size}; there are {', '.join(map(str, SIZES))}")
    channels, growth, blocks = SIZES[densenet_size]
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


def get_workload(
    densenet_size: int = 121, classes: int = 1000, batch_size: int = 4, image_shape: Sequence[int] = (3, 224, 224),
    dtype: str = "float32",
) -> tuple[IRModule, dict[str, tvm.runtime.Tensor]]:  # fmt: skip
    """The network as a module, and its weights."""
    return create_workload(get_net(densenet_size, classes, (batch_size, *image_shape), dtype))
