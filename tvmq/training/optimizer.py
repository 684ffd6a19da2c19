"""Adam in steps of codes: a learning rate means the same for every layer, however large its weights are.

Tests: tests/training/test_network.py
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from tvmq.training.units import units_of

if TYPE_CHECKING:
    from tvmq.training.network import IntegerNetwork

BETAS, EPSILON = (0.9, 0.999), 1e-12


class StepAdam:
    """Adam (Kingma and Ba 2015) whose step is counted in units of each parameter, see units.py."""

    def __init__(self, net: IntegerNetwork) -> None:
        self.units: list[tuple[torch.nn.Parameter, torch.Tensor]] = units_of(net)
        self.moments = [(torch.zeros_like(p), torch.zeros_like(p)) for p, _ in self.units]
        self.count = 0

    def zero_grad(self) -> None:
        """Forget all gradients."""
        for parameter, _ in self.units:
            parameter.grad = None

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Move the parameters by one step of `rate` units."""
        self.count += 1
        first, second = BETAS
        for (parameter, unit), (mean, square) in zip(self.units, self.moments, strict=True):
            grad = parameter.grad
            if grad is None:
                continue
            mean.mul_(first).add_(grad, alpha=1 - first)
            square.mul_(second).addcmul_(grad, grad, value=1 - second)
            root = (square / (1 - second**self.count)).sqrt_().add_(EPSILON)
            parameter.sub_(unit * (mean / (1 - first**self.count)) / root * rate)
