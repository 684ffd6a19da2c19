"""Single layers of a model that torch converted, each on the codes that torch itself computed for it.

A layer is alone between quantize and dequantize: `from_torch` imports it as a model. Two runs: as it is, and with
its bias rounded to whole multiples of the step of its sums, which tells what that rounding does from all else.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from torch import nn

NEAR = 1e-3  # steps from a tie
NEAR_OF_SUMS = 0.016  # by which tvmq.add may miss the exact sum; QNNPACK sums in fixed point as well


class Alone(nn.Module):
    """A single module or function of quantized tensors, with floats in and out."""

    def __init__(self, function: Any, grids: list[tuple[float, int, torch.dtype]]) -> None:
        super().__init__()
        self.function, self.grids = function, grids

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        codes = [torch.quantize_per_tensor(x, *grid) for x, grid in zip(inputs, self.grids, strict=True)]
        return self.function(*codes).dequantize()


def compare_operators(model: nn.Module, x: torch.Tensor) -> dict[str, Any]:
    """Counts over all layers of a converted model: eager, or of FX."""
    found = {"values": 0, "differing": 0, "largest": 0, "worst": "", "on_grid": 0, "ties": 0}
    for name, function, inputs in recorded(model, x):
        steps, _ = differences(function, inputs)
        found["values"] += steps.size
        found["differing"] += int((steps != 0).sum())
        if np.abs(steps).max(initial=0) > found["largest"]:
            found["largest"], found["worst"] = int(np.abs(steps).max()), name
        steps, distance = differences(with_bias_on_grid(function, inputs), inputs)
        found["on_grid"] += int((steps != 0).sum())
        found["ties"] += int((distance[steps != 0] < (NEAR_OF_SUMS if "add" in name else NEAR)).sum())
    return found


def recorded(model: nn.Module, x: torch.Tensor) -> list[tuple[str, Any, list[torch.Tensor]]]:
    """(name, module or function, its quantized inputs) in the order of a run."""
    found: list[tuple[str, Any, list[torch.Tensor]]] = []

    class Recorder(torch.overrides.TorchFunctionMode):
        """Notes calls of torch.ops.quantized."""

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            codes = [a for a in args if isinstance(a, torch.Tensor) and a.is_quantized]
            if str(func).startswith("quantized.") and codes:
                note(func, args, kwargs, codes)
            return func(*args, **kwargs)

    def note(func: Any, args: Any, kwargs: Any, codes: list[torch.Tensor]) -> None:
        place = [index for index, a in enumerate(args) if any(a is c for c in codes)]
        found.append((str(func), Call(func, args, kwargs, place), codes))

    with torch.no_grad(), Recorder():
        model(x)
    return found


class Call(nn.Module):
    """A call of an operator with its other arguments."""

    def __init__(self, func: Any, args: Any, kwargs: Any, place: list[int]) -> None:
        super().__init__()
        self.func, self.kwargs, self.place = func, kwargs, place
        self.others = [None if i in place or isinstance(a, torch.ScriptObject) else a for i, a in enumerate(args)]
        self.packed_place = [i for i, a in enumerate(args) if isinstance(a, torch.ScriptObject)]
        self.packed = args[self.packed_place[0]] if self.packed_place else None

    def forward(self, *given: Any) -> Any:
        full = list(self.others)
        for index, value in zip(self.place, given, strict=True):
            full[index] = value
        for index in self.packed_place:
            full[index] = self.packed
        return self.func(*full, **self.kwargs)


def with_bias_on_grid(call: Call, inputs: list[torch.Tensor]) -> Call:
    """The call with a bias that is a whole multiple of the step of its sums."""
    if call.packed is None:
        return call
    weight, bias = call.packed.unpack()[:2]
    if bias is None:
        return call
    per_channel = weight.qscheme() in (torch.per_channel_affine, torch.per_channel_symmetric)
    scales = weight.q_per_channel_scales() if per_channel else torch.tensor(weight.q_scale(), dtype=torch.float64)
    unit = scales.float().double() * float(np.float32(inputs[0].q_scale()))
    rounded = (torch.round(bias.double() / unit) * unit).float()
    result = copy.copy(call)
    result.packed = repacked(call.packed, weight, rounded)
    return result


def repacked(packed: Any, weight: torch.Tensor, bias: torch.Tensor) -> Any:
    """Packed weights anew."""
    if not hasattr(packed, "stride"):
        return torch.ops.quantized.linear_prepack(weight, bias)
    options = [list(packed.stride()), list(packed.padding()), list(packed.dilation()), packed.groups()]
    return getattr(torch.ops.quantized, f"conv{weight.ndim - 2}d_prepack")(weight, bias, *options)


def differences(call: Call, inputs: list[torch.Tensor]) -> tuple[np.ndarray, np.ndarray]:
    """Steps between our result and torch's, and how far the exact result lies from the middle of two codes."""
    import tvmq

    grids = [(c.q_scale(), c.q_zero_point(), c.dtype) for c in inputs]
    alone = Alone(call, grids)
    values = [c.dequantize() for c in inputs]
    with torch.no_grad():
        theirs = call(*inputs)
    module = tvmq.quantize(*tvmq.from_torch(alone, tuple(values)))
    feed = {var.name: v.numpy() for var, v in zip(module["main"].params, values, strict=False)}
    (ours,) = tvmq.build(module).run(feed)
    scale, zero = theirs.q_scale(), theirs.q_zero_point()
    steps = np.rint(ours / np.float32(scale)) + zero - theirs.int_repr().numpy().astype(np.int64)
    return steps, np.abs(exact(call, inputs, scale, zero) % 1 - 0.5)


def exact(call: Call, inputs: list[torch.Tensor], scale: float, zero: int) -> np.ndarray:
    """The result in steps before it is rounded, in float64: of convolutions, products, sums; else nan."""
    name = str(call.func).removeprefix("quantized.").partition(".")[0]
    values = [(c.int_repr().double() - c.q_zero_point()) * float(np.float32(c.q_scale())) for c in inputs]
    if call.packed is not None:
        weight, bias = call.packed.unpack()[:2]
        wide = weight.dequantize().double() if weight.qscheme() == torch.per_tensor_affine else per_channel(weight)
        bias = None if bias is None else bias.double()
        if hasattr(call.packed, "stride"):
            options = (call.packed.stride(), call.packed.padding(), call.packed.dilation(), call.packed.groups())
            y = torch.nn.functional.conv2d(values[0], wide, bias, *options)
        else:
            y = torch.nn.functional.linear(values[0], wide, bias)
    elif name.startswith("add"):
        y = values[0] + values[1]
    else:
        return np.full(tuple(inputs[0].shape), np.nan)
    return (y / float(np.float32(scale)) + zero).detach().numpy()


def per_channel(weight: torch.Tensor) -> torch.Tensor:
    """A weight with a scale for each channel in float64."""
    shape = [-1] + [1] * (weight.ndim - 1)
    return weight.int_repr().double() * weight.q_per_channel_scales().float().double().reshape(shape)
