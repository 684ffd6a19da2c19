"""Index operands as loops: each index becomes the place that it means (numerics.place) before an operator reads it."""

from __future__ import annotations

from typing import Any

import numpy as np
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

    def wrap(indices: relax.Expr, sizes: list[Any]) -> relax.Expr:
        if is_const(indices) and all(isinstance(size, tirx.IntImm) for size in sizes):
            return make_const(numerics.place(const_value(indices), np.array([int(size) for size in sizes])))
        given = indices if is_const(indices) or isinstance(indices, relax.Var) else builder.emit(indices)
        return builder.emit(builder.call_te(_places, given, sizes, primfunc_name_hint="places"))

    args = [builder.normalize(arg) for arg in wrapped_arguments(call, wrap)]
    if call.op.name == "relax.take":
        axis = call.attrs.axis
        return builder.call_te(topi.take, *args, axis if axis is None else int(axis), mode="clip")
    return call.op.get_attr("FLegalize")(builder, builder.normalize(relax.Call(call.op, args, call.attrs, call.ty_args)))


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


RULES: dict[str, Any] = {f"relax.{name}": take if name == "take" else places for name in OPERANDS}
