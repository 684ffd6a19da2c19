"""Operators that move codes.

Tests: tests/formats/tflite/test_to_tflite.py
"""

from __future__ import annotations

from tvm import relax

from tvmq.formats.exporting.core_writer import ints
from tvmq.formats.exporting.layouts import LAST, module_order
from tvmq.formats.tflite.codes import TfliteTensor
from tvmq.formats.tflite.writer import Form, TfliteWriter
from tvmq.graph.evaluate import repeats_pixels, slice_of
from tvmq.graph.operators import where
from tvmq.graph.operators.record import RESHAPE
from tvmq.graph.view import is_const, shape_of


def reshape(writer: TfliteWriter, var: relax.Var, call: relax.Call) -> TfliteTensor:
    """reshape, flatten, squeeze, expand_dims: of the order of the module, or where that does not matter."""
    x = writer.to_module_order(writer.codes(call.args[0]))
    return writer.reshape_elements(x, shape_of(var), var.name)


def permute_dims(writer: TfliteWriter, var: relax.Var, call: relax.Call) -> TfliteTensor:
    """Axes in another order; no operator where the file has that order already."""
    x, rank = writer.codes(call.args[0]), len(shape_of(var))
    permutation = call.attrs.axes
    axes = tuple(range(rank))[::-1] if permutation is None else tuple(axis % rank for axis in ints(permutation))
    order = tuple(None if axis is None else axes.index(axis) for axis in x.order)
    permuted = TfliteTensor(x.place, shape_of(var), order, x.scale, x.zero, x.uint8_offset)
    return permuted if order in (module_order(rank), LAST.get(rank)) else writer.to_module_order(permuted)


def concat(writer: TfliteWriter, var: relax.Var, call: relax.Call) -> TfliteTensor:
    """Parts of one scale along an axis."""
    source = call.args[0]
    if isinstance(source, relax.Tuple):
        if any(is_const(part) for part in source.fields):
            raise writer.unsupported_error("concat with a constant")
        parts = [writer.codes(part) for part in source.fields]
    else:
        parts = writer.values[source.name]
    order = next((part.order for part in parts if part.is_channels_last), parts[0].order)
    parts = [writer.in_layout(part, order) for part in parts]
    if len({(part.scale, part.zero) for part in parts}) != 1:
        raise writer.unsupported_error("concat of codes with different scales")
    axis = (0 if call.attrs.axis is None else int(call.attrs.axis)) % len(shape_of(var))
    result = writer.codes_of(var, order, parts[0])
    return writer.emit("CONCATENATION", parts, result, table="ConcatenationOptions", axis=order.index(axis),
                     fused_activation_function=0)  # fmt: skip


def split(writer: TfliteWriter, var: relax.Var, call: relax.Call) -> list[TfliteTensor]:
    """Parts along an axis, a slice each."""
    x = writer.codes(call.args[0])
    axis, begin, parts = int(call.attrs.axis) % len(x.shape), 0, []
    for number, field in enumerate(var.ty.fields):
        shape = tuple(int(d) for d in field.shape)
        index = [slice(0, n) for n in x.shape]
        index[axis] = slice(begin, begin + shape[axis])
        parts.append(_emit_slice(writer, x, index, shape, f"{var.name}_{number}"))
        begin += shape[axis]
    return parts


def strided_slice(writer: TfliteWriter, var: relax.Var, call: relax.Call) -> TfliteTensor:
    """Elements from begin to end in steps."""
    x = writer.codes(call.args[0])
    return _emit_slice(writer, x, list(slice_of(call, x.shape)), shape_of(var), var.name)


def _emit_slice(
    writer: TfliteWriter, x: TfliteTensor, index: list[slice], shape: tuple[int, ...], hint: str
) -> TfliteTensor:
    bounds = [part.indices(n) for part, n in zip(index, x.shape, strict=True)]
    if any(step < 0 for _, _, step in bounds):
        raise writer.unsupported_error("a slice with a negative step")
    result = writer.tensor_like(x, shape, x.order, hint)
    numbers = [
        writer.numbers([fill if axis is None else bounds[axis][place] for axis in x.order], name)
        for place, (name, fill) in enumerate((("begin", 0), ("end", 1), ("steps", 1)))
    ]
    return writer.emit(
        "STRIDED_SLICE", [x, *numbers], result, table="StridedSliceOptions",
        begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0,
    )  # fmt: skip


def resize(writer: TfliteWriter, var: relax.Var, call: relax.Call) -> TfliteTensor:
    """image.resize2d that repeats pixels by whole factors."""
    if not repeats_pixels(call):
        raise writer.unsupported_error(f"image.resize2d with method {call.attrs.method}")
    x = writer.to_channels_last(writer.codes(call.args[0]))
    result = writer.codes_of(var, x.order, x)
    size = writer.numbers(shape_of(var)[2:], "size")
    return writer.emit("RESIZE_NEAREST_NEIGHBOR", [x, size], result, table="ResizeNearestNeighborOptions",
                     align_corners=False, half_pixel_centers=False)  # fmt: skip


FORMS: dict[str, Form] = {
    **dict.fromkeys(where(form=RESHAPE), reshape),
    "permute_dims": permute_dims,
    "concat": concat,
    "split": split,
    "strided_slice": strided_slice,
    "image.resize2d": resize,
}
