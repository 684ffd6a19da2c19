"""Tensors of the trained network with their meaning: codes of a scale, sums of a scale, and plain floats.

Tests: tests/training/test_records.py
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from tvmq.numerics.code_type import CODE_TYPES
from tvmq.numerics.spec import QParams, QuantSpec


@dataclass(frozen=True, eq=False)
class CodeTensor:
    """Integer codes of an activation.

    value       integers as float32, any shape
    scale       float32 scalar: the real value of one step; a parameter, or computed of one
    zero_point  code of 0.0
    spec        type and bits in the integer module
    """

    value: torch.Tensor
    scale: torch.Tensor
    zero_point: int
    spec: QuantSpec

    @property
    def largest_code(self) -> int:
        """Largest magnitude of a code of this type."""
        return CODE_TYPES[self.spec.dtype].largest_code

    @property
    def largest_step(self) -> int:
        """Largest distance of a code of this type from the zero point."""
        limits = np.iinfo(self.spec.dtype)
        return int(max(limits.max - self.zero_point, self.zero_point - limits.min))

    @property
    def qparams(self) -> QParams:
        """Scale and zero point of the moment."""
        return QParams(self.scale.detach().numpy(), np.asarray(self.zero_point), self.spec)

    @property
    def real_values(self) -> torch.Tensor:
        """The real values, with gradients to codes and scale."""
        return (self.value - self.zero_point) * self.scale

    def with_value(self, value: torch.Tensor) -> CodeTensor:
        """Other places, the same scale."""
        return CodeTensor(value, self.scale, self.zero_point, self.spec)


@dataclass(frozen=True, eq=False)
class SumTensor:
    """int32 sums of products.

    value  integers, float32 where all that occur are below 2^24, else float64
    scale  float64, scalar or one a channel: the real value of 1
    axis   of the channels; None for a single scale
    bound  no sum is larger
    """

    value: torch.Tensor
    scale: torch.Tensor
    axis: int | None
    bound: float

    def along(self, constants: torch.Tensor) -> torch.Tensor:
        """Constants of the channels, shaped to broadcast against the sums."""
        if self.axis is None or constants.ndim == 0:
            return constants
        shape = [1] * self.value.ndim
        shape[self.axis] = -1
        return constants.reshape(shape)

    def with_value(self, value: torch.Tensor) -> SumTensor:
        """Other places of one scale."""
        return SumTensor(value, self.scale, None, self.bound)


def to_definition(value: Any) -> Any:
    """An argument as the definition takes it: codes and sums in their integer types, floats as arrays."""
    if isinstance(value, list):
        return [to_definition(item) for item in value]
    if isinstance(value, CodeTensor):
        return value.value.detach().numpy().astype(value.spec.dtype)
    if isinstance(value, SumTensor):
        return value.value.detach().numpy().astype(np.int32)
    return value.detach().numpy() if isinstance(value, torch.Tensor) else value


def to_torch(value: Any) -> Any:
    """An argument as torch takes it: arrays and numbers as tensors, lists item by item."""
    if isinstance(value, list):
        return [to_torch(item) for item in value]
    return torch.from_numpy(np.array(value)) if isinstance(value, np.ndarray | np.generic) else value


class Arrays(Mapping[str, Any]):
    """Values by name as the definition takes them, converted when asked for."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> Any:
        return to_definition(self._values[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)
