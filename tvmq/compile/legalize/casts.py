"""Casts, shifts and division of integers as numerics/fixed_point.py has them, whatever the CPU does."""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax, te, tirx, topi

from tvmq.graph.view import const_value, dtype_of, is_const

Expr = Any
WHOLE = ("int", "uint")
SHIFTS = {"relax.left_shift": topi.left_shift, "relax.right_shift": topi.right_shift}
DIVISIONS = {
    "relax.divide": topi.divide,
    "relax.floor_divide": topi.floor_divide,
    "relax.mod": topi.mod,
    "relax.floor_mod": topi.floor_mod,
}


def saturating_cast(node: Expr) -> Expr:
    """A Cast of a float to an integer: cut towards zero, the nearest integer where it does not fit, NaN the lowest."""
    dtype, source, x = str(node.ty), str(node.value.ty), node.value
    if not source.startswith(("float", "bfloat")) or not dtype.startswith(WHOLE):
        return node
    if source not in ("float32", "float64"):  # the ends of integers are no numbers of 16 bits
        x, source = tirx.Cast("float32", x), "float32"
    low, high = _ends(dtype)
    above, below = tirx.const(2.0 ** high.bit_length(), source), tirx.const(float(low) - 1, source)
    inside = tirx.Select(x > below, node, tirx.const(low, dtype))  # false for NaN
    return tirx.Select(x >= above, tirx.const(high, dtype), inside)


def _ends(dtype: str) -> tuple[int, int]:
    limits = np.iinfo(dtype)
    return int(limits.min), int(limits.max)


def astype(builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    """Legalization of relax.astype: numerics.cast for floats that become integers, else TVM's."""
    dtype = str(call.attrs.dtype)
    if not dtype_of(call.args[0]).startswith(("float", "bfloat")) or not dtype.startswith(WHOLE):
        return call.op.get_attr("FLegalize")(builder, call)

    def compute(x: te.Tensor) -> te.Tensor:
        return te.compute(x.shape, lambda *i: saturating_cast(tirx.Cast(dtype, x(*i))), name="cast")

    return builder.call_te(compute, call.args[0], primfunc_name_hint="cast")


def shift(builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    """Legalization of the operators of SHIFTS: by the width or more, or by less than 0, all bits leave."""
    kind, operator = dtype_of(call.args[0]), SHIFTS[call.op.name]
    last = tirx.const(int(np.iinfo(kind).bits) - 1, kind)

    def is_far(count: Expr) -> Expr:
        return tirx.any(count < tirx.const(0, kind), count > last)

    def compute(x: te.Tensor, count: te.Tensor) -> te.Tensor:
        safe = te.compute(count.shape, lambda *i: tirx.Select(is_far(count(*i)), last, count(*i)), name="count")
        shifted = operator(x, safe)
        if kind.startswith("int") and operator is topi.right_shift:
            return shifted  # copies of the sign are left
        far = te.compute(count.shape, lambda *i: is_far(count(*i)), name="far")
        return topi.where(far, topi.full_like(shifted, tirx.const(0, kind)), shifted)

    return builder.call_te(compute, *call.args, primfunc_name_hint=call.op.name.rpartition(".")[2])


def division(builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    """Legalization of the operators of DIVISIONS: TVM's, which refuses a constant 0 unless it comes from memory."""
    divisor = call.args[1]
    if dtype_of(call.args[0]).startswith(WHOLE) and is_const(divisor) and not const_value(divisor).all():
        return builder.call_te(DIVISIONS[call.op.name], *call.args)
    return call.op.get_attr("FLegalize")(builder, call)


RULES: dict[str, Any] = {
    "relax.astype": astype,
    **dict.fromkeys(SHIFTS, shift),
    **dict.fromkeys(DIVISIONS, division),
}
