"""ResNet with the norm before the convolution (He et al., Identity Mappings in Deep Residual Networks, 2016).

ResNet over films, with convolutions in three dimensions (Hara et al., 2018).

Tests: tests/relay/quantize/test_classic_cases.py
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

EPSILON = 2e-5
# Layers -> residual units of each of the four stages of networks for large pictures
UNITS = {
    18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3), 200: (3, 24, 36, 3),
    269: (3, 30, 48, 8),
}  # fmt: skip


class ResNetBuilder:
    """Layers of pictures, or of films where the layout says so, that share layout and epsilon."""

    def __init__(self, layout: str) -> None:
        self.layout = layout
        self.rank = len(layout) - 2

    def conv(self, data: Expr, name: str, channels: int, size: int, stride: int = 1) -> Expr:
        """A convolution that keeps the sides where its stride is 1."""
        convolve = layers.conv3d if self.rank == 3 else layers.conv2d
        return convolve(
            data,
            channels=channels,
            kernel_size=(size,) * self.rank,
            strides=(stride,) * self.rank,
            padding=(size // 2,) * self.rank,
            name=name,
            data_layout=self.layout,
            kernel_layout=layers.conv_kernel_layout(self.layout),
        )

    def norm(self, data: Expr, name: str, **options: Any) -> Expr:
        """A batch norm over the channels."""
        return layers.batch_norm_infer(data, epsilon=EPSILON, axis=self.layout.index("C"), name=name, **options)

    def active(self, data: Expr, name: str) -> Expr:
        """A batch norm and relu."""
        return nn.relu(self.norm(data, name))


def residual_unit(
    data: Expr, num_filter: int, stride: int, dim_match: bool, name: str, bottle_neck: bool, builder: ResNetBuilder
) -> Expr:
    """Norm, relu and convolution, twice or three times, and the way around them.

    stride      of the first convolution
    dim_match   the data go around as they are; else through a 1 x 1 convolution of the first relu
    """
    first = builder.active(data, f"{name}_bn1")
    if bottle_neck:
        body = builder.conv(first, f"{name}_conv1", num_filter // 4, 1, stride)
        body = builder.conv(builder.active(body, f"{name}_bn2"), f"{name}_conv2", num_filter // 4, 3)
        body = builder.conv(builder.active(body, f"{name}_bn3"), f"{name}_conv3", num_filter, 1)
    else:
        body = builder.conv(first, f"{name}_conv1", num_filter, 3, stride)
        body = builder.conv(builder.active(body, f"{name}_bn2"), f"{name}_conv2", num_filter, 3)
    return relay.add(body, data if dim_match else builder.conv(first, f"{name}_sc", num_filter, 1, stride))


def resnet(
    units: Sequence[int], num_stages: int, filter_list: Sequence[int], num_classes: int, data_shape: Sequence[int],
    bottle_neck: bool = True, layout: str = "NCHW", dtype: str = "float32",
) -> Function:  # fmt: skip
    """A network of stages; pictures of at most 32 rows keep their size up to the first stage.

    units        residual units of each stage
    filter_list  channels of the first convolution, then of each stage
    """
    if len(units) != num_stages:
        raise ConfigError(f"relay.testing: {num_stages} stages, units for {len(units)}; give one number a stage")
    builder = ResNetBuilder(layout)
    body = builder.norm(var("data", shape=data_shape, dtype=dtype), "bn_data", scale=False)
    if data_shape[layout.index("H")] <= 32:
        body = builder.conv(body, "conv0", filter_list[0], 3)
    else:
        body = builder.active(builder.conv(body, "conv0", filter_list[0], 7, 2), "bn0")
        body = nn.max_pool2d(body, pool_size=(3, 3), strides=(2, 2), padding=(1, 1), layout=layout)
    body = stages(body, units, filter_list, bottle_neck, builder)
    pooled = nn.global_avg_pool2d(builder.active(body, "bn1"), layout=layout)
    return head(pooled, num_classes)


def stages(
    body: Expr, units: Sequence[int], filter_list: Sequence[int], bottle_neck: bool, builder: ResNetBuilder
) -> Expr:
    """All residual units; the first of each stage but the first halves the sides."""
    for stage, (count, filters) in enumerate(zip(units, filter_list[1:], strict=True), 1):
        for unit in range(1, count + 1):
            stride = 2 if unit == 1 and stage > 1 else 1
            name = f"stage{stage}_unit{unit}"
            body = residual_unit(body, filters, stride, unit > 1, name, bottle_neck, builder)
    return body


def head(pooled: Expr, num_classes: int) -> Function:
    """The classifier behind the pooling, as a function of all variables."""
    net = nn.softmax(layers.dense_add_bias(nn.batch_flatten(pooled), units=num_classes, name="fc1"))
    return Function(free_vars(net), net)


def plan(num_layers: int, height: int) -> tuple[Sequence[int], Sequence[int], bool]:
    """(units, filters, bottle necks) of a number of layers, for pictures of so many rows.

    raises   ConfigError, a ValueError, for numbers that nobody trained

    >>> plan(18, 224)
    ((2, 2, 2, 2), (64, 64, 128, 256, 512), False)
    >>> plan(20, 28)
    ((3, 3, 3), (16, 16, 32, 64), False)
    """
    if height > 28 and num_layers in UNITS:
        filters = (64, 256, 512, 1024, 2048) if num_layers >= 50 else (64, 64, 128, 256, 512)
        return UNITS[num_layers], filters, num_layers >= 50
    if height <= 28 and num_layers >= 164 and (num_layers - 2) % 9 == 0:
        return ((num_layers - 2) // 9,) * 3, (16, 64, 128, 256), True
    if height <= 28 and num_layers < 164 and (num_layers - 2) % 6 == 0:
        return ((num_layers - 2) // 6,) * 3, (16, 16, 32, 64), False
    known = "6n + 2 below 164, 9n + 2 from there on" if height <= 28 else ", ".join(map(str, UNITS))
    raise ConfigError(f"relay.testing: no ResNet of {num_layers} layers for {height} rows; there are {known}")


def get_net(
    batch_size: int, num_classes: int, num_layers: int = 50, image_shape: Sequence[int] = (3, 224, 224),
    layout: str = "NCHW", dtype: str = "float32", **options: Any,
) -> Function:  # fmt: skip
    """The network for pictures of a shape, in the layout's order without N."""
    units, filters, bottle_neck = plan(num_layers, image_shape[layout.index("H") - 1])
    shape = (batch_size, *image_shape)
    return resnet(units, len(units), filters, num_classes, shape, bottle_neck, layout, dtype)


