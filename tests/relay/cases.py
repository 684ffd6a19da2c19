"""Calls of each operator of Relay, with NumPy's result for them.

Inputs: x, z (2, 4, 6, 6); m (3, 5); v (4,); i (3, 5) int32.
"""

from __future__ import annotations

from collections.abc import Callable
from math import erf
from typing import Any

import numpy as np

from tvmq import relay

_RNG = np.random.default_rng(7)
INPUTS = {
    "x": _RNG.normal(size=(2, 4, 6, 6)).astype("float32"),
    "z": _RNG.normal(size=(2, 4, 6, 6)).astype("float32"),
    "m": _RNG.normal(size=(3, 5)).astype("float32"),
    "v": _RNG.normal(size=4).astype("float32"),
    "i": _RNG.integers(-100, 100, size=(3, 5)).astype("int32"),
}
WEIGHT = _RNG.normal(size=(6, 4, 3, 3)).astype("float32")
DENSE = _RNG.normal(size=(7, 5)).astype("float32")

Case = tuple[Callable[..., Any], Callable[..., Any]]


def conv(x: np.ndarray, w: np.ndarray, stride: int = 1, pad: int = 0) -> np.ndarray:
    """Convolution of NCHW and OIHW by its definition."""
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))[:, :, ::stride, ::stride]
    return np.einsum("nchwij,ocij->nohw", windows, w)


def windows(x: np.ndarray, size: int, stride: int) -> np.ndarray:
    return np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(2, 3))[:, :, ::stride, ::stride]


def normalized(x: np.ndarray, axes: Any) -> np.ndarray:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)


def softmax(x: np.ndarray, axis: int) -> np.ndarray:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def positive(x: Any) -> Any:
    return relay.abs(x) + relay.const(0.5)


def np_positive(x: np.ndarray) -> np.ndarray:
    return np.abs(x) + np.float32(0.5)


def per_channel(v: np.ndarray) -> np.ndarray:
    return v.reshape(1, -1, 1, 1)


_ONES, _ZEROS = relay.const(np.ones(4, "float32")), relay.const(np.zeros(4, "float32"))

