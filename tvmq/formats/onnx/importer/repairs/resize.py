"""Repair of Resize: TVM's operator where it computes what ONNX defines, else axis by axis.

Axis by axis means one list of indices (nearest) or one matrix of weights for each axis. This covers what TVM's resize
operators compute differently or not at all: scales that give fractional sizes, antialias, regions of interest, more
than two axes.

Tests: tests/formats/onnx/importer/test_repairs.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from tvm import relax

from tvmq.formats.onnx.importer.repairs.node import FIX_SHAPES, NodeCall, tensor_constant
from tvmq.graph.evaluate import REPEATING
from tvmq.graph.multiples import LARGEST, require_multiple
from tvmq.graph.size_text import size_text
from tvmq.graph.sizes import are_equal


@dataclass(frozen=True)
class Axis:
    """Sizes and scale of ONNX's Resize along one axis.

    size, result   numbers of elements before and after
    scale          result / size, or what the model gives in its place
    roi            region of interest, as shares of the axis
    """

    axis: int
    size: int
    result: int
    scale: float
    roi: tuple[float, float] = (0.0, 1.0)


def resample(call: NodeCall, axes: Sequence[Axis]) -> relax.Expr:
    """The first input, resized along the axes one after the other."""
    mode = call.text("mode", "nearest")
    data, rank = call.inputs[0], len(call.shape())
    if mode != "nearest" and not call.dtype().startswith("float"):
        raise call.unsupported_error(f"mode {mode} of {call.dtype()} is not supported", "cast to float32 first")
    for axis in axes:
        places = _source_positions(call, axis)
        if mode == "nearest":
            indices = np.clip(_snap(places, call.text("nearest_mode", "round_prefer_floor")), 0, axis.size - 1)
            data = relax.op.take(data, tensor_constant(indices), axis.axis)
        else:
            data = _multiply_along(data, _matrix(call, axis, places).astype(call.dtype()), axis.axis, rank)
    return _extrapolate(call, data, axes)


def _source_positions(call: NodeCall, axis: Axis) -> np.ndarray:
    """Where in the input each element of the result lies (float64)."""
    mode = call.text("coordinate_transformation_mode", "half_pixel")
    x = np.arange(axis.result, dtype=np.float64)
    length = axis.scale * axis.size  # of the result, before it was rounded down
    if mode == "align_corners":
        return x * (axis.size - 1) / (length - 1) if length != 1 else np.zeros_like(x)
    if mode == "asymmetric":
        return x / axis.scale
    if mode == "tf_crop_and_resize":
        start, end = axis.roi
        inner = (
            x * (end - start) * (axis.size - 1) / (length - 1) if length != 1 else (end - start) * (axis.size - 1) / 2
        )
        return inner + start * (axis.size - 1) + 0 * x
    if mode == "pytorch_half_pixel" and length == 1:
        return x - 0.5
    places = (x + 0.5) / axis.scale - 0.5
    if mode == "half_pixel_symmetric":
        return places + axis.size / 2 * (1 - axis.result / length)
    return places


def _split(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The element left of each place, and the distance from it, in (0, 1]."""
    left = np.ceil(places) - 1
    return left.astype(np.int64), places - left


def _snap(places: np.ndarray, mode: str) -> np.ndarray:
    left, ratio = _split(places)
    right = {"round_prefer_floor": ratio > 0.5, "round_prefer_ceil": ratio >= 0.5, "ceil": ratio > 0}
    return left + np.where(right.get(mode, ratio >= 1), 1, 0)


def _matrix(call: NodeCall, axis: Axis, places: np.ndarray) -> np.ndarray:
    """Weights (result, size); neighbours outside of the input count for the element at the edge."""
    left, ratio = _split(places)
    scale = min(axis.scale, 1.0) if call.attributes.get("antialias", 0) else 1.0
    linear = call.text("mode", "nearest") == "linear"
    reach = math.ceil((1 if linear else 2) / scale)
    steps = np.arange(1 - reach, 1 + reach)
    distance = np.abs(steps[None, :] - ratio[:, None]) * scale
    slope = call.attributes.get("cubic_coeff_a", -0.75)
    weights = np.clip(1 - distance, 0, 1) if linear else _cubic(distance, slope)
    index = left[:, None] + steps[None, :]
    if call.attributes.get("exclude_outside", 0):
        weights = np.where((index >= 0) & (index < axis.size), weights, 0)
    weights = weights / weights.sum(axis=1, keepdims=True)
    matrix = np.zeros((axis.result, axis.size))
    rows = np.broadcast_to(np.arange(axis.result)[:, None], index.shape)
    np.add.at(matrix, (rows, np.clip(index, 0, axis.size - 1)), weights)
    return matrix


