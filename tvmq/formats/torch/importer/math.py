"""Repairs of torch arithmetic, reductions, normalizations and attention.

Normalizations get the scale and shift that torch leaves out: ones and zeros. Attention becomes products and a softmax,
which the later stages know.

Tests: tests/formats/torch/importer/test_ops.py
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from tvm import relax
from tvm.ir import GenericConst

from tvmq.formats.torch.importer.repairs import TorchCall
from tvmq.graph.size_text import shape_text


def _reduction(reduce: Callable[..., relax.Expr]) -> Callable[[TorchCall], relax.Expr]:
    """Reduction along dimensions, of all where none are given."""
    def function(call: TorchCall) -> relax.Expr:
        """Largest or least values along dimensions."""
        return reduce(call["self"], list(call["dim"]) or None, keepdims=call["keepdim"])

    return function


amax, amin = _reduction(relax.op.max), _reduction(relax.op.min)


def prod(call: TorchCall) -> relax.Expr:
    """Product along one dimension."""
    return relax.op.prod(call["self"], [call["dim"]], keepdims=call["keepdim"])


def spread_and_mean(call: TorchCall) -> Any:
    """var_mean: the variance, divided by n - correction (1 by default), and the mean; std_mean: its root."""
    x, keep = call["self"], call["keepdim"]
    sizes = call.shape(x)
    dims = [int(dim) % len(sizes) for dim in call["dim"]] if call["dim"] else list(range(len(sizes)))
    lost = 1 if call["correction"] is None else call["correction"]
    variance = relax.op.variance(x, dims, keepdims=keep)
    if lost:
        counts = [size for dim in dims if isinstance(size := sizes[dim], int)]
        if len(counts) < len(dims) or math.prod(counts) <= lost:
            raise call.unsupported_error(
                f"correction={lost} over {shape_text(sizes)} is not supported",
                "use correction=0, or more values along fixed sizes",
            )
        variance = relax.op.multiply(variance, call.constant(math.prod(counts) / (math.prod(counts) - lost), x))
    spread = relax.op.sqrt(variance) if call.operator.startswith("std") else variance
    return call.emit(spread), call.emit(relax.op.mean(x, dims, keepdims=keep))


def extremes(call: TorchCall) -> Any:
    """Largest or smallest values along one dimension, and their positions."""
    is_max = call.operator.startswith("max")
    value, position = (relax.op.max, relax.op.argmax) if is_max else (relax.op.min, relax.op.argmin)
    x, dim, keep = call["self"], call["dim"], call["keepdim"]
    return call.emit(value(x, [dim], keepdims=keep)), call.emit(position(x, dim, keepdims=keep))


def clamp(call: TorchCall) -> relax.Expr | None:
    """Clamp with one bound; TVM's converter sets the other to infinity, which integers do not have.

    Where the lower one is above the upper one, all is the upper.
    """
    x, low, high = call["self"], call["min"], call["max"]
    if not all(isinstance(bound, int | float | None) for bound in (low, high)):
        raise call.unsupported_error("bounds from dynamic dimensions are not supported", "export with fixed sizes")
    if low is None and high is not None:
        return relax.op.minimum(x, call.constant(high, x))
    if high is None and low is not None:
        is_relu = low == 0 and str(x.ty.dtype) == "float32"
        return relax.op.nn.relu(x) if is_relu else relax.op.maximum(x, call.constant(low, x))
    bounded = all(isinstance(bound, int | float) and math.isfinite(bound) for bound in (low, high))
    return relax.op.clip(x, min(low, high), high) if bounded else None


def mish(call: TorchCall) -> relax.Expr:
    """x * tanh(softplus(x))."""
    x = call["self"]
    return relax.op.multiply(x, call.emit(relax.op.tanh(call.emit(relax.op.nn.softplus(x)))))


def subtract(call: TorchCall) -> relax.Expr | None:
    """x - alpha * other; TVM's converter forgets alpha."""
    x, other, alpha = call["self"], call["other"], call["alpha"]
    if alpha == 1 or not isinstance(x, relax.Expr):
        return None
    if not isinstance(other, relax.Expr):
        return relax.op.subtract(x, call.constant(alpha * other, x))
    return relax.op.subtract(x, call.emit(relax.op.multiply(other, call.constant(alpha, other))))


BINARY = {
    "matmul": relax.op.matmul, "mm": relax.op.matmul, "maximum": relax.op.maximum, "minimum": relax.op.minimum
}  # fmt: skip


def binary_of_constants(call: TorchCall) -> relax.Expr | None:
    """Function of two constants; TVM's converter applies Python's operator, which they do not have."""
    a, b = (call.value(argument) for argument in call.node.args[:2])
    if not isinstance(a, GenericConst) or not isinstance(b, GenericConst):
        return None
    return BINARY[call.operator.partition(".")[0]](a, b)


def floor_divide_integers(call: TorchCall) -> relax.Expr | None:
    """Floor division by a number of the tensor's own type; TVM's converter makes it int32."""
    x, other = call["self"], call["other"]
    is_integer = "int" in str(x.ty.dtype) if isinstance(x, relax.Expr) else False
    if not is_integer or not isinstance(other, int) or call["rounding_mode"] != "floor":
        return None
    return relax.op.floor_divide(x, call.constant(other, x))


