"""Batch norm whose statistics still move while the forward pass is the deployed one.

torch's quantization-aware training normalizes by the statistics of the batch in train() and by the running ones in
eval(). Then train() computes what no deployed module computes. Here the forward pass of train() first lets each batch
norm's running statistics move towards those of the batch, as torch does, and then folds by them: what it gives is
what the module gives that is made right behind it. The gradient is that of a normalization by the batch: batch
renormalization (Ioffe 2017, arXiv:1702.03275) whose corrections have no limits.

The scale of each channel's weights grows as the batch norm's factor does, so statistics never change a weight's code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from tvmq.training.folded_weights import Folding
from tvmq.training.module_tree import Handle


@dataclass(frozen=True, eq=False)
class BatchNormTensors:
    """The tensors of a batch norm, one value a channel."""

    gamma: Handle
    beta: Handle
    mean: Handle
    variance: Handle
    epsilon: float
    momentum: float


class LiveFolding(Folding):
    """weight = source weight * gamma / sqrt(variance + epsilon) * rest; bias likewise

    axis   of the output channels in the deployed weight
    rest   factors beside the batch norm's, broadcasts against the deployed weight; `outer` those of output channels
    fixed  bias before the batch norm; one that learns there would do nothing that beta does not do
    """

    rest: torch.Tensor
    outer: torch.Tensor
    fixed: torch.Tensor

    def __init__(
        self, weight: Handle, norm: BatchNormTensors, shape: Sequence[int], *, axis: int, axes: Sequence[int],
        rest: np.ndarray, outer: np.ndarray, fixed: np.ndarray,
    ) -> None:  # fmt: skip
        super().__init__(weight, norm.beta, shape, axes=axes)
        self.norm, self.axis, self.follows = norm, axis, True
        self.register_buffer("rest", torch.from_numpy(np.array(rest, np.float64)))
        self.register_buffer("outer", torch.from_numpy(np.array(outer, np.float64)))
        self.register_buffer("fixed", torch.from_numpy(np.array(fixed, np.float64)))
        self.register_buffer("first", self._factor().detach().abs())

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
        """Weight with the batch norm of the moment folded in."""
        return self.to_deployed_axes(self.source_weight()) * (self._along(self._factor()) * self.rest).float()

    def rounded_weight(self) -> torch.Tensor:
        """Weight with the factors that it had at the start."""
        factor = torch.where(self.norm.gamma() < 0, -self.first, self.first)
        return self.to_deployed_axes(self.source_weight()) * (self._along(factor) * self.rest).float()

    def bias(self) -> torch.Tensor:
        """Bias with the batch norm of the moment folded in."""
        norm = self.norm
        shifted = (self.fixed - norm.mean().double()) * self._factor() + norm.beta().double()
        return (shifted * self.outer).float()

    def magnitude(self) -> torch.Tensor:
        """Magnitude of the whole factor of each channel, 1 where it is 0."""
        factor = self._whole_factor().abs()
        return torch.where(factor == 0, 1.0, factor).float()

    def _whole_factor(self) -> torch.Tensor:
        return (self._along(self._factor()) * self.rest).detach()

    def divisor(self) -> torch.Tensor:
        """Factor of each channel, 1 where it is 0: what divides a deployed product into the source's."""
        factor = (self._factor() * self.outer).detach()
        return torch.where(factor == 0, 1.0, factor)

    def growth(self) -> torch.Tensor:
        """How much larger the weights of each channel are than at the start: their scales grow with them."""
        return (self._factor().abs() / self.first.clamp_min(1e-12)).clamp_min(1e-6).float()

    @torch.no_grad()
    def follow(self, products: torch.Tensor, axis: int) -> torch.Tensor:
        """Let the running statistics move towards those of a batch.

        products  real values before bias and batch norm, float64
        axis      of the channels
        returns   the same normalized by the statistics of the moment
        """
        norm, others = self.norm, [a for a in range(products.ndim) if a != axis]
        shape = [1] * products.ndim
        shape[axis] = -1
        read = products + (self.fixed.reshape(shape) if self.fixed.numel() > 1 else self.fixed)
        variance, mean = torch.var_mean(read, others, correction=0)
        count = read.numel() // read.shape[axis]
        norm.mean().lerp_(mean.float(), norm.momentum)
        norm.variance().lerp_((variance * count / max(count - 1, 1)).float(), norm.momentum)
        spread = torch.rsqrt(norm.variance().double() + norm.epsilon)
        return (read - norm.mean().double().reshape(shape)) * spread.reshape(shape)

    def with_gradients(
        self, sums: torch.Tensor, normalized: torch.Tensor, step: torch.Tensor, axis: int
    ) -> torch.Tensor:
        """The sums as they are, with the gradients of a normalization by this batch.

        sums        of products, integers
        normalized  as `follow` gives it
        step        real value of 1, float64, shaped to broadcast
        """
        shape = [1] * sums.ndim
        shape[axis] = -1
        share = (normalized * self.outer.reshape(shape) / step).to(sums.dtype)
        gamma = self.norm.gamma().to(sums.dtype).reshape(shape)
        result: torch.Tensor = _Normalization.apply(sums, axis) + (gamma - gamma.detach()) * share
        return result


class _Normalization(torch.autograd.Function):
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
