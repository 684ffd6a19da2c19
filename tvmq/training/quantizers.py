"""Fake-quantizers of the user's own in the place of rounding to the nearest, chosen by the names of layers."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

import torch
from torch import nn

from tvmq.errors import ConfigError

Quantizer: TypeAlias = nn.Module | Callable[[torch.Tensor], nn.Module]


class Quantizers:
    """{name or glob of layers: quantizer}; of several that match a layer the last one counts.

    A quantizer is a module, of which each layer gets a copy, or what makes one of the layer's float weight. It is
    called with that weight, its scale (which broadcasts against it), the lowest and the highest code, and gives the
    codes: float32 tensors of whole numbers, with a gradient.
    """

    def __init__(self, chosen: Mapping[str, Quantizer]) -> None:
        if not isinstance(chosen, Mapping):
            raise ConfigError(
                f"training: quantizers must be a dictionary of names and modules. Got {type(chosen).__name__} instead"
            )
        for pattern, value in chosen.items():
            if not callable(value):
                raise ConfigError(
                    f"training: the quantizer of '{pattern}' must be a torch.nn.Module or a function that makes one. "
                    f"Got {type(value).__name__} instead"
                )
        self.chosen = dict(chosen)

    def module_for(self, layer: str, weight: torch.Tensor) -> nn.Module | None:
        """The quantizer of a layer, None where it has none.

        weight  in floats, as it is deployed
        """
        matching = [value for pattern, value in self.chosen.items() if _matches(pattern, layer)]
        if not matching:
            return None
        module: Any = matching[-1]
        quantizer = copy.deepcopy(module) if isinstance(module, nn.Module) else module(weight)
        if not isinstance(quantizer, nn.Module):
            raise ConfigError(
                f"training, layer '{layer}': its quantizer must be a torch.nn.Module. Got {type(quantizer).__name__} "
                "instead"
            )
        return quantizer

    def check_all_used(self, layers: Sequence[str]) -> None:
        """raises  ConfigError for a name that no layer with a weight has"""
        for pattern in self.chosen:
            if not any(_matches(pattern, layer) for layer in layers):
                raise ConfigError(
                    f"training: quantizers name '{pattern}', which no layer with a trained weight matches; there are "
                    + ", ".join(f"'{layer}'" for layer in layers)
                )


def _matches(pattern: str, layer: str) -> bool:
    return pattern == layer or fnmatchcase(layer, pattern)