def get_workload(
    batch_size: int = 1, num_classes: int = 1000, num_layers: int = 18, image_shape: Sequence[int] = (3, 224, 224),
    layout: str = "NCHW", dtype: str = "float32", **options: Any,
) -> tuple[IRModule, dict[str, tvm.runtime.Tensor]]:  # fmt: skip
    """The network as a module, and its weights."""
    return create_workload(get_net(batch_size, num_classes, num_layers, image_shape, layout, dtype))


def get_resnet_3d(
    batch_size: int, num_classes: int, num_layers: int = 50, image_shape: Sequence[int] = (3, 16, 112, 112),
    layout: str = "NCDHW", dtype: str = "float32", **options: Any,
) -> Function:  # fmt: skip
    """The network for films of a shape, in the layout's order without N; there is no pooling before the stages."""
    height = image_shape[layout.index("H") - 1]
    units, filters, bottle_neck = plan(num_layers, height)
    builder = ResNetBuilder(layout)
    body = builder.norm(var("data", shape=(batch_size, *image_shape), dtype=dtype), "bn_data", scale=False)
    if height <= 32:
        body = builder.conv(body, "conv0", filters[0], 3)
    else:
        body = layers.conv3d(
            body, channels=filters[0], kernel_size=(3, 7, 7), strides=(1, 2, 2), padding=(1, 3, 3), name="conv0",
            data_layout=layout, kernel_layout=layers.conv_kernel_layout(layout),
        )  # fmt: skip
        body = builder.active(body, "bn0")
    body = stages(body, units, filters, bottle_neck, builder)
    pooled = relay.mean(builder.active(body, "bn1"), axis=[layout.index(side) for side in "DHW"], keepdims=True)
    return head(pooled, num_classes)


def get_resnet_3d_workload(
    batch_size: int = 1, num_classes: int = 1000, num_layers: int = 18,
    image_shape: Sequence[int] = (3, 16, 112, 112), layout: str = "NCDHW", dtype: str = "float32", **options: Any,
) -> tuple[IRModule, dict[str, tvm.runtime.Tensor]]:  # fmt: skip
    """The network as a module, and its weights."""
    return create_workload(get_resnet_3d(batch_size, num_classes, num_layers, image_shape, layout, dtype))
