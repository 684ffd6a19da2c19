"""Between floats, sums and codes.

Tests: tests/training/test_records.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tvmq import numerics
from tvmq.errors import UnsupportedOpError
from tvmq.numerics.spec import QuantSpec
from tvmq.training.meaning import CodeTensor, SumTensor
from tvmq.training.straight_through import exactly, looked_up, quantize_values, requantize_sums


def quantize(place: Any, x: torch.Tensor, *_constants: Any) -> CodeTensor:
    """numerics.quantize with one scale."""
    scale, attrs = place.net.scale_or_none(place.name), place.call.attrs
    if scale is None:
        return _by_constants(place, x, *_constants)
    value = quantize_values(
        x, scale(), qmin=int(attrs.qmin), qmax=int(attrs.qmax), zero_point=scale.zero_point, offset=scale.offset
    )
    return CodeTensor(value, scale(), scale.zero_point, scale.spec)


def _by_constants(place: Any, x: torch.Tensor, scale: np.ndarray, zero: np.ndarray) -> CodeTensor:
    """A rounding of the model's own, between floats: its scale stays."""
    attrs = place.call.attrs
    if np.size(scale) != 1:
        raise UnsupportedOpError(
            f"training, layer '{place.name}': quantize with {np.size(scale)} scales has no form with a gradient, one "
            "for the whole tensor has"
        )
    step, zero_point = torch.from_numpy(np.array(scale, np.float32).reshape(())), int(np.ravel(zero)[0])
    low, high = int(attrs.qmin), int(attrs.qmax)
    value = quantize_values(x, step, qmin=low, qmax=high, zero_point=zero_point)
    return CodeTensor(value, step, zero_point, QuantSpec(str(attrs.dtype), int(high - low).bit_length()))


def dequantize(place: Any, q: CodeTensor | SumTensor, *_constants: Any) -> torch.Tensor:
    """numerics.dequantize of codes, or of sums by their own scale."""
    if isinstance(q, CodeTensor):
        return (q.value - q.zero_point) * q.scale
    return q.value.to(torch.float32) * q.along(q.scale.to(torch.float32))


def requantize(place: Any, acc: CodeTensor | SumTensor, *_constants: Any) -> CodeTensor:
    """numerics.requantize of sums, or of wide codes."""
    if isinstance(acc, torch.Tensor):
        raise UnsupportedOpError(
            f"training, layer '{place.name}': a sum of looked-up summands, TFLite's add, has no form with a gradient; "
            "train with rounding='UPWARD' or 'TONEAREST', or leave this target out"
        )
    attrs, scale = place.call.attrs, place.net.scale_of(place.name)
    if isinstance(acc, CodeTensor):
        acc = SumTensor(acc.value, acc.scale.double(), None, acc.largest_code)
    step = scale()
    factor = place.net.factor(acc.scale, step)
    bounds = place.net.code_bounds(place.name, place.call)
    slope = float(np.float32(attrs.negative_slope))
    if str(attrs.mode) == "float":
        value = requantize_sums(
            acc.value, acc.along(factor.to(torch.float32)), slope=slope,
            qmin=bounds[0], qmax=bounds[1], zero_point=scale.zero_point, offset=scale.offset,
        )  # fmt: skip
        return CodeTensor(value, step, scale.zero_point, scale.spec)
    return CodeTensor(_by_integers(place, acc, factor, scale, bounds), step, scale.zero_point, scale.spec)


def _by_integers(place: Any, acc: SumTensor, factor: torch.Tensor, scale: Any, bounds: tuple[int, int]) -> torch.Tensor:
    """Modes fixed_point and power_of_two: the definition itself, with the gradient of the real factor."""
    attrs, zero_point = place.call.attrs, scale.zero_point
    multiplier, shift = numerics.requantize_constants(factor.detach().numpy(), str(attrs.mode))
    codes = numerics.requantize(
        acc.value.detach().numpy().astype(np.int32), multiplier, shift, zero_point=zero_point, axis=acc.axis,
        mode=str(attrs.mode), rounding=str(attrs.rounding), dtype=str(attrs.dtype), qmin=bounds[0], qmax=bounds[1],
    )  # fmt: skip
    smooth = requantize_sums(
        acc.value, acc.along(factor.to(torch.float32)), qmin=bounds[0], qmax=bounds[1], zero_point=zero_point,
        offset=scale.offset,
    )  # fmt: skip
    return exactly(torch.from_numpy(codes.astype(np.float32)), smooth)


def table(place: Any, x: CodeTensor, values: np.ndarray) -> CodeTensor | torch.Tensor:
    """numerics.table; its gradient is the slope of the function between the neighbours of a code.

    The entries are computed again for the scales of the moment, where the function is known.
    """
    scale = place.net.scale_or_none(place.name)
    entries, reals = place.net.table_values(place, x, scale, values)
    index = (x.value.detach() + (128 if x.spec.dtype == "int8" else 0)).to(torch.int32)
    if scale is None and reals is None:  # booleans, thresholds of a comparison
        return torch.from_numpy(entries).index_select(0, index.reshape(-1)).reshape(index.shape)
    if scale is None:
        return looked_up(x.value, x.scale, torch.ones(()), index, entries, _slopes(reals), x.zero_point, 0)
    step = scale()
    slopes = _slopes(_steps_of(entries, reals, scale, step))
    value = looked_up(x.value, x.scale, step, index, entries, slopes, x.zero_point, scale.zero_point)
    return CodeTensor(value, step, scale.zero_point, scale.spec)


def _steps_of(entries: np.ndarray, reals: np.ndarray | None, scale: Any, step: torch.Tensor) -> np.ndarray:
    """The function in steps of its result, as far as these have codes; the codes where the function is not known."""
    if reals is None:
        return entries.astype(np.float64)
    with np.errstate(all="ignore"):
        steps = reals / float(step.detach()) + scale.zero_point
    return np.clip(np.nan_to_num(steps, nan=scale.spec.qmin), scale.spec.qmin - 0.5, scale.spec.qmax + 0.5)


def _slopes(values: np.ndarray) -> np.ndarray:
    """Slope at each of 256 values, by its neighbours."""
    with np.errstate(all="ignore"):
        return np.nan_to_num(np.gradient(values.astype(np.float64)), posinf=0.0, neginf=0.0)


FORMS: dict[str, Any] = {
    "tvmq.quantize": quantize,
    "tvmq.dequantize": dequantize,
    "tvmq.requantize": requantize,
    "tvmq.table": table,
}
