"""Repairs of operators that move values: by indices, into blocks, with padding, split and joined.

Negative indices, and those outside of the tensor, are handled by the operators themselves: see graph/indices.py. Pad
and Tile become operators of Relax, since TVM lowers them to TIR at once, which no pattern matches.

Tests: tests/passes/families/test_moves.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax, tirx

from tvmq import numerics
from tvmq.formats.onnx.importer.repairs.node import FIX_SHAPES, Dims, NodeCall, tensor_constant
from tvmq.graph import ops
from tvmq.graph.multiples import require_multiple
from tvmq.graph.size_division import simplify_size
from tvmq.graph.size_proofs import largest_value
from tvmq.graph.size_text import size_text
from tvmq.graph.sizes import are_equal, is_multiple


def gather(call: NodeCall) -> relax.Expr:
    """Gather as one operator: a slice where the indices are constant and consecutive, else `take`.

    TVM's converter handles negative indices by shape_of, less and where; `take` in mode "wrap" counts from the end.
    """
    indices = call.constant(1)
    axis = call.axis(0)
    if indices is None:
        return relax.op.take(call.inputs[0], call.inputs[1], axis, mode="wrap")
    size = call.shape()[axis]
    if not isinstance(size, int) and (indices < 0).any():
        return relax.op.take(call.inputs[0], call.inputs[1], axis, mode="wrap")
    indices = np.where(indices < 0, indices + size, indices) if isinstance(size, int) else indices
    if isinstance(size, int) and indices.size and (indices.min() < 0 or indices.max() >= size):
        raise call.unsupported_error(f"an index lies outside of 0..{size - 1}", "correct the indices in the model")
    if indices.ndim <= 1 and indices.size and np.all(np.diff(np.atleast_1d(indices)) == 1):
        first = int(np.atleast_1d(indices)[0])
        part = relax.op.strided_slice(call.inputs[0], [axis], [first], [first + indices.size])
        return relax.op.squeeze(part, [axis]) if indices.ndim == 0 else part
    return relax.op.take(call.inputs[0], tensor_constant(indices.astype(np.int64)), axis)


def gather_elements(call: NodeCall) -> relax.Expr:
    """GatherElements; TVM's converter asks for the size of the axis at run time even where it is known."""
    return relax.op.gather_elements(call.inputs[0], _positions(call, [call.axis(0)]), call.axis(0))


def gather_nd(call: NodeCall) -> relax.Expr:
    """GatherND."""
    first = int(call.attributes.get("batch_dims", 0))
    return relax.op.gather_nd(call.inputs[0], _positions(call, _axes(call, first)), first)


def scatter_nd(call: NodeCall) -> relax.Expr:
    """ScatterND."""
    reduction = call.text("reduction", "none")
    places = _positions(call, _axes(call, 0))
    return relax.op.scatter_nd(call.inputs[0], places, call.inputs[2], "update" if reduction == "none" else reduction)


def tensor_scatter(call: NodeCall) -> relax.Expr:
    """TensorScatter: a key-value cache with the entries of new steps; without indices they are the first ones."""
    axis = call.axis(-2)
    if not axis:
        raise call.unsupported_error("axis 0 is that of the batch", "write along another axis")
    batch, indices = call.shape()[0], call.input(2)
    if indices is None and isinstance(batch, int):
        indices = tensor_constant(np.zeros(batch, np.int64))
    elif indices is None:
        indices = call.builder.emit(relax.op.zeros(relax.ShapeExpr([batch]), "int64"))
    return ops.tensor_scatter(call.inputs[0], call.inputs[1], indices, axis=axis)


def _axes(call: NodeCall, first: int) -> list[int]:
    """Axes that the items of the last dimension of the indices count."""
    count, rank = call.shape(1)[-1], len(call.shape())
    if not isinstance(count, int) or first + count > rank:
        raise call.unsupported_error(f"indices of {count} axes do not fit a tensor of {rank}", "correct their shape")
    return list(range(first, first + count))


