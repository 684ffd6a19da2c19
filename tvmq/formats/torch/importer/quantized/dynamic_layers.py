"""Products whose activations get a scale at run time, in the arithmetic of the tool that made them, step by step.

torch.ao   one scale and zero point for the tensor, in float64, as fbgemm chooses them; uint8 codes
torchao    for each row, in float32, symmetric or not; int8 codes

Tests: tests/formats/torch/importer/test_quantized_weights.py
"""

from __future__ import annotations

from typing import Any

import torch

from tvmq.formats.torch.importer.quantized.torch_library import integer_linear

SMALLEST = 6.1e-5  # the scale below which fbgemm does not go


def dynamic_linear(x: torch.Tensor, weight: Any, reduce_range: bool) -> torch.Tensor:
    """quantized::linear_dynamic of a PackedWeight.

    x   float32, (..., K)
    """
    scale, zero = _tensor_numbers(x, 127.0 if reduce_range else 255.0)
    codes = torch.clamp(torch.round(x * (1.0 / scale)) + zero, 0, 255).to(torch.uint8)
    w = weight.weight
    sums = integer_linear(codes, w) - zero.to(torch.int32) * w.sum(1, dtype=torch.int32)
    y = sums.float() * (scale * (weight.scale if weight.axis is None else weight.scales))
    return y if weight.bias is None else y + weight.bias


def _tensor_numbers(x: torch.Tensor, most: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Scale and zero point of a tensor, both float32: 0 lies on the grid, codes from 0 to `most`."""
    low = torch.clamp_max(x.amin(), 0.0).double()
    high = torch.clamp_min(x.amax(), 0.0).double()
    exact = (high - low) / most
    is_zero = exact.float() == 0.0
    exact = torch.where(is_zero, 0.1, exact)
    zero = torch.round(torch.clamp(0.0 - low / exact, 0.0, most)).float()
    return torch.clamp_min(exact, SMALLEST).float(), zero


def row_numbers(x: torch.Tensor, symmetric: bool, bounds: tuple[int, int], eps: float) -> tuple[Any, Any]:
    """Scale and zero point of each row as torchao chooses them, (..., 1); no zero point where it is 0."""
    low, high = bounds
    least = torch.clamp_max(x.amin(-1, keepdim=True), 0.0)
    most = torch.clamp_min(x.amax(-1, keepdim=True), 0.0)
    if symmetric:
        largest = torch.maximum(-least, most)
        return torch.clamp_min(largest / (float(high - low) / 2), eps), None
    scale = torch.clamp_min((most - least) / float(high - low), eps)
    return scale, torch.clamp(low - torch.round(least / scale), low, high)


def row_codes(x: torch.Tensor, scale: Any, zero: Any, bounds: tuple[int, int]) -> torch.Tensor:
    """int8 codes of rows."""
    steps = torch.round(x * (1.0 / scale))
    return torch.clamp(steps if zero is None else steps + zero, *bounds).to(torch.int8)


def row_linear(x: torch.Tensor, weight: torch.Tensor, scales: torch.Tensor, numbers: Any, bounds: Any) -> torch.Tensor:
    """Rows of codes times int8 codes (N, K) with a scale for each row of the weight, or one."""
    scale, zero = numbers
    y = integer_linear(row_codes(x, scale, zero, bounds), weight).float() * scale
    if zero is not None:
        y = y - (zero * scale) * weight.sum(1, dtype=torch.int32).float()
    return y * scales.flatten()
