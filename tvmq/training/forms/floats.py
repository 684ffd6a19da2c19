"""Float functions of single values: the value of the definition, the gradient of torch.

A form here is a Smooth: torch's operator on its tensors. `defined_form` makes the value that of the definition,
executed in NumPy; what rounds once (sum, product, relu) is the same in torch and `native_form`. An operator without a
definition is compiled, and the network puts its value in the place of torch's (network.py): `smooth` gives the
gradient alone.
The model's own roundings (floor, round, sign, ...) pass gradients as those of the quantization do, straight through.

Tests: tests/training/test_records.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from tvmq.training.meaning import to_definition, to_torch
from tvmq.training.straight_through import exactly

Smooth = Callable[..., Any]


def defined_form(smooth: Smooth) -> Smooth:
    """The form of an operator whose definition is NumPy's, `smooth` being torch's."""

    def form(place: Any, *args: Any) -> torch.Tensor:
        from tvmq.reference import execute

        value = torch.from_numpy(np.ascontiguousarray(execute(place.call, [to_definition(arg) for arg in args])))
        if not torch.is_grad_enabled():
            return value
        return exactly(value, smooth(place.call, *map(to_torch, args)))

    return form


def native_form(smooth: Smooth) -> Smooth:
    """The form of an operator that torch computes as the definition does."""

    def form(place: Any, *args: Any) -> Any:
        return smooth(place.call, *map(to_torch, args))

    return form


def _prelu(call: Any, x: torch.Tensor, slopes: torch.Tensor) -> torch.Tensor:
    if slopes.numel() > 1:
        slopes = slopes.reshape([-1 if axis == int(call.attrs.axis) % x.ndim else 1 for axis in range(x.ndim)])
    return torch.where(x >= 0, x, x * slopes.reshape(slopes.shape or (1,)))


def _choose(_call: Any, condition: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.where(condition.bool(), a, b)


def _cast(call: Any, x: torch.Tensor) -> torch.Tensor:
    return x.to(getattr(torch, str(call.attrs.dtype)))


def _fill_with(value: float) -> Smooth:
    return lambda call, x, *_rest: torch.full_like(x, value)


def _torch_functions(names: str) -> dict[str, Smooth]:
    """Operators that torch has under the same names."""
    functions = {name: getattr(torch, name) for name in names.split()}
    return {name: lambda _call, *tensors, run=run: run(*tensors) for name, run in functions.items()}


# torch computes these as they are defined: one rounding, or none
NATIVE: dict[str, Smooth] = {
    "nn.relu": lambda _call, x: torch.relu(x),
    "nn.leakyrelu": lambda call, x: torch.where(x >= 0, x, x * float(call.attrs.alpha)),
    "clip": lambda _call, x, low, high: torch.clamp(x, float(low), float(high)),
    "subtract": lambda _call, a, b: a - b,
    "divide": lambda _call, a, b: a / b,
    "negative": lambda _call, x: -x,
    "abs": lambda _call, x: x.abs(),
    "floor": lambda _call, x: exactly(torch.floor(x), x),
    "ceil": lambda _call, x: exactly(torch.ceil(x), x),
    "round": lambda _call, x: exactly(torch.round(x), x),
    "trunc": lambda _call, x: exactly(torch.trunc(x), x),
    "nn.prelu": _prelu,
    "zeros_like": _fill_with(0.0),
    "ones_like": _fill_with(1.0),
    "full_like": lambda _call, x, value: value.to(x.dtype).expand_as(x),
}
DEFINED: dict[str, Smooth] = {
    **_torch_functions("sigmoid tanh exp log erf sin cos rsqrt sqrt"),  # MKL's sqrt is not rounded correctly
    "nn.silu": lambda _call, x: functional.silu(x),
    "nn.gelu": lambda _call, x: functional.gelu(x),
    "nn.gelu_tanh": lambda _call, x: functional.gelu(x, approximate="tanh"),
    "tvmq.round_floats": lambda _call, x: x,
}
COMPILED: dict[str, Smooth] = {
    **_torch_functions("tan sinh cosh asin acos atan asinh acosh atanh atan2"),
    "square": lambda _call, x: x * x,
    "sign": lambda _call, x: exactly(torch.sign(x), x.clamp(-1, 1)),
    "nn.selu": lambda _call, x: functional.selu(x),
    "nn.softplus": lambda call, x: functional.softplus(x, float(call.attrs.beta), float(call.attrs.threshold)),
    "power": lambda _call, a, b: torch.pow(a, b),
    "log_add_exp": lambda _call, a, b: torch.logaddexp(a, b),
    "floor_divide": lambda _call, a, b: exactly(torch.floor(a / b), a / b),
    "floor_mod": lambda _call, a, b: a - torch.floor(a / b) * b,
    "mod": lambda _call, a, b: torch.fmod(a, b),
    "ewise_fma": lambda _call, a, b, c: a * b + c,
}

FORMS: dict[str, Any] = {
    **{name: native_form(smooth) for name, smooth in (*NATIVE.items(), *COMPILED.items())},
    **{name: defined_form(smooth) for name, smooth in DEFINED.items()},
}
