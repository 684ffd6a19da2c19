"""Operators that compare and choose: codes by their order, floats as torch does.

Tests: tests/training/test_records.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tvmq import numerics
from tvmq.graph.view import const_value, is_const
from tvmq.numerics.add_mask import LARGEST_STEP, LARGEST_VALUE
from tvmq.numerics.codes import INT32_MAX
from tvmq.training.forms.floats import Smooth, defined_form
from tvmq.training.meaning import CodeTensor, SumTensor, to_torch


def maximum(place: Any, a: Any, b: Any) -> Any:
    """Maximum of floats, of codes of one scale, or of codes and constants in their codes."""
    return _choose(place, torch.maximum, _take_larger, a, b)


def minimum(place: Any, a: Any, b: Any) -> Any:
    """As `maximum`."""
    return _choose(place, torch.minimum, _take_smaller, a, b)


def choose(place: Any, condition: Any, a: Any, b: Any) -> Any:
    """`where` of floats, of codes of one scale, and of scores in front of an integer softmax."""
    condition = to_torch(condition).bool()
    if isinstance(a, SumTensor) or isinstance(b, SumTensor):
        return _chosen_scores(place, condition, a, b)
    if not isinstance(a, CodeTensor) and not isinstance(b, CodeTensor):
        return torch.where(condition, to_torch(a), to_torch(b))
    codes, (left, right) = _sides(place, (a, b), first=1)
    return codes.with_value(torch.where(condition, left, right))


def order(place: Any, x: Any) -> Any:
    """max and min over axes; the gradient goes to the values that are chosen, to equal ones in equal shares."""
    attrs, largest = place.call.attrs, place.call.op.name.endswith("max")
    reduce = torch.amax if largest else torch.amin

    def reduce_axes(_call: Any, value: torch.Tensor) -> torch.Tensor:
        axes = list(range(value.ndim)) if attrs.axis is None else [int(a) for a in attrs.axis]
        return reduce(value, dim=axes, keepdim=bool(attrs.keepdims))

    if isinstance(x, CodeTensor):
        return x.with_value(reduce_axes(None, x.value))
    return defined_form(reduce_axes)(place, x)


def compare(function: Smooth) -> Callable[..., torch.Tensor]:
    """A comparison, of codes with thresholds in codes or of floats; it has no gradient."""

    def form(_place: Any, a: Any, b: Any) -> torch.Tensor:
        values = [v.value if isinstance(v, CodeTensor | SumTensor) else to_torch(v) for v in (a, b)]
        result: torch.Tensor = function(*values)
        return result

    return form


def cast(place: Any, x: Any) -> Any:
    """Codes in a wider type, as they are compared or added to; numbers in another type."""
    dtype = str(place.call.attrs.dtype)
    if isinstance(x, CodeTensor) and dtype == "int32":
        return SumTensor(x.value.double(), x.scale.double(), None, x.largest_code)
    if isinstance(x, CodeTensor | SumTensor):
        return x.value
    return x.to(getattr(torch, dtype))


def add_mask(place: Any, scores: SumTensor, mask: Any) -> SumTensor:
    """tvmq.add_mask: a mask or a constant in steps of the scores' scale of the moment."""
    steps = _mask_steps(place, scores.scale.item(), to_torch(mask).double())
    total = scores.value.double() + steps.clamp(-LARGEST_STEP, LARGEST_STEP)
    return SumTensor(total.clamp(-INT32_MAX, INT32_MAX), scores.scale, None, float(INT32_MAX))


def _mask_steps(place: Any, scale: float, steps: torch.Tensor) -> torch.Tensor:
    call, mask = place.net.mask_of(place.name)
    if mask is None:
        return _constant_steps(next(const_value(arg) for arg in call.args if is_const(arg)), scale)
    factor, summand = (numerics.mask_steps(number, scale) for number in (mask.factor, mask.summand))
    return steps.clamp(-LARGEST_VALUE, LARGEST_VALUE) * factor + summand


def _constant_steps(constant: np.ndarray, scale: float) -> torch.Tensor:
    with np.errstate(over="ignore"):
        steps = np.rint(constant.astype(np.float64) / scale)
    return torch.from_numpy(np.asarray(np.clip(steps, -LARGEST_STEP, LARGEST_STEP)))


def _chosen_scores(place: Any, condition: torch.Tensor, a: Any, b: Any) -> SumTensor:
    call, _ = place.net.mask_of(place.name)
    scores = a if isinstance(a, SumTensor) else b
    values = [
        side.value.double() if isinstance(side, SumTensor) else _constant_steps(const_value(arg), scores.scale.item())
        for side, arg in zip((a, b), call.args[1:], strict=True)
    ]
    return SumTensor(torch.where(condition, *values), scores.scale, None, float(LARGEST_STEP))


def _choose(place: Any, of_codes: Smooth, of_floats: Smooth, a: Any, b: Any) -> Any:
    if not isinstance(a, CodeTensor) and not isinstance(b, CodeTensor):
        return of_floats(to_torch(a), to_torch(b))
    codes, (left, right) = _sides(place, (a, b), first=0)
    return codes.with_value(of_codes(left, right))


def _sides(place: Any, sides: tuple[Any, Any], *, first: int) -> tuple[CodeTensor, list[torch.Tensor]]:
    """The codes that say what all mean, and both sides; constants in the codes of the moment."""
    codes = next(side for side in sides if isinstance(side, CodeTensor))
    values = [
        side.value if isinstance(side, CodeTensor) else place.net.encode_constant(place.name, first + i, codes, side)
        for i, side in enumerate(sides)
    ]
    return codes, values


def _take_larger(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.where(a > b, a, b)


def _take_smaller(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.where(a < b, a, b)


COMPARISONS: dict[str, Smooth] = {
    "equal": torch.eq, "not_equal": torch.ne, "greater": torch.gt, "greater_equal": torch.ge, "less": torch.lt,
    "less_equal": torch.le,
}  # fmt: skip

FORMS: dict[str, Any] = {
    "maximum": maximum,
    "minimum": minimum,
    "where": choose,
    "max": order,
    "min": order,
    "astype": cast,
    "tvmq.add_mask": add_mask,
    **{name: compare(function) for name, function in COMPARISONS.items()},
}
