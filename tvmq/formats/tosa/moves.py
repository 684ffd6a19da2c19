"""Operators that move numbers, in TOSA.

Tests: tests/formats/tosa/test_to_tosa.py
"""

from __future__ import annotations

import itertools
from dataclasses import replace

from tvm import relax

from tvmq.formats.exporting.core_writer import ints
from tvmq.formats.exporting.layouts import LAST, module_order
from tvmq.formats.tosa.writer import Form, TosaTensor, TosaWriter
from tvmq.graph.evaluate import repeats_pixels, slice_of
from tvmq.graph.operators import where
from tvmq.graph.operators.record import RESHAPE
from tvmq.graph.view import is_const, shape_of


def reshape(writer: TosaWriter, var: relax.Var, call: relax.Call) -> TosaTensor:
    """reshape, flatten, squeeze, expand_dims."""
    return writer.reshape(writer.tensor(call.args[0]), shape_of(var))


def permute_dims(writer: TosaWriter, var: relax.Var, call: relax.Call) -> TosaTensor:
    """Axes in another order; no operator where the graph has that order already."""
    x, rank = writer.tensor(call.args[0]), len(shape_of(var))
    permutation = call.attrs.axes
    axes = tuple(range(rank))[::-1] if permutation is None else tuple(axis % rank for axis in ints(permutation))
    order = tuple(None if axis is None else axes.index(axis) for axis in x.order)
    permuted = replace(x, shape=shape_of(var), order=order)
    return permuted if order in (module_order(rank), LAST.get(rank)) else writer.to_module_order(permuted)


def concat(writer: TosaWriter, var: relax.Var, call: relax.Call) -> TosaTensor:
    """Parts along an axis."""
    source = call.args[0]
    if isinstance(source, relax.Tuple) and any(is_const(part) for part in source.fields):
        raise writer.unsupported_error("concat with a constant")
    parts = [writer.tensor(p) for p in source.fields] if isinstance(source, relax.Tuple) else writer.values[source.name]
    rank = len(shape_of(var))
    order = next((part.order for part in parts if part.order != module_order(rank)), module_order(rank))
    parts = [writer.in_layout(part, order) for part in parts]
    axis = (0 if call.attrs.axis is None else int(call.attrs.axis)) % rank
    return writer.emit("CONCAT", parts, replace(parts[0], shape=shape_of(var)), order.index(axis))


def split(writer: TosaWriter, var: relax.Var, call: relax.Call) -> list[TosaTensor]:
    """Parts along an axis."""
    x = writer.tensor(call.args[0])
    axis, parts = int(call.attrs.axis) % len(x.shape), []
    sizes = [int(field.shape[axis]) for field in var.ty.fields]
    for begin, size in zip(itertools.accumulate(sizes, initial=0), sizes, strict=False):
        shape = tuple(size if number == axis else n for number, n in enumerate(x.shape))
        parts.append(_emit_slice(writer, x, [begin if number == axis else 0 for number in range(len(shape))], shape))
    return parts


def strided_slice(writer: TosaWriter, var: relax.Var, call: relax.Call) -> TosaTensor:
    """Elements from begin to end; steps are refused."""
    x = writer.tensor(call.args[0])
    bounds = [part.indices(n) for part, n in zip(slice_of(call, x.shape), x.shape, strict=True)]
    if any(step != 1 and shape > 1 for (_, _, step), shape in zip(bounds, shape_of(var), strict=True)):
        raise writer.unsupported_error("a slice with a step")
    return _emit_slice(writer, x, [begin for begin, _, _ in bounds], shape_of(var))


def _emit_slice(writer: TosaWriter, x: TosaTensor, begins: list[int], shape: tuple[int, ...]) -> TosaTensor:
    result = replace(x, shape=shape)
    numbers = [0 if axis is None else begins[axis] for axis in x.order]
    return writer.emit("SLICE", [x, writer.graph.numbers(numbers), writer.graph.numbers(result.sizes)], result)


def resize(writer: TosaWriter, var: relax.Var, call: relax.Call) -> TosaTensor:
    """image.resize2d that repeats pixels by whole factors: RESHAPE, TILE, RESHAPE."""
    if not repeats_pixels(call):
        raise writer.unsupported_error(f"image.resize2d with method {call.attrs.method}")
    x = writer.to_channels_last(writer.tensor(call.args[0]))
    batch, channels, rows, columns = x.shape
    down, across = shape_of(var)[2] // rows, shape_of(var)[3] // columns
    pixels = x
    for shape, repeats, after in (
        ((batch, rows, 1, columns * channels), (1, 1, down, 1), (batch, channels, rows * down, columns)),
        ((batch * rows * down, columns, 1, channels), (1, 1, across, 1), shape_of(var)),
    ):
        name = writer.reshape_elements(pixels, shape)
        sizes = tuple(n * r for n, r in zip(shape, repeats, strict=True))
        tiled = writer.graph.operator("TILE", [name, writer.graph.numbers(repeats)], sizes, x.dtype)
        result = replace(x, shape=after)
        copies = TosaTensor(tiled, sizes, module_order(4), x.dtype)
        pixels = replace(result, name=writer.reshape_elements(copies, result.sizes))
    return pixels


FORMS: dict[str, Form] = {
    **dict.fromkeys(where(form=RESHAPE), reshape),
    "permute_dims": permute_dims,
    "concat": concat,
    "split": split,
    "strided_slice": strided_slice,
    "image.resize2d": resize,
}
