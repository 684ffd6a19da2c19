"""Learned parameters: scales as powers of two around the calibrated ones, zero points, float weights and biases.

Tests: tests/training/test_quantizers.py
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from tvmq.errors import ConfigError
from tvmq.numerics.spec import QParams
from tvmq.training.batch_norm import LiveFolding
from tvmq.training.folded_weights import Folding
from tvmq.training.meaning import CodeTensor, SumTensor
from tvmq.training.straight_through import quantize_values, round_through

if TYPE_CHECKING:
    from tvmq.training.limited_weights import WeightLimit

BELOW = 1 - 2.0**-20  # of a scale that is less than another one
NEARLY_WHOLE = 0.01  # x + (round(x) - x).detach() is a whole number up to float32


class LearnedScale(nn.Module):
    """scale = calibrated scale * 2^log2_ratio, float32; the ratio is learned, and of some tensors the zero point.

    A scale stays positive whatever an optimizer does, and adaptive ones move it by shares. Under plain SGD a step of
    the logarithm is that of a learned step size (LSQ, Esser et al. 2020, arXiv:1902.08153): the gradient is divided by
    (scale * log 2)^2 and by sqrt(values) * qmax. LSQ has sqrt(values * qmax), for scales that begin at 2 mean(|w|) /
    sqrt(qmax); calibrated ones begin near max(|w|) / qmax, so the same share of a scale is sqrt(qmax) times smaller.
    A zero point is an offset in shares of all codes, rounded in the forward pass (LSQ+, Bhalgat et al. 2020,
    arXiv:2004.09576); only values that saturate have a gradient for it.

    values       of the tensor in one sample, or of the weight in one channel
    learns_zero  the zero point moves too
    is_power     the ratio is rounded: a scale that is a power of two stays one
    """

    start: torch.Tensor
    first_zero: torch.Tensor

    def __init__(self, qparams: QParams, values: int = 1, *, learns_zero: bool = False, is_power: bool = False) -> None:
        super().__init__()
        start = torch.tensor(np.array(qparams.scale))
        self.is_power = is_power and bool((np.frexp(qparams.scale)[0] == 0.5).all())
        self.register_buffer("start", start)
        self._ceilings: list[tuple[LearnedScale, float]] = []
        self.spec = qparams.spec
        self.register_buffer("first_zero", torch.tensor(int(np.ravel(qparams.zero_point)[0])))
        self.log2_ratio = nn.Parameter(torch.zeros_like(start))
        self.zero_shift = nn.Parameter(torch.zeros(())) if learns_zero else None
        self._lsq = 1 / (math.sqrt(max(values, 1)) * max(qparams.spec.qmax, 1))

    @property
    def zero_point(self) -> int:
        """Code of 0.0 at the moment."""
        if self.zero_shift is None:
            return int(self.first_zero)
        moved = round(int(self.first_zero) + self._codes * self.zero_shift.item())
        return min(max(moved, self.spec.qmin), self.spec.qmax)

    @property
    def offset(self) -> torch.Tensor | None:
        """The zero point with its gradient, None where it is fixed."""
        if self.zero_shift is None:
            return None
        share = self._lsq / (self.start * self._codes) ** 2
        return self._codes * _scaled_gradient(self.zero_shift, share)

    @property
    def _codes(self) -> int:
        return self.spec.qmax - self.spec.qmin

    @property
    def qparams(self) -> QParams:
        """Scale and zero point of the moment."""
        return QParams(self().detach().numpy(), np.asarray(self.zero_point), self.spec)

    def forward(self) -> torch.Tensor:
        """float32, scalar or one a channel."""
        ratio = _scaled_gradient(self.log2_ratio, self.gradient_share)
        scale = self.start * torch.exp2(round_through(ratio) if self.is_power else ratio)
        for other, share in self._ceilings:
            scale = torch.minimum(scale, other() * share)
        return scale

    @property
    def gradient_share(self) -> torch.Tensor:
        """Factor of the gradient of the ratio."""
        return torch.as_tensor(self._lsq / (self.start * math.log(2)) ** 2)

    def keep_below(self, other: LearnedScale, *, strictly: bool) -> None:
        """Never pass another scale: where tensors are joined, the largest one is that of the result."""
        self._ceilings.append((other, (0.5 if self.is_power else BELOW) if strictly else 1.0))


class _ScaledGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, share: torch.Tensor) -> torch.Tensor:
        ctx.share = share
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        return grad * ctx.share, None


def _scaled_gradient(x: torch.Tensor, share: torch.Tensor) -> torch.Tensor:
    result: torch.Tensor = _ScaledGradient.apply(x, share)
    return result


class WeightScale(LearnedScale):
    """The scale of a weight; behind a batch norm whose statistics move it moves with them."""

    def __init__(self, qparams: QParams, values: int, folding: Folding, *, is_power: bool = False) -> None:
        super().__init__(qparams, values, is_power=is_power)
        self._folding = (folding,) if isinstance(folding, LiveFolding) else ()  # in a tuple: no module of this one

    def forward(self) -> torch.Tensor:
        """Scale of the moment, as LearnedScale gives it."""
        scale = self.of_start()
        for folding in self._folding:
            scale = scale * folding.growth()
        return scale

    def of_start(self) -> torch.Tensor:
        """Without the growth that statistics brought: what weights are rounded by."""
        return super().forward()


class WeightedLayer(nn.Module):
    """Weight, bias and weight scale of one layer, as the integer module is made of them.

    name       of the layer
    axis       of the output channels in the weight, or of the filters of a transposed convolution
    groups     of a transposed convolution, whose weight has its input channels first; None for all others
    quantizer  codes of the weight by a module of the user's own; None: to the nearest
    is_power   scales that are powers of two stay such
    """

    def __init__(
        self, name: str, folding: Folding, qparams: QParams, axis: int, groups: int | None = None,
        quantizer: nn.Module | None = None, *, is_power: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.name, self.groups, self.axis, self.scale_axis = name, groups, axis, qparams.axis
        self.folding, self.quantizer = folding, quantizer
        values = math.prod(folding.shape) // max(qparams.scale.size, 1)
        self.scale = WeightScale(qparams, values, folding, is_power=is_power)
        self.limit: WeightLimit | None = None

    @property
    def weight(self) -> torch.Tensor:
        """float32, in the deployed shape; what the source calls so is in `folding`."""
        return self.folding.weight()

    @property
    def bias(self) -> torch.Tensor | None:
        """float32, None where the layer adds nothing."""
        return self.folding.bias()

    def codes(self) -> torch.Tensor:
        """Integers as float32, shape of the weight."""
        if self.limit is None:
            return self._nearest_codes()
        return self.limit.codes(self, self.folding.rounded_weight(), self.along(self.scale.of_start()))

    @torch.no_grad()
    def deployed_weight(self) -> torch.Tensor:
        """The weight as the integer module gets it: codes times scale, which rounds to these codes."""
        return self.codes() * self.along(self.scale())

    def _nearest_codes(self) -> torch.Tensor:
        spec, weight, scale = self.scale.spec, self.folding.rounded_weight(), self.along(self.scale.of_start())
        if self.quantizer is None:
            return quantize_values(weight, scale, qmin=spec.qmin, qmax=spec.qmax, zero_point=0)
        codes: torch.Tensor = self.quantizer(weight, scale, spec.qmin, spec.qmax)
        self._check(codes, weight.shape)
        return round_through(codes)

    def _check(self, codes: Any, shape: torch.Size) -> None:
        spec, where = self.scale.spec, f"training, layer '{self.name}': {type(self.quantizer).__name__}"
        if not isinstance(codes, torch.Tensor) or codes.shape != shape or codes.dtype != torch.float32:
            kind = f"{codes.dtype} {tuple(codes.shape)}" if isinstance(codes, torch.Tensor) else type(codes).__name__
            raise ConfigError(f"{where} must give a float32 tensor of shape {tuple(shape)}. Got {kind} instead")
        values = codes.detach()
        whole = values.round()
        wrong = values[((values - whole).abs() > NEARLY_WHOLE) | (whole < spec.qmin) | (whole > spec.qmax)]
        if wrong.numel():
            raise ConfigError(
                f"{where} must give whole numbers from {spec.qmin} to {spec.qmax}, {wrong.numel()} of {values.numel()} "
                f"are none, first {wrong[0].item():g}; round and clamp, with gradients as for an identity"
            )

    def filters(self, codes: torch.Tensor) -> torch.Tensor:
        """The codes with output channels first, as numerics.filters_first; those of other layers as they are."""
        if self.groups is None:
            return codes
        grouped = codes.reshape(self.groups, codes.shape[0] // self.groups, *codes.shape[1:]).swapaxes(1, 2)
        return grouped.reshape(-1, *grouped.shape[2:])

    def channel_scale(self) -> torch.Tensor:
        """Scale of each output channel, or a single one."""
        scale = self.scale()
        if self.groups is None or scale.numel() in (1, self.folding.shape[1] * self.groups):
            return scale
        return scale.repeat(self.groups)

    def bias_codes(self, codes: torch.Tensor, x: CodeTensor) -> torch.Tensor:
        """round(bias / (s_x * s_w)) - z_x * sum(codes), one a channel, float64."""
        channels = codes.shape[self.axis]
        total, bias = torch.zeros(channels, dtype=torch.float64), self.bias
        if bias is not None:
            step = x.scale.double() * self.channel_scale().double()
            total = round_through(bias.reshape(-1).double() / step).expand(channels)
        if x.zero_point:
            others = [axis for axis in range(codes.ndim) if axis != self.axis]
            total = total - x.zero_point * codes.double().sum(dim=others)
        return total

    def follow_statistics(self, sums: SumTensor, codes: torch.Tensor, x: CodeTensor) -> SumTensor:
        """The sums of products; statistics of a batch norm that move have seen them, and are in their scale.

        codes  of the weight
        x      what they were multiplied with
        """
        folding = self.folding
        if not (isinstance(folding, LiveFolding) and folding.is_moving):
            return sums
        axis = sums.value.ndim - 1 if sums.axis is None else sums.axis
        with torch.no_grad():
            unit = x.scale.double() * self.channel_scale().double() / folding.divisor()
            others = [a for a in range(codes.ndim) if a != self.axis]
            products = sums.value.double() - sums.along(x.zero_point * codes.double().sum(dim=others))
            normalized = folding.follow(products * sums.along(unit), axis)
        scale = x.scale.double() * self.channel_scale().double()
        value = folding.with_gradients(sums.value, normalized, sums.along(scale.detach()), axis)
        return SumTensor(value, scale, sums.axis, sums.bound)

    def along(self, scale: torch.Tensor) -> torch.Tensor:
        """Scales of the channels, shaped to broadcast against the weight."""
        if self.scale_axis is None:
            return scale
        shape = [1] * len(self.folding.shape)
        shape[self.scale_axis] = -1
        return scale.reshape(shape)
