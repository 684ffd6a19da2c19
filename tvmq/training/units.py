"""Unit of learning for each parameter, so that one learning rate suits all of them.

A weight moves by a code of its channel, a zero point by one code, a bias by what a weight that moves by one code adds
where its input is half of the largest. A scale moves all codes of its tensor at once, the largest most. By the share
that moves the largest by one code would be much; it moves by that share of that share. So scales of 2 bits, which must
find their place, move fast, and those of 4 bits leave weights that data have rounded where they are: with the whole
share resnet8 lost 0.9 dB of what 100 steps with 4-bit weights bring.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import nn

from tvmq.training.parameters import LearnedScale, WeightedLayer

if TYPE_CHECKING:
    from tvmq.training.network import IntegerNetwork

LEAST = 1e-12  # a unit is above 0


@torch.no_grad()
def units_of(net: IntegerNetwork) -> list[tuple[nn.Parameter, torch.Tensor]]:
    """Each parameter that learns, with its unit: a tensor that broadcasts against it."""
    units: dict[nn.Parameter, torch.Tensor] = {}
    for layer, read in net.layers_and_inputs():
        units.setdefault(layer.folding.source_weight(), _of_weight(layer))
        if layer.folding.source_bias is not None:
            units.setdefault(layer.folding.source_bias(), _of_bias(layer, read))
    for module in net.modules():
        if isinstance(module, LearnedScale):
            units |= _of_scale(module)
    return [(parameter, unit) for parameter, unit in units.items() if parameter.requires_grad]


def _of_weight(layer: WeightedLayer) -> torch.Tensor:
    folding = layer.folding
    step, magnitude = layer.along(layer.scale()).expand(folding.shape), folding.magnitude()
    return folding.to_source_axes(step if magnitude is None else step / magnitude).clone()


def _of_bias(layer: WeightedLayer, read: LearnedScale | None) -> torch.Tensor:
    """read: scale of the codes that the layer multiplies; unknown, the biases themselves tell the size of a step."""
    folding = layer.folding
    assert folding.source_bias is not None
    bias = folding.source_bias()
    if read is None:
        return (bias.abs().mean() / 128).clamp_min(LEAST)
    step = layer.channel_scale().reshape(-1).double() * read().double() * _largest_distance(read) / 2
    if folding.share is not None:
        step = step / folding.share.abs().clamp_min(LEAST)
    fits = step.numel() in (1, bias.numel())
    step = step.expand(bias.numel()).reshape(bias.shape) if fits else step.mean()
    return step.float().clamp_min(LEAST)


def _of_scale(scale: LearnedScale) -> dict[nn.Parameter, torch.Tensor]:
    largest = _largest_distance(scale)
    units: dict[nn.Parameter, torch.Tensor] = {scale.log2_ratio: torch.tensor(math.log2(1 + 1 / largest) / largest)}
    if scale.zero_shift is not None:
        units[scale.zero_shift] = torch.tensor(1 / (scale.spec.qmax - scale.spec.qmin))
    return units


def _largest_distance(scale: LearnedScale) -> int:
    """Codes from 0.0 to the farther end."""
    return max(scale.spec.qmax - scale.zero_point, scale.zero_point - scale.spec.qmin)
