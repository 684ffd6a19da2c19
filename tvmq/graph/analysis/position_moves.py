"""Positions of a sequence through operators that move or create elements (see positions.py).

A rule has the call and what is known of its arguments: a value for a tensor, a list of them for a tuple, None for
anything else. It gives what is known of the result, a list for a tuple, or a sentence that says what is not.

Tests: tests/graph/test_padding.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tvm
from tvm import relax
from tvm.tirx.analysis import undefined_vars

from tvmq.graph.analysis.positions import OWN, Positions, subsets, without_positions
from tvmq.graph.analysis.value_ranges import Range, join_ranges, range_of_type
from tvmq.graph.operators import where
from tvmq.graph.operators.record import RESHAPE
from tvmq.graph.sizes import are_equal, product
from tvmq.graph.view import const_value, dtype_of, flatten_tuples, is_const, number_of, rank_of

JOINED = "positions become one axis with others"
ALONG = "it joins, takes or moves along the positions"


def join_values(values: Sequence[Positions], targets: Sequence[dict[int, int]], result: Sequence[Range]) -> Positions:
    """Values of several tensors at the same places.

    targets  of each, {its axis: axis of the result}
    result   further values that may stand there
    """
    moved = [value.move_axes(target) for value, target in zip(values, targets, strict=True)]
    axes = tuple(sorted({axis for value in moved for axis in value.axes}))
    return Positions(
        {key: join_ranges([*(range_at(one, key) for one in moved), *result]) for key in subsets(axes)},
        next((one.place for one in moved if one.place), ""),
    )


def range_at(value: Positions, masked: frozenset[int]) -> Range:
    """Range of the values where positions on these axes are masked, own on others; it may lack some of the axes."""
    return value.ranges[masked & frozenset(value.axes)]


def broadcast_axes(arg: relax.Expr, rank: int) -> dict[int, int]:
    """Where the axes of an operand are in a result that it broadcasts to."""
    own = rank_of(arg)
    return {axis: axis + rank - own for axis in range(own)}


def _reshape(call: relax.Call, x: Positions, *_: Any) -> Positions | str:
    """Each axis of positions stays one axis, with as many elements before it as there were."""
    before, after = list(call.args[0].ty.shape), list(call.ty.shape)
    target = {}
    for axis in x.axes:
        places = [
            place for place, size in enumerate(after)
            if are_equal(size, before[axis]) and are_equal(product(before[:axis]), product(after[:place]))
        ]  # fmt: skip
        if not places:
            return JOINED
        target[axis] = places[-1]  # axes of size 1 may come before it
    return x.move_axes(target)


def _permute(call: relax.Call, x: Positions) -> Positions:
    rank = rank_of(call)
    axes = [int(axis) % rank for axis in call.attrs.axes] if call.attrs.axes is not None else range(rank)[::-1]
    return x.move_axes({axis: place for place, axis in enumerate(axes)})


def _broadcast(call: relax.Call, x: Positions, *_: Any) -> Positions:
    return x.move_axes(broadcast_axes(call.args[0], rank_of(call)))


def _take(call: relax.Call, x: Positions, indices: Positions) -> Positions | str:
    if call.attrs.axis is None:
        return ALONG
    rank, added = rank_of(call.args[0]), rank_of(call.args[1])
    axis = int(call.attrs.axis) % rank
    if axis in x.axes:
        return _take_first(call, x, axis, added)
    target = {place: place + (added - 1 if place > axis else 0) for place in range(rank) if place != axis}
    rows = indices.move_axes({place: place + axis for place in range(added)})
    return join_values([x, rows.each_range(lambda _: x.range)], [target, {a: a for a in rows.axes}], [])


def _gather_elements(call: relax.Call, x: Positions, indices: Positions) -> Positions | str:
    """Elements of a table that has no positions, at places that indices name; they stand at their place themselves."""
    return ALONG if x.axes else indices.each_range(lambda _: x.range)


def _take_first(call: relax.Call, x: Positions, axis: int, added: int) -> Positions | str:
    if not is_const(call.args[1]) or np.any(const_value(call.args[1])):
        return "it takes a position other than the first"
    if added:
        return ALONG
    own = Positions({key: one for key, one in x.ranges.items() if axis not in key}, x.place or "first")
    return own.move_axes({place: place - (place > axis) for place in range(rank_of(call.args[0]))})


def _slice(call: relax.Call, x: Positions, *_: Any) -> Positions | str:
    """Other axes, the first position alone, or as many rows of a table as there are positions."""
    rank = rank_of(call.args[0])
    if any(undefined_vars(begin) for begin in call.args[2].fields):
        return "it begins at a computed place"
    numbers = [getattr(field, "value", None) for field in call.args[1].fields]
    axes = [None if number is None else int(number) % rank for number in numbers]
    if any(axis is None or axis in x.axes for axis in axes):
        begins, ends = ([getattr(field, "value", None) for field in arg.fields] for arg in call.args[2:4])
        is_first = axes == [x.axes[0]] if x.axes else False
        if not is_first or [int(n) if n is not None else n for n in (*begins, *ends)] != [0, 1]:
            return ALONG
        return Positions({key: one for key, one in x.ranges.items() if axes[0] not in key}, x.place or "first")
    return x


def _along(call: relax.Call, x: Any, *_: Any) -> Any:
    """Joined, split, repeated or reversed along an axis that is none of positions."""
    values: list[Positions] = x if isinstance(x, list) else [x]
    rank = rank_of(flatten_tuples(call.args)[0])
    axis = None if call.attrs.axis is None else int(call.attrs.axis) % rank  # without an axis all become one
    if axis is None or any(axis in value.axes for value in values):
        return ALONG
    joined = join_values(values, [{a: a for a in range(rank)}] * len(values), [])
    return [joined] * len(call.ty.fields) if isinstance(call.ty, tvm.ir.TupleType) else joined


def _stack(call: relax.Call, parts: list[Positions]) -> Positions:
    rank = rank_of(call)
    axis = int(call.attrs.axis or 0) % rank
    return join_values(parts, [{a: a + (a >= axis) for a in range(rank)}] * len(parts), [])


def _pad(call: relax.Call, x: Positions, *_: Any) -> Positions | str:
    widths = [int(width) for width in call.attrs.pad_width]
    if any(widths[2 * axis] or widths[2 * axis + 1] for axis in x.axes):
        return "it pads positions"
    fill = number_of(call.args[1]) if len(call.args) > 1 else float(getattr(call.attrs, "pad_value", 0.0))
    border = range_of_type(dtype_of(call)) if fill is None else Range(fill, fill)
    return x.each_range(lambda values: join_ranges([values, border]))


def _create(call: relax.Call, *values: Any) -> Positions:
    constants = [value.range for value in values if isinstance(value, Positions)]
    if not constants:
        number = float(call.op.name.endswith("ones"))
        constants = [Range(number, number)]
    return without_positions(constants[0])


def _count_up(call: relax.Call, *_: Any) -> Positions | str:
    whole = range_of_type(dtype_of(call))
    start, step = (getattr(call.args[place], "value", None) for place in (0, 2))
    if start is None or step is None:
        return "it begins at a computed place"
    return Positions({OWN: Range(float(start) if float(step) > 0 else whole.low, whole.high)}, "counted")


Rule = Callable[..., Any]
MOVE_RULES: dict[str, Rule] = {
    **dict.fromkeys(where(form=RESHAPE), _reshape),
    "permute_dims": _permute,
    "broadcast_to": _broadcast,
    "take": _take,
    "gather_elements": _gather_elements,
    "strided_slice": _slice,
    **dict.fromkeys(("concat", "split", "flip", "repeat"), _along),
    "stack": _stack,
    "nn.pad": _pad,
    **dict.fromkeys(("full", "zeros", "ones"), _create),
    "arange": _count_up,
}
