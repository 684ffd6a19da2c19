"""relay.nn: operators of neural networks.

Tests: tests/relay/test_names.py
"""

from __future__ import annotations

from typing import Any

from tvmq.relay.op.conv import (
    batch_matmul,
    bias_add,
    conv1d,
    conv1d_transpose,
    conv2d,
    conv2d_transpose,
    conv3d,
    dense,
    matmul,
)
from tvmq.relay.op.elementwise import relu, softplus
from tvmq.relay.op.norm import (
    batch_norm,
    dropout,
    dropout_raw,
    group_norm,
    instance_norm,
    layer_norm,
    leaky_relu,
    log_softmax,
    lrn,
    pad,
    prelu,
    softmax,
)
from tvmq.relay.op.pool import (
    adaptive_avg_pool2d,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    global_avg_pool2d,
    global_max_pool2d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    upsampling,
)
from tvmq.relay.op.shape_change import batch_flatten

__all__ = [
    "adaptive_avg_pool2d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "batch_flatten", "batch_matmul", "batch_norm",
    "bias_add", "conv1d", "conv1d_transpose", "conv2d", "conv2d_transpose", "conv3d", "dense", "dropout",
    "dropout_raw", "global_avg_pool2d", "global_max_pool2d", "group_norm", "instance_norm", "layer_norm",
    "leaky_relu", "log_softmax", "lrn", "matmul", "max_pool1d", "max_pool2d", "max_pool3d", "pad", "prelu", "relu",
    "softmax", "softplus", "upsampling",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Refuse other names of relay.nn, with what to do instead (PEP 562)."""
    from tvmq.relay.advice import advice

    raise AttributeError(f"relay.nn.{name}: {advice(f'nn.{name}')}")