def _cubic(distance: np.ndarray, a: float) -> np.ndarray:
    """Keys' kernel."""
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = ((distance - 5) * distance + 8) * distance * a - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0))


def _multiply_along(data: relax.Expr, matrix: np.ndarray, axis: int, rank: int) -> relax.Expr:
    """The matrix times the data along an axis."""
    if axis == rank - 1:
        return relax.op.matmul(data, tensor_constant(np.ascontiguousarray(matrix.T)))
    if axis == rank - 2:
        return relax.op.matmul(tensor_constant(matrix), data)
    order = [*(i for i in range(rank) if i != axis), axis]
    product = relax.op.matmul(relax.op.permute_dims(data, order), tensor_constant(np.ascontiguousarray(matrix.T)))
    return relax.op.permute_dims(product, [int(i) for i in np.argsort(order)])


def _extrapolate(call: NodeCall, data: relax.Expr, axes: Sequence[Axis]) -> relax.Expr:
    """tf_crop_and_resize gives a fixed value where it looks outside of the input."""
    if call.text("coordinate_transformation_mode", "half_pixel") != "tf_crop_and_resize":
        return data
    outside = np.zeros([1] * len(call.shape()), bool)
    for axis in axes:
        places = _source_positions(call, axis)
        shape = [-1 if i == axis.axis else 1 for i in range(outside.ndim)]
        outside = outside | ((places < 0) | (places > axis.size - 1)).reshape(shape)
    if not outside.any():
        return data
    value = np.array(call.attributes.get("extrapolation_value", 0.0), call.dtype())
    return relax.op.where(tensor_constant(outside), tensor_constant(value), data)


