"""VGG (Simonyan and Zisserman, 2014)."""

from __future__ import annotations

from collections.abc import Sequence

import tvm

from tvmq.errors import ConfigError
from tvmq.relay.analysis import free_vars
from tvmq.relay.expr import Expr, Function, var
from tvmq.relay.module import IRModule
from tvmq.relay.op import nn
from tvmq.relay.testing import layers
from tvmq.relay.testing.init import create_workload

FILTERS = (64, 128, 256, 512, 512)
# Layers -> convolutions of each stage
STAGES = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}


def features(body: Expr, stages: Sequence[int], batch_norm: bool) -> Expr:
    """Convolutions with bias and relu; each stage ends in a pooling that halves the sides."""
    for stage, (count, filters) in enumerate(zip(stages, FILTERS, strict=True), 1):
        for number in range(1, count + 1):
            name = f"{stage}_{number}"
            body = layers.conv2d(body, kernel_size=(3, 3), padding=(1, 1), channels=filters, name=f"conv{name}")
            body = nn.bias_add(body, var(f"conv{name}_bias"))
            body = nn.relu(layers.batch_norm_infer(body, name=f"bn{name}") if batch_norm else body)
        body = nn.max_pool2d(body, pool_size=(2, 2), strides=(2, 2))
    return body


def get_net(
    batch_size: int, image_shape: Sequence[int], num_classes: int, dtype: str, num_layers: int = 11,
    batch_norm: bool = False,
) -> Function:  # fmt: skip
    """The network of 11, 13, 16 or 19 layers; ConfigError, a ValueError, for other numbers."""
    if num_layers not in STAGES:
        raise ConfigError(f"relay.testing: no VGG of {num_layers} layers; there are {', '.join(map(str, STAGES))}")
    body = features(var("data", shape=(batch_size, *image_shape), dtype=dtype), STAGES[num_layers], batch_norm)
    body = nn.batch_flatten(body)
    for name in ("fc6", "fc7"):
        body = nn.relu(layers.dense_add_bias(body, units=4096, name=name))
        body = nn.dropout(body, rate=0.5)
    net = nn.softmax(layers.dense_add_bias(body, units=num_classes, name="fc8"))
    return Function(free_vars(net), net)


def get_workload(
    batch_size: int, num_classes: int = 1000, image_shape: Sequence[int] = (3, 224, 224), dtype: str = "float32",
    num_layers: int = 11, batch_norm: bool = False,
) -> tuple[IRModule, dict[str, tvm.runtime.Tensor]]:  # fmt: skip
    """The network as a module, and its weights."""
    return create_workload(get_net(batch_size, image_shape, num_classes, dtype, num_layers, batch_norm))