def layer_norm(call: TorchCall) -> relax.Expr:
    """Over the last dimensions."""
    sizes = [int(size) for size in call["normalized_shape"]]
    scale = _or_constant(call, call["weight"], np.ones(sizes))
    shift = _or_constant(call, call["bias"], np.zeros(sizes))
    return relax.op.nn.layer_norm(call["input"], scale, shift, _last(sizes), call["eps"])


def rms_norm(call: TorchCall) -> relax.Expr:
    """Over the last dimensions; without epsilon that of the element type, as torch has it."""
    x, sizes = call["input"], [int(size) for size in call["normalized_shape"]]
    epsilon = call["eps"]
    if epsilon is None:
        epsilon = float(np.finfo(str(x.ty.dtype)).eps)
    scale = _or_constant(call, call["weight"], np.ones(sizes))
    return relax.op.nn.rms_norm(x, scale, _last(sizes), epsilon)


def group_norm(call: TorchCall) -> Any:
    """The first result, the normalized tensor; the statistics beside it are not computed."""
    x, channels = call["input"], int(call["C"])
    scale = _or_constant(call, call["weight"], np.ones(channels))
    shift = _or_constant(call, call["bias"], np.zeros(channels))
    axes = list(range(2, len(call.shape(x))))
    norm = relax.op.nn.group_norm(x, scale, shift, int(call["group"]), 1, axes, call["eps"])
    return (call.emit(norm),)


def instance_norm(call: TorchCall) -> relax.Expr:
    """Over each channel of a sample, a group of its own; with the statistics of training a batch norm.

    torch's decomposition makes one sample of the batch, and copies scale and shift for each.
    """
    x = call["input"]
    sizes = call.shape(x)
    scale = _or_constant(call, call["weight"], np.ones(sizes[1]))
    shift = _or_constant(call, call["bias"], np.zeros(sizes[1]))
    if call["use_input_stats"]:
        return relax.op.nn.group_norm(x, scale, shift, sizes[1], 1, list(range(2, len(sizes))), call["eps"])
    norm = relax.op.nn.batch_norm(
        x, scale, shift, call["running_mean"], call["running_var"], 1, call["eps"], training=False
    )
    return relax.TupleGetItem(call.emit(norm), 0)


def _last(sizes: list[int]) -> list[int]:
    return list(range(-len(sizes), 0))


def _or_constant(call: TorchCall, tensor: Any, default: np.ndarray) -> relax.Expr:
    return call.constant(default, call["input"]) if tensor is None else tensor


def attention(call: TorchCall) -> relax.Expr:
    """softmax(query @ key^T * scale + mask) @ value; rows that are masked everywhere give zeros."""
    query, key, value = call["query"], call["key"], call["value"]
    if call["dropout_p"]:
        raise call.unsupported_error("dropout is not supported", "pass dropout_p=0.0 in evaluation")
    if call["enable_gqa"]:
        raise call.unsupported_error("enable_gqa is not supported", "repeat the heads of key and value before it")
    rank = len(call.shape(key))
    turned = call.emit(relax.op.permute_dims(key, [*range(rank - 2), rank - 1, rank - 2]))
    scores = call.emit(relax.op.matmul(query, turned))
    scale = float(call.shape(query)[-1]) ** -0.5 if call["scale"] is None else float(call["scale"])
    scores = call.emit(relax.op.multiply(scores, call.constant(scale, query)))
    mask = _mask(call)
    if mask is None:
        return relax.op.matmul(call.emit(relax.op.nn.softmax(scores, -1)), value)
    scores = call.emit(relax.op.add(scores, mask))
    weights = call.emit(relax.op.nn.softmax(scores, -1))
    if not isinstance(mask, GenericConst) or np.isneginf(mask.value.numpy()).all(-1).any():
        weights = _zero_where_masked(call, scores, weights)
    return relax.op.matmul(weights, value)


def _mask(call: TorchCall) -> Any:
    """Term that is added to the scores, None for nothing."""
    query, mask = call["query"], call["attn_mask"]
    if call["is_causal"]:
        rows, columns = call.shape(query)[-2], call.shape(call["key"])[-2]
        if not isinstance(rows, int) or not isinstance(columns, int):
            raise call.unsupported_error("is_causal of a dynamic length is not supported", "pass attn_mask")
        return call.constant(np.where(np.tri(rows, columns, dtype=bool), 0.0, -np.inf), query)
    if mask is None or str(mask.ty.dtype) != "bool":
        return mask
    return call.emit(relax.op.where(mask, call.constant(0.0, query), call.constant(-np.inf, query)))


def _zero_where_masked(call: TorchCall, scores: relax.Expr, weights: relax.Expr) -> relax.Expr:
    """Set rows that are masked everywhere to zeros, as torch has them; softmax of -inf gives NaN.

    Relax's max begins at the lowest finite number, so the row is asked for a score above -inf instead.
    """
    open_scores = call.emit(relax.op.greater(scores, call.constant(-np.inf, scores)))
    counted = call.emit(relax.op.astype(open_scores, str(scores.ty.dtype)))
    any_open = call.emit(relax.op.max(counted, [-1], keepdims=True))
    masked = call.emit(relax.op.equal(any_open, call.constant(0.0, scores)))
    return call.emit(relax.op.where(masked, call.constant(0.0, scores), weights))
