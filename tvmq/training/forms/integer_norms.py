"""Softmax, norms and masked means in integers: the definition itself, with the gradient of the real function.

Tests: tests/training/test_records.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tvmq import numerics
from tvmq.graph.view import const_value, op_name
from tvmq.training.meaning import CodeTensor, to_definition
from tvmq.training.straight_through import exactly

# what the definition takes where no calibrated range says which part of 0..1 occurs
LARGEST_SHARE = 1 / 32767


def integer_softmax(place: Any, scores: Any) -> CodeTensor:
    """tvmq.integer_softmax of codes or sums."""
    attrs = place.call.attrs
    scale = place.net.scale_or_none(place.name)
    step = torch.tensor(LARGEST_SHARE, dtype=torch.float32) if scale is None else scale()
    params = numerics.integer_softmax_params(scores.scale.item(), step.item())
    value = numerics.integer_softmax(
        to_definition(scores), **params._asdict(), zero_point=int(attrs.zero_point), dtype=str(attrs.dtype),
        qmin=int(attrs.qmin), qmax=int(attrs.qmax), axis=int(attrs.axis),
    )  # fmt: skip
    real = scores.value.double()
    real = (real - real.detach().amax(int(attrs.axis), keepdim=True)) * scores.scale.double()
    return _codes(place, value, torch.softmax(real.float(), int(attrs.axis)), step)


def integer_layer_norm(place: Any, x: CodeTensor, *_constants: Any) -> CodeTensor:
    """tvmq.integer_layer_norm with the constants of these scales."""
    attrs, step = place.call.attrs, place.net.scale_of(place.name)()
    view, group = place.net.original(place.name)
    call = view.value[group.root]
    row = list(x.value.shape[x.value.ndim - int(call.attrs.axes) :])
    gamma, *rest = (np.broadcast_to(const_value(p), row) for p in call.args[1:])
    beta = rest[0] if rest else None
    epsilon, centred = float(call.attrs.epsilon), op_name(call) == "tvmq.layer_norm"
    params = numerics.integer_layer_norm_params(x.scale.item(), gamma, beta, step.item(), epsilon=epsilon)
    value = numerics.integer_layer_norm(
        to_definition(x), **params._asdict(), zero_point=int(attrs.zero_point), dtype=str(attrs.dtype),
        qmin=int(attrs.qmin), qmax=int(attrs.qmax), centred=centred, x_zero=x.zero_point,
    )  # fmt: skip
    axes = list(range(x.value.ndim - len(row), x.value.ndim))
    real = x.real_values - x.real_values.mean(dim=axes, keepdim=True) if centred else x.real_values
    real = real * torch.rsqrt((real * real).mean(dim=axes, keepdim=True) + epsilon) * _tensor(gamma)
    return _codes(place, value, real if beta is None else real + _tensor(beta), step)


def masked_mean(place: Any, x: CodeTensor, mask: torch.Tensor) -> CodeTensor:
    """tvmq.masked_mean with the multiplier of these scales."""
    attrs, step = place.call.attrs, place.net.scale_of(place.name)()
    axis = int(attrs.axis)
    multiplier, shift = numerics.fixed_point_parameters(np.float64(x.scale.item()) / np.float64(step.item()))
    value = numerics.masked_mean(
        to_definition(x), to_definition(mask), axis=axis, multiplier=int(multiplier), shift=int(shift),
        x_zero=x.zero_point, zero_point=int(attrs.zero_point), dtype=str(attrs.dtype), qmin=int(attrs.qmin),
        qmax=int(attrs.qmax),
    )  # fmt: skip
    kept = mask.clamp(0, 1).to(torch.float32).expand_as(x.value)
    return _codes(place, value, (x.real_values * kept).sum(axis) / kept.sum(axis).clamp_min(1), step)


def _codes(place: Any, value: np.ndarray, real: torch.Tensor, step: torch.Tensor) -> CodeTensor:
    """Codes with the gradient of real values of that step, none where they saturate."""
    attrs = place.call.attrs
    zero, spec = int(attrs.zero_point), place.net.spec_of(place.name, attrs)
    smooth = (real / step + zero).clamp(int(attrs.qmin) - 0.5, int(attrs.qmax) + 0.5)
    return CodeTensor(exactly(torch.from_numpy(value.astype(np.float32)), smooth), step, zero, spec)


def _tensor(array: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.array(array, np.float32))


FORMS: dict[str, Any] = {
    "tvmq.integer_softmax": integer_softmax,
    "tvmq.integer_layer_norm": integer_layer_norm,
    "tvmq.masked_mean": masked_mean,
}
