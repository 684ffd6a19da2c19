"""ResNet over films, with convolutions in three dimensions (Hara et al., 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tvm

from tvmq import relay
from tvmq.relay.expr import Function, var
from tvmq.relay.module import IRModule
from tvmq.relay.testing import layers
from tvmq.relay.testing.init import create_workload
from tvmq.relay.testing.resnet import Builder, head, plan, stages


def get_net(
    batch_size: int, num_classes: int, num_layers: int = 50, image_shape: Sequence[int] = (3, 16, 112, 112),
    layout: str = "NCDHW", dtype: str = "float32", **options: Any,
) -> Function:  # fmt: skip
    """The network for films of a shape, in the layout's order without N; there is no pooling before the stages."""
    height = image_shape[layout.index("H") - 1]
    units, filters, bottle_neck = plan(num_layers, height)
    builder = Builder(layout)
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


def get_workload(
    batch_size: int = 1, num_classes: int = 1000, num_layers: int = 18,
    image_shape: Sequence[int] = (3, 16, 112, 112), layout: str = "NCDHW", dtype: str = "float32", **options: Any,
) -> tuple[IRModule, dict[str, tvm.runtime.Tensor]]:  # fmt: skip
    """The network as a module, and its weights."""
    return create_workload(get_net(batch_size, num_classes, num_layers, image_shape, layout, dtype))
