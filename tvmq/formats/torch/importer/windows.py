"""Repairs of convolution, pools and resizing in torch.

Tests: tests/formats/torch/importer/test_ops.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax

from tvmq.formats.torch.importer.repairs import TorchCall
from tvmq.graph.size_text import shape_text, size_text

SIZES = "use interpolate(size=...), a whole scale_factor, or recompute_scale_factor=True"


def convolution(call: TorchCall) -> relax.Expr | None:
    """The transposed convolution of three dimensions, which TVM's converter lacks."""
    x = call["input"]
    if not call["transposed"] or len(call.shape(x)) != 5:
        return None
    result = relax.op.nn.conv3d_transpose(
        x,
        call["weight"],
        strides=list(call["stride"]),
        padding=list(call["padding"]),
        output_padding=list(call["output_padding"]),
        dilation=list(call["dilation"]),
        groups=int(call["groups"]),
    )
    if call["bias"] is None:
        return result
    bias = call.emit(relax.op.reshape(call["bias"], [1, -1, 1, 1, 1]))
    return relax.op.add(call.emit(result), bias)


def avg_pool2d(call: TorchCall) -> relax.Expr | None:
    """Pool with divisor_override: the mean over the whole window times window / divisor."""
    x, divisor = call["self"], call["divisor_override"]
    if divisor is None:
        return None
    if len(call.shape(x)) != 4 or call["ceil_mode"]:
        raise call.unsupported_error("divisor_override needs a batch and no ceil_mode", "leave divisor_override out")
    height, width = _pair(call["kernel_size"])
    mean = relax.op.nn.avg_pool2d(
        x,
        (height, width),
        strides=_pair(call["stride"] or (height, width)),
        padding=_pair(call["padding"]),
        count_include_pad=True,
    )
    return relax.op.multiply(call.emit(mean), call.constant(height * width / divisor, x))


def adaptive_avg_pool1d(call: TorchCall) -> relax.Expr | None:
    """Convert a single window to a mean; others are left to TVM."""
    is_one = _pair(call["output_size"])[0] == 1
    return relax.op.mean(call["self"], [-1], keepdims=True) if is_one else None


def adaptive_avg_pool2d(call: TorchCall) -> relax.Expr | None:
    """Convert a single window to a mean, equal ones to a pool; unequal ones are left to TVM."""
    x, sizes = call["self"], call.shape(call["self"])[-2:]
    output_size = call["output_size"]
    wanted = [size if count is None else count for size, count in zip(sizes, _pair(output_size), strict=True)]
    if wanted == [1, 1]:
        return relax.op.mean(x, [-2, -1], keepdims=True)
    window = _windows(sizes, wanted)
    if window is None or len(call.shape(x)) != 4:
        return None
    return relax.op.nn.avg_pool2d(x, window, strides=window)


def _windows(sizes: list[Any], wanted: list[Any]) -> list[int] | None:
    """Sizes of equal windows, None where they differ."""
    pairs = list(zip(sizes, wanted, strict=True))
    if any(not isinstance(size, int) or not isinstance(count, int) or size % count for size, count in pairs):
        return None
    return [size // count for size, count in pairs]


def adaptive_max_pool2d(call: TorchCall) -> Any:
    """Pools of equal windows."""
    x, wanted = call["self"], _pair(call["output_size"])
    sizes = call.shape(x)[-2:]
    if wanted == [1, 1]:
        return (call.emit(relax.op.max(x, [-2, -1], keepdims=True)),)
    window = _windows(sizes, wanted)
    if window is None:
        what = f"{shape_text(sizes)} to {wanted} needs unequal windows"
        raise call.unsupported_error(what, "use sizes that divide the input's")
    return (call.emit(relax.op.nn.max_pool2d(x, window, strides=window)),)


def _pair(value: Any) -> list[Any]:
    values = list(value) if isinstance(value, tuple | list) else [value]
    return values * 2 if len(values) == 1 else values


def upsample_nearest2d(call: TorchCall) -> relax.Expr:
    """Whole factors as repeated pixels; others by the positions that torch itself computes."""
    x = call["input"]
    sizes = call.shape(x)[2:]
    _check_known(call, [*sizes, *(call["output_size"] or [])])
    positions = [_nearest_positions(call, axis, size) for axis, size in enumerate(sizes)]
    factors = [len(p) // size for p, size in zip(positions, sizes, strict=True)]
    if all(f and np.array_equal(p, np.arange(len(p)) // f) for p, f in zip(positions, factors, strict=True)):
        return relax.op.image.resize2d(
            x,
            tuple(len(p) for p in positions),
            layout="NCHW",
            method="nearest_neighbor",
            coordinate_transformation_mode="asymmetric",
            rounding_method="floor",
        )
    for axis, p in enumerate(positions, start=2):
        x = call.emit(relax.op.take(x, relax.const(p, "int64"), axis=axis))
    return x


def _nearest_positions(call: TorchCall, axis: int, size: int) -> np.ndarray:
    """Which input position each output position shows."""
    import torch

    pixels = torch.arange(size, dtype=torch.float64)[None, None]
    sizes, scales = call["output_size"], call["scale_factors"]
    size_or_scale = {"size": sizes[axis]} if sizes else {"scale_factor": scales[axis]}
    shown = torch.nn.functional.interpolate(pixels, mode="nearest", **size_or_scale)
    return shown[0, 0].numpy().astype(np.int64)


def _check_known(call: TorchCall, sizes: list[Any]) -> None:
    if not all(isinstance(size, int) for size in sizes):
        raise call.unsupported_error("resizing of dynamic sizes is not supported", "export with fixed height and width")


def only_whole_sizes(call: TorchCall) -> None:
    """Refuse a factor that gives a fractional size: torch maps positions by the factor, TVM by the sizes."""
    scales = call["scale_factors"]
    if call["output_size"] or not scales:
        _check_known(call, call["output_size"] or [])
        return
    sizes = call.shape(call["input"])[2:]
    _check_known(call, sizes)
    for size, scale in zip(sizes, scales, strict=True):
        if size * scale != int(size * scale):
            raise call.unsupported_error(f"scale_factor {scale:g} of {size_text(size)} gives a fractional size", SIZES)
