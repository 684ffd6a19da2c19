"""Operators that move values, in C: each is a loop that copies a box of elements from places at fixed distances.

Tests: tests/formats/c/test_operators.py
"""

from __future__ import annotations

import math
from itertools import accumulate

import numpy as np
from tvm import relax

from tvmq.formats.c.kernels.places import CLIPPED, PLACE
from tvmq.formats.c.loops import block, index, nest
from tvmq.formats.c.products import InputWithBorder, border, ints
from tvmq.formats.c.tensor import CTensor, Operand, broadcast, strides_of
from tvmq.formats.c.writer import CWriter, literal
from tvmq.graph.evaluate import PAD_MODES, repeats_pixels, slice_of
from tvmq.graph.view import const_value, is_const, shape_of


def reshape(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """reshape, flatten, squeeze, expand_dims: the same memory."""
    return writer.array(call.args[0]).with_shape(shape_of(var))


def permute_dims(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """Axes in another order."""
    source, result = writer.array(call.args[0]), writer.result(var)
    axes = call.attrs.axes
    order = tuple(range(len(source.shape)))[::-1] if axes is None else tuple(a % len(source.shape) for a in ints(axes))
    own = strides_of(source.shape)
    writer.copy(Operand(source, tuple(own[axis] for axis in order)), result.shape, result)
    return result


def broadcast_to(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """Axes of one element, repeated."""
    result = writer.result(var)
    writer.copy(broadcast(writer.array(call.args[0]), result.shape), result.shape, result)
    return result


def tile(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """Copies of the whole array one after the other along axes."""
    source, result = writer.array(call.args[0]), writer.result(var)
    repeats, rank = ints(call.attrs.repeats), len(result.shape)
    counts = (1,) * (rank - len(repeats)) + repeats
    sizes = (1,) * (rank - len(source.shape)) + source.shape
    own = strides_of(sizes)
    shape = tuple(n for pair in zip(counts, sizes, strict=True) for n in pair)
    writer.copy(Operand(source, tuple(s for step in own for s in (0, step))), shape, result)
    return result


def repeat(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """Each element several times along an axis."""
    source, result = writer.array(call.args[0]), writer.result(var)
    shape = source.shape if call.attrs.axis is not None else (source.size,)
    axis, own = (int(call.attrs.axis) % len(shape) if call.attrs.axis is not None else 0), strides_of(shape)
    box = (*shape[: axis + 1], int(call.attrs.repeats), *shape[axis + 1 :])
    writer.copy(Operand(source, (*own[: axis + 1], 0, *own[axis + 1 :])), box, result)
    return result


def flip(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """Reverse an axis."""
    source, result = writer.array(call.args[0]), writer.result(var)
    axis, own = int(call.attrs.axis) % len(source.shape), strides_of(source.shape)
    strides = tuple(-s if i == axis else s for i, s in enumerate(own))
    writer.copy(Operand(source, strides, (source.shape[axis] - 1) * own[axis]), source.shape, result)
    return result


def strided_slice(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """Elements from begin to end in steps."""
    source, result = writer.array(call.args[0]), writer.result(var)
    bounds = [part.indices(n) for part, n in zip(slice_of(call, source.shape), source.shape, strict=True)]
    own = strides_of(source.shape)
    offset = sum(begin * s for (begin, _, _), s in zip(bounds, own, strict=True))
    strides = tuple(step * s for (_, _, step), s in zip(bounds, own, strict=True))
    writer.copy(Operand(source, strides, offset if result.size else 0), result.shape, result)
    return result


def split(writer: CWriter, var: relax.Var, call: relax.Call) -> list[CTensor]:
    """Parts along an axis, each copied; along leading axes a part is contiguous in memory."""
    source, axis = writer.array(call.args[0]), int(call.attrs.axis) % len(shape_of(call.args[0]))
    own = strides_of(source.shape)
    parts, begin = [], 0
    for field in var.ty.fields:
        shape = tuple(int(d) for d in field.shape)
        part = writer.part(source.type, shape)
        writer.copy(Operand(source, own, begin * own[axis]), shape, part)
        parts.append(part)
        begin += shape[axis]
    return parts


def concat(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """Parts along an axis."""
    fields = call.args[0].fields if isinstance(call.args[0], relax.Tuple) else None
    parts = [writer.array(f) for f in fields] if fields is not None else writer.value(call.args[0])
    result = writer.result(var)
    axis = (0 if call.attrs.axis is None else int(call.attrs.axis)) % len(result.shape)
    own = strides_of(result.shape)
    begins = accumulate((part.shape[axis] for part in parts), initial=0)
    for part, begin in zip(parts, begins, strict=False):
        if part.size:
            writer.copy(Operand(part, strides_of(part.shape)), part.shape, result, begin * own[axis], own)
    return result


def stack(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """Parts along a new axis."""
    fields = call.args[0].fields if isinstance(call.args[0], relax.Tuple) else None
    parts = [writer.array(f) for f in fields] if fields is not None else writer.value(call.args[0])
    result = writer.result(var)
    axis = (0 if call.attrs.axis is None else int(call.attrs.axis)) % len(result.shape)
    own = strides_of(result.shape)
    for number, part in enumerate(parts):
        kept = own[:axis] + own[axis + 1 :]
        writer.copy(Operand(part, strides_of(part.shape)), part.shape, result, number * own[axis], kept)
    return result


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
    own = strides_of(result.shape)
    offset = sum(int(before) * s for (before, _), s in zip(width, own, strict=True))
    writer.copy(Operand(source, strides_of(source.shape)), source.shape, result, offset, own)
    return result


def _pad_by_places(writer: CWriter, source: CTensor, result: CTensor, width: np.ndarray, mode: str) -> CTensor:
    """reflect, replicate, circular: constant tables say for each place along an axis which element it repeats."""
    if mode not in PAD_MODES:
        raise writer.unsupported_error(f"nn.pad with mode {mode}")
    places = [np.pad(np.arange(n), w, mode=PAD_MODES[mode]) for n, w in zip(source.shape, width.tolist(), strict=True)]
    _gather_at_places(writer, source, result, places)
    return result


def _gather_at_places(writer: CWriter, source: CTensor, result: CTensor, places: list[np.ndarray]) -> None:
    """result[i, j, ...] = given[places[0][i], places[1][j], ...]; the places are constants."""
    own = strides_of(source.shape)
    terms, reads, declared = [], [source], []
    for axis, (place, step) in enumerate(zip(places, own, strict=True)):
        if np.array_equal(place, np.arange(len(place))):
            terms += [f"i{axis} * {step}"] if len(place) > 1 else []
            continue
        constant = writer.constants.tensor((place * step).astype(np.int32), "places")
        reads.append(constant)
        terms.append(f"{constant.storage.place}[i{axis}]")
    declared = [f"const {source.type} *a = {source.mark};", f"{result.type} *y = {result.mark};"]
    target = index([f"i{axis}" for axis in range(len(own))], strides_of(result.shape))
    body = f"y[{target}] = a[{' + '.join(terms) or 0}];"
    writer.write(block(declared, nest(result.shape, body)), reads, [result])


def resize(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """image.resize2d that repeats pixels by whole factors."""
    if not repeats_pixels(call):
        raise writer.unsupported_error(f"image.resize2d with method {call.attrs.method}")
    source, result = writer.array(call.args[0]), writer.result(var)
    batch, channels, rows, columns = source.shape
    down, across = result.shape[2] // rows, result.shape[3] // columns
    writer.copy(
        Operand(source, (rows * columns, columns, 0, 1, 0)), (batch * channels, rows, down, columns, across), result
    )
    return result


def take(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """Slices along an axis at indices; see numerics.place for indices outside."""
    source, indices = writer.array(call.args[0]), writer.array(call.args[1])
    result, mode = writer.result(var), str(call.attrs.mode)
    if mode == "nan":
        raise writer.unsupported_error("take with mode nan")
    shape = source.shape if call.attrs.axis is not None else (source.size,)
    axis = int(call.attrs.axis) % len(shape) if call.attrs.axis is not None else 0
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
    declared = [
        f"const {source.type} *a = {source.mark};",
        f"const {indices.type} *k = {indices.mark};",
        f"{result.type} *y = {result.mark};",
    ]
    writer.write(block(declared, nest((outer, indices.size, inner), body)), [source, indices], [result])
    return result


def gather_elements(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """Each index names a place along the axis."""
    source, indices, result = writer.array(call.args[0]), writer.array(call.args[1]), writer.result(var)
    axis, own = int(call.attrs.axis) % len(source.shape), strides_of(source.shape)
    counters = [f"i{i}" for i in range(len(own))]
    at = index(counters, strides_of(result.shape))
    rest = tuple(0 if i == axis else s for i, s in enumerate(own))
    function = writer.library.use(PLACE)
    body = f"y[{at}] = a[{index(counters, rest)} + {function}(k[{at}], {source.shape[axis]}) * {own[axis]}];"
    declared = [
        f"const {source.type} *a = {source.mark};",
        f"const {indices.type} *k = {indices.mark};",
        f"{result.type} *y = {result.mark};",
    ]
    writer.write(block(declared, nest(result.shape, body)), [source, indices], [result])
    return result


FORMS = {
    **dict.fromkeys(("reshape", "flatten", "squeeze", "expand_dims"), reshape),
    "permute_dims": permute_dims,
    "broadcast_to": broadcast_to,
    "tile": tile,
    "repeat": repeat,
    "flip": flip,
    "strided_slice": strided_slice,
    "split": split,
    "concat": concat,
    "stack": stack,
    "nn.pad": pad,
    "image.resize2d": resize,
    "take": take,
    "gather_elements": gather_elements,
}