NN: dict[str, Case] = {
    "conv2d": (lambda x, z, m, v, i: relay.nn.conv2d(x, relay.const(WEIGHT), padding=(1, 1)), lambda x, z, m, v, i: conv(x, WEIGHT, pad=1)),
    "conv2d strided": (lambda x, z, m, v, i: relay.nn.conv2d(x, relay.const(WEIGHT), strides=2, padding=1), lambda x, z, m, v, i: conv(x, WEIGHT, 2, 1)),
    "conv2d depthwise": (
        lambda x, z, m, v, i: relay.nn.conv2d(x, relay.const(WEIGHT[:4, :1]), groups=4, channels=4, kernel_size=(3, 3)),
        lambda x, z, m, v, i: np.concatenate([conv(x[:, c : c + 1], WEIGHT[c : c + 1, :1]) for c in range(4)], 1),
    ),
    "conv2d NHWC": (
        lambda x, z, m, v, i: relay.nn.conv2d(relay.transpose(x, (0, 2, 3, 1)), relay.const(WEIGHT.transpose(2, 3, 1, 0)), data_layout="NHWC", kernel_layout="HWIO"),
        lambda x, z, m, v, i: conv(x, WEIGHT).transpose(0, 2, 3, 1),
    ),
    "conv1d": (
        lambda x, z, m, v, i: relay.nn.conv1d(relay.reshape(x, (0, 0, -1)), relay.const(WEIGHT[:, :, 0]), padding=1),
        lambda x, z, m, v, i: conv(np.pad(x.reshape(2, 4, 1, 36), ((0, 0), (0, 0), (0, 0), (1, 1))), WEIGHT[:, :, :1])[:, :, 0],
    ),
    "conv2d_transpose": (
        lambda x, z, m, v, i: relay.nn.conv2d_transpose(x, relay.const(WEIGHT.transpose(1, 0, 2, 3)), channels=6, kernel_size=(3, 3)),
        lambda x, z, m, v, i: conv(x, WEIGHT[:, :, ::-1, ::-1], pad=2),
    ),
    "dense": (lambda x, z, m, v, i: relay.nn.dense(m, relay.const(DENSE)), lambda x, z, m, v, i: m @ DENSE.T),
    "matmul": (lambda x, z, m, v, i: relay.nn.matmul(m, m, transpose_b=True), lambda x, z, m, v, i: m @ m.T),
    "batch_matmul": (
        lambda x, z, m, v, i: relay.nn.batch_matmul(relay.reshape(x, (8, 6, 6)), relay.reshape(z, (8, 6, 6))),
        lambda x, z, m, v, i: x.reshape(8, 6, 6) @ z.reshape(8, 6, 6).transpose(0, 2, 1),
    ),
    "bias_add": (lambda x, z, m, v, i: relay.nn.bias_add(x, v), lambda x, z, m, v, i: x + per_channel(v)),
    "bias_add last": (lambda x, z, m, v, i: relay.nn.bias_add(relay.layout_transform(x, "NCHW", "NHWC"), v, axis=-1), lambda x, z, m, v, i: x.transpose(0, 2, 3, 1) + v),
    "relu": (lambda x, z, m, v, i: relay.nn.relu(x), lambda x, z, m, v, i: np.maximum(x, 0)),
    "leaky_relu": (lambda x, z, m, v, i: relay.nn.leaky_relu(x), lambda x, z, m, v, i: np.where(x > 0, x, x * np.float32(0.01))),
    "prelu": (lambda x, z, m, v, i: relay.nn.prelu(x, v), lambda x, z, m, v, i: np.where(x > 0, x, x * per_channel(v))),
    "batch_norm": (
        lambda x, z, m, v, i: relay.nn.batch_norm(x, v, _ZEROS, v, _ONES, epsilon=0.0)[0],
        lambda x, z, m, v, i: (x - per_channel(v)) * per_channel(v),
    ),
    "batch_norm unscaled": (lambda x, z, m, v, i: relay.nn.batch_norm(x, v, v, _ZEROS, _ONES, epsilon=0.0, scale=False)[0], lambda x, z, m, v, i: x + per_channel(v)),
    "layer_norm": (lambda x, z, m, v, i: relay.nn.layer_norm(x, relay.const(np.ones(6, "float32")), relay.const(np.ones(6, "float32"))), lambda x, z, m, v, i: normalized(x, 3) + 1),
    "instance_norm": (lambda x, z, m, v, i: relay.nn.instance_norm(x, v, v), lambda x, z, m, v, i: normalized(x, (2, 3)) * per_channel(v) + per_channel(v)),
    "group_norm": (
        lambda x, z, m, v, i: relay.nn.group_norm(x, _ONES, _ZEROS, num_groups=2),
        lambda x, z, m, v, i: normalized(x.reshape(2, 2, 2, 6, 6), (2, 3, 4)).reshape(x.shape),
    ),
    "max_pool2d": (lambda x, z, m, v, i: relay.nn.max_pool2d(x, 2, 2), lambda x, z, m, v, i: windows(x, 2, 2).max((4, 5))),
    "max_pool2d ceil": (lambda x, z, m, v, i: relay.nn.max_pool2d(x, 3, 2, ceil_mode=True), lambda x, z, m, v, i: windows(np.pad(x, ((0, 0), (0, 0), (0, 1), (0, 1)), constant_values=-np.inf), 3, 2).max((4, 5))),
    "avg_pool2d": (lambda x, z, m, v, i: relay.nn.avg_pool2d(x, (2, 2), (2, 2)), lambda x, z, m, v, i: windows(x, 2, 2).mean((4, 5))),
    "avg_pool2d border": (
        lambda x, z, m, v, i: relay.nn.avg_pool2d(x, 3, 3, padding=(0, 0, 3, 3), count_include_pad=True),
        lambda x, z, m, v, i: windows(np.pad(x, ((0, 0), (0, 0), (0, 3), (0, 3))), 3, 3).mean((4, 5)),
    ),
    "global_avg_pool2d": (lambda x, z, m, v, i: relay.nn.global_avg_pool2d(x), lambda x, z, m, v, i: x.mean((2, 3), keepdims=True)),
    "global_max_pool2d": (lambda x, z, m, v, i: relay.nn.global_max_pool2d(x), lambda x, z, m, v, i: x.max((2, 3), keepdims=True)),
    "adaptive_avg_pool2d": (lambda x, z, m, v, i: relay.nn.adaptive_avg_pool2d(x, (2, 3)), lambda x, z, m, v, i: x.reshape(2, 4, 2, 3, 3, 2).mean((3, 5))),
    "softmax": (lambda x, z, m, v, i: relay.nn.softmax(m), lambda x, z, m, v, i: softmax(m, -1)),
    "log_softmax": (lambda x, z, m, v, i: relay.nn.log_softmax(m), lambda x, z, m, v, i: np.log(softmax(m, -1))),
    "batch_flatten": (lambda x, z, m, v, i: relay.nn.batch_flatten(x), lambda x, z, m, v, i: x.reshape(2, -1)),
    "dropout": (lambda x, z, m, v, i: relay.nn.dropout(x), lambda x, z, m, v, i: x),
    "lrn": (
        lambda x, z, m, v, i: relay.nn.lrn(x, size=3, alpha=0.5),
        lambda x, z, m, v, i: x / (2 + 0.5 / 3 * sum(np.pad(x * x, ((0, 0), (1, 1), (0, 0), (0, 0)))[:, c : c + 4] for c in range(3))) ** 0.75,
    ),
    "upsampling": (lambda x, z, m, v, i: relay.nn.upsampling(x, 2, 2), lambda x, z, m, v, i: x.repeat(2, 2).repeat(2, 3)),
    "resize2d": (lambda x, z, m, v, i: relay.image.resize2d(x, (3, 3), method="nearest_neighbor", coordinate_transformation_mode="asymmetric"), lambda x, z, m, v, i: x[:, :, ::2, ::2]),
    "pad": (lambda x, z, m, v, i: relay.nn.pad(m, ((1, 0), (2, 1)), 3.0), lambda x, z, m, v, i: np.pad(m, ((1, 0), (2, 1)), constant_values=3)),
    "pad edge": (lambda x, z, m, v, i: relay.nn.pad(x, ((0, 0), (0, 0), (1, 1), (2, 2)), pad_mode="edge"), lambda x, z, m, v, i: np.pad(x, ((0, 0), (0, 0), (1, 1), (2, 2)), "edge")),
    "softplus": (lambda x, z, m, v, i: relay.nn.softplus(m), lambda x, z, m, v, i: np.log1p(np.exp(m))),
}  # fmt: skip

