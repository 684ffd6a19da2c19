"""Between floats, sums and codes."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tvmq import numerics
from tvmq.training.meaning import Codes, Sums
from tvmq.training.straight_through import exactly, quantize_values, requantize_sums


def quantize(place: Any, x: torch.Tensor, *_constants: Any) -> Codes:
    """numerics.quantize with one scale."""
    scale, attrs = place.net.scale_of(place.name), place.call.attrs
    value = quantize_values(
        x, scale(), qmin=int(attrs.qmin), qmax=int(attrs.qmax), zero_point=scale.zero_point, offset=scale.offset
    )
    return Codes(value, scale(), scale.zero_point, scale.spec)


def dequantize(place: Any, q: Codes | Sums, *_constants: Any) -> torch.Tensor:
    """numerics.dequantize of codes, or of sums by their own scale."""
    if isinstance(q, Codes):
        return (q.value - q.zero_point) * q.scale
    return q.value.to(torch.float32) * q.along(q.scale.to(torch.float32))


def requantize(place: Any, acc: Codes | Sums, *_constants: Any) -> Codes:
    """numerics.requantize of sums, or of wide codes."""
    attrs, scale = place.call.attrs, place.net.scale_of(place.name)
    if isinstance(acc, Codes):
        acc = Sums(acc.value, acc.scale.double(), None, acc.largest)
    step = scale()
    factor = acc.scale / step.double()
    bounds = place.net.code_bounds(place.name, place.call)
    slope = float(np.float32(attrs.negative_slope))
    if str(attrs.mode) == "float":
        value = requantize_sums(
            acc.value, acc.along(factor.to(torch.float32)), slope=slope,
            qmin=bounds[0], qmax=bounds[1], zero_point=scale.zero_point, offset=scale.offset,
        )  # fmt: skip
        return Codes(value, step, scale.zero_point, scale.spec)
    return Codes(_by_integers(place, acc, factor, scale, bounds), step, scale.zero_point, scale.spec)


def _by_integers(
    place: Any, acc: Sums, factor: torch.Tensor, scale: Any, bounds: tuple[int, int]
) -> torch.Tensor:
    """Modes fixed_point and power_of_two: the definition itself, with the gradient of the real factor."""
    from tvmq.passes.realize import requantize_constants

    attrs, zero_point = place.call.attrs, scale.zero_point
    multiplier, shift = requantize_constants(factor.detach().numpy(), str(attrs.mode))
    codes = numerics.requantize(
        acc.value.detach().numpy().astype(np.int32), multiplier, shift, zero_point=zero_point, axis=acc.axis,
        mode=str(attrs.mode), rounding=str(attrs.rounding), dtype=str(attrs.dtype), qmin=bounds[0], qmax=bounds[1],
    )  # fmt: skip
    smooth = requantize_sums(
        acc.value, acc.along(factor.to(torch.float32)), qmin=bounds[0], qmax=bounds[1], zero_point=zero_point,
        offset=scale.offset,
    )  # fmt: skip
    return exactly(torch.from_numpy(codes.astype(np.float32)), smooth)


def table(place: Any, x: Codes, values: np.ndarray) -> Codes | torch.Tensor:
    """numerics.table; its gradient is the slope between neighbouring entries.

    The entries are computed again for the scales of the moment, where the function is known.
    """
    scale = place.net.scale_of(place.name) if place.name in place.net.tensor_of else None
    step = None if scale is None else scale()
    entries = place.net.table_values(place, x, scale, values)
    index = (x.value.detach() + (128 if x.spec.dtype == "int8" else 0)).long()
    if entries.dtype.kind == "b":
        return torch.from_numpy(entries)[index]
    numbers = torch.from_numpy(entries.astype(np.float32))
    smooth = _tangent(numbers, index, x)
    if scale is None or step is None:
        return exactly(numbers[index], smooth)
    result = numbers[index]
    smooth = smooth - ((result - scale.zero_point) / step).detach() * (step - step.detach())
    return Codes(exactly(result, smooth), step, scale.zero_point, scale.spec)


def _tangent(entries: torch.Tensor, index: torch.Tensor, x: Codes) -> torch.Tensor:
    """What the entries change by where codes and scale of x do; its value is 0."""
    slope = torch.empty_like(entries)
    slope[1:-1] = (entries[2:] - entries[:-2]) / 2
    slope[0], slope[-1] = entries[1] - entries[0], entries[-1] - entries[-2]
    slopes = slope[index]
    steps = x.value.detach() - x.zero_point
    relative = (x.scale - x.scale.detach()) / x.scale.detach()
    return slopes * (x.value - x.value.detach() + steps * relative)


FORMS: dict[str, Any] = {
    "tvmq.quantize": quantize,
    "tvmq.dequantize": dequantize,
    "tvmq.requantize": requantize,
    "tvmq.table": table,
}
