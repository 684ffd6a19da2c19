"""Where the trained network and the integer module differ, value by value.

Tests: tests/training/test_own_scales.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import tvm

from tvmq.graph.module_functions import unpack_weights
from tvmq.graph.names import input_names
from tvmq.reference import Reference
from tvmq.training.meaning import CodeTensor, SumTensor

if TYPE_CHECKING:
    from tvmq.training.network import IntegerNetwork


@dataclass(frozen=True)
class VariableDifference:
    """The first variable of the integer module whose values are not the network's."""

    variable: str
    count: int
    size: int


def first_difference(
    net: IntegerNetwork, module: tvm.IRModule, inputs: Sequence[torch.Tensor]
) -> VariableDifference | None:
    """The first variable that differs in any value, None where all are equal.

    module  the integer module, as `convert` gives it
    inputs  of the model, in its order
    """
    module = unpack_weights(module)
    watched: dict[str, Any] = {}
    with torch.no_grad():
        net.values_of(inputs, watched)
    differences: list[VariableDifference] = []

    def compare(name: str, value: Any) -> None:
        if name in watched and not differences and isinstance(value, np.ndarray):
            ours = _array(watched[name])
            if ours is not None and ours.shape == value.shape:
                count = int(np.count_nonzero((ours != value) & ~(np.isnan(ours) & np.isnan(value.astype(np.float64)))))
                if count:
                    differences.append(VariableDifference(name, count, value.size))
            watched[name] = None

    feed = dict(zip(input_names(module["main"]).values(), (x.numpy() for x in inputs), strict=True))
    Reference(module).run(feed, watch=compare)
    return differences[0] if differences else None


def _array(value: Any) -> np.ndarray | None:
    if isinstance(value, CodeTensor | SumTensor):
        value = value.value
    return value.detach().double().numpy() if isinstance(value, torch.Tensor) else None