def resize(call: NodeCall) -> relax.Expr | None:
    """Resize with constant scales or sizes, any opset from 11.

    TVM's operators map positions by the ratio of the sizes alone, and ignore antialias, axes and aspect ratios. They
    are used for whole sizes after batch and channels; symbolic sizes are possible for them only.
    """
    sizes, scales = _sizes(call)
    axes = [i for i, (old, new) in enumerate(zip(call.shape(), sizes, strict=True)) if not are_equal(old, new)]
    if call.text("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize":
        return resample(call, _axes(call, _attribute_axes(call), sizes, scales))
    if not axes:
        return call.inputs[0]
    if not _is_simple(call, axes, sizes, scales):
        return resample(call, _axes(call, axes, sizes, scales))
    if call.text("coordinate_transformation_mode", "half_pixel") == "half_pixel_symmetric":
        call.attributes["coordinate_transformation_mode"] = b"half_pixel"  # the same for whole sizes
    if len(sizes) == 4:
        return _resize2d(call, sizes[2:])
    if not all(isinstance(size, int) for size in sizes):
        raise call.unsupported_error("dynamic sizes are not supported", FIX_SHAPES)
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
        if not (isinstance(size, int) and isinstance(result, int)):
            continue
        # float32 scales of whole ratios, such as 1/3, are not exact
        if abs(size * scale - result) > 1e-5 * result or not _is_nearest_exact(call, size, result):
            return False
    return True


def _is_nearest_exact(call: NodeCall, size: int, result: int) -> bool:
    """False if TVM, which multiplies by the reciprocal of the scale in float32, may take the neighbour of a pixel that
    ONNX defines: where a place falls between two pixels, or on one that is rounded up or down.
    """
    rule = call.text("coordinate_transformation_mode", "half_pixel").removesuffix("_symmetric")
    if call.text("mode", "nearest") != "nearest":
        return True
    if rule == "align_corners" or min(size, result) < 1:
        return False
    if result % size:
        return size % result == 0
    factor = result // size
    is_power_of_two = factor & (factor - 1) == 0
    return is_power_of_two or call.text("nearest_mode", "round_prefer_floor") in REPEATING.get(rule, ())


def _corners_meet(call: NodeCall, sizes: list[Any]) -> bool:
    """True if TVM divides by the distance of corners, 0; what `prepare` does itself stays with it."""
    if call.text("coordinate_transformation_mode", "half_pixel") != "align_corners":
        return False
    prepared = len(sizes) == 4 and call.text("mode", "nearest") != "nearest"
    return not prepared and any(isinstance(size, int) and size == 1 for size in sizes[2:])


def _axes(call: NodeCall, axes: list[int], sizes: list[Any], scales: list[Any]) -> list[Axis]:
    shape = call.shape()
    if not all(isinstance(shape[axis], int) and isinstance(sizes[axis], int) for axis in axes):
        raise call.unsupported_error("a dynamic dimension can only be resized by a simple multiple", FIX_SHAPES)
    if any(sizes[axis] < 1 or shape[axis] < 1 for axis in axes):
        raise call.unsupported_error("a size of 0 is not supported", "use sizes of at least 1")
    roi_axes, roi = _attribute_axes(call), call.constant(1)
    if call.input(1) is not None and roi is None:
        raise call.unsupported_error("its region of interest is not a constant", "export it as a constant")
    regions = dict.fromkeys(roi_axes, (0.0, 1.0))
    if roi is not None and roi.size == 2 * len(roi_axes):
        regions = {axis: (float(roi[i]), float(roi[i + len(roi_axes)])) for i, axis in enumerate(roi_axes)}
    return [Axis(a, shape[a], sizes[a], float(scales[a]), regions.get(a, (0.0, 1.0))) for a in axes]


def _attribute_axes(call: NodeCall) -> list[int]:
    rank = len(call.shape())
    return [int(axis) % rank for axis in call.attributes.get("axes", range(rank))]


def _sizes(call: NodeCall) -> tuple[list[Any], list[Any]]:
    """Sizes and scales of all dimensions, the untouched ones included."""
    shape, axes = call.shape(), _attribute_axes(call)
    factors, sizes = call.constant(2), call.dims(3)
    if call.input(2) is not None and factors is None and call.dims(2) is None:
        raise call.not_constant_error(2, "its scales")
    if call.input(3) is not None and sizes is None:
        raise call.not_constant_error(3, "its sizes")
    result, scales = list(shape), [1.0] * len(shape)
    if sizes:
        ratio = _ratio(call, [shape[axis] for axis in axes], sizes)
        if ratio is not None:
            sizes = [math.floor(ratio * shape[axis] + 0.5) for axis in axes]
        for axis, size in zip(axes, sizes, strict=True):
            result[axis] = size
            whole = isinstance(size, int) and isinstance(shape[axis], int)
            scales[axis] = size / max(shape[axis], 1) if whole else 1.0
        return result, scales if ratio is None else [ratio if i in axes else 1.0 for i in range(len(shape))]
    axis_scales = [float(np.float32(scale)) for scale in factors] if factors is not None else call.dims(2)
    for axis, scale in zip(axes, axis_scales or [], strict=True):
        result[axis], scales[axis] = _scale_size(call, shape[axis], scale), scale
    return result, scales


def _ratio(call: NodeCall, before: list[Any], after: list[Any]) -> float | None:
    """The one scale of all axes that an aspect-ratio policy asks for; None without a policy."""
    policy = call.text("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        return None
    if not all(isinstance(size, int) for size in [*before, *after]):
        raise call.unsupported_error(f"keep_aspect_ratio_policy '{policy}' needs fixed sizes", FIX_SHAPES)
    choose = min if policy == "not_larger" else max
    return choose(new / old for old, new in zip(before, after, strict=True))


def _scale_size(call: NodeCall, size: Any, scale: Any) -> Any:
    if not isinstance(scale, int | float):
        raise call.unsupported_error("its scales depend on dynamic dimensions", FIX_SHAPES)
    if scale == int(scale):
        return size * int(scale) if scale != 1 else size
    if not isinstance(size, int):
        return _scale_dynamic(call, size, scale)
    # float32 scales of whole ratios, such as 1/3, are not exact
    nearest = round(size * scale)
    return nearest if abs(size * scale - nearest) <= 1e-5 * size * scale else math.floor(size * scale)


def _scale_dynamic(call: NodeCall, size: Any, scale: float) -> Any:
    """A dynamic dimension times a fraction such as 1 / 2, of multiples that give whole numbers.

    raises   OnlyMultiples for a size that need not be one
    """
    fraction = Fraction(scale).limit_denominator(LARGEST)
    if np.float32(float(fraction)) != np.float32(scale):
        raise call.unsupported_error(f"scale {scale:g} of a dynamic dimension is not supported", FIX_SHAPES)
    if not require_multiple(size, fraction.denominator):
        what = f"scale {scale:g} of {size_text(size)} is not proved to give a whole number"
        raise call.unsupported_error(what, FIX_SHAPES)
    return size // fraction.denominator * fraction.numerator


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
