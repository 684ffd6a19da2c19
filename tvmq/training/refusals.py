"""Refusals of what a network is fed: inputs of other shapes than its model has, states that no scale can be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
import tvm
from torch import nn

from tvmq.errors import DataError
from tvmq.graph.symbolic import inputs_of
from tvmq.training.parameters import LearnedScale

if TYPE_CHECKING:
    from tvmq.calibration.dataset import Input

SMALLEST = torch.finfo(torch.float32).smallest_normal


def check_inputs(mod: tvm.IRModule, inputs: Sequence[Any]) -> None:
    """Refuse inputs whose number, type of object or shape is not that of the module.

    raises  DataError that names the input
    """
    wanted = inputs_of(mod)
    if len(inputs) != len(wanted):
        names = ", ".join(repr(one.name) for one in wanted)
        raise DataError(f"training: the model takes {len(wanted)} inputs ({names}). Got {len(inputs)} instead")
    for one, x in zip(wanted, inputs, strict=True):
        if not isinstance(x, torch.Tensor):
            raise DataError(f"training: input '{one.name}' must be a torch tensor. Got {type(x).__name__} instead")
        if not _fits(one, tuple(x.shape)):
            shape = ", ".join("any" if size is None else str(size) for size in one.shape)
            raise DataError(
                f"training: input '{one.name}' must have shape ({shape}), as the model was imported. Got "
                f"{tuple(x.shape)} instead; import the model with a dynamic batch to train on batches of any size"
            )


def _fits(wanted: Input, shape: tuple[int, ...]) -> bool:
    return len(shape) == len(wanted.shape) and all(
        size in (None, actual) for size, actual in zip(wanted.shape, shape, strict=True)
    )


def check_state(net: nn.Module, state: Mapping[str, Any], prefix: str = "") -> None:
    """Refuse a state whose parameters are not finite, or whose scales are not positive, before any of it is taken.

    raises  DataError that names the parameter
    """
    for name, _ in net.named_parameters():
        _check_finite(f"{prefix}{name}", state.get(f"{prefix}{name}"))
    for place, module in net.named_modules():
        if isinstance(module, LearnedScale):
            _check_scale(module, f"{prefix}{place}.start", f"{prefix}{place}.log2_ratio", state)


def _check_finite(name: str, value: Any) -> None:
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return
    wrong = value[~torch.isfinite(value)]
    if wrong.numel():
        raise DataError(
            f"training: parameter '{name}' of the state is not finite, {wrong.numel()} of {value.numel()} values, "
            f"first {wrong[0].item():g}; load a checkpoint from before the training went wrong"
        )


def _check_scale(scale: LearnedScale, start: str, ratio: str, state: Mapping[str, Any]) -> None:
    first, power = state.get(start, scale.start), state.get(ratio, scale.log2_ratio)
    if not isinstance(first, torch.Tensor) or not isinstance(power, torch.Tensor) or first.shape != power.shape:
        return  # torch says what is wrong
    for name, values in ((start, first), (ratio, first * torch.exp2(power.detach()))):
        wrong = values[~(torch.isfinite(values) & (values >= SMALLEST))]
        if wrong.numel():
            what = "scale" if name == start else "scale that follows from it"
            raise DataError(
                f"training: parameter '{name}' of the state is no {what}, {wrong.numel()} of {values.numel()} are not "
                f"positive and finite, first {wrong[0].item():g}; load a checkpoint from before the training went wrong"
            )
