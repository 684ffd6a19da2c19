"""Weights that torchao's quantize_ left: tensor subclasses with codes, as layers that can be traced."""

from __future__ import annotations

from typing import Any

from torch import nn


def is_torchao(value: Any) -> bool:
    """True for a weight that torchao quantized."""
    return type(value).__module__.startswith("torchao.")


def replaced_layers(path: str, module: nn.Module) -> None:
    pass