def _positions(call: NodeCall, axes: list[int]) -> relax.Expr:
    """The indices; constant ones counted from the beginning, as other compilers ask for them."""
    indices, sizes = call.constant(1), [call.shape()[axis] for axis in axes]
    if indices is None or not indices.size or not all(isinstance(size, int) for size in sizes):
        return call.inputs[1]
    if (indices < -np.array(sizes)).any() or (indices >= sizes).any():
        what = f"axes of sizes {sizes}" if len(sizes) > 1 else f"{-sizes[0]}..{sizes[0] - 1}"
        raise call.unsupported_error(f"an index lies outside of {what}", "correct the indices in the model")
    return tensor_constant(numerics.place(indices, sizes))


def one_hot(call: NodeCall) -> relax.Expr | None:
    """OneHot with constant depth and values in the element type of the values (TVM's is always float64).

    Equal to ONNX for indices in [-depth, depth); all other indices give the off value, as ONNX has it.
    """
    depth, values = call.constant(1), call.constant(2)
    if depth is None or values is None:
        raise call.unsupported_error("depth or values are not constants", "export it with constant depth and values")
    count, axis = int(depth.item()), call.attributes.get("axis", -1)
    indices = relax.op.astype(call.inputs[0], "int64")
    rank = len(call.shape())
    axis = axis % (rank + 1)
    classes = np.arange(count, dtype=np.int64).reshape([-1 if i == axis else 1 for i in range(rank + 1)])
    column = relax.op.expand_dims(indices, axis)
    zero, size = relax.const(0, "int64"), relax.const(count, "int64")
    wrapped = relax.op.where(relax.op.less(column, zero), relax.op.add(column, size), column)
    off, on = (tensor_constant(value) for value in values)
    return relax.op.where(relax.op.equal(wrapped, tensor_constant(classes)), on, off)


