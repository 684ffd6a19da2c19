"""The deployed weight and bias of a layer as functions of the source's: what the passes folded, folded at each step.

Tests: tests/training/test_source_names.py
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from tvmq.training.module_tree import Handle


class Folding(nn.Module):
    """weight = source weight in another order of axes * factor; bias = source bias * share + summand.

    weight, bias   of the source
    shape          of the deployed weight
    axes           order of the source's axes; None: as they are
    factor         float32, broadcasts against the deployed weight; None: 1
    share, summand  float64, one a channel; None where the bias is the source's own
    correction      float64, one a channel: part of the summand that mends the mean error of rounded weights
    """

    follows = False  # a batch norm's statistics

    factor: torch.Tensor | None
    share: torch.Tensor | None
    summand: torch.Tensor | None
    correction: torch.Tensor | None

    def __init__(
        self,
        weight: Handle,
        bias: Handle | None,
        shape: Sequence[int],
        *,
        axes: Sequence[int] | None = None,
        factor: np.ndarray | None = None,
        share: np.ndarray | None = None,
        summand: np.ndarray | None = None,
        correction: np.ndarray | None = None,
    ) -> None:
        super().__init__()
        self.source_weight, self.source_bias = weight, bias
        self.shape, self.axes = tuple(shape), None if axes is None else tuple(axes)
        self.register_buffer("factor", _tensor(factor, np.float32))
        self.register_buffer("share", _tensor(share, np.float64))
        self.register_buffer("summand", _tensor(summand, np.float64))
        self.register_buffer("correction", _tensor(correction, np.float64))

    def to_deployed_axes(self, weight: torch.Tensor) -> torch.Tensor:
        """A weight of the source in the deployed order of axes."""
        return weight if self.axes is None else weight.permute(self.axes).reshape(self.shape)

    def to_source_axes(self, deployed: torch.Tensor) -> torch.Tensor:
        """Inverse of `to_deployed_axes`."""
        if self.axes is None:
            return deployed
        shape = [self.source_weight().shape[axis] for axis in self.axes]
        return deployed.reshape(shape).permute(list(np.argsort(self.axes)))

    def weight(self) -> torch.Tensor:
        """float32, as the integer module is made of it."""
        turned = self.to_deployed_axes(self.source_weight())
        return turned if self.factor is None else turned * self.factor

    def rounded_weight(self) -> torch.Tensor:
        """Weight that is divided by the scale of the start, times its learned ratio, and rounded to codes."""
        return self.weight()

    def bias(self) -> torch.Tensor | None:
        """float32, one a channel or a single one; None where the layer adds nothing."""
        if self.source_bias is None:
            return None if self.summand is None else self.summand.float()
        bias = self.source_bias()
        if self.share is None or self.summand is None:
            return bias
        return (bias.reshape(-1).double() * self.share + self.summand).float()

    def magnitude(self) -> torch.Tensor | None:
        """By what the source's weight is multiplied, positive; None: 1."""
        return None if self.factor is None else torch.where(self.factor == 0, 1.0, self.factor.abs())

    @torch.no_grad()
    def begin_at(self, deployed: np.ndarray) -> None:
        """Give the source's weight the values of which the deployed one is made."""
        self.source_weight().copy_(self.source_of(torch.from_numpy(np.array(deployed))))

    @torch.no_grad()
    def source_of(self, deployed: torch.Tensor) -> torch.Tensor:
        """The source's weight of which a deployed one is made; values that count nowhere are those that it has."""
        source, factor = self.source_weight(), self._whole_factor()
        if factor is None:
            return self.to_source_axes(deployed)
        divided = (deployed.double() / factor).float()
        return self.to_source_axes(torch.where(factor == 0, self.to_deployed_axes(source), divided))

    @torch.no_grad()
    def corrected_bias(self) -> torch.Tensor | None:
        """The source's bias with what the deployed one has besides to mend rounded weights; None without a bias."""
        if self.source_bias is None or self.share is None or self.correction is None:
            return None if self.source_bias is None else self.source_bias().detach()
        bias = self.source_bias().detach()
        mended = torch.where(self.share == 0, 0.0, self.correction / self.share)
        return bias + mended.float().reshape(bias.shape)

    def _whole_factor(self) -> torch.Tensor | None:
        return self.factor


def _tensor(array: np.ndarray | None, dtype: type) -> torch.Tensor | None:
    return None if array is None else torch.from_numpy(np.array(array, dtype))
