"""Repairs for partly dynamic shapes (Dims) and empty tensors: Reshape, Expand, ConstantOfShape, Range, Slice.

Tests: tests/formats/onnx/importer/test_shape_folding.py
"""

from __future__ import annotations

from functools import reduce
from math import prod
from typing import Any

import numpy as np
from tvm import relax

from tvmq.formats.onnx.importer.repairs.node import FIX_SHAPES, Dims, NodeCall, tensor_constant
from tvmq.graph.multiples import require_equal
from tvmq.graph.size_text import size_text
from tvmq.graph.sizes import are_equal, is_at_least, product

# Exporters write "to the end" as 2^63 - 1, 2^31 - 1 or 10^9: no axis that one runs has so many elements
OPEN_END = 2**29

def reshape(call: NodeCall) -> relax.Expr | None:
    """Reshape of or to a symbolic shape; 0 copies a dimension, -1 is inferred."""
    target = call.dims(1)
    if target is None and call.input(1) is not None:
        raise call.not_constant_error(1, "the sizes of its result")
    shape = call.shape()
    if target is None or all(isinstance(size, int) for size in [*shape, *target]):
        return None
    if not call.attributes.get("allowzero", 0):
        target = [shape[i] if isinstance(d, int) and d == 0 else d for i, d in enumerate(target)]
    result = call.builder.normalize(relax.op.reshape(call.inputs[0], target))
    require_equal(product(shape), product(list(result.ty.shape)))
    return result if isinstance(call.input(1), Dims) else None


def flatten(call: NodeCall) -> relax.Expr | None:
    """Flatten of an empty tensor; in a reshape 0 means a size of the input, and -1 is what nothing tells."""
    shape = call.shape()
    if 0 not in shape or not all(isinstance(size, int) for size in shape):
        return None
    axis = int(call.attributes.get("axis", 1))
    axis += len(shape) if axis < 0 else 0
    zero = tensor_constant(np.zeros((), call.dtype()))
    return relax.op.full([prod(shape[:axis]), prod(shape[axis:])], zero, call.dtype())


def vector_axes(call: NodeCall) -> None:
    """Squeeze, Unsqueeze: a single axis may be a scalar, which TVM's converters do not take."""
    axes = call.constant(1)
    if axes is not None and axes.ndim == 0:
        call.inputs[1] = tensor_constant(axes.reshape(1))


def expand(call: NodeCall) -> relax.Expr | None:
    """Expand: two-sided broadcasting to the shape."""
    target = call.dims(1)
    if target is None:
        return None
    shape = call.shape()
    rank = max(len(shape), len(target))
    padded = [1] * (rank - len(shape)) + shape
    target = [1] * (rank - len(target)) + target
    result = [_broadcast(call, a, b) for a, b in zip(padded, target, strict=True)]
    if rank == len(shape) and all(are_equal(a, b) for a, b in zip(shape, result, strict=True)):
        return call.inputs[0]
    return relax.op.broadcast_to(call.inputs[0], result)


def _broadcast(call: NodeCall, size: Any, target: Any) -> Any:
    if are_equal(target, 1) or are_equal(size, target):
        return size
    if are_equal(size, 1):
        return target
    what = f"dimension {size_text(size)} cannot be broadcast to {size_text(target)}"
    raise call.unsupported_error(what, FIX_SHAPES)


def constant_of_shape(call: NodeCall) -> relax.Expr:
    """ConstantOfShape of a known or symbolic shape as relax.full."""
    from onnx import numpy_helper

    dims = call.dims(0)
    if dims is None:
        raise call.not_constant_error(0, "the sizes of its result")
    tensor = call.attributes.get("value")
    value = np.zeros(1, np.float32) if tensor is None else numpy_helper.to_array(tensor)
    return relax.op.full(dims, tensor_constant(value.reshape(())), str(value.dtype))


def arange(call: NodeCall) -> relax.Expr | None:
    """Range over symbolic dimensions as relax.arange."""
    if not any(isinstance(value, Dims) for value in call.inputs):
        return None
    parts = [call.dims(i) for i in range(3)]
    bounds = [part[0] for part in parts if part]
    if len(bounds) < 3:
        return None
    start, stop, step = bounds
    return relax.op.arange(start, stop, step, "int64")


def strided_slice(call: NodeCall) -> relax.Expr | None:
    """Slice whose bounds contain symbolic dimensions, steps must be 1; or of which nothing is left."""
    if not any(isinstance(value, Dims) for value in call.inputs[1:]):
        part = _slice_dynamic(call)
        if part is None:
            _normalize_empty_bounds(call)
        return part
    starts, stops = call.dims(1), call.dims(2)
    shape = call.shape()
    axes = call.dims(3) or list(range(len(starts or [])))
    steps = call.dims(4) or [1] * len(axes)
    if starts is None or stops is None or any(step != 1 for step in steps):
        return None
    axes = [axis % len(shape) for axis in axes]
    starts = [_clip_bound(start, shape[axis]) for start, axis in zip(starts, axes, strict=True)]
    stops = [_clip_bound(stop, shape[axis]) for stop, axis in zip(stops, axes, strict=True)]
    begin, end = ([relax.prim_value(bound) for bound in bounds] for bounds in (starts, stops))
    return relax.op.strided_slice(call.inputs[0], axes, begin, end, assume_inbound=True)


