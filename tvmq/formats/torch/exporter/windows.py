"""Convolutions, pools and resizing of ONNX in torch, with borders that differ from side to side.

Tests: tests/formats/torch/exporter/test_onnx_operators.py
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.nn import functional

from tvmq.errors import UnsupportedOpError

Attributes = Mapping[str, Any]
CONVOLUTIONS = {1: functional.conv1d, 2: functional.conv2d, 3: functional.conv3d}
TRANSPOSED = {1: functional.conv_transpose1d, 2: functional.conv_transpose2d, 3: functional.conv_transpose3d}
AVERAGES: dict[int, Callable[..., Any]] = {1: functional.avg_pool1d, 2: functional.avg_pool2d, 3: functional.avg_pool3d}
MAXIMA: dict[int, Callable[..., Any]] = {1: functional.max_pool1d, 2: functional.max_pool2d, 3: functional.max_pool3d}


def _sides(pads: Sequence[int]) -> tuple[list[int], list[int]]:
    """Padding before and after each axis."""
    half = len(pads) // 2
    return list(pads[:half]), list(pads[half:])


def _border(x: torch.Tensor, pads: Sequence[int], value: float) -> torch.Tensor:
    before, after = _sides(pads)
    sides = [side for pair in reversed(list(zip(before, after, strict=True))) for side in pair]
    return functional.pad(x, sides, value=value)


def convolution(
    attributes: Attributes, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """Conv."""
    spatial = weight.ndim - 2
    pads = attributes.get("pads", [0] * 2 * spatial)
    before, after = _sides(pads)
    if before != after:
        x, before = _border(x, pads, 0.0), [0] * spatial
    return CONVOLUTIONS[spatial](
        x, weight, bias, attributes.get("strides", [1] * spatial), before,
        attributes.get("dilations", [1] * spatial), attributes.get("group", 1),
    )  # fmt: skip


def transposed_convolution(
    attributes: Attributes, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """ConvTranspose: torch crops both sides alike, so the difference of two unequal pads is cropped afterwards."""
    spatial = weight.ndim - 2
    before, after = _sides(attributes.get("pads", [0] * 2 * spatial))
    common = [min(pair) for pair in zip(before, after, strict=True)]
    y = TRANSPOSED[spatial](
        x, weight, bias, attributes.get("strides", [1] * spatial), common,
        attributes.get("output_padding", [0] * spatial), attributes.get("group", 1),
        attributes.get("dilations", [1] * spatial),
    )  # fmt: skip
    for axis, (b, a, c) in enumerate(zip(before, after, common, strict=True), 2):
        if b != a:
            y = y.narrow(axis, b - c, y.shape[axis] - (b - c) - (a - c))
    return y


def average_pool(attributes: Attributes, x: torch.Tensor) -> torch.Tensor:
    """AveragePool."""
    spatial, kernel = x.ndim - 2, attributes["kernel_shape"]
    pads, strides = attributes.get("pads", [0] * 2 * spatial), attributes.get("strides", [1] * spatial)
    counts, rounds_up = bool(attributes.get("count_include_pad", 0)), bool(attributes.get("ceil_mode", 0))
    before, after = _sides(pads)
    pool = AVERAGES[spatial]
    if before == after and all(2 * p <= k for p, k in zip(before, kernel, strict=True)):
        return pool(x, kernel, strides, before, rounds_up, counts)
    padded = _border(x, pads, 0.0)
    if counts:
        return pool(padded, kernel, strides, 0, rounds_up)
    share = pool(_border(torch.ones_like(x[:1, :1]), pads, 0.0), kernel, strides, 0, rounds_up)
    return pool(padded, kernel, strides, 0, rounds_up) / share


def max_pool(attributes: Attributes, x: torch.Tensor) -> torch.Tensor:
    """MaxPool."""
    spatial, kernel = x.ndim - 2, attributes["kernel_shape"]
    pads = attributes.get("pads", [0] * 2 * spatial)
    before, after = _sides(pads)
    if before != after or any(2 * p > k for p, k in zip(before, kernel, strict=True)):
        x, before = _border(x, pads, -math.inf), [0] * spatial
    return MAXIMA[spatial](
        x, kernel, attributes.get("strides", [1] * spatial), before, attributes.get("dilations", [1] * spatial),
        bool(attributes.get("ceil_mode", 0)),
    )  # fmt: skip


def _repeat_pixels(x: torch.Tensor, target: list[Any]) -> torch.Tensor:
    """Nearest pixels of codes; torch supports them only in some types and layouts."""
    for axis, size in enumerate(target, 2):
        x = x.index_select(axis, torch.arange(size, device=x.device) * x.shape[axis] // size)
    return x


def resize(attributes: Attributes, x: torch.Tensor, *sizes: Any) -> torch.Tensor:
    """Resize, where torch has the same rules."""
    mode, transform = attributes.get("mode", "nearest"), attributes.get("coordinate_transformation_mode", "half_pixel")
    target = list(sizes[-1])[2:]
    nearest = attributes.get("nearest_mode", "round_prefer_floor")
    grows = all(isinstance(t, int) and t % int(s) == 0 for t, s in zip(target, x.shape[2:], strict=True))
    repeats = grows and nearest.startswith("round") and transform.endswith("half_pixel")
    if mode == "nearest" and (repeats or (transform, nearest) == ("asymmetric", "floor")):
        return functional.interpolate(x, target, mode="nearest") if x.is_floating_point() else _repeat_pixels(x, target)
    if mode == "linear" and x.ndim == 4 and transform in ("half_pixel", "pytorch_half_pixel", "align_corners"):
        return functional.interpolate(x, target, mode="bilinear", align_corners=transform == "align_corners")
    raise UnsupportedOpError(
        f"to_torch: resizing by {mode}, {transform} is not what torch computes; leave the layer out"
    )


WINDOWS: dict[str, Callable[..., Any]] = {
    "AveragePool": average_pool,
    "Conv": convolution,
    "ConvTranspose": transposed_convolution,
    "MaxPool": max_pool,
    "Resize": resize,
}
