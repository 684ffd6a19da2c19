"""Operators that move values, in C: each is a loop that copies a box of elements from places at fixed distances.

Tests: tests/formats/c/test_operators.py
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import accumulate

import numpy as np
from tvm import relax

from tvmq.formats.c.loops import emit_loops, index
from tvmq.formats.c.products import InputWithBorder, border
from tvmq.formats.c.shared_functions import CKernel
from tvmq.formats.c.tensor import CTensor, Ints, Operand, broadcast, strides_of
from tvmq.formats.c.writer import CWriter, Form, literal
from tvmq.formats.exporting.binding_writer import ints
from tvmq.graph.evaluate import PAD_MODES, repeats_pixels, slice_of
from tvmq.graph.view import const_value, is_const, shape_of

Box = tuple[Operand, Ints]
# Indices outside of an axis mean what numerics.place says
PLACE = CKernel(
    "place",
    """
/* the index modulo the size, never negative */
static inline int32_t place(int64_t index, int32_t size)
{
    const int32_t rest = (int32_t)(index % size);
    return rest < 0 ? rest + size : rest;
}
""",
)
CLIPPED = CKernel(
    "clipped_place",
    """
static inline int32_t clipped_place(int64_t index, int32_t size)
{
    return index < 0 ? 0 : index >= size ? size - 1 : (int32_t)index;
}
""",
)


def reshape(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """reshape, flatten, squeeze, expand_dims: the same memory."""
    return writer.array(call.args[0]).with_shape(shape_of(var))


# ---- copies of a box: the operand, as a loop reads it, and the sizes of the loop


def permute_dims(x: CTensor, call: relax.Call, shape: Ints) -> Box:
    """Axes in another order."""
    axes, rank = call.attrs.axes, len(shape)
    order = tuple(range(rank))[::-1] if axes is None else tuple(a % rank for a in ints(axes))
    return Operand(x, tuple(x.strides[axis] for axis in order)), shape


def broadcast_to(x: CTensor, call: relax.Call, shape: Ints) -> Box:
    """Axes of one element, repeated."""
    return broadcast(x, shape), shape


def tile(x: CTensor, call: relax.Call, shape: Ints) -> Box:
    """Copies of the whole array one after the other along axes."""
    repeats = ints(call.attrs.repeats)
    counts = (1,) * (len(shape) - len(repeats)) + repeats
    sizes = (1,) * (len(shape) - len(x.shape)) + x.shape
    box = tuple(n for pair in zip(counts, sizes, strict=True) for n in pair)
    return Operand(x, tuple(s for step in strides_of(sizes) for s in (0, step))), box


def repeat(x: CTensor, call: relax.Call, shape: Ints) -> Box:
    """Each element several times along an axis."""
    sizes, axis = read_axis(x, call)
    own = strides_of(sizes)
    box = (*sizes[: axis + 1], int(call.attrs.repeats), *sizes[axis + 1 :])
    return Operand(x, (*own[: axis + 1], 0, *own[axis + 1 :])), box


def flip(x: CTensor, call: relax.Call, shape: Ints) -> Box:
    """Reverse an axis."""
    axis = int(call.attrs.axis) % len(shape)
    strides = tuple(-s if i == axis else s for i, s in enumerate(x.strides))
    return Operand(x, strides, (shape[axis] - 1) * x.strides[axis]), shape


def strided_slice(x: CTensor, call: relax.Call, shape: Ints) -> Box:
    """Elements from begin to end in steps."""
    bounds = [part.indices(n) for part, n in zip(slice_of(call, x.shape), x.shape, strict=True)]
    offset = sum(begin * s for (begin, _, _), s in zip(bounds, x.strides, strict=True))
    strides = tuple(step * s for (_, _, step), s in zip(bounds, x.strides, strict=True))
    return Operand(x, strides, offset if math.prod(shape) else 0), shape


def copy_form(box: Callable[[CTensor, relax.Call, Ints], Box]) -> Form:
    """Form of an operator that copies a box of elements from places at fixed distances."""

    def form(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
        source, result = writer.array(call.args[0]), writer.result(var)
        writer.copy(*box(source, call, result.shape), result)
        return result

    return form


def read_axis(x: CTensor, call: relax.Call) -> tuple[Ints, int]:
    """Shape and axis of an operator along an axis; without one the array is flat."""
    return (x.shape, int(call.attrs.axis) % len(x.shape)) if call.attrs.axis is not None else ((x.size,), 0)


# ---- parts


def split(writer: CWriter, var: relax.Var, call: relax.Call) -> list[CTensor]:
    """Parts along an axis, each copied; along leading axes a part is contiguous in memory."""
    source, axis = writer.array(call.args[0]), int(call.attrs.axis) % len(shape_of(call.args[0]))
    parts, begin = [], 0
    for shape in (ints(field.shape) for field in var.ty.fields):
        parts.append(writer.part(source.type, shape))
        writer.copy(Operand(source, source.strides, begin * source.strides[axis]), shape, parts[-1])
        begin += shape[axis]
    return parts


def concat(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """Parts along an axis."""
    parts, result = _parts(writer, call), writer.result(var)
    axis = (0 if call.attrs.axis is None else int(call.attrs.axis)) % len(result.shape)
    begins = accumulate((part.shape[axis] for part in parts), initial=0)
    for part, begin in zip(parts, begins, strict=False):
        if part.size:
            writer.copy(Operand(part, part.strides), part.shape, result, begin * result.strides[axis], result.strides)
    return result


def stack(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """Parts along a new axis."""
    parts, result = _parts(writer, call), writer.result(var)
    axis = (0 if call.attrs.axis is None else int(call.attrs.axis)) % len(result.shape)
    kept = result.strides[:axis] + result.strides[axis + 1 :]
    for number, part in enumerate(parts):
        writer.copy(Operand(part, part.strides), part.shape, result, number * result.strides[axis], kept)
    return result


def _parts(writer: CWriter, call: relax.Call) -> list[CTensor]:
    fields = call.args[0].fields if isinstance(call.args[0], relax.Tuple) else None
    return [writer.array(f) for f in fields] if fields is not None else writer.value(call.args[0])


def pad(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor | InputWithBorder:
    """A border: of one code, or of elements of the array."""
    padded = border(writer, var, call)
    if padded is not None:
        return padded
    source, result = writer.array(call.args[0]), writer.result(var)
    width, mode = np.asarray(ints(call.attrs.pad_width)).reshape(-1, 2), str(call.attrs.pad_mode)
    if mode != "constant":
        return _pad_by_places(writer, source, result, width, mode)
    if width.min() < 0:
        raise writer.unsupported_error("nn.pad with a negative width")
    if width.any():
        writer.fill(result, literal(int(call.attrs.pad_value)))
    offset = sum(int(before) * s for (before, _), s in zip(width, result.strides, strict=True))
    writer.copy(Operand(source, source.strides), source.shape, result, offset, result.strides)
    return result


def _pad_by_places(writer: CWriter, source: CTensor, result: CTensor, width: np.ndarray, mode: str) -> CTensor:
    """reflect, replicate, circular: constant tables say for each place along an axis which element it repeats."""
    if mode not in PAD_MODES:
        raise writer.unsupported_error(f"nn.pad with mode {mode}")
    places = [np.pad(np.arange(n), w, mode=PAD_MODES[mode]) for n, w in zip(source.shape, width.tolist(), strict=True)]
    _gather_at_places(writer, source, result, places)
    return result


def _gather_at_places(writer: CWriter, source: CTensor, result: CTensor, places: list[np.ndarray]) -> None:
    """result[i, j, ...] = source[places[0][i], places[1][j], ...]; the places are constants."""
    terms, constants = [], []
    for axis, (place, step) in enumerate(zip(places, source.strides, strict=True)):
        if np.array_equal(place, np.arange(len(place))):
            terms += [f"i{axis} * {step}"] if len(place) > 1 else []
            continue
        constants.append(writer.constants.tensor((place * step).astype(np.int32), "places"))
        terms.append(f"{constants[-1].storage.place}[i{axis}]")
    target = index([f"i{axis}" for axis in range(len(places))], result.strides)
    emit_loops(writer, result.shape, f"y[{target}] = a[{' + '.join(terms) or 0}];", result, constants, a=source)


def resize(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """image.resize2d that repeats pixels by whole factors."""
    if not repeats_pixels(call):
        raise writer.unsupported_error(f"image.resize2d with method {call.attrs.method}")
    source, result = writer.array(call.args[0]), writer.result(var)
    batch, channels, rows, columns = source.shape
    box = (batch * channels, rows, result.shape[2] // rows, columns, result.shape[3] // columns)
    writer.copy(Operand(source, (rows * columns, columns, 0, 1, 0)), box, result)
    return result


def take(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """Slices along an axis at indices; see numerics.place for indices outside."""
    source, indices = writer.array(call.args[0]), writer.array(call.args[1])
    result, mode = writer.result(var), str(call.attrs.mode)
    if mode == "nan":
        raise writer.unsupported_error("take with mode nan")
    shape, axis = read_axis(source, call)
    inner, outer, size = math.prod(shape[axis + 1 :]), math.prod(shape[:axis]), shape[axis]
    if is_const(call.args[1]):
        places = const_value(call.args[1]).ravel()
        place = np.clip(places, 0, size - 1) if mode == "clip" else np.mod(places, size)
        whole = (outer, len(place), inner)
        _gather_at_places(
            writer,
            source.with_shape((outer, size, inner)),
            result.with_shape(whole),
            [np.arange(outer), place, np.arange(inner)],
        )
        return result
    function = writer.library.use(CLIPPED if mode == "clip" else PLACE)
    body = f"y[{index(['i0', 'i1', 'i2'], (indices.size * inner, inner, 1))}] = " + (
        f"a[i0 * {size * inner} + {function}(k[i1], {size}) * {inner} + i2];"
    )
    emit_loops(writer, (outer, indices.size, inner), body, result, a=source, k=indices)
    return result


def gather_elements(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """Each index names a place along the axis."""
    source, indices, result = writer.array(call.args[0]), writer.array(call.args[1]), writer.result(var)
    axis, own = int(call.attrs.axis) % len(source.shape), source.strides
    counters = [f"i{i}" for i in range(len(own))]
    at = index(counters, result.strides)
    rest = tuple(0 if i == axis else s for i, s in enumerate(own))
    function = writer.library.use(PLACE)
    body = f"y[{at}] = a[{index(counters, rest)} + {function}(k[{at}], {source.shape[axis]}) * {own[axis]}];"
    emit_loops(writer, result.shape, body, result, a=source, k=indices)
    return result


FORMS = {
    **dict.fromkeys(("reshape", "flatten", "squeeze", "expand_dims"), reshape),
    "permute_dims": copy_form(permute_dims),
    "broadcast_to": copy_form(broadcast_to),
    "tile": copy_form(tile),
    "repeat": copy_form(repeat),
    "flip": copy_form(flip),
    "strided_slice": copy_form(strided_slice),
    "split": split,
    "concat": concat,
    "stack": stack,
    "nn.pad": pad,
    "image.resize2d": resize,
    "take": take,
    "gather_elements": gather_elements,
}
