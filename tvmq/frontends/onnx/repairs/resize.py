"""Resize: as TVM's operator where that is right, else axis by axis (resample.py)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from tvm import relax

from tvmq.frontends.onnx.repairs.node import NodeCall, tensor_constant
from tvmq.frontends.onnx.repairs.resample import Axis, resample
from tvmq.graph.sizes import are_equal

STATIC = "fix the input shapes with shape="


def resize(call: NodeCall) -> relax.Expr | None:
    """Resize with constant scales or sizes, any opset from 11.

    TVM's operators map positions by the ratio of the sizes alone, and ignore antialias, axes and aspect ratios. They
    are used for whole sizes after batch and channels; symbolic sizes are possible for them only.
    """
    sizes, scales = _sizes(call)
    axes = [i for i, (old, new) in enumerate(zip(call.shape(), sizes, strict=True)) if not are_equal(old, new)]
    if call.text("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize":
        return resample(call, _axes(call, _given_axes(call), sizes, scales))
    if not axes:
        return call.inputs[0]
    if not _is_simple(call, axes, sizes, scales):
        return resample(call, _axes(call, axes, sizes, scales))
    if call.text("coordinate_transformation_mode", "half_pixel") == "half_pixel_symmetric":
        call.attributes["coordinate_transformation_mode"] = b"half_pixel"  # the same for whole sizes
    if len(sizes) == 4:
        return _resize2d(call, sizes[2:])
    if not all(isinstance(size, int) for size in sizes):
        raise call.unsupported("symbolic sizes", STATIC)
    call.inputs[1:] = [None, None, tensor_constant(np.array(sizes, np.int64))]
    return None


def _is_simple(call: NodeCall, axes: list[int], sizes: list[Any], scales: list[Any]) -> bool:
    """True if TVM's operators compute what ONNX defines."""
    if call.attributes.get("antialias", 0) or min(axes) < 2 or len(sizes) not in (3, 4, 5):
        return False
    if _corners_meet(call, sizes):
        return False
    for axis in axes:
        size, result, scale = call.shape()[axis], sizes[axis], scales[axis]
        # float32 scales of whole ratios, such as 1/3, are not exact
        if isinstance(size, int) and isinstance(result, int) and abs(size * scale - result) > 1e-5 * result:
            return False
    return True


def _corners_meet(call: NodeCall, sizes: list[Any]) -> bool:
    """True if TVM divides by the distance of corners, 0; what `prepare` does itself stays with it."""
    if call.text("coordinate_transformation_mode", "half_pixel") != "align_corners":
        return False
    prepared = len(sizes) == 4 and call.text("mode", "nearest") != "nearest"
    return not prepared and any(isinstance(size, int) and size == 1 for size in sizes[2:])


def _axes(call: NodeCall, axes: list[int], sizes: list[Any], scales: list[Any]) -> list[Axis]:
    shape = call.shape()
    if not all(isinstance(shape[axis], int) and isinstance(sizes[axis], int) for axis in axes):
        raise call.unsupported("a symbolic dimension, with sizes that are no simple multiples", STATIC)
    if any(sizes[axis] < 1 or shape[axis] < 1 for axis in axes):
        raise call.unsupported("a size of 0", "give sizes of at least 1")
    given, roi = _given_axes(call), call.constant(1)
    if call.input(1) is not None and roi is None:
        raise call.unsupported("a region of interest that is computed", "export it as a constant")
    regions = dict.fromkeys(given, (0.0, 1.0))
    if roi is not None and roi.size == 2 * len(given):
        regions = {axis: (float(roi[i]), float(roi[i + len(given)])) for i, axis in enumerate(given)}
    return [Axis(a, shape[a], sizes[a], float(scales[a]), regions.get(a, (0.0, 1.0))) for a in axes]


def _given_axes(call: NodeCall) -> list[int]:
    rank = len(call.shape())
    return [int(axis) % rank for axis in call.attributes.get("axes", range(rank))]


def _sizes(call: NodeCall) -> tuple[list[Any], list[Any]]:
    """Sizes and scales of all dimensions, the untouched ones included."""
    shape, axes = call.shape(), _given_axes(call)
    factors, sizes = call.constant(2), call.dims(3)
    if call.input(2) is not None and factors is None and call.dims(2) is None:
        raise call.unsupported("scales that are computed", STATIC)
    if call.input(3) is not None and sizes is None:
        raise call.unsupported("sizes that are computed", STATIC)
    result, scales = list(shape), [1.0] * len(shape)
    if sizes:
        sizes = _kept_ratio(call, [shape[axis] for axis in axes], sizes)
        for axis, size in zip(axes, sizes, strict=True):
            result[axis] = size
            whole = isinstance(size, int) and isinstance(shape[axis], int)
            scales[axis] = size / max(shape[axis], 1) if whole else 1.0
        return result, _common(call, axes, scales, shape)
    given = [float(np.float32(scale)) for scale in factors] if factors is not None else call.dims(2)
    for axis, scale in zip(axes, given or [], strict=True):
        result[axis], scales[axis] = _scaled(call, shape[axis], scale), scale
    return result, scales


def _ratio(call: NodeCall, before: list[Any], after: list[Any]) -> float | None:
    """The one scale of all axes that an aspect-ratio policy asks for; None without a policy."""
    policy = call.text("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        return None
    if not all(isinstance(size, int) for size in [*before, *after]):
        raise call.unsupported(f"keep_aspect_ratio_policy '{policy}' with symbolic sizes", STATIC)
    choose = min if policy == "not_larger" else max
    return choose(new / old for old, new in zip(before, after, strict=True))


def _kept_ratio(call: NodeCall, before: list[Any], after: list[Any]) -> list[Any]:
    ratio = _ratio(call, before, after)
    return after if ratio is None else [math.floor(ratio * size + 0.5) for size in before]


def _common(call: NodeCall, axes: list[int], scales: list[Any], shape: list[Any]) -> list[Any]:
    """Scales by axis; under an aspect-ratio policy all axes have the ratio before rounding."""
    sizes = call.dims(3) or []
    ratio = _ratio(call, [shape[axis] for axis in axes], sizes)
    return scales if ratio is None else [ratio if i in axes else 1.0 for i in range(len(shape))]


def _scaled(call: NodeCall, size: Any, scale: Any) -> Any:
    if not isinstance(scale, int | float):
        raise call.unsupported("symbolic scales", STATIC)
    if scale == int(scale):
        return size * int(scale) if scale != 1 else size
    if not isinstance(size, int):
        raise call.unsupported(f"scale {scale:g} of a symbolic dimension", STATIC)
    # float32 scales of whole ratios, such as 1/3, are not exact
    nearest = round(size * scale)
    return nearest if abs(size * scale - nearest) <= 1e-5 * size * scale else math.floor(size * scale)


def _resize2d(call: NodeCall, sizes: list[Any]) -> relax.Expr:
    mode = call.text("mode", "nearest")
    return relax.op.image.resize2d(
        call.inputs[0],
        size=relax.ShapeExpr(sizes),
        roi=[0.0] * 4,
        layout="NCHW",
        method="nearest_neighbor" if mode == "nearest" else mode,
        coordinate_transformation_mode=call.text("coordinate_transformation_mode", "half_pixel"),
        rounding_method=call.text("nearest_mode", "round_prefer_floor"),
        cubic_alpha=call.attributes.get("cubic_coeff_a", -0.75),
        cubic_exclude=call.attributes.get("exclude_outside", 0),
        extrapolation_value=call.attributes.get("extrapolation_value", 0.0),
    )
