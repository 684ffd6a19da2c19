"""Resize by any scale, along any axes: each axis is one index list (nearest) or one matrix of weights.

What TVM's resize operators compute differently than ONNX asks for, or not at all, comes here: scales that give no
whole size, antialias, a region of interest, more than two axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tvm import relax

from tvmq.frontends.onnx.repairs.node import NodeCall, tensor_constant


@dataclass(frozen=True)
class Axis:
    """What ONNX's Resize does along one axis.

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
        raise call.unsupported(f"mode {mode} of {call.dtype()}", "cast to float32 before it")
    for axis in axes:
        places = _places(call, axis)
        if mode == "nearest":
            indices = np.clip(_nearest(places, call.text("nearest_mode", "round_prefer_floor")), 0, axis.size - 1)
            data = relax.op.take(data, tensor_constant(indices), axis.axis)
        else:
            data = _multiplied(data, _matrix(call, axis, places).astype(call.dtype()), axis.axis, rank)
    return _extrapolated(call, data, axes)


def _places(call: NodeCall, axis: Axis) -> np.ndarray:
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


def _nearest(places: np.ndarray, mode: str) -> np.ndarray:
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


def _multiplied(data: relax.Expr, matrix: np.ndarray, axis: int, rank: int) -> relax.Expr:
    """The matrix times the data along an axis."""
    if axis == rank - 1:
        return relax.op.matmul(data, tensor_constant(np.ascontiguousarray(matrix.T)))
    if axis == rank - 2:
        return relax.op.matmul(tensor_constant(matrix), data)
    order = [*(i for i in range(rank) if i != axis), axis]
    product = relax.op.matmul(relax.op.permute_dims(data, order), tensor_constant(np.ascontiguousarray(matrix.T)))
    return relax.op.permute_dims(product, [int(i) for i in np.argsort(order)])


def _extrapolated(call: NodeCall, data: relax.Expr, axes: Sequence[Axis]) -> relax.Expr:
    """tf_crop_and_resize gives a fixed value where it looks outside of the input."""
    if call.text("coordinate_transformation_mode", "half_pixel") != "tf_crop_and_resize":
        return data
    outside = np.zeros([1] * len(call.shape()), bool)
    for axis in axes:
        places = _places(call, axis)
        shape = [-1 if i == axis.axis else 1 for i in range(outside.ndim)]
        outside = outside | ((places < 0) | (places > axis.size - 1)).reshape(shape)
    if not outside.any():
        return data
    value = np.array(call.attributes.get("extrapolation_value", 0.0), call.dtype())
    return relax.op.where(tensor_constant(outside), tensor_constant(value), data)
