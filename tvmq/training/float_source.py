"""The float model's own state: what training did not change, and names that share one tensor.

Tests: tests/training/test_batch_norm.py
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch


@dataclass(frozen=True, eq=False)
class FloatSource:
    """A state dictionary as it was.

    tensors  {name: tensor}, all of them
    same_tensors  {name: the first name of the tensor that it shares}
    """

    tensors: Mapping[str, torch.Tensor]
    same_tensors: Mapping[str, str]

    @classmethod
    def of(cls, state: Mapping[str, torch.Tensor | np.ndarray]) -> FloatSource:
        """A copy of a state dictionary."""
        first: dict[tuple[object, ...], str] = {}
        tensors, same = {}, {}
        for name, value in state.items():
            if not isinstance(value, torch.Tensor | np.ndarray):
                continue  # what get_extra_state gave
            tensor = torch.as_tensor(value).detach()
            place = (tensor.data_ptr(), tuple(tensor.shape), tensor.stride()) if tensor.numel() else (name,)
            same[name] = first.setdefault(place, name)
            tensors[name] = tensor.clone()
        return cls(tensors, same)

    def with_trained(self, trained: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """All tensors, those that were trained in the place of what they were."""
        kept = {name: trained[first] for name, first in self.same_tensors.items() if first in trained}
        return {name: kept.get(name, tensor).to(tensor.dtype).clone() for name, tensor in self.tensors.items()}
