"""A perceptron of three layers."""

from __future__ import annotations

from collections.abc import Sequence

import tvm

from tvmq.relay.analysis import free_vars
from tvmq.relay.expr import Function, var
from tvmq.relay.module import IRModule
from tvmq.relay.op import nn
from tvmq.relay.testing.init import create_workload


def get_net(
    batch_size: int, num_classes: int = 10, image_shape: Sequence[int] = (1, 28, 28), dtype: str = "float32"
) -> Function:
    """The pixels, 128, 64 and num_classes units."""
    body = nn.batch_flatten(var("data", shape=(batch_size, *image_shape), dtype=dtype))
    for number, units in enumerate((128, 64, num_classes), 1):
        body = nn.dense(body, var(f"fc{number}_weight"), units=units)
        body = nn.bias_add(body, var(f"fc{number}_bias"))
        body = nn.relu(body) if number < 3 else nn.softmax(body)
    return Function(free_vars(body), body)


def get_workload(
    batch_size: int, num_classes: int = 10, image_shape: Sequence[int] = (1, 28, 28), dtype: str = "float32"
) -> tuple[IRModule, dict[str, tvm.runtime.Tensor]]:
    """The network as a module, and its weights."""
    return create_workload(get_net(batch_size, num_classes, image_shape, dtype))