_FUNCTIONS = (
    "abs", "ceil", "cos", "exp", "floor", "negative", "round", "sign", "sin", "tanh", "trunc",
)  # fmt: skip
_POSITIVE = ("log", "sqrt")
_PAIRS = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum,
    "minimum": np.minimum, "less": np.less, "greater": np.greater, "less_equal": np.less_equal,
    "greater_equal": np.greater_equal, "equal": np.equal, "not_equal": np.not_equal,
}  # fmt: skip

ELEMENTWISE: dict[str, Case] = {
    name: (lambda x, z, m, v, i, f=name: getattr(relay, f)(x), lambda x, z, m, v, i, f=name: getattr(np, f)(x))
    for name in _FUNCTIONS
}
ELEMENTWISE |= {
    name: (lambda x, z, m, v, i, f=name: getattr(relay, f)(positive(x)), lambda x, z, m, v, i, f=name: getattr(np, f)(np_positive(x)))
    for name in _POSITIVE
}  # fmt: skip
ELEMENTWISE |= {
    name: (lambda x, z, m, v, i, f=name: getattr(relay, f)(x, z), lambda x, z, m, v, i, f=function: f(x, z))
    for name, function in _PAIRS.items()
}
ELEMENTWISE |= {
    "rsqrt": (lambda x, z, m, v, i: relay.rsqrt(positive(x)), lambda x, z, m, v, i: 1 / np.sqrt(np_positive(x))),
    "sigmoid": (lambda x, z, m, v, i: relay.sigmoid(x), lambda x, z, m, v, i: 1 / (1 + np.exp(-x))),
    "erf": (lambda x, z, m, v, i: relay.erf(m), lambda x, z, m, v, i: np.vectorize(erf)(m)),
    "power": (lambda x, z, m, v, i: relay.power(positive(x), z), lambda x, z, m, v, i: np.power(np_positive(x), z)),
    "clip": (lambda x, z, m, v, i: relay.clip(x, -0.5, 1), lambda x, z, m, v, i: np.clip(x, -0.5, 1)),
    "clip whole": (lambda x, z, m, v, i: relay.clip(i, -7.9, 7.9), lambda x, z, m, v, i: np.clip(i, -7, 7)),
    "cast": (lambda x, z, m, v, i: i.astype("float32"), lambda x, z, m, v, i: i.astype("float32")),
    "operators": (lambda x, z, m, v, i: (x + z) * x / positive(z) - (-x), lambda x, z, m, v, i: (x + z) * x / np_positive(z) + x),
    "broadcast": (lambda x, z, m, v, i: x * relay.reshape(v, (1, -1, 1, 1)), lambda x, z, m, v, i: x * per_channel(v)),
    "where": (lambda x, z, m, v, i: relay.where(x < z, x, z), lambda x, z, m, v, i: np.minimum(x, z)),
    "where of numbers": (lambda x, z, m, v, i: relay.where(relay.maximum(i, relay.const(0)), i, -i), lambda x, z, m, v, i: np.abs(i)),
    "left_shift": (lambda x, z, m, v, i: relay.left_shift(i, relay.const(3)), lambda x, z, m, v, i: i << 3),
    "right_shift": (lambda x, z, m, v, i: relay.right_shift(i, relay.const(2)), lambda x, z, m, v, i: i >> 2),
    "fixed_point_multiply": (lambda x, z, m, v, i: relay.fixed_point_multiply(i, 1610612736, 0), lambda x, z, m, v, i: np.floor(i * 0.75 + 0.5).astype("int32")),
    "fixed_point_multiply up": (lambda x, z, m, v, i: relay.fixed_point_multiply(i, 1395864320, 1), lambda x, z, m, v, i: ((i.astype("int64") << 1) * 1395864320 + (1 << 30) >> 31).astype("int32")),
    "stop_fusion": (lambda x, z, m, v, i: relay.annotation.stop_fusion(x), lambda x, z, m, v, i: x),
    "simulated_quantize": (lambda x, z, m, v, i: relay.op.annotation.simulated_quantize(x, 1), lambda x, z, m, v, i: x),
}  # fmt: skip

