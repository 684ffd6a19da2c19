"""Operators that move values: the index of NumPy's result says where each value comes from.

Tests: tests/training/test_records.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn import functional
from tvm import relax

from tvmq import numerics
from tvmq.errors import UnsupportedOpError
from tvmq.graph.evaluate import evaluate, evaluator, repeats_pixels
from tvmq.graph.view import op_name
from tvmq.training.meaning import CodeTensor, SumTensor, to_definition, to_torch

# Index maps are computed in float32 where the operator has no NumPy form; below this they are exact.
EXACT_INDEX = 2**24


def move(place: Any, x: Any, *rest: Any) -> Any:
    """Any operator that places the values of its first argument elsewhere."""
    size = tuple(x.value.shape if isinstance(x, CodeTensor | SumTensor) else to_torch(x).shape)
    index = place.memoize(size, lambda: _index_of(place, size, rest))
    return _on_values(x, lambda value: _take_values(value, index))


def reshape(place: Any, x: Any, *_rest: Any) -> Any:
    """Reshape codes or floats; their order stays."""
    shape = [int(d) for d in place.call.ty.shape]
    return _on_values(x, lambda value: value.reshape(shape))


def permute(place: Any, x: Any) -> Any:
    """Axes in another order."""
    axes = place.call.attrs.axes
    order = [int(a) for a in axes] if axes is not None else None
    return _on_values(x, lambda value: value.permute(order or tuple(reversed(range(value.ndim)))))


def broadcast(place: Any, x: Any, *_rest: Any) -> Any:
    """Values again along axes."""
    shape = [int(d) for d in place.call.ty.shape]
    return _on_values(x, lambda value: value.expand(shape))


def pad(place: Any, x: Any, *value: Any) -> Any:
    """A border of one number, in the codes of the moment where x is codes."""
    attrs = place.call.attrs
    if str(attrs.pad_mode) != "constant":
        return move(place, x, *value)
    width = [int(w) for w in attrs.pad_width]
    pairs = [width[i : i + 2] for i in range(0, len(width), 2)]
    sides = [side for pair in reversed(pairs) for side in pair]
    fill = float(attrs.pad_value)
    if isinstance(x, CodeTensor):
        fill = place.net.border_code(place.name, x)
    return _on_values(x, lambda v: functional.pad(v, sides, value=fill))


def concat(place: Any, parts: list[Any]) -> Any:
    """Parts of one scale, or floats."""
    axis = int(place.call.attrs.axis) if place.call.attrs.axis is not None else 0
    join = torch.stack if op_name(place.call) == "stack" else torch.cat
    first = next((part for part in parts if isinstance(part, CodeTensor)), None)
    if first is None:
        return join([to_torch(part) for part in parts], dim=axis)
    values = [
        part.value if isinstance(part, CodeTensor) else place.net.encode_constant(place.name, (0, i), first, part)
        for i, part in enumerate(parts)
    ]
    return first.with_value(join(values, dim=axis))


def split(place: Any, x: Any) -> list[Any]:
    """Parts along an axis."""
    value = x.value if isinstance(x, CodeTensor) else to_torch(x)
    axis = int(place.call.attrs.axis)
    shapes = [[int(d) for d in part.shape] for part in place.call.ty.fields]
    parts = torch.split(value, [shape[axis] for shape in shapes], dim=axis)
    return [x.with_value(part) if isinstance(x, CodeTensor) else part for part in parts]


def take(place: Any, x: Any, indices: Any) -> Any:
    """Slices along an axis; of a table of codes the rows of an embedding."""
    if place.call.attrs.axis is None:
        return move(place, x, indices)
    if isinstance(x, np.ndarray) and x.dtype.kind in "iu" and x.dtype.itemsize < 4:
        x = place.net.embedding(place.name, x)
    axis, mode = int(place.call.attrs.axis), str(place.call.attrs.mode)
    rows = np.asarray(to_definition(indices))

    def take_rows(value: torch.Tensor) -> torch.Tensor:
        size = value.shape[axis]
        at = np.clip(rows, 0, size - 1) if mode == "clip" else numerics.place(rows, size)
        slices = value.index_select(axis, torch.from_numpy(np.asarray(at, np.int64).reshape(-1)))
        if mode == "nan":
            outside = torch.from_numpy(((rows < -size) | (rows >= size)).reshape(-1))
            shape = [-1 if i == axis % value.ndim else 1 for i in range(value.ndim)]
            slices = torch.where(outside.reshape(shape), torch.nan, slices)
        return slices.reshape(*value.shape[: axis % value.ndim], *rows.shape, *value.shape[axis % value.ndim + 1 :])

    result = _on_values(x, take_rows)
    if isinstance(result, SumTensor) and isinstance(x, SumTensor) and x.axis is not None:
        return SumTensor(result.value, x.scale, result.value.ndim - 1, x.bound)
    return result


def scatter(place: Any, x: Any, *rest: Any) -> torch.Tensor:
    """Values of the last argument in the place of some of the first one's."""
    base, updates = to_torch(x), to_torch(rest[-1])
    size, shape = base.numel(), tuple(base.shape)
    places = np.arange(size).reshape(shape)
    if not isinstance(place.call.args[-1], relax.Var):  # what is constant has no gradient
        zeros, ones = (torch.from_numpy(place.run_compiled({0: np.full(shape, n, np.float32)})) for n in (0, 1))
        index = torch.where(zeros == ones, -1, _compiled_index(place, {0: places}))
        return torch.where(index >= 0, _take_values(base, index), zeros)
    written = np.arange(size, size + updates.numel()).reshape(tuple(updates.shape))
    index = _compiled_index(place, {0: places, len(rest): written})
    return _take_values(torch.cat([base.reshape(-1), updates.reshape(-1)]), index)


