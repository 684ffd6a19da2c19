"""MobileNet, first version (Howard et al., 2017): depthwise and pointwise convolutions by turns."""

from __future__ import annotations

from collections.abc import Sequence

import tvm

from tvmq.relay.analysis import free_vars
from tvmq.relay.expr import Expr, Function, var
from tvmq.relay.module import IRModule
from tvmq.relay.op import nn
from tvmq.relay.testing import layers
from tvmq.relay.testing.init import create_workload

# (channels behind, stride) of each block
BLOCKS = (
    (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2),
    (512, 1), (512, 1), (512, 1), (512, 1), (512, 1), (1024, 2), (1024, 1),
)  # fmt: skip
SHALLOW = (*BLOCKS[:6], (1024, 2), (1024, 2))


def conv_block(data: Expr, name: str, channels: int, stride: int, layout: str) -> Expr:
    """3 x 3 convolution, norm, relu."""
    body = layers.conv2d(
        data, channels=channels, kernel_size=(3, 3), strides=(stride, stride), padding=(1, 1), data_layout=layout,
        kernel_layout=layers.conv_kernel_layout(layout), name=f"{name}_conv",
    )  # fmt: skip
    return nn.relu(layers.batch_norm_infer(body, axis=layout.index("C"), name=f"{name}_bn"))


def separable_conv_block(
    data: Expr, name: str, depthwise_channels: int, pointwise_channels: int, stride: int, layout: str, dtype: str
) -> Expr:
    """3 x 3 depthwise convolution and a 1 x 1, each with norm and relu; the depthwise weight is <name>_weight."""
    kernel = layers.conv_kernel_layout(layout, True)
    sizes = {"O": depthwise_channels, "I": 1, "H": 3, "W": 3}
    weight = var(f"{name}_weight", shape=tuple(sizes[axis] for axis in kernel), dtype=dtype)
    body = layers.conv2d(
        data, weight, channels=depthwise_channels, groups=depthwise_channels, kernel_size=(3, 3),
        strides=(stride, stride), padding=(1, 1), data_layout=layout, kernel_layout=kernel,
    )  # fmt: skip
    axis = layout.index("C")
    body = nn.relu(layers.batch_norm_infer(body, axis=axis, name=f"{name}_bn1"))
    body = layers.conv2d(
        body, channels=pointwise_channels, kernel_size=(1, 1), data_layout=layout,
        kernel_layout=layers.conv_kernel_layout(layout), name=f"{name}_conv2",
    )  # fmt: skip
    return nn.relu(layers.batch_norm_infer(body, axis=axis, name=f"{name}_bn2"))


def mobile_net(
    num_classes: int = 1000, data_shape: Sequence[int] = (1, 3, 224, 224), dtype: str = "float32", alpha: float = 1.0,
    is_shallow: bool = False, layout: str = "NCHW",
) -> Function:  # fmt: skip
    """The network; `alpha` times as many channels, `is_shallow` with 8 blocks instead of 13."""
    channels = int(32 * alpha)
    body = conv_block(var("data", shape=data_shape, dtype=dtype), "conv_block_1", channels, 2, layout)
    for number, (behind, stride) in enumerate(SHALLOW if is_shallow else BLOCKS, 1):
        name = f"separable_conv_block_{number}"
        body = separable_conv_block(body, name, channels, int(behind * alpha), stride, layout, dtype)
        channels = int(behind * alpha)
    flat = nn.batch_flatten(nn.global_avg_pool2d(body, layout=layout))
    scores = nn.bias_add(nn.dense(flat, var("fc_weight"), units=num_classes), var("fc_bias"))
    net = nn.softmax(scores)
    return Function(free_vars(net), net)


def get_workload(
    batch_size: int = 1, num_classes: int = 1000, image_shape: Sequence[int] = (3, 224, 224), dtype: str = "float32",
    layout: str = "NCHW",
) -> tuple[IRModule, dict[str, tvm.runtime.Tensor]]:  # fmt: skip
    """The network as a module, and its weights; image_shape in the layout's order without N."""
    return create_workload(mobile_net(num_classes, (batch_size, *image_shape), dtype, layout=layout))
