"""Tensors under dotted names, as torch nests modules: any name of a source becomes a key of the state dictionary.

Tests: tests/training/test_batch_norm.py
"""

from __future__ import annotations

import torch
from torch import nn


class Handle:
    """A parameter or buffer by its place, so that whatever stands there is read.

    Names of a source may be those of attributes ("source", "type"), so torch's own lookup by attribute does not serve.
    """

    def __init__(self, holder: nn.Module, name: str) -> None:
        self.holder, self.name = holder, name

    def __call__(self) -> torch.Tensor:
        tensor = self.holder._parameters.get(self.name)
        if tensor is None:
            tensor = self.holder._buffers[self.name]
        assert tensor is not None
        return tensor


def add_parameter(root: nn.Module, name: str, value: torch.Tensor) -> Handle:
    """Register a parameter, or find the one that is there."""
    holder, last = _place(root, name)
    if last not in holder._parameters:
        holder._parameters[last] = nn.Parameter(value)
    return Handle(holder, last)


def add_buffer(root: nn.Module, name: str, value: torch.Tensor) -> Handle:
    """Register a buffer, or find the one that is there."""
    holder, last = _place(root, name)
    holder._buffers.setdefault(last, value)
    return Handle(holder, last)


def add_module(root: nn.Module, name: str, module: nn.Module) -> None:
    """Register a module under a name that is free, or under the next one that is."""
    holder, last = _place(root, name)
    free, count = last, 0
    while free in holder._modules:
        count += 1
        free = f"{last}_{count}"
    holder._modules[free] = module


def _place(root: nn.Module, name: str) -> tuple[nn.Module, str]:
    *path, last = name.split(".")
    at = root
    for part in path:
        below = at._modules.get(part)
        if below is None:
            below = at._modules[part] = nn.Module()
        at = below
    return at, last
