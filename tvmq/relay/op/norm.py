"""Normalizations, activations with an attribute, softmax, dropout, padding.

Tests: tests/relay/test_ops.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import relax

from tvmq.relay.expr import Call, Expr, TupleGetItem, TupleWrapper
from tvmq.relay.op.arguments import call
from tvmq.relay.op.conv import channel_types
from tvmq.relay.op.elementwise import register_same
from tvmq.relay.op.registry import REQUIRED, completes, register


@register("nn.batch_norm", axis=1, epsilon=1e-5, center=True, scale=True)
def _batch_norm(emit: Any, args: list[Any], attrs: Any) -> Any:
    """Batch norm in inference: the running mean and variance are used, and given back as they are."""
    data, gamma, beta, mean, variance = args
    options = {"center": bool(attrs.center), "scale": bool(attrs.scale), "training": False}
    return emit(relax.op.nn.batch_norm(data, gamma, beta, mean, variance, attrs.axis, attrs.epsilon, **options))


@register("nn.layer_norm", axis=-1, epsilon=1e-5, center=True, scale=True)
def _layer_norm(emit: Any, args: list[Any], attrs: Any) -> Any:
    options = {"center": bool(attrs.center), "scale": bool(attrs.scale)}
    return emit(relax.op.nn.layer_norm(*args, [attrs.axis], attrs.epsilon, **options))


@register("nn.instance_norm", axis=1, epsilon=1e-5, center=True, scale=True)
def _instance_norm(emit: Any, args: list[Any], attrs: Any) -> Any:
    rank = len(args[0].ty.shape)
    axis = attrs.axis % rank
    axes = [i for i in range(1, rank) if i != axis]
    options = {"center": bool(attrs.center), "scale": bool(attrs.scale)}
    return emit(relax.op.nn.instance_norm(*args, axis, axes, attrs.epsilon, **options))


@register("nn.group_norm", num_groups=0, axis=1, epsilon=1e-5, center=True, scale=True)
def _group_norm(emit: Any, args: list[Any], attrs: Any) -> Any:
    rank = len(args[0].ty.shape)
    axis = attrs.axis % rank
    axes = [i for i in range(1, rank) if i != axis]
    options = {"center": bool(attrs.center), "scale": bool(attrs.scale)}
    return emit(relax.op.nn.group_norm(*args, attrs.num_groups, axis, axes, attrs.epsilon, **options))


register_same("nn.prelu", "nn.prelu", axis=1)
# A text leaves alpha out where it is 0.25; the function below has Relay's other default
register_same("nn.leaky_relu", "nn.leakyrelu", alpha=0.25)
register_same("nn.softmax", "nn.softmax", axis=-1)
register_same("nn.log_softmax", "nn.log_softmax", axis=-1)
completes("nn.batch_norm", "nn.layer_norm", "nn.instance_norm", "nn.group_norm", "nn.prelu")(channel_types)


@register("nn.dropout", rate=0.5)
def _dropout(emit: Any, args: list[Any], attrs: Any) -> Any:
    """Dropout in inference: the data as they are, and a mask of ones, which is left out where nobody reads it."""
    return emit.infer_type(relax.Tuple([args[0], emit(relax.op.ones_like(args[0]))]))


@register("nn.lrn", size=5, axis=1, bias=2.0, alpha=1e-4, beta=0.75)
def _lrn(emit: Any, args: list[Any], attrs: Any) -> Any:
    """data / (bias + alpha / size * sum of squares over `size` neighbours along the axis) ** beta."""
    data = args[0]
    rank, dtype = len(data.ty.shape), str(data.ty.dtype)
    axis = attrs.axis % rank
    before = attrs.size // 2
    width = [0] * (2 * rank)
    width[2 * axis : 2 * axis + 2] = [before, attrs.size - 1 - before]
    squares = emit(relax.op.nn.pad(emit(relax.op.multiply(data, data)), width))
    length = data.ty.shape[axis]
    total = None
    for shift in range(attrs.size):
        part = emit(relax.op.strided_slice(squares, [axis], [shift], [shift + length]))
        total = part if total is None else emit(relax.op.add(total, part))
    scaled = emit(relax.op.multiply(total, relax.const(np.array(attrs.alpha / attrs.size), dtype)))
    base = emit(relax.op.add(scaled, relax.const(np.array(attrs.bias), dtype)))
    return emit(relax.op.divide(data, emit(relax.op.power(base, relax.const(np.array(attrs.beta), dtype)))))


@register("nn.pad", pad_width=REQUIRED, pad_mode="constant")
def _pad(emit: Any, args: list[Any], attrs: Any) -> Any:
    from tvmq.relay.op.arguments import scalar

    width = [int(count) for pair in attrs.pad_width for count in pair]
    mode = {"edge": "replicate"}.get(attrs.pad_mode, attrs.pad_mode)
    return emit(relax.op.nn.pad(args[0], width, mode, float(scalar(args[1], "nn.pad, pad_value"))))


def batch_norm(
    data: Expr, gamma: Expr, beta: Expr, moving_mean: Expr, moving_var: Expr, axis: int = 1, epsilon: float = 1e-5,
    center: bool = True, scale: bool = True,
) -> TupleWrapper:  # fmt: skip
    """Batch normalization in inference, as relay.nn.batch_norm: [0] is the result, [1] and [2] mean and variance.

    >>> from tvmq.relay.expr import var
    >>> y = batch_norm(var("x", shape=(1, 3, 8, 8)), *(var(n) for n in ("gamma", "beta", "mean", "var")))
    >>> str(y[0].checked_type)
    'Tensor[(1, 3, 8, 8), float32]'
    """
    options = {"axis": axis, "epsilon": epsilon, "center": center, "scale": scale}
    return TupleWrapper(call("nn.batch_norm", data, gamma, beta, moving_mean, moving_var, **options), 3)


def layer_norm(
    data: Expr, gamma: Expr, beta: Expr, axis: int = -1, epsilon: float = 1e-5, center: bool = True,
    scale: bool = True,
) -> Call:  # fmt: skip
    """Normalization along one axis, as relay.nn.layer_norm."""
    return call("nn.layer_norm", data, gamma, beta, axis=axis, epsilon=epsilon, center=center, scale=scale)


def instance_norm(
    data: Expr, gamma: Expr, beta: Expr, axis: int = 1, epsilon: float = 1e-5, center: bool = True,
    scale: bool = True,
) -> Call:  # fmt: skip
    """Normalization of each channel of each sample, as relay.nn.instance_norm."""
    return call("nn.instance_norm", data, gamma, beta, axis=axis, epsilon=epsilon, center=center, scale=scale)


def group_norm(
    data: Expr, gamma: Expr, beta: Expr, num_groups: int, axis: int = 1, epsilon: float = 1e-5, center: bool = True,
    scale: bool = True,
) -> Call:  # fmt: skip
    """Normalization of groups of channels, as relay.nn.group_norm."""
    options = {"num_groups": num_groups, "axis": axis, "epsilon": epsilon, "center": center, "scale": scale}
    return call("nn.group_norm", data, gamma, beta, **options)


def prelu(data: Expr, alpha: Expr, axis: int = 1) -> Call:
    """The data, negative ones times alpha of their channel, as relay.nn.prelu."""
    return call("nn.prelu", data, alpha, axis=axis)


def leaky_relu(data: Expr, alpha: float = 0.01) -> Call:
    """The data, negative ones times alpha, as relay.nn.leaky_relu."""
    return call("nn.leaky_relu", data, alpha=float(alpha))


def softmax(data: Expr, axis: int = -1) -> Call:
    """Softmax along an axis, as relay.nn.softmax."""
    return call("nn.softmax", data, axis=axis)


def log_softmax(data: Expr, axis: int = -1) -> Call:
    """Logarithm of the softmax along an axis, as relay.nn.log_softmax."""
    return call("nn.log_softmax", data, axis=axis)


def dropout(data: Expr, rate: float = 0.5) -> TupleGetItem:
    """Dropout in inference: the data, as relay.nn.dropout."""
    return TupleGetItem(dropout_raw(data, rate), 0)


def dropout_raw(data: Expr, rate: float = 0.5) -> Call:
    """Dropout in inference as a tuple of the data and a mask of ones, as relay.nn.dropout_raw."""
    return call("nn.dropout", data, rate=rate)


def lrn(data: Expr, size: int = 5, axis: int = 1, bias: float = 2, alpha: float = 1e-05, beta: float = 0.75) -> Call:
    """Local response normalization, as relay.nn.lrn."""
    return call("nn.lrn", data, size=size, axis=axis, bias=float(bias), alpha=float(alpha), beta=float(beta))


def pad(data: Expr, pad_width: Sequence[Sequence[int]], pad_value: Any = 0, pad_mode: str = "constant") -> Call:
    """A border around the data, as relay.nn.pad: constant, edge or reflect.

    >>> from tvmq.relay.expr import var
    >>> str(pad(var("x", shape=(2, 2)), ((0, 0), (1, 2))).checked_type)
    'Tensor[(2, 5), float32]'
    """
    from tvmq.relay.expr import const

    value = pad_value if isinstance(pad_value, Expr) else const(pad_value, "float32")
    width = tuple(tuple(int(count) for count in pair) for pair in pad_width)
    return call("nn.pad", data, value, pad_width=width, pad_mode=pad_mode)
