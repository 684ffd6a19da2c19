"""Convolutions and products of matrices: exact integer sums in floating point wide enough for them.

Sums of float32 products are exact in any order while none can reach 2^24; the bound is taken from the weights of the
moment. Beyond it float64 serves.

Tests: tests/training/test_records.py
"""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from tvmq.graph.view import op_name
from tvmq.training.forms.float_layers import FLOAT_PRODUCTS
from tvmq.training.meaning import CodeTensor, SumTensor

EXACT = float(2**24)


def _type_for(bound: float) -> torch.dtype:
    return torch.float32 if bound < EXACT else torch.float64


def convolution(place: Any, x: Any, weight: Any) -> Any:
    """A convolution with the trained weight of its layer, or one of floats."""
    if not isinstance(x, CodeTensor):
        return FLOAT_PRODUCTS[op_name(place.call)](place, x, weight)
    layer, attrs = place.net.layer_of(place.name), place.call.attrs
    codes = layer.codes()
    bound = _sum_bound(codes, 0, x.largest_code)
    dtype = _type_for(bound)
    operator = (functional.conv1d, functional.conv2d, functional.conv3d)[codes.ndim - 3]
    options: dict[str, Any] = {
        "stride": [int(s) for s in attrs.strides], "dilation": [int(d) for d in attrs.dilation],
        "groups": int(attrs.groups),
    }  # fmt: skip
    value = operator(x.value.to(dtype), codes.to(dtype), **options)
    place.net.remember(place.name, (layer, codes, x))
    return SumTensor(value, x.scale.double() * layer.scale().double(), 1, bound)


def dense(place: Any, a: CodeTensor, b: Any) -> SumTensor:
    """A product with the trained weight of its layer."""
    layer = place.net.layer_of(place.name)
    codes = layer.codes()
    bound = _sum_bound(codes, 1, a.largest_code)
    dtype = _type_for(bound)
    value = a.value.to(dtype) @ codes.to(dtype)
    place.net.remember(place.name, (layer, codes, a))
    return SumTensor(value, a.scale.double() * layer.scale().double(), value.ndim - 1, bound)


def transposed_convolution(place: Any, x: CodeTensor, _weight: Any) -> SumTensor:
    """tvmq.conv_transpose: its sums count zero points as if each tap met a code."""
    layer, attrs = place.net.layer_of(place.name), place.call.attrs
    codes, groups = layer.codes(), int(attrs.groups)
    filters = layer.filters(codes)
    bound = 2 * _sum_bound(filters, 0, x.largest_code)
    dtype = _type_for(bound)
    spatial = codes.ndim - 2
    operator = (functional.conv_transpose1d, functional.conv_transpose2d, functional.conv_transpose3d)[spatial - 1]
    padding = [int(p) for p in attrs.padding]
    before, after = padding[:spatial], padding[spatial:]
    value = operator(
        x.value.to(dtype) - x.zero_point, codes.to(dtype), stride=[int(s) for s in attrs.strides], groups=groups,
        dilation=[int(d) for d in attrs.dilation], output_padding=[int(p) for p in attrs.output_padding],
    )  # fmt: skip
    cut = tuple(slice(b, size - a) for b, a, size in zip(before, after, value.shape[2:], strict=True))
    value = value[(slice(None), slice(None), *cut)]
    shape = (-1, *[1] * spatial)
    value = value + x.zero_point * filters.to(dtype).flatten(1).sum(1).reshape(shape)
    place.net.remember(place.name, (layer, filters, x))
    return SumTensor(value, x.scale.double() * layer.channel_scale().double(), 1, bound)


def product(place: Any, a: CodeTensor, b: Any) -> SumTensor:
    """tvmq.matmul: both sides lose their zero points first."""
    if not isinstance(b, CodeTensor):
        layer = place.net.layer_of(place.name)
        b = CodeTensor(layer.codes(), layer.scale(), 0, layer.scale.spec)
    depth = a.value.shape[-1]
    bound = depth * float(a.largest_step) * b.largest_step
    dtype = _type_for(bound)
    value = (a.value.to(dtype) - a.zero_point) @ (b.value.to(dtype) - b.zero_point)
    scale = a.scale.double() * b.scale.double() * place.net.factor_of(place.name)
    return SumTensor(value, scale, None if scale.ndim == 0 or scale.numel() == 1 else value.ndim - 1, bound)


def add_bias(place: Any, sums: SumTensor, _bias: Any) -> SumTensor:
    """The bias of a layer, in steps of its sums."""
    layer, filters, x = place.net.recall(place.call.args[0].name)
    sums = layer.follow_statistics(sums, filters, x)
    bias = layer.bias_codes(filters, x)
    bound = sums.bound + float(bias.detach().abs().max())
    value = sums.value.to(_type_for(bound))
    return SumTensor(value + sums.along(bias.to(value.dtype)), sums.scale, sums.axis, bound)


def _sum_bound(codes: torch.Tensor, axis: int, largest: int) -> float:
    """Bound on the sums of these weights with codes up to `largest`."""
    others = [a for a in range(codes.ndim) if a != axis % codes.ndim]
    return float(codes.detach().abs().sum(dim=others).max()) * largest


def matmul(place: Any, a: Any, b: Any) -> Any:
    """Product of codes with a weight, or of floats."""
    return dense(place, a, b) if isinstance(a, CodeTensor) else FLOAT_PRODUCTS["matmul"](place, a, b)


FORMS: dict[str, Any] = {
    **{f"nn.conv{axes}d": convolution for axes in (1, 2, 3)},
    "tvmq.conv_transpose": transposed_convolution,
    "matmul": matmul,
    "tvmq.matmul": product,
}
