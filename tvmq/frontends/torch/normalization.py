"""Normalizations without scale or shift: those that torch leaves out become ones and zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax

from tvmq.frontends.torch.call import TorchCall


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


def _last(sizes: list[int]) -> list[int]:
    return list(range(-len(sizes), 0))


def _or_constant(call: TorchCall, given: Any, default: np.ndarray) -> relax.Expr:
    return call.constant(default, call["input"]) if given is None else given
