"""Operators that move codes."""

from __future__ import annotations

from tvm import relax

from tvmq.exporters.core_walk import ints
from tvmq.exporters.layouts import LAST, plain
from tvmq.exporters.tflite.codes import Codes
from tvmq.exporters.tflite.walk import Form, Walk
from tvmq.graph.evaluate import repeats_pixels, slice_of
from tvmq.graph.operators import where
from tvmq.graph.operators.record import RESHAPE
from tvmq.graph.view import is_const, shape_of


def reshape(walk: Walk, var: relax.Var, call: relax.Call) -> Codes:
    """reshape, flatten, squeeze, expand_dims: of the order of the module, or where that does not matter."""
    x = walk.plain(walk.codes(call.args[0]))
    return walk.reshaped(x, shape_of(var), var.name)


def permute_dims(walk: Walk, var: relax.Var, call: relax.Call) -> Codes:
    """Axes in another order; no operator where the file has that order already."""
    x, rank = walk.codes(call.args[0]), len(shape_of(var))
    permutation = call.attrs.axes
    axes = tuple(range(rank))[::-1] if permutation is None else tuple(axis % rank for axis in ints(permutation))
    order = tuple(None if axis is None else axes.index(axis) for axis in x.order)
    permuted = Codes(x.place, shape_of(var), order, x.scale, x.zero, x.moved)
    return permuted if order in (plain(rank), LAST.get(rank)) else walk.plain(permuted)


def concat(walk: Walk, var: relax.Var, call: relax.Call) -> Codes:
    """Parts of one scale along an axis."""
    source = call.args[0]
    if isinstance(source, relax.Tuple):
        if any(is_const(part) for part in source.fields):
            raise walk.refused("concat with a constant")
        parts = [walk.codes(part) for part in source.fields]
    else:
        parts = walk.values[source.name]
    order = next((part.order for part in parts if part.is_last), parts[0].order)
    parts = [walk.in_layout(part, order) for part in parts]
    if len({(part.scale, part.zero) for part in parts}) != 1:
        raise walk.refused("concat of codes of several scales")
    axis = (0 if call.attrs.axis is None else int(call.attrs.axis)) % len(shape_of(var))
    result = walk.codes_of(var, order, parts[0])
    return walk.emit("CONCATENATION", parts, result, table="ConcatenationOptions", axis=order.index(axis),
                     fused_activation_function=0)  # fmt: skip


def split(walk: Walk, var: relax.Var, call: relax.Call) -> list[Codes]:
    """Parts along an axis, a slice each."""
    x = walk.codes(call.args[0])
    axis, begin, parts = int(call.attrs.axis) % len(x.shape), 0, []
    for number, field in enumerate(var.ty.fields):
        shape = tuple(int(d) for d in field.shape)
        index = [slice(0, n) for n in x.shape]
        index[axis] = slice(begin, begin + shape[axis])
        parts.append(_emit_slice(walk, x, index, shape, f"{var.name}_{number}"))
        begin += shape[axis]
    return parts


def strided_slice(walk: Walk, var: relax.Var, call: relax.Call) -> Codes:
    """Elements from begin to end in steps."""
    x = walk.codes(call.args[0])
    return _emit_slice(walk, x, list(slice_of(call, x.shape)), shape_of(var), var.name)


def _emit_slice(walk: Walk, x: Codes, index: list[slice], shape: tuple[int, ...], hint: str) -> Codes:
    bounds = [part.indices(n) for part, n in zip(index, x.shape, strict=True)]
    if any(step < 0 for _, _, step in bounds):
        raise walk.refused("a slice in steps backwards")
    result = walk.like(x, shape, x.order, hint)
    numbers = [
        walk.numbers([fill if axis is None else bounds[axis][place] for axis in x.order], name)
        for place, (name, fill) in enumerate((("begin", 0), ("end", 1), ("steps", 1)))
    ]
    return walk.emit(
        "STRIDED_SLICE", [x, *numbers], result, table="StridedSliceOptions",
        begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0,
    )  # fmt: skip


def resize(walk: Walk, var: relax.Var, call: relax.Call) -> Codes:
    """image.resize2d that repeats pixels by whole factors."""
    if not repeats_pixels(call):
        raise walk.refused(f"image.resize2d of method {call.attrs.method}")
    x = walk.last(walk.codes(call.args[0]))
    result = walk.codes_of(var, x.order, x)
    size = walk.numbers(shape_of(var)[2:], "size")
    return walk.emit("RESIZE_NEAREST_NEIGHBOR", [x, size], result, table="ResizeNearestNeighborOptions",
                     align_corners=False, half_pixel_centers=False)  # fmt: skip


FORMS: dict[str, Form] = {
    **dict.fromkeys(where(form=RESHAPE), reshape),
    "permute_dims": permute_dims,
    "concat": concat,
    "split": split,
    "strided_slice": strided_slice,
    "image.resize2d": resize,
}
