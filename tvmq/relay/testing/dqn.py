"""The network of Deep Q-learning (Mnih et al., 2015)."""

from __future__ import annotations

from collections.abc import Sequence

import tvm

from tvmq.relay.analysis import free_vars
from tvmq.relay.expr import Expr, Function, var
from tvmq.relay.module import IRModule
from tvmq.relay.op import nn
from tvmq.relay.testing import layers
from tvmq.relay.testing.init import create_workload

# (channels, size, stride) of each convolution
CONVOLUTIONS = ((32, 8, 4), (64, 4, 2), (64, 3, 1))


def get_net(
    batch_size: int, num_actions: int = 18, image_shape: Sequence[int] = (4, 84, 84), dtype: str = "float32",
    layout: str = "NCHW",
) -> Function:  # fmt: skip
    """Three convolutions and two dense layers; image_shape in the layout's order without N."""
    body: Expr = var("data", shape=(batch_size, *image_shape), dtype=dtype)
    for number, (channels, size, stride) in enumerate(CONVOLUTIONS, 1):
        body = layers.conv2d(
            body, kernel_size=(size, size), strides=(stride, stride), channels=channels, data_layout=layout,
            kernel_layout=layers.conv_kernel_layout(layout), name=f"conv{number}",
        )  # fmt: skip
        body = nn.relu(nn.bias_add(body, var(f"conv{number}_bias"), layout.index("C")))
    body = nn.relu(layers.dense_add_bias(nn.batch_flatten(body), units=512, name="dense1"))
    net = layers.dense_add_bias(body, units=num_actions, name="dense2")
    return Function(free_vars(net), net)


def get_workload(
    batch_size: int, num_actions: int = 18, image_shape: Sequence[int] = (4, 84, 84), dtype: str = "float32",
    layout: str = "NCHW",
) -> tuple[IRModule, dict[str, tvm.runtime.Tensor]]:  # fmt: skip
    """The network as a module, and its weights."""
    return create_workload(get_net(batch_size, num_actions, image_shape, dtype, layout))
