"""What is learned: scales as powers of two around the calibrated ones, weights and biases in floats."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from tvmq.spec import QParams
from tvmq.training.meaning import Codes
from tvmq.training.straight_through import quantize_values, round_through

if TYPE_CHECKING:
    from tvmq.training.limited_weights import WeightLimit


class LearnedScale(nn.Module):
    """scale = calibrated scale * 2^log2_ratio, float32; the ratio is learned.

    A scale stays positive whatever an optimizer does, and one step of it moves all scales by the same share. The
    gradient is divided by sqrt(values * largest code), as LSQ does (Esser et al. 2020), so that scales of large tensors
    do not run away from the weights.
    """

    def __init__(self, qparams: QParams, values: int = 1) -> None:
        super().__init__()
        start = torch.tensor(np.array(qparams.scale))
        self.register_buffer("start", start)
        self.log2_ratio = nn.Parameter(torch.zeros_like(start))
        self.zero_point = int(np.ravel(qparams.zero_point)[0])
        self.spec = qparams.spec
        self.gradient_share = 1 / math.sqrt(max(values, 1) * max(qparams.spec.qmax, 1))

    @property
    def qparams(self) -> QParams:
        """Scale and zero point of the moment."""
        return QParams(self().detach().numpy(), np.asarray(self.zero_point), self.spec)

    def forward(self) -> torch.Tensor:
        """float32, scalar or one a channel."""
        return self.start * torch.exp2(_scaled_gradient(self.log2_ratio, self.gradient_share))


class _ScaledGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, share: float) -> torch.Tensor:
        ctx.share = share
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        return grad * ctx.share, None


def _scaled_gradient(x: torch.Tensor, share: float) -> torch.Tensor:
    result: torch.Tensor = _ScaledGradient.apply(x, share)
    return result


class WeightedLayer(nn.Module):
    """Weight, bias and weight scale of one layer.

    axis    of the output channels in the weight, or of the filters of a transposed convolution
    groups  of a transposed convolution, whose weight has its input channels first; None for all others
    """

    def __init__(
        self, weight: np.ndarray, qparams: QParams, bias: np.ndarray | None, axis: int, groups: int | None = None
    ) -> None:
        super().__init__()
        self.groups = groups
        self.weight = nn.Parameter(torch.tensor(np.array(weight)))
        self.bias = None if bias is None else nn.Parameter(torch.tensor(np.array(bias)))
        self.scale = LearnedScale(qparams, values=weight.size // max(qparams.scale.size, 1))
        self.scale_axis, self.axis = qparams.axis, axis
        self.limit: WeightLimit | None = None

    def codes(self) -> torch.Tensor:
        """Integers as float32, shape of the weight."""
        return self._nearest() if self.limit is None else self.limit.codes(self, self.weight, self.along(self.scale()))

    def _nearest(self) -> torch.Tensor:
        spec = self.scale.spec
        return quantize_values(self.weight, self.along(self.scale()), qmin=spec.qmin, qmax=spec.qmax, zero_point=0)

    @torch.no_grad()
    def deployed(self) -> torch.Tensor:
        """The weight as the integer module gets it: where a limit moved a code, that code times its scale."""
        if self.limit is None:
            return self.weight.detach()
        codes = self.codes()
        return torch.where(codes == self._nearest(), self.weight, codes * self.along(self.scale()))

    def filters(self, codes: torch.Tensor) -> torch.Tensor:
        """The codes with output channels first, as numerics.filters_first; those of other layers as they are."""
        if self.groups is None:
            return codes
        grouped = codes.reshape(self.groups, codes.shape[0] // self.groups, *codes.shape[1:]).swapaxes(1, 2)
        return grouped.reshape(-1, *grouped.shape[2:])

    def channel_scale(self) -> torch.Tensor:
        """One scale an output channel, or a single one."""
        scale = self.scale()
        if self.groups is None or scale.numel() in (1, self.weight.shape[1] * self.groups):
            return scale
        return scale.repeat(self.groups)

    def bias_codes(self, codes: torch.Tensor, x: Codes) -> torch.Tensor:
        """round(bias / (s_x * s_w)) - z_x * sum(codes), one a channel, float64."""
        channels = codes.shape[self.axis]
        total = torch.zeros(channels, dtype=torch.float64)
        if self.bias is not None:
            step = x.scale.double() * self.channel_scale().double()
            total = round_through(self.bias.reshape(-1).double() / step).expand(channels)
        if x.zero_point:
            others = [axis for axis in range(codes.ndim) if axis != self.axis]
            total = total - x.zero_point * codes.double().sum(dim=others)
        return total

    def along(self, scale: torch.Tensor) -> torch.Tensor:
        """Scales of the channels, shaped to broadcast against the weight."""
        if self.scale_axis is None:
            return scale
        shape = [1] * self.weight.ndim
        shape[self.scale_axis] = -1
        return scale.reshape(shape)
