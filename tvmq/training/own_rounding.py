"""Rounding by code of the user's own (`tvmq.extension.simulate_by`, `relay.op.register_compute`) with a gradient.

Forward the user's definition; backward the gradient that came with it, else straight through, as behind the usual
rounding: the slope is 1 where a value has a code and 0 where it saturates, and scales learn as step sizes.

Tests: tests/training/test_own_rounding.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tvmq.graph.operators.own_simulation import OwnSimulation
from tvmq.numerics.spec import QParams
from tvmq.training.straight_through import exactly


class _OwnGradient(torch.autograd.Function):
    """The definition forward, its gradient backward; none for the scale."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, value: torch.Tensor, slope: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(slope)
        return value

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        (slope,) = ctx.saved_tensors
        return grad * slope, None, None


def simulate_values(own: OwnSimulation, x: torch.Tensor, qparams: QParams, usual: torch.Tensor) -> torch.Tensor:
    """A tensor as the user's code rounds it, float32 of its shape.

    qparams  as they are now
    usual    result of the usual rounding, whose gradient counts where the code came without one
    raises   ConfigError where the gradient has another shape than x
    """
    spec = qparams.spec
    attributes = {
        "kind": "input" if qparams.axis is None else "weight", "tensor": qparams.tensor, "dtype": spec.dtype,
        "bits": spec.bits, "symmetric": spec.symmetric, "axis": -1 if qparams.axis is None else qparams.axis,
    }  # fmt: skip
    operands = (x.detach().numpy().astype(np.float32, copy=False), qparams.scale, qparams.zero_point, attributes)
    value = torch.from_numpy(np.ascontiguousarray(own.define(*operands)))
    if own.gradient is None:
        return exactly(value, usual)
    result: torch.Tensor = _OwnGradient.apply(x, value, torch.from_numpy(own.slope(*operands)))
    return result
