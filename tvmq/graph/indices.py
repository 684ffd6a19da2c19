"""Index operands of Relax operators, and the axes that they count: every index has to stay inside of its axis.

An index counts from the end where it is negative: -size .. size - 1. A constant outside of that is refused, an input of
the model is checked before each run, and what is computed inside of the model wraps round (numerics.place).

A new operator gets all of this by a line in OPERANDS.

Tests: tests/codegen/compile/test_scatters.py
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from tvm import relax

from tvmq.base.index_checks import check_range
from tvmq.errors import UnsupportedOpError
from tvmq.graph.operators import where
from tvmq.graph.operators.record import BROADCAST, REPEAT, RESHAPE, REVERSE, TRANSPOSE
from tvmq.graph.view import View, const_value, is_const, op_name, sizes_of


@dataclass(frozen=True)
class IndexOperand:
    """Indices that an operator reads.

    argument  its number among the arguments
    field     its number in a tuple that is the argument; None where the argument is a tensor
    axes      of the data that they count; several: one for each item of the last dimension of the indices
    """

    argument: int
    axes: tuple[int, ...]
    field: int | None = None

    def indices_of(self, call: relax.Call) -> relax.Expr:
        """The indices; of a tuple that is a variable, its field."""
        places = call.args[self.argument]
        if self.field is None:
            return places
        return places.fields[self.field] if isinstance(places, relax.Tuple) else relax.TupleGetItem(places, self.field)


def _rank(expr: relax.Expr) -> int:
    return len(list(expr.ty.shape))


def _along(call: relax.Call) -> list[IndexOperand]:
    return [IndexOperand(1, (int(call.attrs.axis) % _rank(call.args[0]),))]


def _take(call: relax.Call) -> list[IndexOperand]:
    """relax.take; modes "clip" and "nan" say what lies outside, so that all indices are good."""
    if str(call.attrs.mode) not in ("fast", "wrap") or not isinstance(call.args[1].ty, relax.TensorType):
        return []
    axis = call.attrs.axis
    return [IndexOperand(1, (0 if axis is None else int(axis) % _rank(call.args[0]),))]


def _points(call: relax.Call) -> list[IndexOperand]:
    first = int(call.attrs.batch_dims) if op_name(call) == "gather_nd" else 0
    count = int(list(call.args[1].ty.shape)[-1])
    return [IndexOperand(1, tuple(range(first, first + count)))]


def _operands_of_tuple(call: relax.Call) -> list[IndexOperand]:
    if isinstance(call.args[1].ty, relax.TensorType):
        return [IndexOperand(1, (0,))]
    return [IndexOperand(1, (axis,), axis) for axis in range(len(call.args[1].ty.fields))]


OPERANDS: dict[str, Callable[[relax.Call], list[IndexOperand]]] = {
    "take": _take,
    "gather_elements": _along,
    "scatter_elements": _along,
    "gather_nd": _points,
    "scatter_nd": _points,
    "index_tensor": _operands_of_tuple,
    "index_put": _operands_of_tuple,
}
# What keeps every value of its operand, so that an index behind it is an index before it
COMPUTED = "tvmq.computed_inputs"  # attribute of a part of a model: its inputs come from other parts
# What keeps every value of its operand, so that an index behind it is an index before it
MOVES = where(form=(RESHAPE, TRANSPOSE, BROADCAST, REPEAT, REVERSE))


def index_operands(call: relax.Expr) -> list[IndexOperand]:
    """The indices that an operator reads; none for all other expressions."""
    name = op_name(call)
    return OPERANDS[name](call) if name in OPERANDS else []


def axis_sizes(call: relax.Call, operand: IndexOperand) -> list[int | str]:
    """Sizes of the axes that indices count; dynamic ones as text."""
    sizes = sizes_of(call.args[0])
    if op_name(call) == "take" and call.attrs.axis is None:
        known = [size for size in sizes if isinstance(size, int)]
        return [math.prod(known) if len(known) == len(sizes) else " * ".join(map(str, sizes))]
    return [sizes[axis] for axis in operand.axes]


def refuse_outside(call: relax.Expr, where: str) -> None:
    """Refuse a constant index outside of its axis, indices and updates of shapes that do not fit, a topk of too many.

    where   the layer and its operator, for the message
    raises  UnsupportedOpError
    """
    for operand in index_operands(call):
        indices = operand.indices_of(call)
        if is_const(indices):
            check_range(const_value(indices), axis_sizes(call, operand), where, UnsupportedOpError)
        if 0 in axis_sizes(call, operand) and 0 not in sizes_of(indices):
            raise UnsupportedOpError(f"{where}: indices into an axis of no elements; leave it out")
    if op_name(call) in ("gather_elements", "scatter_elements"):
        sizes, many = sizes_of(call.args[0]), sizes_of(call.args[1])
        for axis, (size, count) in enumerate(zip(sizes, many, strict=True)):
            if axis == int(call.attrs.axis) % len(sizes) or isinstance(size, str) or isinstance(count, str):
                continue
            if count > size:
                raise UnsupportedOpError(
                    f"{where}: indices of shape {many} are larger than {sizes} along axis {axis}; cut them"
                )
    if op_name(call) == "index_put":
        _refuse_values(call, where)
    if op_name(call) == "topk":
        size, count = sizes_of(call.args[0])[int(call.attrs.axis)], int(call.attrs.k)
        if isinstance(size, int) and count > size:
            raise UnsupportedOpError(f"{where}: {count} of an axis of {size}; take at most {size}")


def _refuse_values(call: relax.Call, where: str) -> None:
    """Refuse values that are neither as many as the places of an index_put nor spread to them."""
    indices = call.args[1].fields if isinstance(call.args[1], relax.Tuple) else []
    shapes = [sizes_of(places) for places in indices]
    values = sizes_of(call.args[2])
    if not indices or not all(isinstance(size, int) for shape in (values, *shapes) for size in shape):
        return
    places = np.broadcast_shapes(*shapes)  # type: ignore[arg-type]
    spread = zip(values[::-1], places[::-1], strict=False)
    fit = len(values) <= len(places) and all(size in (1, wanted) for size, wanted in spread)
    if not fit and math.prod(values) != math.prod(places):
        raise UnsupportedOpError(
            f"{where}: values of shape {values} for places of shape {places}; give one for each place, or one for all"
        )


def input_indices(view: View, names: dict[str, str]) -> list[dict[str, Any]]:
    """Inputs that are indices as they are: {"input", "sizes", "layer", "operator"} of each use.

    names   {parameter: input}
    sizes   of the axes; a dynamic one is the text of its name
    """
    uses: list[dict[str, Any]] = []
    if COMPUTED in (view.func.attrs or {}):
        return uses
    for var, value in view.bindings:
        for operand in index_operands(value):
            param = _origin(view, operand.indices_of(value), len(operand.axes) == 1)
            sizes = [size if isinstance(size, int) else size[:] for size in axis_sizes(value, operand)]
            if param in names and all(isinstance(size, int) or size.isidentifier() for size in sizes):
                layer = ", ".join(view.sources(var.name))
                uses.append({"input": names[param], "sizes": sizes, "layer": layer, "operator": op_name(value)})
    return uses


def _origin(view: View, expr: relax.Expr, moved: bool) -> str:
    """The parameter whose values an operand has; "" if it is computed. moved: they may be laid out otherwise."""
    while isinstance(expr, relax.Var):
        value = view.producer(expr)
        if value is None:
            return str(expr.name)
        name = op_name(value)
        widens = name == "astype" and "int" in str(value.args[0].ty.dtype)
        if not (widens or (moved and name in MOVES)):
            return ""
        expr = value.args[0]
    return ""


def wrapped_arguments(call: relax.Call, wrap: Callable[[relax.Expr, list[Any]], relax.Expr]) -> list[relax.Expr]:
    """The arguments of a call with wrap(indices, sizes of their axes) in the place of the indices."""
    args = list(call.args)
    shape = list(call.args[0].ty.shape)
    for number, group in _by_argument(index_operands(call)):
        new = [wrap(operand.indices_of(call), [shape[axis] for axis in operand.axes]) for operand in group]
        args[number] = new[0] if group[0].field is None else relax.Tuple(new)
    return args


def _by_argument(operands: list[IndexOperand]) -> Iterator[tuple[int, list[IndexOperand]]]:
    for number in dict.fromkeys(operand.argument for operand in operands):
        yield number, [operand for operand in operands if operand.argument == number]
