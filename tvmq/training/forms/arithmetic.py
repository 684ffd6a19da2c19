"""Sums and products of two activations, and what bounds them.

Tests: tests/training/test_records.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tvmq import numerics
from tvmq.graph.view import const_value
from tvmq.passes.families.scale_shift import constants_of
from tvmq.training.forms.products import add_bias
from tvmq.training.meaning import CodeTensor, SumTensor
from tvmq.training.straight_through import exactly


def add_codes(place: Any, a: CodeTensor, b: CodeTensor) -> CodeTensor:
    """tvmq.add: numerics.add with the constants of these scales."""
    attrs, scale = place.call.attrs, place.net.scale_of(place.name)
    step, zero = scale(), scale.zero_point
    sign = -1 if int(attrs.b_multiplier) < 0 else 1
    params = numerics.add_params(
        a.scale.item(), a.zero_point, b.scale.item(), b.zero_point, step.item(), subtract=sign < 0,
        dtypes=(a.spec.dtype, b.spec.dtype), bits=place.net.choices.backend.accumulators("add")[0],
    )  # fmt: skip
    low, high = (bound - zero for bound in place.net.code_bounds(place.name, place.call))
    with torch.no_grad():
        total = a.value.to(torch.int32) * params.a_multiplier
        total = total.add(b.value.to(torch.int32), alpha=params.b_multiplier).add_(params.offset)
        value = total.bitwise_right_shift_(params.shift).clamp_(low, high).to(torch.float32).add_(zero)
    real = (a.value - a.zero_point) * (a.scale / step) + (b.value - b.zero_point) * (sign * b.scale / step)
    return CodeTensor(exactly(value, _clamp_steps(real, low - 0.5, high + 0.5, scale)), step, zero, scale.spec)


def _clamp_steps(real: torch.Tensor, low: float, high: float, scale: Any) -> torch.Tensor:
    """Clamped steps from the zero point, whose bounds go down where a learned zero point goes up."""
    if scale.offset is None:
        return real.clamp(low, high)
    moved = scale.offset - scale.offset.detach()
    return torch.minimum(torch.maximum(real, low - moved), high - moved)


def multiply_codes(place: Any, a: CodeTensor, b: CodeTensor) -> SumTensor:
    """tvmq.multiply: products of centred codes; below 2^24 for 8 bits."""
    wide = "int16" in (a.spec.dtype, b.spec.dtype)
    kind = torch.float64 if wide else torch.float32
    value = (a.value.to(kind) - a.zero_point) * (b.value.to(kind) - b.zero_point)
    return SumTensor(value, a.scale.double() * b.scale.double(), None, 4.0 * a.largest_code * b.largest_code)


def add(place: Any, a: Any, b: Any) -> Any:
    """The bias behind sums, or a sum of floats."""
    if isinstance(a, SumTensor):
        return add_bias(place, a, b)
    return _tensor(a) + _tensor(b)


def multiply(place: Any, a: Any, b: Any) -> Any:
    """Sums of windows of several sizes times integers, or a product of floats."""
    if not isinstance(a, SumTensor):
        return _tensor(a) * _tensor(b)
    factors = torch.from_numpy(np.array(b, np.float64))
    return SumTensor(a.value.double() * factors, a.scale, None, a.bound * float(factors.abs().max()))


def scale_shift(place: Any, x: CodeTensor, *_constants: Any) -> CodeTensor:
    """tvmq.scale_shift: numerics.scale_shift with the constants of these scales."""
    view, group = place.net.original(place.name)
    scale, (factor, summand) = place.net.scale_of(place.name), constants_of(view, group.facts.links)
    step, low_high = scale(), place.net.code_bounds(place.name, place.call)
    params = numerics.scale_shift_params(
        x.scale.item(), x.zero_point, factor, summand, step.item(), dtypes=(x.spec.dtype, scale.spec.dtype)
    )
    value = numerics.scale_shift(
        x.value.detach().numpy().astype(x.spec.dtype), params.multiplier, params.offset, shift=params.shift,
        zero_point=scale.zero_point, dtype=scale.spec.dtype, qmin=low_high[0], qmax=low_high[1],
    )  # fmt: skip
    real = x.real_values * torch.from_numpy(factor).float() + torch.from_numpy(summand).float()
    real = real / step + scale.zero_point
    return _with_gradient(value, real, scale, step, low_high)


def prelu(place: Any, x: CodeTensor, *_constants: Any) -> CodeTensor:
    """tvmq.prelu: numerics.prelu with the constants of these scales."""
    view, group = place.net.original(place.name)
    scale, call = place.net.scale_of(place.name), view.value[group.root]
    step, slopes = scale(), const_value(call.args[1]).reshape(-1)
    params = numerics.prelu_params(x.scale.item(), slopes, step.item())
    shape = [1] * x.value.ndim
    if slopes.size > 1:
        shape[int(call.attrs.axis)] = slopes.size
    value = numerics.prelu(
        x.value.detach().numpy().astype(x.spec.dtype), params.slopes.reshape(shape), multiplier=params.multiplier,
        shift=params.shift, x_zero=x.zero_point, zero_point=scale.zero_point, dtype=scale.spec.dtype,
        qmin=scale.spec.qmin, qmax=scale.spec.qmax,
    )  # fmt: skip
    real = x.real_values
    real = torch.where(real < 0, real * torch.from_numpy(slopes.reshape(shape).copy()), real) / step + scale.zero_point
    return _with_gradient(value, real, scale, step, (scale.spec.qmin, scale.spec.qmax))


def _with_gradient(
    value: np.ndarray, smooth: torch.Tensor, scale: Any, step: Any, bounds: tuple[int, int]
) -> CodeTensor:
    codes = torch.from_numpy(value.astype(np.float32))
    return CodeTensor(exactly(codes, smooth.clamp(*bounds)), step, scale.zero_point, scale.spec)


def _tensor(value: Any) -> torch.Tensor:
    return value if isinstance(value, torch.Tensor) else torch.from_numpy(np.array(value))


FORMS: dict[str, Any] = {
    "tvmq.add": add_codes,
    "tvmq.multiply": multiply_codes,
    "add": add,
    "tvmq.scale_shift": scale_shift,
    "tvmq.prelu": prelu,
    "multiply": multiply,
}
