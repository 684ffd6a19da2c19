"""A small network with the operators of large ones: the model of the calibration tests."""

from __future__ import annotations

from collections.abc import Sequence

import tvm

from tvmq import relay
from tvmq.relay.analysis import free_vars
from tvmq.relay.expr import Expr, Function, var
from tvmq.relay.module import IRModule
from tvmq.relay.op import nn
from tvmq.relay.testing import layers
from tvmq.relay.testing.init import Constant, create_workload


def branches(data: Expr, like: Expr, number: str, shape: Sequence[int], wtype: str) -> Expr:
    """The sum of relu of a dense layer over the rows, and softmax of a convolution."""
    channels, width = shape[1], shape[3]
    dense_weight = var(f"dense{number}_weight", shape=(width, width), dtype=wtype)
    dense = nn.relu(nn.dense(relay.reshape(data, (-1, width)), dense_weight))
    conv_weight = var(f"conv{number}_weight", shape=(channels, channels, 3, 3), dtype=wtype)
    conv = nn.softmax(nn.conv2d(data, conv_weight, padding=1, kernel_size=3))
    return relay.reshape_like(dense, like) + conv


def get_net(input_shape: Sequence[int] = (1, 3, 24, 12), dtype: str = "float32", wtype: str | None = None) -> Function:
    """The branches twice, a bias and a batch norm between; wtype: element type of the weights, dtype by default."""
    wtype = wtype or dtype
    data = var("data", shape=input_shape, dtype=dtype)
    biased = nn.bias_add(branches(data, data, "", input_shape, wtype), var("bias"))
    normed = layers.batch_norm_infer(biased, name="batch_norm")
    net = branches(normed, data, "2", input_shape, wtype)
    return Function(free_vars(net), net)


def get_workload(
    input_shape: Sequence[int] = (1, 3, 24, 12), dtype: str = "float32", wtype: str | None = None
) -> tuple[IRModule, dict[str, tvm.runtime.Tensor]]:
    """The network as a module, and its weights: every element of one is 1 / number of elements."""
    return create_workload(get_net(input_shape, dtype, wtype), Constant())
