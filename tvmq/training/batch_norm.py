"""Batch norm whose statistics still move while the forward pass is the deployed one.

torch's quantization-aware training normalizes by the statistics of the batch in train() and by the running ones in
eval(). Then train() computes what no deployed module computes. Here the forward pass folds by the running statistics of
the moment in both modes, so that it is deployable at every step; the gradient is that of a normalization by the batch.
This is batch renormalization (Ioffe 2017, arXiv:1702.03275) whose corrections have no limits. The statistics of a batch
enter the running ones after the forward pass, as in torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from tvmq.training.folding import Folding
from tvmq.training.tree import Handle


@dataclass(frozen=True, eq=False)
class Norm:
    """The tensors of a batch norm, one value a channel."""

    gamma: Handle
    beta: Handle
    mean: Handle
    variance: Handle
    epsilon: float
    momentum: float


class LiveFolding(Folding):
    """weight = source weight * gamma / sqrt(variance + epsilon) * rest; bias = ((b - mean) * the same + beta) * ...

    axis   of the output channels in the deployed weight
    rest   factors beside the batch norm's, broadcasts against the deployed weight; `outer` those of output channels
    fixed  bias before the batch norm; one that learns there would do nothing that beta does not do
    """

    rest: torch.Tensor
    outer: torch.Tensor
    fixed: torch.Tensor

    def __init__(
        self, weight: Handle, norm: Norm, shape: Sequence[int], *, axis: int, axes: Sequence[int], rest: np.ndarray,
        outer: np.ndarray, fixed: np.ndarray, summand: np.ndarray,
    ) -> None:  # fmt: skip
        super().__init__(weight, norm.beta, shape, axes=axes, summand=summand)
        self.norm, self.axis, self.follows = norm, axis, True
        self.register_buffer("rest", torch.from_numpy(np.array(rest, np.float64)))
        self.register_buffer("outer", torch.from_numpy(np.array(outer, np.float64)))
        self.register_buffer("fixed", torch.from_numpy(np.array(fixed, np.float64)))
        self.register_buffer("first", self._factor().detach().abs())
        self._seen: tuple[torch.Tensor, torch.Tensor, int] | None = None

    @property
    def is_moving(self) -> bool:
        """True while batches change the statistics."""
        return self.follows and self.training

    def _factor(self) -> torch.Tensor:
        """gamma / sqrt(variance + epsilon), float64; what multiplies sums has no gradient while statistics move."""
        norm = self.norm
        factor = norm.gamma().double() * torch.rsqrt(norm.variance().double() + norm.epsilon)
        return factor.detach() if self.is_moving else factor

    def _along(self, values: torch.Tensor) -> torch.Tensor:
        shape = [1] * len(self.shape)
        shape[self.axis] = -1
        return values.reshape(shape)

    def weight(self) -> torch.Tensor:
        """See Folding."""
        return self.turned(self.source_weight()) * (self._along(self._factor()) * self.rest).float()

    def bias(self) -> torch.Tensor:
        """See Folding."""
        assert self.summand is not None
        norm = self.norm
        shifted = (self.fixed - norm.mean().double()) * self._factor() + norm.beta().double()
        return (shifted * self.outer + self.summand).float()

    def magnitude(self) -> torch.Tensor:
        """See Folding."""
        factor = self._whole_factor().abs()
        return torch.where(factor == 0, 1.0, factor).float()

    def _whole_factor(self) -> torch.Tensor:
        return (self._along(self._factor()) * self.rest).detach()

    def growth(self) -> torch.Tensor:
        """How much larger the weights of each channel are than at the start: their scales grow with them."""
        return (self._factor().abs() / self.first.clamp_min(1e-12)).clamp_min(1e-6).float()

    def normalized(self, sums: torch.Tensor, bias: torch.Tensor, step: torch.Tensor, axis: int) -> torch.Tensor:
        """sums + bias, with the gradients of a normalization by this batch; its statistics are kept for `follow`.

        sums   of products, integers
        bias   in their steps, shaped to broadcast
        step   real value of 1, float64, shaped to broadcast
        axis   of the channels
        """
        total = _Normalized.apply(sums, axis) + bias
        shape = [1] * sums.ndim
        shape[axis] = -1
        with torch.no_grad():
            norm = self.norm
            factor, mean = self._factor() * self.outer, norm.mean().double()
            divisor = torch.where(factor == 0, 1.0, factor).reshape(shape)
            before = (total.double() * step - self.bias().double().reshape(shape)) / divisor  # conv - running mean
            others = [a for a in range(sums.ndim) if a != axis]
            count = sums.numel() // sums.shape[axis]
            self._seen = (before.mean(others) + mean, before.var(others, correction=0), count)
            spread = torch.rsqrt(norm.variance().double() + norm.epsilon)
            share = (before * (spread * self.outer).reshape(shape) / step).to(sums.dtype)
        gamma = norm.gamma().to(sums.dtype).reshape(shape)
        return total + (gamma - gamma.detach()) * share

    @torch.no_grad()
    def follow(self) -> None:
        """Let the running statistics move towards those of the last batch."""
        if self._seen is None:
            return
        mean, variance, count = self._seen
        unbiased = variance * count / max(count - 1, 1)
        self.norm.mean().lerp_(mean.float(), self.norm.momentum)
        self.norm.variance().lerp_(unbiased.float(), self.norm.momentum)
        self._seen = None


class _Normalized(torch.autograd.Function):
    """The values as they are; the gradient without what a normalization by these values takes away."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, axis: int) -> torch.Tensor:
        ctx.save_for_backward(x)
        ctx.axis = axis
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        others = [a for a in range(x.ndim) if a != ctx.axis]
        variance, mean = torch.var_mean(x, others, correction=0, keepdim=True)
        standard = (x - mean) * torch.rsqrt(variance.clamp_min(1e-12))
        grad = grad - grad.mean(others, keepdim=True) - standard * (grad * standard).mean(others, keepdim=True)
        return grad, None
