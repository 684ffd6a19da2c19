"""SqueezeNet 1.0 and 1.1 (Iandola et al., 2016)."""

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

SQUEEZED = (16, 16, 32, 32, 48, 48, 64, 64)  # channels in each fire; four times as many behind each of its sides
# Version -> (channels and size of the first convolution, fires that a pooling stands before)
VERSIONS = {"1.0": (96, 7, (1, 4, 8)), "1.1": (64, 3, (1, 3, 5))}


def conv(data: Expr, name: str, channels: int, size: int, stride: int = 1) -> Expr:
    """Convolution that keeps the sides where its stride is 1, bias, relu."""
    body = layers.conv2d(
        data, channels=channels, kernel_size=(size, size), strides=(stride, stride), padding=(size // 2, size // 2),
        name=name,
    )  # fmt: skip
    return nn.relu(nn.bias_add(body, var(f"{name}_bias")))


def fire(data: Expr, name: str, channels: int) -> Expr:
    """A 1 x 1 convolution, and a 1 x 1 and a 3 x 3 side by side behind it."""
    squeezed = conv(data, f"{name}_input_conv", channels, 1)
    left = conv(squeezed, f"{name}_left_conv", 4 * channels, 1)
    right = conv(squeezed, f"{name}_right_conv", 4 * channels, 3)
    return relay.concatenate((left, right), axis=1)


def get_net(batch_size: int, image_shape: Sequence[int], num_classes: int, version: str, dtype: str) -> Function:
    """The network of a version; ConfigError, a ValueError, for others."""
    if version not in VERSIONS:
        raise ConfigError(f"relay.testing: no SqueezeNet {version!r}; there are {' and '.join(VERSIONS)}")
    channels, size, pooled = VERSIONS[version]
    body = conv(var("data", shape=(batch_size, *image_shape), dtype=dtype), "conv1", channels, size, 2)
    for number, squeezed in enumerate(SQUEEZED, 1):
        if number in pooled:
            body = nn.max_pool2d(body, pool_size=(3, 3), strides=(2, 2))
        body = fire(body, f"fire{number}", squeezed)
    body = conv(nn.dropout(body, rate=0.5), "conv_final", num_classes, 1)
    net = nn.softmax(nn.batch_flatten(nn.global_avg_pool2d(body)))
    return Function(free_vars(net), net)


def get_workload(
    batch_size: int = 1, num_classes: int = 1000, version: str = "1.0", image_shape: Sequence[int] = (3, 224, 224),
    dtype: str = "float32",
) -> tuple[IRModule, dict[str, tvm.runtime.Tensor]]:  # fmt: skip
    """The network as a module, and its weights."""
    return create_workload(get_net(batch_size, image_shape, num_classes, version, dtype))
