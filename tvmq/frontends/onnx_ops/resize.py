"""Resize: made explicit as output sizes, or refused where TVM computes something else than ONNX asks for."""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax

from tvmq.frontends.onnx_ops.node import NodeCall, same_dimension, tensor_constant

WAY_OUT = "export with sizes that are a whole multiple or fraction, mode nearest or linear, without antialias"


def resize(call: NodeCall) -> relax.Expr | None:
    """Resize with constant scales or sizes, any opset from 11.

    TVM maps positions by the ratio of the sizes alone and ignores antialias, axes and aspect-ratio policies.
    So this computes the sizes itself, refuses scales that give no whole size (there ONNX maps by the scale,
    which differs), and expands `axes`. Only the dimensions after batch and channels may change.
    """
    _refuse(call)
    sizes = _sizes(call)
    rank = len(sizes)
    if rank not in (3, 4, 5):
        raise call.unsupported(f"{rank} dimensions", "reshape its input to four dimensions around it")
    if _changed(call.shape()[:2], sizes[:2]):
        raise call.unsupported("it changes batch or channels", "resize height and width alone")
    if not _changed(call.shape(), sizes):
        return call.inputs[0]
    if call.text("coordinate_transformation_mode", "half_pixel") == "half_pixel_symmetric":
        call.attributes["coordinate_transformation_mode"] = b"half_pixel"  # the same for whole sizes
    if rank == 4:
        return _resize2d(call, sizes[2:])
    if not all(isinstance(size, int) for size in sizes):
        raise call.unsupported("symbolic sizes", "fix the input shapes with shape=")
    call.inputs[1:] = [None, None, tensor_constant(np.array(sizes, np.int64))]
    return None


def _refuse(call: NodeCall) -> None:
    if call.attributes.get("antialias", 0):
        raise call.unsupported("antialias=1", WAY_OUT)
    policy = call.text("keep_aspect_ratio_policy", "stretch")
    if policy != "stretch" and call.dims(3):
        raise call.unsupported(f"keep_aspect_ratio_policy '{policy}'", "export it with the final sizes")
    mode = call.text("coordinate_transformation_mode", "half_pixel")
    if mode == "tf_crop_and_resize":
        raise call.unsupported("tf_crop_and_resize", "crop with Slice before it")


def _sizes(call: NodeCall) -> list[Any]:
    """Sizes of all dimensions, the untouched ones included."""
    shape = call.shape()
    scales, sizes = call.constant(2), call.dims(3)
    if call.input(2) is not None and scales is None and call.dims(2) is None:
        raise call.unsupported("scales that are computed", "fix the input shapes with shape=")
    if call.input(3) is not None and sizes is None:
        raise call.unsupported("sizes that are computed", "fix the input shapes with shape=")
    axes = [int(axis) % len(shape) for axis in call.attributes.get("axes", range(len(shape)))]
    result = list(shape)
    if sizes:
        for axis, size in zip(axes, sizes, strict=True):
            result[axis] = size
        return result
    factors = [float(scale) for scale in scales] if scales is not None else call.dims(2)
    for axis, scale in zip(axes, factors or [], strict=True):
        result[axis] = _scaled(call, shape[axis], scale)
    return result


def _scaled(call: NodeCall, size: Any, scale: Any) -> Any:
    if not isinstance(scale, int | float):
        raise call.unsupported("symbolic scales", "fix the input shapes with shape=")
    if scale == 1:
        return size
    if scale == int(scale):
        return size * int(scale)
    if not isinstance(size, int):
        raise call.unsupported(f"scale {scale:g} of a symbolic dimension", "fix the input shapes with shape=")
    # float32 scales of whole ratios, such as 1/3, are not exact
    if abs(size * scale - round(size * scale)) > 1e-5 * size * scale:
        raise call.unsupported(f"scale {scale:g} of {size} gives {size * scale:g}, no whole size", WAY_OUT)
    return round(size * scale)


def _changed(before: list[Any], after: list[Any]) -> bool:
    return not all(same_dimension(a, b) for a, b in zip(before, after, strict=True))


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
