"""Integer operators in torch, bit for bit what the definition says: {operator: (names of its attributes, function)}.

Functions are called with a dictionary of attributes and tensors of codes or int32 sums. Sums are made in floats that
hold all of them: products of integers in float32 are exact below 2^24, in float64 below 2^53.

Tests: tests/formats/torch/exporter/test_to_torch.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from tvmq import numerics
from tvmq.formats.torch.exporter.windows import convolution, max_pool, transposed_convolution
from tvmq.numerics.rule_arithmetic import LARGEST_PRODUCT, LARGEST_SHIFT, SMALLEST_SHIFT

Attributes = Mapping[str, Any]


def _along(values: torch.Tensor, axis: int, rank: int) -> torch.Tensor:
    """Values of the channels in a shape that broadcasts along their axis."""
    if axis < 0 or values.ndim == 0:
        return values
    return values.reshape([-1 if i == axis else 1 for i in range(rank)])


def _clamp_codes(steps: torch.Tensor, a: Attributes) -> torch.Tensor:
    """Steps from the zero point as codes."""
    zero = a["zero_point"]
    return (steps.clamp(a["qmin"] - zero, a["qmax"] - zero) + zero).to(getattr(torch, a["dtype"]))


def quantize(a: Attributes, x: torch.Tensor, scale: torch.Tensor, zero: torch.Tensor) -> torch.Tensor:
    """tvmq.quantize; NaN becomes the lowest code."""
    scale, zero = (_along(value, a["axis"], x.ndim) for value in (scale, zero.to(torch.float32)))
    steps = torch.round(x / scale)
    steps = torch.where(steps.isnan(), a["qmin"] - zero, steps)
    steps = torch.minimum(torch.maximum(steps, a["qmin"] - zero), a["qmax"] - zero) + zero
    return steps.to(getattr(torch, a["dtype"]))


def dequantize(a: Attributes, q: torch.Tensor, scale: torch.Tensor, zero: torch.Tensor) -> torch.Tensor:
    """tvmq.dequantize."""
    steps = q.to(torch.int32) - _along(zero, a["axis"], q.ndim)
    return steps.to(torch.float32) * _along(scale, a["axis"], q.ndim)


def requantize(a: Attributes, acc: torch.Tensor, multiplier: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
    """tvmq.requantize in all three modes."""
    if a["mode"] == "float":
        factor = _along(multiplier, a["axis"], acc.ndim)
        if a["negative_slope"] != 1:
            factor = torch.where(acc < 0, factor * a["negative_slope"], factor)
        steps = torch.round(acc.to(torch.float32) * factor)
        return _clamp_codes(steps, a)
    exponent = shift.to(torch.int64)
    mantissa = multiplier.to(torch.int64)
    if a["mode"] == "power_of_two":
        exponent, mantissa = exponent + 1, torch.full_like(exponent, 2**30)
    exponent = _along(exponent.clamp(SMALLEST_SHIFT, LARGEST_SHIFT), a["axis"], acc.ndim)
    mantissa = _along(mantissa, a["axis"], acc.ndim)
    left, right = exponent.clamp(min=0), 31 + (-exponent).clamp(min=0)
    reach = torch.div(LARGEST_PRODUCT, torch.bitwise_left_shift(mantissa, left).clamp(min=1), rounding_mode="floor")
    wide = torch.minimum(torch.maximum(acc.to(torch.int64), -reach), reach)
    product = torch.bitwise_left_shift(wide, left) * mantissa
    half = torch.bitwise_left_shift(torch.ones_like(right), right - 1)
    rule = numerics.rule_of_mode(a["mode"], a["rounding"])
    if rule.roundings[0] == "away":
        half = half - (product < 0).to(torch.int64)
    if rule.rounds_twice:
        half = half + torch.where(right > 31, torch.where(product < 0, -(2**30), 2**30), 0)
    return _clamp_codes(torch.bitwise_right_shift(product + half, right), a)


def convolve(a: Attributes, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """A convolution of codes and an integer weight, in int32."""
    kind = getattr(torch, a["sums"])
    options = {"pads": a["padding"], "strides": a["strides"], "dilations": a["dilation"], "group": a["groups"]}
    return convolution(options, x.to(kind), weight.to(kind)).to(torch.int32)


def multiply_matrices(a: Attributes, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """A product of matrices of codes, in int32; of two activations without their zero points."""
    kind = getattr(torch, a.get("sums", "float64"))
    left = x.to(kind) - a.get("a_zero", 0)
    return (left @ (weight.to(kind) - a.get("b_zero", 0))).to(torch.int32)


def spread(a: Attributes, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """tvmq.conv_transpose: its sums count the zero point as if each tap met a code."""
    groups, options = a["groups"], {"pads": a["padding"], "strides": a["strides"], "dilations": a["dilation"]}
    options |= {"output_padding": a["output_padding"], "group": groups}
    wide = weight.to(torch.float64)
    sums = transposed_convolution(options, x.to(torch.float64) - a["zero_point"], wide)
    filters = wide.reshape(groups, -1, *wide.shape[1:]).sum(dim=[1, *range(3, wide.ndim + 1)]).reshape(-1)
    fill = a["zero_point"] * filters.reshape([-1, *[1] * (wide.ndim - 2)])
    return (sums + fill).to(torch.int32)


def add(a: Attributes, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """tvmq.add."""
    total = x.to(torch.int32) * a["a_multiplier"] + y.to(torch.int32) * a["b_multiplier"] + a["offset"]
    return _clamp_codes(torch.bitwise_right_shift(total, a["shift"]), a)


def multiply(a: Attributes, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """tvmq.multiply."""
    return (x.to(torch.int32) - a["a_zero"]) * (y.to(torch.int32) - a["b_zero"])


def add_axes(a: Attributes, x: torch.Tensor) -> torch.Tensor:
    """tvmq.sum."""
    centred = x.to(torch.int32) - a["zero_point"]
    return centred.sum(dim=list(a["axes"]), keepdim=bool(a["keepdims"]), dtype=torch.int32)


def add_windows(a: Attributes, x: torch.Tensor) -> torch.Tensor:
    """tvmq.sum_pool: a convolution with ones; padding adds nothing."""
    centred = x.to(torch.float64) - a["zero_point"]
    channels = x.shape[1]
    ones = torch.ones([channels, 1, *a["kernel"]], dtype=torch.float64)
    options = {"pads": a["padding"], "strides": a["strides"], "group": channels}
    return convolution(options, centred, ones).to(torch.int32)


def table(a: Attributes, q: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """tvmq.table."""
    index = q.to(torch.int32) + (128 if q.dtype == torch.int8 else 0)
    return values.index_select(0, index.reshape(-1)).reshape(q.shape)


def scale_shift(a: Attributes, q: torch.Tensor, multiplier: torch.Tensor, offset: torch.Tensor) -> torch.Tensor:
    """tvmq.scale_shift."""
    total = q.to(torch.int32) * multiplier + offset
    return _clamp_codes(torch.bitwise_right_shift(total, a["shift"]), a)


def prelu(a: Attributes, q: torch.Tensor, slopes: torch.Tensor) -> torch.Tensor:
    """tvmq.prelu."""
    steps = q.to(torch.int32) - a["x_zero"]
    total = steps * torch.where(steps > 0, a["multiplier"], slopes) + 2 ** a["shift"] // 2
    return _clamp_codes(torch.bitwise_right_shift(total, a["shift"]), a)


def max_pool_codes(a: Attributes, q: torch.Tensor) -> torch.Tensor:
    """A maximum pool of codes; floats hold them."""
    options = {"kernel_shape": a["pool_size"], "pads": a["padding"], "ceil_mode": a["ceil_mode"]}
    options |= {"strides": a["strides"], "dilations": a["dilation"]}
    return max_pool(options, q.to(torch.float32)).to(q.dtype)


RESULT = ("zero_point", "dtype", "qmin", "qmax")
WINDOW = ("padding", "strides", "dilation", "groups")
EXACT: dict[str, tuple[Sequence[str], Callable[..., Any]]] = {
    "tvmq.quantize": (("axis", "dtype", "qmin", "qmax"), quantize),
    "tvmq.dequantize": (("axis",), dequantize),
    "tvmq.requantize": (("axis", "mode", "rounding", "negative_slope", *RESULT), requantize),
    **{f"nn.conv{axes}d": (WINDOW, convolve) for axes in (1, 2, 3)},
    "matmul": ((), multiply_matrices),
    "tvmq.matmul": (("a_zero", "b_zero"), multiply_matrices),
    "tvmq.conv_transpose": ((*WINDOW, "output_padding", "zero_point"), spread),
    "tvmq.add": (("a_multiplier", "b_multiplier", "offset", "shift", *RESULT), add),
    "tvmq.multiply": (("a_zero", "b_zero"), multiply),
    "tvmq.sum": (("axes", "keepdims", "zero_point"), add_axes),
    "tvmq.sum_pool": (("kernel", "strides", "padding", "zero_point"), add_windows),
    "tvmq.table": ((), table),
    "tvmq.scale_shift": (("shift", *RESULT), scale_shift),
    "tvmq.prelu": (("shift", "multiplier", "x_zero", *RESULT), prelu),
    **{
        f"nn.max_pool{axes}d": (("pool_size", "padding", "strides", "dilation", "ceil_mode"), max_pool_codes)
        for axes in (1, 2, 3)
    },
}


def run_exact(name: str, attributes: Attributes, *inputs: torch.Tensor) -> Any:
    """The operator of that name."""
    return EXACT[name][1](attributes, *inputs)
