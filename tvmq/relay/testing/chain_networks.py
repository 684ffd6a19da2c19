"""Networks that are one chain of layers: VGG, SqueezeNet, MobileNet.

VGG (Simonyan and Zisserman, 2014).
SqueezeNet 1.0 and 1.1 (Iandola et al., 2016).
MobileNet, first version (Howard et al., 2017): depthwise and pointwise convolutions by turns.

Tests: tests/relay/test_testing.py
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

VGG_FILTERS = (64, 128, 256, 512, 512)
# Layers -> convolutions of each stage
VGG_STAGES = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}


def vgg_features(body: Expr, stages: Sequence[int], batch_norm: bool) -> Expr:
    """Convolutions with bias and relu; each stage ends in a pooling that halves the sides."""
    for stage, (count, filters) in enumerate(zip(stages, VGG_FILTERS, strict=True), 1):
        for number in range(1, count + 1):
            name = f"{stage}_{number}"
            body = layers.conv2d(body, kernel_size=(3, 3), padding=(1, 1), channels=filters, name=f"conv{name}")
            body = nn.bias_add(body, var(f"conv{name}_bias"))
            body = nn.relu(layers.batch_norm_infer(body, name=f"bn{name}") if batch_norm else body)
        body = nn.max_pool2d(body, pool_size=(2, 2), strides=(2, 2))
    return body


def get_vgg(
    batch_size: int, image_shape: Sequence[int], num_classes: int, dtype: str, num_layers: int = 11,
    batch_norm: bool = False,
) -> Function:  # fmt: skip
    """The network of 11, 13, 16 or 19 layers; ConfigError, a ValueError, for other numbers."""
    if num_layers not in VGG_STAGES:
        raise ConfigError(f"relay.testing: no VGG of {num_layers} layers; there are {', '.join(map(str, VGG_STAGES))}")
    body = vgg_features(var("data", shape=(batch_size, *image_shape), dtype=dtype), VGG_STAGES[num_layers], batch_norm)
    body = nn.batch_flatten(body)
    for name in ("fc6", "fc7"):
        body = nn.relu(layers.dense_add_bias(body, units=4096, name=name))
        body = nn.dropout(body, rate=0.5)
    net = nn.softmax(layers.dense_add_bias(body, units=num_classes, name="fc8"))
    return Function(free_vars(net), net)


def get_vgg_workload(
    batch_size: int, num_classes: int = 1000, image_shape: Sequence[int] = (3, 224, 224), dtype: str = "float32",
    num_layers: int = 11, batch_norm: bool = False,
) -> tuple[IRModule, dict[str, tvm.runtime.Tensor]]:  # fmt: skip
    """The network as a module, and its weights."""
    return create_workload(get_vgg(batch_size, image_shape, num_classes, dtype, num_layers, batch_norm))


SQUEEZED = (16, 16, 32, 32, 48, 48, 64, 64)  # channels in each fire; four times as many behind each of its sides
# Version -> (channels and size of the first convolution, fires that a pooling stands before)
SQUEEZENET_VERSIONS = {"1.0": (96, 7, (1, 4, 8)), "1.1": (64, 3, (1, 3, 5))}


def conv_relu(data: Expr, name: str, channels: int, size: int, stride: int = 1) -> Expr:
    """Convolution that keeps the sides where its stride is 1, bias, relu."""
    body = layers.conv2d(
        data, channels=channels, kernel_size=(size, size), strides=(stride, stride), padding=(size // 2, size // 2),
        name=name,
    )  # fmt: skip
    return nn.relu(nn.bias_add(body, var(f"{name}_bias")))


def fire(data: Expr, name: str, channels: int) -> Expr:
    """A 1 x 1 convolution, and a 1 x 1 and a 3 x 3 side by side behind it."""
    squeezed = conv_relu(data, f"{name}_input_conv", channels, 1)
    left = conv_relu(squeezed, f"{name}_left_conv", 4 * channels, 1)
    right = conv_relu(squeezed, f"{name}_right_conv", 4 * channels, 3)
    return relay.concatenate((left, right), axis=1)


def get_squeezenet(batch_size: int, image_shape: Sequence[int], num_classes: int, version: str, dtype: str) -> Function:
    """The network of a version; ConfigError, a ValueError, for others."""
    if version not in SQUEEZENET_VERSIONS:
        raise ConfigError(f"relay.testing: no SqueezeNet {version!r}; there are {' and '.join(SQUEEZENET_VERSIONS)}")
    channels, size, pooled = SQUEEZENET_VERSIONS[version]
    body = conv_relu(var("data", shape=(batch_size, *image_shape), dtype=dtype), "conv1", channels, size, 2)
    for number, squeezed in enumerate(SQUEEZED, 1):
        if number in pooled:
            body = nn.max_pool2d(body, pool_size=(3, 3), strides=(2, 2))
        body = fire(body, f"fire{number}", squeezed)
    body = conv_relu(nn.dropout(body, rate=0.5), "conv_final", num_classes, 1)
    net = nn.softmax(nn.batch_flatten(nn.global_avg_pool2d(body)))
    return Function(free_vars(net), net)


def get_squeezenet_workload(
    batch_size: int = 1, num_classes: int = 1000, version: str = "1.0", image_shape: Sequence[int] = (3, 224, 224),
    dtype: str = "float32",
) -> tuple[IRModule, dict[str, tvm.runtime.Tensor]]:  # fmt: skip
    """The network as a module, and its weights."""
    return create_workload(get_squeezenet(batch_size, image_shape, num_classes, version, dtype))


# (channels behind, stride) of each block
MOBILENET_BLOCKS = (
    (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2),
    (512, 1), (512, 1), (512, 1), (512, 1), (512, 1), (1024, 2), (1024, 1),
)  # fmt: skip
SHALLOW_BLOCKS = (*MOBILENET_BLOCKS[:6], (1024, 2), (1024, 2))


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
    for number, (behind, stride) in enumerate(SHALLOW_BLOCKS if is_shallow else MOBILENET_BLOCKS, 1):
        name = f"separable_conv_block_{number}"
        body = separable_conv_block(body, name, channels, int(behind * alpha), stride, layout, dtype)
        channels = int(behind * alpha)
    flat = nn.batch_flatten(nn.global_avg_pool2d(body, layout=layout))
    scores = nn.bias_add(nn.dense(flat, var("fc_weight"), units=num_classes), var("fc_bias"))
    net = nn.softmax(scores)
    return Function(free_vars(net), net)


def get_mobilenet_workload(
    batch_size: int = 1, num_classes: int = 1000, image_shape: Sequence[int] = (3, 224, 224), dtype: str = "float32",
    layout: str = "NCHW",
) -> tuple[IRModule, dict[str, tvm.runtime.Tensor]]:  # fmt: skip
    """The network as a module, and its weights; image_shape in the layout's order without N."""
    return create_workload(mobile_net(num_classes, (batch_size, *image_shape), dtype, layout=layout))
