"""Operators that move values: reshapes, transposes, concatenation, splits, slices, repetition.

Layouts such as NCHW and NCHW4c: one letter a dimension, small ones behind a number for blocks of it.

Tests: tests/relay/test_ops.py
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tvm import relax

from tvmq.errors import ModelError, UnsupportedOpError
from tvmq.relay.expr import Call, Expr, Tuple, TupleWrapper
from tvmq.relay.op.arguments import as_expr, call, given_numbers
from tvmq.relay.op.elementwise import register_same
from tvmq.relay.op.registry import REQUIRED, register
from tvmq.relay.types import numbers


def layout_parts(layout: str) -> list[tuple[str, int]]:
    """(axis, length of its blocks, 0 for the dimension itself) of a layout.

    >>> layout_parts("NC4c")
    [('N', 0), ('C', 0), ('C', 4)]
    """
    return [(letter.upper(), int(block or 0)) for block, letter in re.findall(r"(\d*)([A-Za-z])", layout)]


def transform_layout(emit: Any, data: Any, source: str, target: str) -> Any:
    """Reshape, transpose, reshape: blocks are split off in the first step and joined in the last.

    raises  UnsupportedOpError  both layouts have blocks of one axis, of different lengths
    """
    split, order, shape = _split_blocks(data, layout_parts(source), layout_parts(target))
    data = emit(relax.op.reshape(data, split))
    data = emit(relax.op.permute_dims(data, order))
    return emit(relax.op.reshape(data, shape))


def _split_blocks(data: Any, source: list[tuple[str, int]], target: list[tuple[str, int]]) -> tuple[list[int], ...]:
    """Shape with all blocks apart, order of its dimensions in the target, shape of the target."""
    blocks = {axis: length for axis, length in [*source, *target] if length}
    clash = [axis for axis, length in [*source, *target] if length and length != blocks[axis]]
    if clash or {axis for axis, _ in source} != {axis for axis, _ in target}:
        raise UnsupportedOpError(f"relay, layout_transform: {source} to {target}; go by way of a layout without blocks")
    apart: dict[tuple[str, int], int] = {}
    for (axis, length), size in zip(source, data.ty.shape, strict=True):
        whole = not length and axis in blocks and (axis, blocks[axis]) not in source
        if whole:
            apart[axis, 0], apart[axis, blocks[axis]] = int(size) // blocks[axis], blocks[axis]
        else:
            apart[axis, length] = int(size)
    wanted = [part for axis, length in target for part in _pieces(axis, length, blocks, target)]
    shape = [_length(axis, length, blocks, target, apart) for axis, length in target]
    order = [list(apart).index(part) for part in wanted]
    return list(apart.values()), order, shape


def _pieces(axis: str, length: int, blocks: dict[str, int], target: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """The dimensions, all blocks apart, that one of the target is made of."""
    joined = not length and axis in blocks and (axis, blocks[axis]) not in target
    return [(axis, 0), (axis, blocks[axis])] if joined else [(axis, length)]


def _length(
    axis: str, length: int, blocks: dict[str, int], target: list[tuple[str, int]], apart: dict[tuple[str, int], int]
) -> int:
    size = 1
    for part in _pieces(axis, length, blocks, target):
        size *= apart[part]
    return size


def new_shape(shape: Sequence[Any], wanted: Sequence[int], allowzero: bool = False) -> list[Any]:
    """A shape after reshape's codes, one -1 at most left to be inferred.

    0 copies a dimension (with allowzero it is 0), -2 copies all that are left, -3 joins two, -4 splits one into the
    next two numbers, of which one may be -1.

    >>> new_shape((2, 3, 4), (0, -1)), new_shape((2, 3, 4), (-3, 0)), new_shape((2, 6), (0, -4, -1, 2))
    ([2, -1], [6, 4], [2, 3, 2])
    """
    sizes: list[Any] = []
    shape, codes, read = list(shape), list(wanted), 0
    while codes:
        code = codes.pop(0)
        if code == -2:
            sizes, read = [*sizes, *shape[read:]], len(shape)
        elif code == -3:
            sizes, read = [*sizes, shape[read] * shape[read + 1]], read + 2
        elif code == -4:
            first, second = codes.pop(0), codes.pop(0)
            first = shape[read] // second if first == -1 else first
            sizes, read = [*sizes, first, shape[read] // first], read + 1
        else:
            sizes, read = [*sizes, shape[read] if code == 0 and not allowzero else code], read + 1
    return sizes


@register("reshape", newshape=REQUIRED, allowzero=0)
def _reshape(emit: Any, args: list[Any], attrs: Any) -> Any:
    return emit(relax.op.reshape(args[0], new_shape(args[0].ty.shape, numbers(attrs.newshape), bool(attrs.allowzero))))


@register("contrib_reverse_reshape", newshape=REQUIRED, allowzero=0)
def _reverse_reshape(emit: Any, args: list[Any], attrs: Any) -> Any:
    shape = list(args[0].ty.shape)[::-1]
    return emit(relax.op.reshape(args[0], new_shape(shape, numbers(attrs.newshape)[::-1])[::-1]))


@register("reshape_like")
def _reshape_like(emit: Any, args: list[Any], attrs: Any) -> Any:
    return emit(relax.op.reshape(args[0], list(args[1].ty.shape)))


@register("nn.batch_flatten")
def _batch_flatten(emit: Any, args: list[Any], attrs: Any) -> Any:
    return emit(relax.op.reshape(args[0], [args[0].ty.shape[0], -1]))


@register("transpose", axes=None)
def _transpose(emit: Any, args: list[Any], attrs: Any) -> Any:
    rank = len(args[0].ty.shape)
    axes = [axis % rank for axis in numbers(attrs.axes)] if attrs.axes else None
    return emit(relax.op.permute_dims(args[0], axes))


@register("squeeze", axis=None)
def _squeeze(emit: Any, args: list[Any], attrs: Any) -> Any:
    return emit(relax.op.squeeze(args[0], None if attrs.axis is None else list(numbers(attrs.axis))))


@register("expand_dims", axis=REQUIRED, num_newaxis=1)
def _expand_dims(emit: Any, args: list[Any], attrs: Any) -> Any:
    rank = len(args[0].ty.shape)
    first = attrs.axis if attrs.axis >= 0 else rank + 1 + attrs.axis
    return emit(relax.op.expand_dims(args[0], list(range(first, first + attrs.num_newaxis))))


def _fields(value: Any, emit: Any) -> list[Any]:
    """The tensors of a tuple."""
    if isinstance(value, relax.Tuple):
        return list(value.fields)
    return [emit(relax.TupleGetItem(value, index)) for index in range(len(value.ty.fields))]


@register("concatenate", axis=0)
def _concatenate(emit: Any, args: list[Any], attrs: Any) -> Any:
    return emit(relax.op.concat(_fields(args[0], emit), attrs.axis))


@register("stack", axis=0)
def _stack(emit: Any, args: list[Any], attrs: Any) -> Any:
    return emit(relax.op.stack(_fields(args[0], emit), attrs.axis))


@register("split", indices_or_sections=REQUIRED, axis=0)
def _split(emit: Any, args: list[Any], attrs: Any) -> Any:
    parts = attrs.indices_or_sections
    return emit(relax.op.split(args[0], int(parts) if isinstance(parts, int) else list(numbers(parts)), attrs.axis))


@register("strided_slice", begin=REQUIRED, end=REQUIRED, strides=None, axes=None, slice_mode="end")
def _strided_slice(emit: Any, args: list[Any], attrs: Any) -> Any:
    begin, end = numbers(attrs.begin), numbers(attrs.end)
    axes = numbers(attrs.axes) if attrs.axes is not None else tuple(range(len(begin)))
    strides = numbers(attrs.strides) if attrs.strides else (1,)
    strides = strides * len(begin) if len(strides) == 1 else strides
    if attrs.slice_mode == "size":
        sizes = [int(args[0].ty.shape[axis]) for axis in axes]
        starts = [b + size if b < 0 else b for b, size in zip(begin, sizes, strict=True)]
        end = tuple(s if e < 0 else b + e for b, e, s in zip(starts, end, sizes, strict=True))
        begin, strides = tuple(starts), (1,) * len(begin)
    return emit(relax.op.strided_slice(args[0], axes, begin, end, strides))


@register("broadcast_to", shape=REQUIRED)
def _broadcast_to(emit: Any, args: list[Any], attrs: Any) -> Any:
    return emit(relax.op.broadcast_to(args[0], list(numbers(attrs.shape))))


@register("broadcast_to_like")
def _broadcast_to_like(emit: Any, args: list[Any], attrs: Any) -> Any:
    return emit(relax.op.broadcast_to(args[0], list(args[1].ty.shape)))


@register("tile", reps=REQUIRED)
def _tile(emit: Any, args: list[Any], attrs: Any) -> Any:
    return emit(relax.op.tile(args[0], list(numbers(attrs.reps))))


register_same("repeat", "repeat", repeats=REQUIRED, axis=None)
register_same("reverse", "flip", axis=REQUIRED)


@register("layout_transform", src_layout=REQUIRED, dst_layout=REQUIRED)
def _layout_transform(emit: Any, args: list[Any], attrs: Any) -> Any:
    return transform_layout(emit, args[0], attrs.src_layout, attrs.dst_layout)


@register("copy")
def _copy(emit: Any, args: list[Any], attrs: Any) -> Any:
    return args[0]


def reshape(data: Expr, newshape: Any, allowzero: bool = False) -> Call:
    """The values in another shape, as relay.reshape: 0 copies a dimension, -1 is inferred, -2 to -4 as in MXNet.

    >>> from tvmq.relay.expr import var
    >>> str(reshape(var("x", shape=(2, 3, 4)), (0, -1)).checked_type)
    'Tensor[(2, 12), float32]'
    """
    return call("reshape", data, newshape=given_numbers(newshape, "reshape, newshape"), allowzero=int(allowzero))


def contrib_reverse_reshape(data: Expr, newshape: Any) -> Call:
    """reshape whose codes are read from the right, as relay.reverse_reshape."""
    return call("contrib_reverse_reshape", data, newshape=given_numbers(newshape, "reverse_reshape, newshape"))


reverse_reshape = contrib_reverse_reshape


def reshape_like(data: Expr, shape_like: Expr) -> Call:
    """The values in the shape of another tensor, as relay.reshape_like."""
    return call("reshape_like", data, shape_like)


def batch_flatten(data: Expr) -> Call:
    """Each sample as one row, as relay.nn.batch_flatten."""
    return call("nn.batch_flatten", data)


def transpose(data: Expr, axes: Any = None) -> Call:
    """Dimensions in another order, by default reversed, as relay.transpose."""
    return call("transpose", data, axes=numbers(axes) if axes else None)


def squeeze(data: Expr, axis: Any = None) -> Call:
    """Without dimensions of length 1, by default all of them, as relay.squeeze."""
    return call("squeeze", data, axis=None if axis is None else numbers(axis))


def expand_dims(data: Expr, axis: int, num_newaxis: int = 1) -> Call:
    """With num_newaxis dimensions of length 1 in front of an axis, as relay.expand_dims."""
    return call("expand_dims", data, axis=int(axis), num_newaxis=int(num_newaxis))


def _as_tuple(data: Any, name: str) -> Expr:
    """A tuple expression from a sequence, refused where it is empty."""
    if isinstance(data, Expr | TupleWrapper):
        return as_expr(data)
    if not data:
        raise ValueError(f"relay.{name}: data must have at least one value")
    return Tuple(list(data))


def concatenate(data: Any, axis: int) -> Call:
    """Tensors one behind the other along an axis, as relay.concatenate; data: a list, a tuple or a Tuple.

    >>> from tvmq.relay.expr import var
    >>> x = var("x", shape=(1, 2))
    >>> str(concatenate([x, x], axis=1).checked_type)
    'Tensor[(1, 4), float32]'
    """
    if not isinstance(axis, int):
        raise ValueError("For now, we only support integer axis")
    return call("concatenate", _as_tuple(data, "concatenate"), axis=axis)


def stack(data: Any, axis: int) -> Call:
    """Tensors one beside the other along a new axis, as relay.stack."""
    return call("stack", _as_tuple(data, "stack"), axis=axis)


def split(data: Expr, indices_or_sections: Any, axis: int = 0) -> TupleWrapper:
    """Parts along an axis, as relay.split: so many equal ones, or cut in front of each index."""
    parts: Any
    if isinstance(indices_or_sections, int):
        count = parts = indices_or_sections
    else:
        parts = numbers(indices_or_sections)
        count = len(parts) + 1
    return TupleWrapper(call("split", data, indices_or_sections=parts, axis=axis), count)


def strided_slice(
    data: Expr, begin: Any, end: Any, strides: Any = None, axes: Any = None, slice_mode: str = "end"
) -> Call:
    """A part of a tensor, as relay.strided_slice; with slice_mode "size", `end` holds lengths and -1 is the rest."""
    if slice_mode not in ("end", "size"):
        raise ModelError(f"relay, strided_slice: slice_mode '{slice_mode}'; use 'end' or 'size'")
    options = {
        "begin": given_numbers(begin, "strided_slice, begin"), "end": given_numbers(end, "strided_slice, end"),
        "strides": None if strides is None else given_numbers(strides, "strided_slice, strides"),
        "axes": None if axes is None else numbers(axes), "slice_mode": slice_mode,
    }  # fmt: skip
    return call("strided_slice", data, **options)


def broadcast_to(data: Expr, shape: Any) -> Call:
    """Repeated to a shape as NumPy broadcasts, as relay.broadcast_to."""
    return call("broadcast_to", data, shape=given_numbers(shape, "broadcast_to, shape"))


def broadcast_to_like(data: Expr, broadcast_type: Expr) -> Call:
    """Repeated to the shape of another tensor, as relay.broadcast_to_like."""
    return call("broadcast_to_like", data, broadcast_type)


def tile(data: Expr, reps: Any) -> Call:
    """The whole tensor repeated, as relay.tile."""
    return call("tile", data, reps=given_numbers(reps, "tile, reps"))


def repeat(data: Expr, repeats: int, axis: int | None) -> Call:
    """Each element repeated along an axis, as relay.repeat."""
    return call("repeat", data, repeats=int(repeats), axis=axis)


def reverse(data: Expr, axis: int) -> Call:
    """The other way round along an axis, as relay.reverse."""
    return call("reverse", data, axis=int(axis))


def layout_transform(data: Expr, src_layout: str, dst_layout: str) -> Call:
    """From one layout to another, as relay.layout_transform: NCHW to NHWC, NCHW to NCHW4c and back."""
    if not set(src_layout) & set(dst_layout):
        raise UnsupportedOpError(f"relay, layout_transform: {src_layout} and {dst_layout} share no axis")
    return call("layout_transform", data, src_layout=src_layout, dst_layout=dst_layout)


def copy(data: Expr) -> Call:
    """Copy of a tensor, as relay.copy."""
    return call("copy", data)