def _slice_dynamic(call: NodeCall) -> relax.Expr | None:
    """Slice of dynamic dimensions with ends that are proved to be inside, or of all backwards; None for others.

    TVM bounds both ends by the size and no longer sees that what is left is the size: min(2^63 - 1, n) - min(0, n).
    """
    bounds, shape = _fixed_bounds(call), call.shape()
    if bounds is None:
        return None
    whole = [axis for axis, start, stop, step in bounds if step == 1 and start == 0 and _is_open(stop, shape[axis])]
    kept = [bound for bound in bounds if bound[0] not in whole]
    if not kept:
        return call.inputs[0]
    if all(_is_reversed(*bound[1:]) and not isinstance(shape[bound[0]], int) for bound in kept):
        return reduce(relax.op.flip, [axis for axis, *_ in kept], call.inputs[0])
    has_dynamic_axis = any(not isinstance(shape[axis], int) for axis, *_ in bounds)
    if has_dynamic_axis and all(_is_every(*bound[1:], shape[bound[0]]) for bound in kept):
        return _take_every(call, kept)
    if not has_dynamic_axis or any(step != 1 for *_, step in kept):
        return None
    if not all(_stays_inside(start, stop, shape[axis]) for axis, start, stop, _ in kept):
        if whole:
            _set_bounds(call, kept)
        return None
    begin = [relax.prim_value(_clip_bound(start, shape[axis])) for axis, start, _, _ in kept]
    end = [relax.prim_value(_clip_bound(stop, shape[axis])) for axis, _, stop, _ in kept]
    return relax.op.strided_slice(call.inputs[0], [axis for axis, *_ in kept], begin, end, assume_inbound=True)


def _is_every(start: int, stop: int, step: int, size: Any) -> bool:
    """True for every second element, say, of an axis to its end, from the first or second on."""
    return step > 1 and start in (0, 1) and _is_open(stop, size) and (not isinstance(size, int) or size > start)


def _take_every(call: NodeCall, bounds: list[tuple[int, int, int, int]]) -> relax.Expr:
    """Slice in steps to the end of axes; TVM's bounds are expressions that are not seen to be inside."""
    shape = call.shape()
    axes, starts, _, steps = (list(column) for column in zip(*bounds, strict=True))
    ends = [relax.prim_value(shape[axis]) for axis in axes]
    return relax.op.strided_slice(call.inputs[0], axes, starts, ends, steps, assume_inbound=True)


def _fixed_bounds(call: NodeCall) -> list[tuple[int, int, int, int]] | None:
    """(axis, start, stop, step) of each axis of a Slice; None where they are known only at run time."""
    starts, stops, axes, steps = (call.dims(i) for i in range(1, 5))
    if starts is None or stops is None or any(call.input(i) is not None and call.dims(i) is None for i in (3, 4)):
        return None
    rank = len(call.shape())
    axes = [axis % rank for axis in axes or range(len(starts))]
    return list(zip(axes, starts, stops, steps or [1] * len(starts), strict=True))


def _set_bounds(call: NodeCall, bounds: list[tuple[int, int, int, int]]) -> None:
    axes, *others = (np.array(column, np.int64) for column in zip(*bounds, strict=True))
    call.inputs[1:] = map(tensor_constant, (*others[:2], axes, others[2]))


def _is_open(stop: int, size: Any) -> bool:
    return stop >= (size if isinstance(size, int) else OPEN_END)


def _is_reversed(start: int, stop: int, step: int) -> bool:
    """True for all elements of an axis of any size, from the last to the first."""
    return step == -1 and start == -1 and stop <= -OPEN_END


def _stays_inside(start: int, stop: int, size: Any) -> bool:
    """True if a slice has the same meaning for every size; a dynamic one is at least 1."""
    if isinstance(size, int):
        first, last, _ = slice(start, stop).indices(size)
        return first < last
    if start in (0, 1) and _is_open(stop, size):
        return True
    first, last = _clip_bound(start, size), _clip_bound(stop, size)
    return is_at_least(first, 0) and is_at_least(last - first, 1) and is_at_least(size - last, 0)


def _normalize_empty_bounds(call: NodeCall) -> None:
    """Bounds that hold nothing become 0..0: TVM refuses those that end before they begin."""
    bounds, shape = _fixed_bounds(call), call.shape()
    if bounds is None:
        return
    for position, (axis, start, stop, step) in enumerate(bounds):
        size = shape[axis]
        if isinstance(size, int) and step and not range(*slice(start, stop, step).indices(size)):
            bounds[position] = (axis, 0, 0, 1)
    axes = call.dims(3) or range(len(bounds))
    _set_bounds(call, [(axis, *rest) for axis, (_, *rest) in zip(axes, bounds, strict=True)])


def _clip_bound(bound: Any, size: Any) -> Any:
    """A slice bound inside 0..size."""
    if not isinstance(bound, int):
        return bound
    if bound < 0:
        return max(bound + size, 0) if isinstance(size, int) else bound + size
    if isinstance(size, int):
        return min(bound, size)
    return size if bound >= OPEN_END else bound
