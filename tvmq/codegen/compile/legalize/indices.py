"""Index operands as loops: each index becomes the place that it means (numerics.place) before an operator reads it.

Tests: tests/codegen/compile/legalize/test_bounds_checks.py
"""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import numpy as np
import tvm_ffi
from tvm import relax, te, tirx, topi

from tvmq import numerics
from tvmq.graph.indices import OPERANDS, wrapped_arguments
from tvmq.graph.view import const_value, dtype_of, is_const, make_const

Expr = Any


def take(builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    """Legalization of relax.take; TVM's default mode reads foreign memory for an index that is out of bounds."""
    axis, mode = call.attrs.axis, str(call.attrs.mode)
    is_tensor = isinstance(call.args[1].ty, relax.TensorType)
    if mode in ("fast", "wrap") and is_tensor and dtype_of(call.args[1]) in ("int32", "int64"):
        mode = "wrap"
    elif mode in ("fast", "wrap"):
        return places(builder, call)
    return builder.call_te(topi.take, *call.args, axis if axis is None else int(axis), mode=mode)


def places(builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    """Legalization of the other operators of OPERANDS: TVM's, of places instead of indices."""
    args = [builder.normalize(arg) for arg in _place_arguments(builder, call)]
    if call.op.name == "relax.take":
        axis = call.attrs.axis
        return builder.call_te(topi.take, *args, axis if axis is None else int(axis), mode="clip")
    new = builder.normalize(relax.Call(call.op, args, call.attrs, call.ty_args))
    return call.op.get_attr("FLegalize")(builder, new)


def scatter_elements(builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    """Legalization of relax.scatter_elements: TVM's where it is right, else scatter_nd with all coordinates.

    TVM's goes through data and indices as if they had the same sizes along all axes but one.
    """
    shape, others = ([*arg.ty.shape] for arg in call.args[:2])
    axis = int(call.attrs.axis) % len(shape)
    same = all(map(tvm_ffi.structural_equal, shape[:axis] + shape[axis + 1 :], others[:axis] + others[axis + 1 :]))
    if same:
        return places(builder, call)
    data, indices, updates = _place_arguments(builder, call)
    points = builder.emit(builder.call_te(_points, indices, axis, primfunc_name_hint="points"))
    new = builder.normalize(relax.op.scatter_nd(data, points, updates, str(call.attrs.reduction)))
    return new.op.get_attr("FLegalize")(builder, new)


def index_put(builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    """Legalization of relax.index_put: scatter_nd, which takes the values one after the other.

    TVM's takes them in parallel, so that of values for one place any can be the last, or be lost from a sum; and it
    reads values that are fewer than the places as if they were as many.
    """
    data, indices, values = _place_arguments(builder, call)
    points = builder.emit(builder.call_te(_join_places, list(_fields(indices)), primfunc_name_hint="points"))
    wanted = [*points.ty.shape][:-1]
    if not tvm_ffi.structural_equal(values.ty.shape, relax.ShapeExpr(wanted)):
        spread = topi.reshape if _are_as_many(values, wanted) else topi.broadcast_to
        values = builder.emit(builder.call_te(spread, values, wanted, primfunc_name_hint="values"))
    reduction = "add" if call.attrs.accumulate else "update"
    new = builder.normalize(relax.op.scatter_nd(data, points, values, reduction))
    return new.op.get_attr("FLegalize")(builder, new)


def _fields(indices: relax.Expr) -> list[relax.Expr]:
    return list(indices.fields) if isinstance(indices, relax.Tuple) else [indices]


def _are_as_many(values: relax.Expr, shape: list[Any]) -> bool:
    """True for values that are laid out otherwise, and are so many in all."""
    sizes = [*values.ty.shape, *shape]
    return all(isinstance(size, tirx.IntImm) for size in sizes) and math.prod(map(int, values.ty.shape)) == math.prod(
        map(int, shape)
    )


def _place_arguments(builder: relax.BlockBuilder, call: relax.Call) -> list[relax.Expr]:
    """The arguments with places instead of indices."""

    def wrap(indices: relax.Expr, sizes: list[Any]) -> relax.Expr:
        if is_const(indices) and all(isinstance(size, tirx.IntImm) for size in sizes):
            return make_const(numerics.place(const_value(indices), np.array([int(size) for size in sizes])))
        argument = indices if is_const(indices) or isinstance(indices, relax.Var) else builder.emit(indices)
        return builder.emit(builder.call_te(_places, argument, sizes, primfunc_name_hint="places"))

    return wrapped_arguments(call, wrap)


def _points(places: te.Tensor, axis: int) -> te.Tensor:
    """[shape of places, rank]: the coordinates of each element, its place along `axis`."""

    def value(*i: tirx.Var) -> Expr:
        result = places(*i[:-1])
        for number, at in enumerate(i[:-1]):
            result = result if number == axis else tirx.Select(i[-1] == number, tirx.Cast("int64", at), result)
        return result

    return te.compute([*places.shape, len(places.shape)], value, name="points")


def _join_places(places: list[te.Tensor]) -> te.Tensor:
    """[shape that the places broadcast to, their number]: the coordinates of each value."""
    shape = reduce(topi.add, places).shape
    return topi.stack([topi.broadcast_to(place, shape) for place in places], len(shape))


def _places(indices: te.Tensor, sizes: list[Any]) -> te.Tensor:
    """int64 [as indices]; sizes: one, or one for each item of the last dimension."""

    def value(*i: tirx.Var) -> Expr:
        index = tirx.Cast("int64", indices(*i))
        result = _place(index, sizes[-1])
        for number, size in reversed(list(enumerate(sizes[:-1]))):
            result = tirx.Select(i[-1] == number, _place(index, size), result)
        return result

    return te.compute(indices.shape, value, name="places")


def _place(index: Expr, size: Any) -> Expr:
    return tirx.FloorMod(index, tirx.max(tirx.Cast("int64", size), tirx.const(1, "int64")))


RULES: dict[str, Any] = {
    **{f"relax.{name}": places for name in OPERANDS},
    "relax.take": take,
    "relax.index_put": index_put,
    "relax.scatter_elements": scatter_elements,
}