def space_to_depth(call: NodeCall) -> relax.Expr | None:
    """Mode CRD: the channels of a block stand together (TVM knows the order DCR only)."""
    block = call.attributes["blocksize"]
    batch, channels, rows, columns = call.shape()
    for size in (rows, columns):
        if not require_multiple(size, block):
            raise call.unsupported_error(f"{size_text(size)} is not proved to be a multiple of {block}", FIX_SHAPES)
    if call.text("mode", "DCR") == "DCR":
        return None
    split = relax.op.reshape(call.inputs[0], [batch, channels, rows // block, block, columns // block, block])
    moved = relax.op.permute_dims(split, [0, 1, 3, 5, 2, 4])
    return relax.op.reshape(moved, [batch, channels * block * block, rows // block, columns // block])


MOST_PADDING = 4096  # by computed amounts: so much is padded before what is too much is cut off
REPEATING: dict[str, Any] = {"reflect": "reflect", "edge": "edge", "wrap": "wrap"}  # modes of ONNX: NumPy's


def pad(call: NodeCall) -> relax.Expr:
    """Pad by constant or computed amounts: nn.pad for a constant value, else the elements to repeat, axis by axis.

    Negative amounts crop, by strided_slice, before the padding. Amounts that follow from dynamic sizes are padded by
    the most that they can be, and what is too much is cut off.
    """
    amounts = call.dims(1) if call.input(1) is not None else call.attributes.get("pads")
    value, mode = call.constant(2), call.text("mode", "constant")
    if amounts is None:
        raise call.not_constant_error(1, "its pads")
    if call.input(2) is not None and value is None:
        raise call.unsupported_error("its padding value is not a constant", "pad with a constant")
    shape = call.shape()
    axes = [axis % len(shape) for axis in call.dims(3) or range(len(shape))]
    begin, end = [0] * len(shape), [0] * len(shape)
    for position, axis in enumerate(axes):
        begin[axis], end[axis] = amounts[position], amounts[position + len(axes)]
    computed = [axis for axis in axes if not (isinstance(begin[axis], int) and isinstance(end[axis], int))]
    if computed and mode != "constant":
        raise call.unsupported_error(f"mode {mode} with amounts of dynamic sizes is not supported", FIX_SHAPES)
    most = (list(begin), list(end))
    for axis in computed:
        most[0][axis], most[1][axis] = (_most(call, amount) for amount in (begin[axis], end[axis]))
    padded = _pad_by_numbers(call, *most, mode, value)
    return _cut_surplus(call, padded, computed, (begin, end), most) if computed else padded


def _most(call: NodeCall, amount: Any) -> int:
    """The most that a computed amount of padding can be, at least 0."""
    most = largest_value(amount)
    if most is None or most > MOST_PADDING:
        what = f"pads of {size_text(amount)} have no limit that is proved" if most is None else f"pads of up to {most}"
        raise call.unsupported_error(what, FIX_SHAPES)
    return max(most, 0)


def _cut_surplus(call: NodeCall, padded: relax.Expr, axes: list[int], amounts: Any, most: Any) -> relax.Expr:
    """The part of a padded tensor that the computed amounts reach."""
    shape = call.shape()
    starts = [simplify_size(most[0][axis] - amounts[0][axis]) for axis in axes]
    sizes = [simplify_size(shape[axis] + amounts[0][axis] + amounts[1][axis]) for axis in axes]
    stops = [simplify_size(start + size) for start, size in zip(starts, sizes, strict=True)]
    begin, end = ([relax.prim_value(bound) for bound in bounds] for bounds in (starts, stops))
    data = call.builder.emit(call.builder.normalize(padded))
    return relax.op.strided_slice(data, axes, begin, end, assume_inbound=True)


def _pad_by_numbers(
    call: NodeCall, begin: list[int], end: list[int], mode: str, value: np.ndarray | None
) -> relax.Expr:
    shape = call.shape()
    data = _crop(call, shape, begin, end)
    width = [(max(b, 0), max(e, 0)) for b, e in zip(begin, end, strict=True)]
    if not any(amount for pair in width for amount in pair):
        return data
    if mode != "constant":
        sizes = [size + min(b, 0) + min(e, 0) for size, b, e in zip(shape, begin, end, strict=True)]
        return _pad_by_repeating(call, data, sizes, width)
    fill = call.attributes.get("value", 0.0) if value is None else value.item()
    if isinstance(fill, int) and (float(fill) >= 2**63 or int(float(fill)) != fill):
        return _pad_with_blocks(call, data, width, fill)
    return relax.op.nn.pad(data, [amount for pair in width for amount in pair], "constant", fill)


def _pad_with_blocks(call: NodeCall, data: relax.Expr, width: list[tuple[int, int]], fill: int) -> relax.Expr:
    """Padding with an integer that float64, in which nn.pad holds its value, does not have: blocks of it around."""
    value = tensor_constant(np.array(fill, call.dtype()))
    for axis, amounts in enumerate(width):
        if not any(amounts):
            continue
        data = call.builder.emit(call.builder.normalize(data)) if not isinstance(data, relax.Var) else data
        shape = list(data.ty.shape.values)
        blocks = [relax.op.broadcast_to(value, [*shape[:axis], size, *shape[axis + 1 :]]) for size in amounts]
        parts = [blocks[0], data, blocks[1]]
        kept = [part for part, size in zip(parts, (amounts[0], 1, amounts[1]), strict=True) if size]
        data = relax.op.concat([call.builder.emit(part) if part is not data else part for part in kept], axis)
    return data


def _pad_by_repeating(call: NodeCall, data: relax.Expr, sizes: list, width: list[tuple[int, int]]) -> relax.Expr:
    """Elements of the input again, outside of it."""
    mode = REPEATING.get(call.text("mode", "constant"))
    if mode is None:
        raise call.unsupported_error(
            f"mode {call.text('mode', '')} is unknown", f"use one of constant, {', '.join(REPEATING)}"
        )
    for axis, (size, amounts) in enumerate(zip(sizes, width, strict=True)):
        if not any(amounts):
            continue
        if not isinstance(size, int):
            indices = _repeated_places(call, size, amounts, mode)
        elif size < 1:
            raise call.unsupported_error(f"mode {mode} along a dimension {size} is not supported", FIX_SHAPES)
        else:
            indices = tensor_constant(np.pad(np.arange(size), amounts, mode=mode))
        data = relax.op.take(data, indices, axis)
    return data


def _repeated_places(call: NodeCall, size: Any, amounts: tuple[int, int], mode: str) -> relax.Expr:
    """Indices as np.pad(np.arange(size), amounts, mode=mode), of a size that only a run tells."""

    def emit(expr: relax.Expr) -> relax.Var:
        return call.builder.emit(call.builder.normalize(expr))

    if mode == "edge":
        place = emit(relax.op.arange(-amounts[0], size + amounts[1], 1, "int64"))
        inside = emit(relax.op.maximum(place, tensor_constant(np.int64(0))))
        return emit(relax.op.minimum(inside, emit(Dims([size - 1]).tensor())))
    # after so many steps it begins anew; by whole turns no place is negative
    turn = size if mode == "wrap" else tirx.max(2 * size - 2, 1)
    place = emit(relax.op.arange(0, size + sum(amounts), 1, "int64"))
    place = emit(relax.op.add(place, emit(Dims([amounts[0] * turn - amounts[0]]).tensor())))
    steps = emit(Dims([turn]).tensor())
    place = emit(relax.op.floor_mod(place, steps))
    return place if mode == "wrap" else emit(relax.op.minimum(place, emit(relax.op.subtract(steps, place))))


def _crop(call: NodeCall, shape: list, begin: list[int], end: list[int]) -> relax.Expr:
    axes = [i for i in range(len(shape)) if begin[i] < 0 or end[i] < 0]
    if not axes:
        return call.inputs[0]
    starts = [max(-begin[i], 0) for i in axes]
    stops = [shape[i] + min(end[i], 0) for i in axes]
    return relax.op.strided_slice(call.inputs[0], axes, starts, stops)


def tile(call: NodeCall) -> relax.Expr | None:
    """Tile with constant repeats as reshape, broadcast_to, reshape.

    LLVM in apache-tvm 0.27 vectorizes topi.tile wrongly for AVX-512 targets: shape (2, 3, 4, 5) repeated
    (7, 6, 4, 2) times gave arbitrary memory.
    """
    repeats = call.dims(1)
    if repeats is None:
        return None
    split, spread, result = [], [], []
    for size, count in zip(call.shape(), repeats, strict=True):
        single = count == 1 or are_equal(size, 1)
        split += [size] if single else [1, size]
        spread += [size * count] if single else [count, size]
        result.append(size * count)
    data = call.inputs[0] if len(split) == len(result) else relax.op.reshape(call.inputs[0], split)
    data = relax.op.broadcast_to(data, spread)
    return data if len(split) == len(result) else relax.op.reshape(data, result)


def split(call: NodeCall) -> relax.Expr | None:
    """Split with empty parts, constants of no elements, which TVM could not compute; into one part: that is x.

    Of a dynamic axis TVM gives the last part what is left: parts of known sizes fix it, equal ones must be proved.
    """
    sizes = call.dims(1) if call.input(1) is not None else call.attributes.get("split")
    if call.output_count == 1:
        return call.inputs[0]
    axis, shape, start, parts = call.axis(0), call.shape(), 0, []
    if sizes is None or 0 not in sizes:
        if not isinstance(shape[axis], int):
            _fit_parts(call, sizes, axis)
        return None
    if not all(isinstance(size, int) for size in shape):
        raise call.unsupported_error("an empty part of a dynamic shape is not supported", FIX_SHAPES)
    for size in sizes:
        part = [*shape[:axis], size, *shape[axis + 1 :]]
        empty = 0 in part
        parts.append(
            tensor_constant(np.zeros(part, call.dtype()))
            if empty
            else relax.op.strided_slice(call.inputs[0], [axis], [start], [start + size])
        )
        start += size
    return relax.Tuple(parts)


def _fit_parts(call: NodeCall, sizes: list[int] | None, axis: int) -> None:
    """Parts of a dynamic axis: one of known sizes gets their sum by a reshape, which resolve_shapes makes its size."""
    shape = call.shape()
    if sizes is not None:
        call.inputs[0] = relax.op.reshape(call.inputs[0], [*shape[:axis], sum(sizes), *shape[axis + 1 :]])
    elif "num_outputs" not in call.attributes and not is_multiple(shape[axis], call.output_count):
        raise call.unsupported_error(
            f"{call.output_count} equal parts of dimension {size_text(shape[axis])}, which may be no multiple",
            FIX_SHAPES,
        )


def concat(call: NodeCall) -> relax.Expr | None:
    """Concat without its empty inputs; one that is left alone is the result."""
    axis = int(call.attributes["axis"]) % len(call.shape())
    filled = [i for i in range(len(call.inputs)) if not are_equal(call.shape(i)[axis], 0)]
    if len(filled) == 1:
        return call.inputs[filled[0]]
    if filled:
        call.inputs[:] = [call.inputs[i] for i in filled]
    return None
