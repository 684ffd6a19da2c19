"""Operators that move values: the index of NumPy's result says where each value comes from."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.nn import functional

from tvmq.graph.evaluate import evaluate
from tvmq.graph.view import op_name
from tvmq.training.meaning import Codes, Sums


def move(place: Any, x: Any, *rest: Any) -> Any:
    """Any operator that places the values of its first argument elsewhere."""
    return _on_values(x, lambda value: _gathered(place.call, value, rest))


def reshape(place: Any, x: Any, *_rest: Any) -> Any:
    """The same values in order."""
    shape = [int(d) for d in place.call.ty.shape]
    return _on_values(x, lambda value: value.reshape(shape))


def permute(place: Any, x: Any) -> Any:
    """Axes in another order."""
    axes = place.call.attrs.axes
    order = [int(a) for a in axes] if axes is not None else None
    return _on_values(x, lambda value: value.permute(order or tuple(reversed(range(value.ndim)))))


def pad(place: Any, x: Any, *value: Any) -> Any:
    """A border of one number."""
    attrs = place.call.attrs
    if str(attrs.pad_mode) != "constant":
        return move(place, x, *value)
    width = [int(w) for w in attrs.pad_width]
    pairs = [width[i : i + 2] for i in range(0, len(width), 2)]
    sides = [side for pair in reversed(pairs) for side in pair]
    # codes are padded with their zero point, which may have moved
    border = x.zero_point if isinstance(x, Codes) and not x.spec.symmetric else float(attrs.pad_value)
    return _on_values(x, lambda v: functional.pad(v, sides, value=border))


def concat(place: Any, parts: list[Any]) -> Any:
    """Parts of one scale, or floats."""
    axis = int(place.call.attrs.axis) if place.call.attrs.axis is not None else 0
    values = [part.value if isinstance(part, Codes) else _tensor(part) for part in parts]
    joined = torch.cat([value.to(torch.float32) for value in values], dim=axis)
    first = next((part for part in parts if isinstance(part, Codes)), None)
    return joined if first is None else first.moved(joined)


def split(place: Any, x: Any) -> list[Any]:
    """Parts along an axis."""
    value = x.value if isinstance(x, Codes) else x
    pieces = evaluate(place.call, [np.arange(value.numel()).reshape(tuple(value.shape))])
    return [_on_values(x, lambda v, i=i: v.reshape(-1)[torch.from_numpy(i)]) for i in pieces]


def _gathered(call: Any, value: torch.Tensor, rest: Any) -> torch.Tensor:
    index = np.arange(value.numel()).reshape(tuple(value.shape))
    args = [arg.detach().numpy() if isinstance(arg, torch.Tensor) else arg for arg in rest]
    taken = torch.from_numpy(np.ascontiguousarray(evaluate(call, [index, *args])))
    return value.reshape(-1)[taken]


def _on_values(x: Any, function: Any) -> Any:
    if isinstance(x, Codes | Sums):
        return x.moved(function(x.value))
    return function(_tensor(x))


def _tensor(value: Any) -> torch.Tensor:
    return value if isinstance(value, torch.Tensor) else torch.from_numpy(np.array(value))


FORMS: dict[str, Any] = {
    **dict.fromkeys(("reshape", "flatten", "squeeze", "expand_dims"), reshape),
    "permute_dims": permute,
    "nn.pad": pad,
    "concat": concat,
    "image.resize2d": move,
    "split": split,
}
__all__ = ["FORMS", "move", "op_name"]