def _index_of(place: Any, shape: tuple[int, ...], rest: tuple[Any, ...]) -> torch.Tensor:
    """Where in x, flat, each value of the result comes from; -1 for the zeros that some operators write."""
    index = np.arange(int(np.prod(shape))).reshape(shape)
    if evaluator(place.call) is not None:
        return torch.from_numpy(np.ascontiguousarray(evaluate(place.call, [index, *map(to_definition, rest)])))
    return _compiled_index(place, {0: index})


def _compiled_index(place: Any, indices: dict[int, np.ndarray]) -> torch.Tensor:
    """The operator itself, compiled, moves places instead of values; they are counted from 1."""
    largest = max(int(index.max(initial=0)) for index in indices.values())
    if largest + 1 >= EXACT_INDEX:
        raise UnsupportedOpError(
            f"training, layer '{place.name}': {op_name(place.call)} moves {largest + 1} values, {EXACT_INDEX - 1} are "
            "the most; train with a smaller batch"
        )
    replaced = {position: (index + 1).astype(np.float32) for position, index in indices.items()}
    return torch.from_numpy(place.run_compiled(replaced).astype(np.int64) - 1)


def _take_values(value: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    values = value.reshape(-1).index_select(0, index.reshape(-1).clamp_min(0)).reshape(index.shape)
    return values if bool((index >= 0).all()) else torch.where(index >= 0, values, 0)


def _on_values(x: Any, function: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    if isinstance(x, CodeTensor | SumTensor):
        return x.with_value(function(x.value))
    return function(to_torch(x))


def computes(call: Any) -> bool:
    """True for a scatter that computes with what it meets, and for a resize that interpolates: they do not move."""
    if op_name(call) == "image.resize2d":
        return not repeats_pixels(call)
    reduction = getattr(call.attrs, "reduction", None)
    accumulates = getattr(call.attrs, "accumulate", False)
    return bool(accumulates) or str(reduction) not in ("None", "update")


FORMS: dict[str, Any] = {
    **dict.fromkeys(("reshape", "flatten", "squeeze", "expand_dims"), reshape),
    "permute_dims": permute,
    "broadcast_to": broadcast,
    "nn.pad": pad,
    "concat": concat,
    "stack": concat,
    "image.resize2d": move,
    "split": split,
    "take": take,
    **dict.fromkeys(("scatter_elements", "scatter_nd", "index_put", "slice_scatter"), scatter),
}
