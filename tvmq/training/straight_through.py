"""Rounding with a gradient: forward the integers of the definition, backward as if nothing were rounded.

What saturates has no gradient: a value outside of its codes does not move its result. (Straight-through estimator,
Bengio et al. 2013, arXiv:1308.3432; learned step sizes, Esser et al. 2020, arXiv:1902.08153.)

Tests: tests/training/test_records.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch


class _Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return torch.round(x)  # half to even, as numpy.rint

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        return grad


class _Exactly(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, value: torch.Tensor, smooth: torch.Tensor) -> torch.Tensor:
        return value

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        return None, grad


class _Requantize(torch.autograd.Function):
    """clip(rint(float32(acc) * multiplier), low, high) + zero_point."""

    @staticmethod
    def forward(
        ctx: Any, acc: torch.Tensor, multiplier: torch.Tensor, slope: float, low: int, high: int, zero: int,
        _offset: torch.Tensor | None,
    ) -> torch.Tensor:  # fmt: skip
        steps = acc.to(torch.float32)
        factor = multiplier if slope == 1 else torch.where(steps < 0, multiplier * slope, multiplier)
        steps = (steps * factor).round_()
        inside = (steps >= low) & (steps <= high)
        ctx.save_for_backward(acc, multiplier, inside)
        ctx.slope = slope
        return steps.clamp_(low, high).add_(zero)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        acc, multiplier, inside = ctx.saved_tensors
        to_offset = _saturated_sum(grad, inside) if ctx.needs_input_grad[6] else None
        grad = grad * inside
        if ctx.slope != 1:
            grad = torch.where(acc < 0, grad * ctx.slope, grad)
        to_multiplier = None
        if ctx.needs_input_grad[1]:
            to_multiplier = (grad * acc.to(grad.dtype)).sum_to_size(multiplier.shape)
        return (grad * multiplier).to(acc.dtype), to_multiplier, None, None, None, None, to_offset


class _Codes(torch.autograd.Function):
    """clip(rint(x / scale), low, high) + zero_point."""

    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, scale: torch.Tensor, low: int, high: int, zero: int, _offset: torch.Tensor | None
    ) -> torch.Tensor:
        steps = (x / scale).round_()
        inside = (steps >= low) & (steps <= high)
        ctx.save_for_backward(x, scale, inside)
        # NaN becomes the lowest code
        return torch.where(torch.isnan(steps), low, steps.clamp_(low, high)).add_(zero)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        x, scale, inside = ctx.saved_tensors
        to_offset = _saturated_sum(grad, inside) if ctx.needs_input_grad[5] else None
        grad = grad * inside / scale
        to_scale = -(grad * x / scale).sum_to_size(scale.shape) if ctx.needs_input_grad[1] else None
        return grad, to_scale, None, None, None, to_offset


def _saturated_sum(grad: torch.Tensor, inside: torch.Tensor) -> torch.Tensor:
    """Gradient of the zero point: the code of a value inside moves with it, that of a saturated one stays."""
    return -(grad * ~inside).sum()


class _Table(torch.autograd.Function):
    """entries[index of the code]; the gradient by slopes of the function."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, scale: torch.Tensor, step: torch.Tensor, *rest: Any) -> torch.Tensor:
        index, entries, slopes, x_zero, zero = rest
        codes = entries.index_select(0, index.reshape(-1)).reshape(index.shape)
        ctx.save_for_backward(x, scale, step, index, codes)
        ctx.slopes, ctx.zeros = slopes, (x_zero, zero)
        return codes

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        x, scale, step, index, codes = ctx.saved_tensors
        to_codes = ctx.slopes.index_select(0, index.reshape(-1)).reshape(index.shape).mul_(grad)
        to_scale = to_step = None
        if ctx.needs_input_grad[1]:
            to_scale = (to_codes * (x - ctx.zeros[0])).sum() / scale
        if ctx.needs_input_grad[2]:  # saturated codes do not move with the step
            moving = to_codes != 0
            to_step = -(grad * moving * (codes - ctx.zeros[1])).sum() / step
        return to_codes, to_scale, to_step, None, None, None, None, None


def looked_up(
    x: torch.Tensor, scale: torch.Tensor, step: torch.Tensor, index: torch.Tensor, entries: np.ndarray,
    slopes: np.ndarray, x_zero: int, zero: int,
) -> torch.Tensor:  # fmt: skip
    """numerics.table: codes or floats as float32.

    x        codes as float32, of `scale` and `x_zero`
    step     of the result; 1 where it is floats
    index    int32, place of each code in the table
    slopes   float64 (256,): by how many steps the result changes from one code of x to the next
    """
    numbers = torch.from_numpy(entries.astype(np.float32))
    result: torch.Tensor = _Table.apply(
        x, scale, step, index, numbers, torch.from_numpy(slopes.astype(np.float32)), x_zero, zero
    )
    return result


def round_through(x: torch.Tensor) -> torch.Tensor:
    """rint(x); the gradient passes."""
    rounded: torch.Tensor = _Round.apply(x)
    return rounded


def exactly(value: torch.Tensor, smooth: torch.Tensor) -> torch.Tensor:
    """`value`, with the gradient of `smooth`: one thing computed as it is defined, and smoothly."""
    result: torch.Tensor = _Exactly.apply(value.detach(), smooth)
    return result


def requantize_sums(
    acc: torch.Tensor, multiplier: torch.Tensor, *, slope: float = 1.0, qmin: int, qmax: int, zero_point: int,
    offset: torch.Tensor | None = None,
) -> torch.Tensor:  # fmt: skip
    """numerics.requantize, mode "float".

    acc         integers, float32 where they are below 2^24, else float64; any shape
    multiplier  float32, broadcasts against acc
    offset      the zero point as far as it learns
    returns     codes as float32
    """
    codes: torch.Tensor = _Requantize.apply(
        acc, multiplier, slope, qmin - zero_point, qmax - zero_point, zero_point, offset
    )
    return codes


def quantize_values(
    x: torch.Tensor, scale: torch.Tensor, *, qmin: int, qmax: int, zero_point: int, offset: torch.Tensor | None = None
) -> torch.Tensor:
    """numerics.quantize: codes as float32; x and scale float32, broadcasting; offset as in `requantize_sums`."""
    codes: torch.Tensor = _Codes.apply(x, scale, qmin - zero_point, qmax - zero_point, zero_point, offset)
    return codes
