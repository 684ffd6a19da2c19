"""Batch axis that is not the first: samples that stay apart along it.

Recurrent layers have steps before samples; queries, keys and values can stand before samples.

Each operator of APART leaves what lies at one place of that axis apart from what lies at others, and says where the
axis is afterwards; an operator that is not there proves nothing.

Tests: tests/graph/test_batch_dimension.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import tvm
from tvm import relax
from tvm.tirx.analysis import undefined_vars

from tvmq.graph.operators import OPERATORS
from tvmq.graph.sizes import are_equal, product
from tvmq.graph.view import View, op_name, rank_of

Places = Sequence[int | None]  # the axis of each tensor that is read, None for one without the dimension


def inner_axis(ty: relax.Type, name: str) -> int | None:
    """The axis that is the dimension, if it is one axis and not the first; of a tuple that of all its tensors."""
    if isinstance(ty, tvm.ir.TupleType):
        axes = {inner_axis(field, name) for field in ty.fields}
        return axes.pop() if len(axes) == 1 else None
    if not isinstance(ty, relax.TensorType) or ty.shape is None:
        return None
    places = [axis for axis, dim in enumerate(ty.shape) if uses(dim, name)]
    single = len(places) == 1 and places[0] > 0 and isinstance(ty.shape[places[0]], tvm.ir.Var)
    return places[0] if single else None


def uses(dim: tvm.ir.Expr, name: str) -> bool:
    """True for a size that depends on the dimension."""
    return any(var.name == name for var in undefined_vars(dim))


def mentions(arg: relax.Expr, name: str) -> bool:
    """True for a shape or number that is computed from the dimension."""
    if isinstance(arg, relax.ShapeExpr):
        return any(uses(dim, name) for dim in arg.values)
    if isinstance(arg, relax.Tuple):
        return any(mentions(item, name) for item in arg.fields)
    return isinstance(arg.ty, tvm.ir.PrimType) and uses(arg, name)


def other_axes(value: relax.Call, axis: int) -> bool:
    """True if a slice leaves an axis whole."""
    rank = rank_of(value.args[0])
    numbers = [getattr(field, "value", None) for field in value.args[1].fields]
    return all(number is not None and int(number) % rank != axis for number in numbers)


def keeps_apart(value: relax.Call, places: Places, after: int, name: str) -> bool:
    """True for an operator by which no sample influences another.

    places   the axis of each tensor that is read
    after    that of the result
    """
    op = op_name(value)
    rule = APART.get(op) or BY_RULE.get(OPERATORS[op].batch if op in OPERATORS else "")
    return rule is not None and rule(value, places, after, name)


def batch_of_loops(view: View, loops: frozenset[str]) -> list[str]:
    """Dynamic dimensions that recurrent layers have as their samples."""
    sizes = [value.ty.shape[1] for _, value in view.bindings if op_name(value) in loops]
    return list(dict.fromkeys(size.name for size in sizes if isinstance(size, tvm.ir.Var)))


def _at_one_place(value: relax.Call, places: Places, after: int, _name: str) -> bool:
    """Values at the same place, counted from the last axis, as tensors broadcast."""
    ranks = [rank_of(arg) for arg in value.args if isinstance(arg.ty, relax.TensorType)]
    return all(at is None or rank - at == rank_of(value) - after for rank, at in zip(ranks, places, strict=True))


def _constants_along(value: relax.Call, places: Places, after: int, _name: str) -> bool:
    alone = not any(at is not None for at in places[1:])
    return alone and places[0] == after and int(getattr(value.attrs, "axis", -1)) != after


def _along(value: relax.Call, places: Places, after: int, _name: str) -> bool:
    """Values are mixed, joined or split along another axis."""
    axis, first = value.attrs.axis, value.args[0]
    rank = rank_of(first.fields[0] if isinstance(first, relax.Tuple) else first)
    return axis is not None and int(axis) % rank != after and all(at in (None, after) for at in places)


def _stacks(value: relax.Call, places: Places, after: int, _name: str) -> bool:
    axis = int(value.attrs.axis or 0) % rank_of(value)
    return axis != after and all(at is None or at + (axis <= at) == after for at in places)


def _normalizes(value: relax.Call, places: Places, after: int, _name: str) -> bool:
    axes, rank = getattr(value.attrs, "axes", 1), rank_of(value.args[0])  # ours: a number of last axes
    inside = after < rank - axes if isinstance(axes, int) else all(int(axis) % rank != after for axis in axes)
    return places[0] == after and inside and not any(at is not None for at in places[1:])


def _product(value: relax.Call, places: Places, after: int, _name: str) -> bool:
    """Rows with a matrix that belongs to all, or whole matrices of both."""
    a, b = (rank_of(arg) for arg in value.args[:2])
    if len(places) == 2 and places[1] is None:
        return places[0] == after < a - 1 and (b == 2 or after < a - 2)
    return places[0] == places[1] == after < a - 2 and a == b


def _permutes(value: relax.Call, places: Places, after: int, _name: str) -> bool:
    return value.attrs.axes is not None and int(value.attrs.axes[after]) == places[0]


def _slices(value: relax.Call, places: Places, after: int, name: str) -> bool:
    numbers = not any(mentions(arg, name) for arg in value.args[1:])
    return places[0] == after and numbers and isinstance(value.args[1], relax.Tuple) and other_axes(value, after)


def _takes(value: relax.Call, places: Places, after: int, _name: str) -> bool:
    before = places[0]
    if value.attrs.axis is None or before is None or any(at is not None for at in places[1:]):
        return False
    axis = int(value.attrs.axis) % rank_of(value.args[0])
    return axis != before and after == before + (rank_of(value.args[1]) - 1 if axis < before else 0)


def _reshapes(value: relax.Call, places: Places, after: int, _name: str) -> bool:
    """The dimension stays one axis, with as many elements before it as there were."""
    before = places[0]
    if before is None or not isinstance(value.ty.shape[after], tvm.ir.Var):
        return False
    return are_equal(product(list(value.args[0].ty.shape)[:before]), product(list(value.ty.shape)[:after]))


def _scales(value: relax.Call, places: Places, after: int, _name: str) -> bool:
    first = int(value.attrs.first)
    return places[0] == after and after not in range(first, first + int(value.attrs.count))


def _loops(value: relax.Call, places: Places, after: int, _name: str) -> bool:
    """Gates and states of each sample, or states and lengths that belong to all."""
    gates, weight, terms, state, lengths, *scale = places
    own = gates == after == 1 and state in (None, 1) and lengths in (None, 0)
    return own and all(at is None for at in (weight, terms, *scale))


def _creates(_value: relax.Call, places: Places, _after: int, _name: str) -> bool:
    """True if no argument has the axis: one value everywhere."""
    return all(at is None for at in places)


Rule = Callable[[relax.Call, Places, int, str], bool]
# by operator, and by the word that a record has for how samples stay apart
APART: dict[str, Rule] = dict.fromkeys(("full", "zeros", "ones"), _creates)
BY_RULE: dict[str, Rule] = {
    "same rank": _at_one_place,
    "constants along": _constants_along,
    "along": _along,
    "stacks": _stacks,
    "normalizes": _normalizes,
    "product": _product,
    "permutes": _permutes,
    "slices": _slices,
    "takes": _takes,
    "shaped": _reshapes,
    "loops": _loops,
    "scales": _scales,
}
