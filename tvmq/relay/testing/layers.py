"""Layers that make their own weights: <name>_weight, <name>_bias, <name>_gamma, ...

Tests: tests/relay/test_testing.py
"""

from __future__ import annotations

from typing import Any

from tvmq.errors import ConfigError
from tvmq.relay.expr import Expr, var
from tvmq.relay.op import nn

# Layout of the data -> that of a kernel, and of a depthwise one
KERNELS = {"NCHW": ("OIHW", "OIHW"), "NHWC": ("HWIO", "HWOI"), "NCDHW": ("OIDHW", "OIDHW"), "NDHWC": ("DHWIO", "DHWOI")}


def conv2d(data: Expr, weight: Expr | None = None, *, name: str = "", **options: Any) -> Expr:
    """relay.nn.conv2d with a weight of its own, whose type follows from channels and kernel_size."""
    return nn.conv2d(data, weight or var(f"{name}_weight"), **options)


def conv3d(data: Expr, weight: Expr | None = None, *, name: str = "", **options: Any) -> Expr:
    """relay.nn.conv3d with a weight of its own."""
    return nn.conv3d(data, weight or var(f"{name}_weight"), **options)


def conv2d_transpose(data: Expr, weight: Expr | None = None, *, name: str = "", **options: Any) -> Expr:
    """relay.nn.conv2d_transpose with a weight of its own."""
    return nn.conv2d_transpose(data, weight or var(f"{name}_weight"), **options)


def batch_norm_infer(
    data: Expr, gamma: Expr | None = None, beta: Expr | None = None, moving_mean: Expr | None = None,
    moving_var: Expr | None = None, *, name: str = "", **options: Any,
) -> Expr:  # fmt: skip
    """The first result of relay.nn.batch_norm; gamma and beta are parameters even where they are not used."""
    return nn.batch_norm(
        data,
        gamma or var(f"{name}_gamma"),
        beta or var(f"{name}_beta"),
        moving_mean or var(f"{name}_moving_mean"),
        moving_var or var(f"{name}_moving_var"),
        **options,
    )[0]


def dense_add_bias(
    data: Expr, weight: Expr | None = None, bias: Expr | None = None, units: int | None = None, *, name: str = "",
    **options: Any,
) -> Expr:  # fmt: skip
    """relay.nn.dense, and its bias along the last axis."""
    product = nn.dense(data, weight or var(f"{name}_weight"), units, **options)
    return nn.bias_add(product, bias or var(f"{name}_bias"), axis=-1)


def conv_kernel_layout(data_layout: str, is_depthwise: bool = False) -> str:
    """Layout of a convolution's weight for data in a layout.

    raises   ConfigError for other layouts

    >>> conv_kernel_layout("NCHW"), conv_kernel_layout("NHWC"), conv_kernel_layout("NHWC", True)
    ('OIHW', 'HWIO', 'HWOI')
    """
    if data_layout not in KERNELS:
        raise ConfigError(f"relay.testing: layout {data_layout!r} is unknown; use {', '.join(KERNELS)}")
    return KERNELS[data_layout][is_depthwise]
