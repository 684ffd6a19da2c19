"""Gathers whose indices count every element are the tensor itself, reshaped and repeated.

Before                                                        After
    rows = arange(0, n)          as (n, 1, 1, l, 1)               r = reshape(mask, (n, 1, 1, l))
    columns = arange(0, l)       as (n, 1, 1, l, 1)               y = broadcast_to(r, (n, 1, 1, l))
    y = gather_nd(mask, concat((rows, columns), axis=-1))

Exporters of transformers write the mask of attention in this way. As a gather nothing shows that its samples, and
their positions, stay apart.

Needs     indices that are counted by arange or by constants, one axis of the result for each, in the same order.
Leaves    all other gathers.
Numerics  values are moved.
"""

from __future__ import annotations

import numpy as np
import tvm
from tvm import relax

from tvmq.graph.operators import where
from tvmq.graph.operators.record import RESHAPE
from tvmq.graph.rewrite import Rewriter
from tvmq.graph.sizes import are_equal, product
from tvmq.graph.view import const_value, is_const, op_name, rank_of


def replace_identity_gather(rewriter: Rewriter, var: relax.Var, value: relax.Expr) -> relax.Expr | None:
    """The tensor that a gather_nd reads, with axes of one element and repeated; None for any other expression."""
    if op_name(value) != "gather_nd" or int(value.attrs.batch_dims):
        return None
    x, indices = value.args
    axes = _counted_axes(rewriter, indices)
    sizes, result = list(x.ty.shape or ()), list(value.ty.shape or ())
    if axes is None or not result or sorted(axes) != axes or len(set(axes)) < len(axes):
        return None
    if not all(are_equal(sizes[place], result[axis]) for place, axis in enumerate(axes)):
        return None
    one = tvm.tirx.const(1, "int64")
    shape = [result[axis] if axis in axes else one for axis in range(len(result) - len(sizes) + len(axes))]
    reshaped = rewriter.emit(relax.op.reshape(x, relax.ShapeExpr(shape + sizes[len(axes) :])), f"{var.name}_all")
    return relax.op.broadcast_to(reshaped, relax.ShapeExpr(result))


def _counted_axes(rewriter: Rewriter, indices: relax.Expr) -> list[int] | None:
    """For each number of an index the axis along which it counts from 0; None where one does not."""
    joined = rewriter.value_of(indices)
    if joined is None or op_name(joined) != "concat" or not isinstance(joined.args[0], relax.Tuple):
        return None
    parts, rank = list(joined.args[0].fields), rank_of(indices)
    is_last = joined.attrs.axis is not None and int(joined.attrs.axis) % rank == rank - 1
    if not is_last or any(not are_equal(part.ty.shape[rank - 1], 1) for part in parts):
        return None
    axes = [_counted_axis(rewriter, part) for part in parts]
    return None if None in axes else [axis for axis in axes if axis is not None]


def _counted_axis(rewriter: Rewriter, expr: relax.Expr) -> int | None:
    """Axis along which the values of a tensor are 0, 1, 2, ..., and on which alone they depend; None without one."""
    if is_const(expr):
        return _counted_axis_of(const_value(expr))
    value = rewriter.value_of(expr)
    if value is None:
        return None
    name = op_name(value)
    if name == "arange":
        start, _, step = (getattr(arg, "value", None) for arg in value.args)
        return 0 if start is not None and step is not None and (int(start), int(step)) == (0, 1) else None
    if name not in where(form=RESHAPE) | {"broadcast_to"}:
        return None
    axis = _counted_axis(rewriter, value.args[0])
    if axis is None:
        return None
    before, after = list(value.args[0].ty.shape), list(value.ty.shape)
    if name == "broadcast_to":
        moved = axis + len(after) - len(before)
        return moved if are_equal(after[moved], before[axis]) else None
    places = [
        place
        for place, size in enumerate(after)
        if are_equal(size, before[axis]) and are_equal(product(before[:axis]), product(after[:place]))
    ]
    return places[-1] if places else None


def _counted_axis_of(array: np.ndarray) -> int | None:
    for axis, size in enumerate(array.shape):
        counted = np.arange(size).reshape([-1 if place == axis else 1 for place in range(array.ndim)])
        if size > 1 and np.array_equal(array, np.broadcast_to(counted, array.shape)):
            return axis
    return None
