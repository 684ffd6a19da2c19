"""Float operators with a definition: its value, and the gradient of torch's own operator.

What rounds once (sum, product, relu) is the same in torch; the rest is executed by the definition in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from tvmq.training.straight_through import exactly


def defined(smooth: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """The form of an operator whose definition is NumPy's, `smooth` being torch's."""

    def form(place: Any, *args: Any) -> torch.Tensor:
        from tvmq.reference import execute

        arrays = [arg.detach().numpy() if isinstance(arg, torch.Tensor) else arg for arg in args]
        value = torch.from_numpy(np.ascontiguousarray(execute(place.call, arrays)))
        tensors = [arg if isinstance(arg, torch.Tensor) else torch.from_numpy(np.array(arg)) for arg in args]
        if not torch.is_grad_enabled():
            return value
        return exactly(value, smooth(place.call, *tensors))

    return form


def native(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """The form of an operator that torch computes as the definition does."""

    def form(place: Any, *args: Any) -> torch.Tensor:
        return function(place.call, *(a if isinstance(a, torch.Tensor) else _constant(a) for a in args))

    return form


def _constant(value: Any) -> Any:
    return torch.from_numpy(np.array(value)) if isinstance(value, np.ndarray | np.generic) else value


def _layer_norm(call: Any, x: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor) -> torch.Tensor:
    shape = list(x.shape[x.ndim - int(call.attrs.axes) :])
    return functional.layer_norm(x, shape, gamma.reshape(shape), beta.reshape(shape), float(call.attrs.epsilon))


def _float_sum(call: Any, x: torch.Tensor) -> torch.Tensor:
    axes = [int(a) for a in call.attrs.axes]
    reduce = torch.mean if bool(call.attrs.mean) else torch.sum
    return reduce(x, dim=axes, keepdim=bool(call.attrs.keepdims))


FORMS: dict[str, Any] = {
    "tvmq.softmax": defined(lambda call, x: torch.softmax(x, int(call.attrs.axis))),
    "tvmq.log_softmax": defined(lambda call, x: torch.log_softmax(x, int(call.attrs.axis))),
    "tvmq.layer_norm": defined(_layer_norm),
    "tvmq.float_sum": defined(_float_sum),
    "sigmoid": defined(lambda _call, x: torch.sigmoid(x)),
    "tanh": defined(lambda _call, x: torch.tanh(x)),
    "exp": defined(lambda _call, x: torch.exp(x)),
    "log": defined(lambda _call, x: torch.log(x)),
    "erf": defined(lambda _call, x: torch.erf(x)),
    "nn.silu": defined(lambda _call, x: functional.silu(x)),
    "nn.gelu": defined(lambda _call, x: functional.gelu(x)),
    "nn.gelu_tanh": defined(lambda _call, x: functional.gelu(x, approximate="tanh")),
    "rsqrt": defined(lambda _call, x: torch.rsqrt(x)),
    "sqrt": defined(lambda _call, x: torch.sqrt(x)),
    "nn.relu": native(lambda _call, x: torch.relu(x)),
    "clip": native(lambda _call, x, low, high: torch.clamp(x, float(low), float(high))),
    "subtract": native(lambda _call, a, b: a - b),
    "multiply": native(lambda _call, a, b: a * b),
    "divide": native(lambda _call, a, b: a / b),
    "negative": native(lambda _call, x: -x),
    "abs": native(lambda _call, x: x.abs()),
}
