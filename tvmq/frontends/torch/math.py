"""Arithmetic and reductions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tvm import relax

from tvmq.frontends.torch.call import TorchCall


def amax(call: TorchCall) -> relax.Expr:
    """Largest value along dimensions, of all where none are given."""
    return _reduced(call, relax.op.max)


def amin(call: TorchCall) -> relax.Expr:
    """Smallest value along dimensions, of all where none are given."""
    return _reduced(call, relax.op.min)


def _reduced(call: TorchCall, reduce: Callable[..., relax.Expr]) -> relax.Expr:
    return reduce(call["self"], list(call["dim"]) or None, keepdims=call["keepdim"])


def prod(call: TorchCall) -> relax.Expr:
    """Product along one dimension."""
    return relax.op.prod(call["self"], [call["dim"]], keepdims=call["keepdim"])


def max_along(call: TorchCall) -> Any:
    """Largest values along one dimension, and their positions."""
    return _extremes(call, relax.op.max, relax.op.argmax)


def min_along(call: TorchCall) -> Any:
    """Smallest values along one dimension, and their positions."""
    return _extremes(call, relax.op.min, relax.op.argmin)


def variance_and_mean(call: TorchCall) -> Any:
    """var_mean: the variance, divided by n - correction (1 where nothing is said), and the mean."""
    return _spread(call, lambda variance: variance)


def deviation_and_mean(call: TorchCall) -> Any:
    """std_mean: the root of that variance, and the mean."""
    return _spread(call, relax.op.sqrt)


def _spread(call: TorchCall, function: Callable[[relax.Expr], relax.Expr]) -> Any:
    x, keep = call["self"], call["keepdim"]
    sizes = call.shape(x)
    dims = [int(dim) % len(sizes) for dim in call["dim"]] if call["dim"] else list(range(len(sizes)))
    lost = 1 if call["correction"] is None else call["correction"]
    variance = relax.op.variance(x, dims, keepdims=keep)
    if lost:
        counts = [size for dim in dims if isinstance(size := sizes[dim], int)]
        if len(counts) < len(dims) or math.prod(counts) <= lost:
            raise call.unsupported(
                f"correction={lost} over {sizes}", "use correction=0, or more values of a known number"
            )
        variance = relax.op.multiply(variance, call.constant(math.prod(counts) / (math.prod(counts) - lost), x))
    return call.emit(function(variance)), call.emit(relax.op.mean(x, dims, keepdims=keep))


def _extremes(call: TorchCall, value: Callable[..., relax.Expr], position: Callable[..., relax.Expr]) -> Any:
    x, dim, keep = call["self"], call["dim"], call["keepdim"]
    return call.emit(value(x, [dim], keepdims=keep)), call.emit(position(x, dim, keepdims=keep))


def clamp(call: TorchCall) -> relax.Expr | None:
    """A bound of one side alone; TVM's converter puts infinity at the other, which integers do not have.

    Where the lower one is above the upper one, all is the upper.
    """
    x, low, high = call["self"], call["min"], call["max"]
    if not all(isinstance(bound, int | float | None) for bound in (low, high)):
        raise call.unsupported("bounds that depend on free sizes", "export with fixed sizes")
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


def divide_whole(call: TorchCall) -> relax.Expr | None:
    """Whole-number division by a number of the tensor's own type; TVM's converter makes it int32."""
    x, other = call["self"], call["other"]
    is_integer = "int" in str(x.ty.dtype) if isinstance(x, relax.Expr) else False
    if not is_integer or not isinstance(other, int) or call["rounding_mode"] != "floor":
        return None
    return relax.op.floor_divide(x, call.constant(other, x))
