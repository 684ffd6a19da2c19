"""The generator of DCGAN (Radford et al., 2015): pictures of 64 x 64 from random numbers."""

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

KERNELS = {"NCHW": "IOHW", "NHWC": "HWOI"}
EPSILON = 1e-5 + 1e-12


def doubled(data: Expr, name: str, channels: int, layout: str) -> Expr:
    """A 4 x 4 transposed convolution that doubles the sides."""
    return layers.conv2d_transpose(
        data, kernel_size=(4, 4), strides=(2, 2), channels=channels, padding=(1, 1), output_padding=(0, 0),
        data_layout=layout, kernel_layout=KERNELS[layout], name=name,
    )  # fmt: skip


def get_net(
    batch_size: int, random_len: int = 100, oshape: Sequence[int] = (3, 64, 64), ngf: int = 128,
    code: Expr | None = None, layout: str = "NCHW", dtype: str = "float32",
) -> Function:  # fmt: skip
    """The network; oshape is channels, rows, columns whatever the layout is, ngf the channels before the last layer.

    raises   ConfigError for pictures that are not 64 x 64 and layouts other than NCHW and NHWC
    """
    if tuple(oshape[-2:]) != (64, 64) or layout not in KERNELS:
        raise ConfigError(f"relay.testing: DCGAN makes 64 x 64 in NCHW or NHWC. Got {tuple(oshape)} in {layout}")
    if code is None:
        code = var("data", shape=(batch_size, random_len), dtype=dtype)
    body: Expr = nn.relu(nn.dense(code, var("dense_weight"), units=4 * 4 * ngf * 8))
    body = relay.reshape(body, (-1, ngf * 8, 4, 4) if layout == "NCHW" else (-1, 4, 4, ngf * 8))
    for number, factor in ((2, 4), (3, 2), (4, 1)):
        body = doubled(body, f"g{number}_deconv", ngf * factor, layout)
        body = layers.batch_norm_infer(
            body, epsilon=EPSILON, scale=False, axis=layout.index("C"), name=f"g{number}_batch_norm"
        )
        body = nn.relu(body)
    net = relay.tanh(doubled(body, "g5_deconv", oshape[-3], layout))
    return Function(free_vars(net), net)


def get_workload(
    batch_size: int, oshape: Sequence[int] = (3, 64, 64), ngf: int = 128, random_len: int = 100, layout: str = "NCHW",
    dtype: str = "float32",
) -> tuple[IRModule, dict[str, tvm.runtime.Tensor]]:  # fmt: skip
    """The network as a module, and its weights."""
    return create_workload(get_net(batch_size, random_len, oshape, ngf, layout=layout, dtype=dtype))
