"""Pools: sums of centred codes, and maxima of codes or floats.

Tests: tests/training/test_records.py
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from tvmq.graph.sizes import covering_padding
from tvmq.graph.view import shape_of
from tvmq.numerics.pool import adaptive_bounds
from tvmq.training.meaning import CodeTensor, SumTensor


def sum_pool(place: Any, x: CodeTensor) -> SumTensor:
    """tvmq.sum_pool: padding adds nothing."""
    attrs = place.call.attrs
    kernel, strides = [int(k) for k in attrs.kernel], [int(s) for s in attrs.strides]
    value = pad_with(x.value - x.zero_point, [int(p) for p in attrs.padding], 0.0)
    channels = value.shape[1]
    ones = torch.ones((channels, 1, *kernel))
    operator = (functional.conv1d, functional.conv2d, functional.conv3d)[len(kernel) - 1]
    if [*value.shape[2:]] == kernel:
        total = value.sum(dim=list(range(2, value.ndim)), keepdim=True)
    else:
        total = operator(value, ones, stride=strides, groups=channels)
    bound = 2.0 * x.largest_code * math.prod(kernel)
    return SumTensor(total, x.scale.double() / place.net.divisor_of(place.name), None, bound)


def adaptive_sum_pool(place: Any, x: CodeTensor) -> SumTensor:
    """tvmq.adaptive_sum_pool: axis by axis, a product with the windows as rows of ones."""
    attrs = place.call.attrs
    value, most = x.value.double() - x.zero_point, 1
    for axis, (size, count) in enumerate(zip(x.value.shape[2:], attrs.out_size, strict=True), 2):
        begin, end = adaptive_bounds(int(size), int(count))
        places = np.arange(size)[:, None]
        windows = torch.from_numpy((places >= begin) & (places < end)).double()
        value = (value.movedim(axis, -1) @ windows).movedim(-1, axis)
        most *= int((end - begin).max())
    return SumTensor(value, x.scale.double() / place.net.divisor_of(place.name), None, 2.0 * x.largest_code * most)


def sum_axes(place: Any, x: CodeTensor) -> SumTensor:
    """tvmq.sum over axes."""
    attrs = place.call.attrs
    axes = [int(a) for a in attrs.axes]
    total = (x.value - x.zero_point).sum(dim=axes, keepdim=bool(attrs.keepdims))
    bound = 2.0 * x.largest_code * math.prod(x.value.shape[a] for a in axes)
    return SumTensor(total, x.scale.double() / place.net.divisor_of(place.name), None, bound)


def max_pool(place: Any, x: Any) -> Any:
    """Maximum of codes or floats in windows; padding never wins."""
    attrs = place.call.attrs
    value = x.value if isinstance(x, CodeTensor) else x
    rank = value.ndim - 2
    options = {name: [int(v) for v in getattr(attrs, name)] for name in ("strides", "dilation")}
    kernel = [int(k) for k in attrs.pool_size]
    padding = list(
        covering_padding(
            attrs.padding, value.shape[2:], shape_of(place.call)[2:], kernel, options["strides"], options["dilation"]
        )
    )
    operator = (functional.max_pool1d, functional.max_pool2d, functional.max_pool3d)[rank - 1]
    value = operator(
        pad_with(value, padding, -math.inf), kernel, stride=options["strides"], dilation=options["dilation"]
    )
    return x.with_value(value) if isinstance(x, CodeTensor) else value


def pad_with(value: torch.Tensor, padding: list[int], fill: float) -> torch.Tensor:
    """With a border; padding has all befores, then all afters."""
    if not any(padding):
        return value
    half = len(padding) // 2
    pairs = [(padding[i], padding[half + i]) for i in reversed(range(half))]
    return functional.pad(value, [side for pair in pairs for side in pair], value=fill)


FORMS: dict[str, Any] = {
    "tvmq.sum_pool": sum_pool,
    "tvmq.adaptive_sum_pool": adaptive_sum_pool,
    "tvmq.sum": sum_axes,
    **{f"nn.max_pool{axes}d": max_pool for axes in (1, 2, 3)},
}