MOVES: dict[str, Case] = {
    "reshape": (lambda x, z, m, v, i: relay.reshape(x, (0, -3, -4, 2, -1)), lambda x, z, m, v, i: x.reshape(2, 24, 2, 3)),
    "reshape rest": (lambda x, z, m, v, i: relay.reshape(x, (-1, -2)), lambda x, z, m, v, i: x),
    "reverse_reshape": (lambda x, z, m, v, i: relay.reverse_reshape(x, (-1, 0)), lambda x, z, m, v, i: x.reshape(48, 6)),
    "reshape_like": (lambda x, z, m, v, i: relay.reshape_like(relay.nn.batch_flatten(x), z), lambda x, z, m, v, i: x),
    "transpose": (lambda x, z, m, v, i: relay.transpose(x), lambda x, z, m, v, i: x.transpose()),
    "transpose axes": (lambda x, z, m, v, i: relay.transpose(x, axes=(0, 2, -1, 1)), lambda x, z, m, v, i: x.transpose(0, 2, 3, 1)),
    "expand_dims": (lambda x, z, m, v, i: relay.expand_dims(m, -1, 2), lambda x, z, m, v, i: m[:, :, None, None]),
    "squeeze": (lambda x, z, m, v, i: relay.squeeze(relay.expand_dims(m, 0), [0]), lambda x, z, m, v, i: m),
    "concatenate": (lambda x, z, m, v, i: relay.concatenate([x, z], axis=1), lambda x, z, m, v, i: np.concatenate([x, z], 1)),
    "stack": (lambda x, z, m, v, i: relay.stack((x, z), axis=1), lambda x, z, m, v, i: np.stack([x, z], 1)),
    "split": (lambda x, z, m, v, i: relay.split(x, 2, axis=1)[1], lambda x, z, m, v, i: x[:, 2:]),
    "split at": (lambda x, z, m, v, i: relay.concatenate(relay.split(x, (1, 3), axis=1).astuple(), 1), lambda x, z, m, v, i: x),
    "strided_slice": (lambda x, z, m, v, i: relay.strided_slice(x, [0, 1], [2, -1]), lambda x, z, m, v, i: x[:, 1:-1]),
    "strided_slice axes": (lambda x, z, m, v, i: relay.strided_slice(x, [5], [-7], strides=[-2], axes=[3]), lambda x, z, m, v, i: x[..., ::-2]),
    "strided_slice size": (lambda x, z, m, v, i: relay.strided_slice(m, [1, 2], [2, -1], slice_mode="size"), lambda x, z, m, v, i: m[1:3, 2:]),
    "take": (lambda x, z, m, v, i: relay.take(m, relay.const([0, 4, 99]), axis=1), lambda x, z, m, v, i: m[:, [0, 4, 4]]),
    "take flat": (lambda x, z, m, v, i: relay.take(m, relay.const([0, 7])), lambda x, z, m, v, i: m.reshape(-1)[[0, 7]]),
    "broadcast_to": (lambda x, z, m, v, i: relay.broadcast_to(v, (3, 4)), lambda x, z, m, v, i: np.broadcast_to(v, (3, 4))),
    "tile": (lambda x, z, m, v, i: relay.tile(m, (2, 1)), lambda x, z, m, v, i: np.tile(m, (2, 1))),
    "repeat": (lambda x, z, m, v, i: relay.repeat(m, 2, axis=1), lambda x, z, m, v, i: m.repeat(2, 1)),
    "reverse": (lambda x, z, m, v, i: relay.reverse(m, 1), lambda x, z, m, v, i: m[:, ::-1]),
    "layout to blocks": (lambda x, z, m, v, i: relay.layout_transform(x, "NCHW", "NCHW2c"), lambda x, z, m, v, i: x.reshape(2, 2, 2, 6, 6).transpose(0, 1, 3, 4, 2)),
    "layout and back": (lambda x, z, m, v, i: relay.layout_transform(relay.layout_transform(x, "NCHW", "NCHW2c"), "NCHW2c", "NHWC"), lambda x, z, m, v, i: x.transpose(0, 2, 3, 1)),
    "zeros": (lambda x, z, m, v, i: relay.zeros((3, 5), "float32") + m, lambda x, z, m, v, i: m),
    "ones_like": (lambda x, z, m, v, i: relay.ones_like(m) + m, lambda x, z, m, v, i: m + 1),
    "full": (lambda x, z, m, v, i: relay.full(relay.const(2.5), (3, 5)) * m, lambda x, z, m, v, i: m * np.float32(2.5)),
    "arange": (lambda x, z, m, v, i: relay.arange(relay.const(5.0)) + m, lambda x, z, m, v, i: np.arange(5, dtype="float32") + m),
    "sum": (lambda x, z, m, v, i: relay.sum(x, axis=1, exclude=True), lambda x, z, m, v, i: x.sum((0, 2, 3))),
    "mean": (lambda x, z, m, v, i: relay.mean(x, axis=[2, 3], keepdims=True), lambda x, z, m, v, i: x.mean((2, 3), keepdims=True)),
    "max": (lambda x, z, m, v, i: relay.max(x), lambda x, z, m, v, i: x.max()),
    "min": (lambda x, z, m, v, i: relay.min(x, -1), lambda x, z, m, v, i: x.min(-1)),
    "prod": (lambda x, z, m, v, i: relay.prod(m, 1), lambda x, z, m, v, i: m.prod(1)),
    "argmax": (lambda x, z, m, v, i: relay.argmax(m, axis=1), lambda x, z, m, v, i: m.argmax(1).astype("int32")),
    "argmin": (lambda x, z, m, v, i: relay.argmin(m, axis=0), lambda x, z, m, v, i: m.argmin(0).astype("int32")),
    "variance": (lambda x, z, m, v, i: relay.variance(x, 1), lambda x, z, m, v, i: x.var(1)),
    "std": (lambda x, z, m, v, i: relay.std(x, 1, unbiased=True), lambda x, z, m, v, i: x.std(1, ddof=1)),
}  # fmt: skip
