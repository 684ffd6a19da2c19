"""Operators of ONNX, as the exporter writes them, in torch: {operator: function(attributes, inputs)}.

Inputs are tensors, or lists of whole numbers where they are sizes, axes or places. None stands for one that is not
there. All of them can be traced by torch.export.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.nn import functional

from tvmq.formats.torch.exporter.windows import WINDOWS

Attributes = Mapping[str, Any]
Function = Callable[..., Any]


def _without_attributes(function: Function) -> Function:
    """Function that reads no attributes."""
    return lambda _attributes, *inputs: function(*inputs)


def _arithmetic(function: Function) -> Function:
    """Function of two tensors, or of lists of sizes that a run tells."""

    def compute(_attributes: Attributes, a: Any, b: Any) -> Any:
        if isinstance(a, list) and isinstance(b, list):
            return [function(x, y) for x, y in zip(a, b, strict=True)]
        return function(a, b)

    return compute


def _divide(a: Any, b: Any) -> Any:
    return a // b if isinstance(b, int | torch.SymInt) else a / b


def _reduction(function: Function) -> Function:
    def compute(attributes: Attributes, x: torch.Tensor, axes: Sequence[int] | None = None) -> torch.Tensor:
        wanted = attributes.get("axes") if axes is None else axes
        dims = list(range(x.ndim)) if wanted is None else list(wanted)
        result: torch.Tensor = function(x, dim=dims, keepdim=bool(attributes.get("keepdims", 1)))
        return result

    return compute


def _clip(_attributes: Attributes, x: torch.Tensor, low: Any = None, high: Any = None) -> torch.Tensor:
    return torch.clamp(x, low, high)


def _concat(attributes: Attributes, *parts: Any) -> Any:
    if all(isinstance(part, list) for part in parts):
        return [size for part in parts for size in part]
    return torch.cat(list(parts), dim=attributes["axis"])


def _reshape(_attributes: Attributes, x: torch.Tensor, sizes: Sequence[Any]) -> torch.Tensor:
    """A size of 0 is that of the input."""
    return x.reshape([x.shape[i] if isinstance(size, int) and size == 0 else size for i, size in enumerate(sizes)])


def _unsqueeze(_attributes: Attributes, x: torch.Tensor, axes: Sequence[int]) -> torch.Tensor:
    for axis in sorted(axes):
        x = x.unsqueeze(axis)
    return x


def _slice(
    _attributes: Attributes, x: torch.Tensor, starts: Sequence[Any], ends: Sequence[Any],
    axes: Sequence[int] | None = None, steps: Sequence[int] | None = None,
) -> torch.Tensor:  # fmt: skip
    axes = range(len(starts)) if axes is None else axes
    index = [slice(None)] * x.ndim
    transposed_weights = []
    for begin, end, axis, step in zip(starts, ends, axes, steps or [1] * len(starts), strict=True):
        if step < 0:
            transposed_weights.append((axis, begin, end, step))
        else:
            index[axis] = slice(begin, end, step)
    x = x[tuple(index)]
    for axis, begin, end, step in transposed_weights:
        places = range(x.shape[axis])[slice(begin, None if end < -x.shape[axis] else end, step)]
        x = x.index_select(axis, torch.tensor(list(places)))
    return x


def _pad(attributes: Attributes, x: torch.Tensor, pads: Sequence[int], value: Any = 0.0) -> torch.Tensor:
    half = len(pads) // 2
    pairs = [(pads[i], pads[half + i]) for i in reversed(range(half))]
    while pairs and pairs[-1] == (0, 0):
        pairs.pop()
    sides = [side for pair in pairs for side in pair]
    mode = str(attributes.get("mode", "constant")).replace("edge", "replicate")
    if mode == "constant":
        return functional.pad(x, sides, value=float(value))
    return functional.pad(x, sides, mode=mode)


def _gather(attributes: Attributes, x: Any, indices: Any) -> Any:
    if isinstance(x, list):
        return [x[i] for i in indices]
    axis = attributes.get("axis", 0) % x.ndim
    places = torch.tensor(indices) if isinstance(indices, list | int) else indices
    size = x.shape[axis]
    places = torch.where(places < 0, places + size, places)
    slices = x.index_select(axis, places.reshape(-1).long())
    return slices.reshape([*x.shape[:axis], *places.shape, *x.shape[axis + 1 :]])


def _gather_elements(attributes: Attributes, x: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    axis = attributes.get("axis", 0) % x.ndim
    return torch.gather(x, axis, torch.where(indices < 0, indices + x.shape[axis], indices).long())


def _expand(_attributes: Attributes, x: torch.Tensor, sizes: Sequence[Any]) -> torch.Tensor:
    shape = torch.broadcast_shapes(tuple(x.shape), tuple(sizes))
    return x.expand(shape)


def _blocks(attributes: Attributes, codes: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """DequantizeLinear with block_size, around zero."""
    axis = attributes["axis"]
    apart = codes.float().unflatten(axis, (-1, attributes["block"]))
    return (apart * scales.unsqueeze(axis + 1)).flatten(axis, axis + 1)


def _softmax(function: Function) -> Function:
    return lambda attributes, x: function(x, dim=attributes.get("axis", -1))


def _layer_norm(
    attributes: Attributes, x: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor | None = None
) -> torch.Tensor:
    axis = attributes.get("axis", -1) % x.ndim
    return functional.layer_norm(x, list(x.shape[axis:]), gamma, beta, attributes.get("epsilon", 1e-5))


def _instance_norm(attributes: Attributes, x: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor) -> torch.Tensor:
    return functional.instance_norm(x, weight=gamma, bias=beta, eps=attributes.get("epsilon", 1e-5))


def _many(function: Function) -> Function:
    return lambda _attributes, *inputs: (
        inputs[0] if len(inputs) == 1 else _arithmetic(lambda a, b: function(a, b))(_attributes, *inputs)
    )


def _maximum(a: Any, b: Any) -> Any:
    return torch.maximum(a, b) if isinstance(a, torch.Tensor) else max(a, b)


def _minimum(a: Any, b: Any) -> Any:
    return torch.minimum(a, b) if isinstance(a, torch.Tensor) else min(a, b)


UNARY: dict[str, Function] = {
    "Abs": torch.abs, "Acos": torch.acos, "Acosh": torch.acosh, "Asin": torch.asin, "Asinh": torch.asinh,
    "Atan": torch.atan, "Atanh": torch.atanh, "Ceil": torch.ceil, "Cos": torch.cos, "Cosh": torch.cosh,
    "Erf": torch.erf, "Exp": torch.exp, "Floor": torch.floor, "IsInf": torch.isinf, "IsNaN": lambda x: x.isnan(),
    "Log": torch.log, "Neg": torch.neg, "Not": torch.logical_not, "Reciprocal": torch.reciprocal,
    "Relu": functional.relu, "Round": torch.round, "Sigmoid": torch.sigmoid, "Sign": torch.sign, "Sin": torch.sin,
    "Sinh": torch.sinh, "Softplus": functional.softplus, "Sqrt": torch.sqrt, "Tan": torch.tan, "Tanh": torch.tanh,
}  # fmt: skip
BINARY: dict[str, Function] = {
    "Pow": torch.pow, "Equal": torch.eq, "Greater": torch.gt,
    "GreaterOrEqual": torch.ge, "Less": torch.lt, "LessOrEqual": torch.le, "And": torch.logical_and,
    "Or": torch.logical_or,
}  # fmt: skip
FUNCTIONS: dict[str, Function] = {
    **WINDOWS,
    **{name: _without_attributes(function) for name, function in UNARY.items()},
    **{name: _without_attributes(function) for name, function in BINARY.items()},
    "Add": _arithmetic(operator.add),
    "Sub": _arithmetic(operator.sub),
    "Mul": _arithmetic(operator.mul),
    "Div": _arithmetic(_divide),
    "Max": _many(_maximum),
    "Min": _many(_minimum),
    "Blocks": _blocks,
    "Cast": lambda attributes, x: x.to(attributes["to"]),
    "Clip": _clip,
    "Concat": _concat,
    "Expand": _expand,
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "Gemm": lambda _attributes, x, weight, bias: x @ weight + bias,
    "Identity": lambda _attributes, x: x,
    "InstanceNormalization": _instance_norm,
    "LayerNormalization": _layer_norm,
    "LeakyRelu": lambda attributes, x: functional.leaky_relu(x, attributes.get("alpha", 0.01)),
    "LogSoftmax": _softmax(functional.log_softmax),
    "MatMul": _without_attributes(torch.matmul),
    "PRelu": lambda _attributes, x, slope: torch.where(x < 0, x * slope, x),
    "Pad": _pad,
    "ReduceMax": _reduction(torch.amax),
    "ReduceMean": _reduction(torch.mean),
    "ReduceMin": _reduction(torch.amin),
    "ReduceSum": _reduction(torch.sum),
    "Reshape": _reshape,
    "Shape": lambda _attributes, x: list(x.shape),
    "Slice": _slice,
    "Softmax": _softmax(functional.softmax),
    "Split": lambda attributes, x, sizes: list(torch.split(x, list(sizes), dim=attributes["axis"])),
    "Squeeze": lambda _attributes, x, axes: x.squeeze(list(axes)),
    "Tile": lambda _attributes, x, repeats: x.repeat(list(repeats)),
    "Transpose": lambda attributes, x: x.permute(attributes["perm"]),
    "Unsqueeze": _unsqueeze,
    "Where": _without_attributes(torch.where),
}


def run(op_type: str, attributes: Attributes, *inputs: Any) -> Any:
    """The operator of that name."""
    return FUNCTIONS[op_type](attributes, *inputs)
