"""Float operators as IEEE 754 and NumPy round them, whatever TVM's simplifier and LLVM make of fused loops.

LLVM contracts a product and a sum into one rounding; TVM turns a + b - b into a, a == a into true, a * 0 into 0 and
not (a < b) into a >= b, and stops at a / 0. Each is right for real numbers and wrong for float32.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from tvm import relax

from tvmq.graph import ops
from tvmq.graph.evaluate import EXACT
from tvmq.graph.operators import where
from tvmq.graph.operators.record import ARITHMETIC, COMPARISON
from tvmq.graph.view import const_value, dtype_of, is_const, make_const, op_name

OPERATIONS = where(kind=ARITHMETIC, own=False)
COMPARISONS = where(kind=COMPARISON)


def rounds(value: relax.Expr) -> bool:
    """True for float operators that a fence must part from what follows, lest both be simplified together."""
    name = op_name(value)
    if not name or name.startswith("tvmq.") or name.startswith("call_") or not isinstance(value.ty, relax.TensorType):
        return False
    return dtype_of(value) == "float32" and (name in OPERATIONS or name not in EXACT)


def protect_rounding(value: relax.Expr, bind: Callable[[relax.Expr], relax.Var]) -> relax.Expr:
    """The operator in a form that is not simplified by itself; `bind` gives an expression a variable."""
    name = op_name(value)
    if name == "logical_not":
        return relax.op.bitwise_not(value.args[0])
    if name not in OPERATIONS | COMPARISONS or not all(_is_float(arg) for arg in value.args):
        return value
    if any(arg.ty.ndim for arg in value.args):
        a, b = (_hidden(arg) if _is_zero(arg) else arg for arg in value.args)
    else:  # a vector of one would give the number an axis
        a, b = (bind(ops.fence(arg)) if _is_zero(arg) else arg for arg in value.args)
    if name in COMPARISONS or (name in ("subtract", "divide") and a.same_as(b)):
        a = bind(ops.fence(a))
    return relax.Call(value.op, [a, b], value.attrs, value.ty_args, value.span)


def _is_float(arg: relax.Expr) -> bool:
    return isinstance(arg.ty, relax.TensorType) and dtype_of(arg) == "float32"


def _is_zero(arg: relax.Expr) -> bool:
    return is_const(arg) and arg.ty.ndim == 0 and not const_value(arg).any()


def _hidden(zero: relax.Expr) -> relax.Expr:
    """The constant as a vector of one: TVM writes numbers without axes into the loop, but reads vectors from memory."""
    return make_const(np.ascontiguousarray(const_value(zero).reshape(1)))
