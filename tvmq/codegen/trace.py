"""NumPy definitions as TIR: a function is run on a symbol, and what it computes is written down.

    trace(numerics.tanh, x)  ->  Let(t0, min(max(x, -9.1), 9.1), Let(t1, fence(t0 * t0), ... ))

So a definition and its compiled code are one text. Every float operation gets a fence (no contraction into an FMA, no
simplification by TVM), every step a variable: a value that is used twice is computed once. A symbol knows what the
definitions of elementary functions use: arithmetic, comparisons, np.minimum and np.maximum with a number, np.where,
np.sqrt, shifts, astype and view. Everything else is a TypeError while the function is traced.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from tvm import tirx
from tvm.ir.prim.expr import Let

from tvmq.graph.ops.registry import fence

Expr = Any


def trace(function: Callable[[Any], Any], x: Expr) -> Expr:
    """The expression of `function` of a float32 expression.

    raises  TypeError for what a symbol does not know
    """
    steps: list[tuple[tirx.Var, Expr]] = []
    argument = tirx.Var("x", "float32")
    value = function(Symbol(argument, "float32", steps)).expr
    for var, step in reversed([(argument, x), *steps]):
        value = Let(var, step, value)
    return value


class Symbol(NDArrayOperatorsMixin):
    """An array that is not there yet: NumPy's functions and operators on it append steps.

    expr   a TIR variable
    dtype  "float32", "int32" or "bool"
    """

    def __init__(self, expr: Expr, dtype: str, steps: list[tuple[tirx.Var, Expr]]) -> None:
        self.expr, self.dtype, self._steps = expr, dtype, steps

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Symbol:
        if method != "__call__" or options or ufunc not in UFUNCS:
            raise TypeError(f"trace: numpy.{ufunc.__name__} with these options cannot be compiled")
        operands = [self._operand(value) for value in inputs]
        result, dtype = UFUNCS[ufunc]
        return self._step(result(*operands), dtype or self._type(inputs))

    def __array_function__(self, function: Any, _types: Any, args: Any, options: Any) -> Symbol:
        if function is not np.where or options or len(args) != 3:
            raise TypeError(f"trace: numpy.{function.__name__} cannot be compiled")
        condition, a, b = (self._operand(value) for value in args)
        return self._step(tirx.Select(condition, a, b), self._type(args[1:]))

    def astype(self, dtype: Any) -> Symbol:
        """Cast: a whole float32 to int32, and back."""
        name = str(np.dtype(dtype))
        return self._step(tirx.Cast(name, self.expr), name)

    def view(self, dtype: Any) -> Symbol:
        """The bits as another type of four bytes."""
        name = str(np.dtype(dtype))
        return self._step(tirx.reinterpret(name, self.expr), name)

    def _type(self, values: Any) -> str:
        return next(value.dtype if isinstance(value, Symbol) else str(np.asarray(value).dtype) for value in values)

    def _operand(self, value: Any) -> Expr:
        if isinstance(value, Symbol):
            return value.expr
        array = np.asarray(value)
        if array.ndim or str(array.dtype) not in ("float32", "int32"):
            raise TypeError(f"trace: constants are single float32 or int32. Got {array.dtype} of shape {array.shape}")
        return tirx.const(array.item(), str(array.dtype))

    def _step(self, value: Expr, dtype: str) -> Symbol:
        if dtype == "bool":  # TVM makes no vectors of variables of this type
            return Symbol(value, dtype, self._steps)
        var = tirx.Var(f"t{len(self._steps)}", dtype)
        self._steps.append((var, fence(value) if dtype == "float32" else value))
        return Symbol(var, dtype, self._steps)


def _negative(x: Expr) -> Expr:
    """By the sign bit: 0 - x would lose the sign of zeros."""
    bits = tirx.bitwise_xor(tirx.reinterpret("int32", x), tirx.const(-(2**31), "int32"))
    return tirx.reinterpret("float32", bits)


def _limit(order: Any) -> Callable[[Expr, Expr], Expr]:
    """Minimum or maximum with a number: the number stands first, so that NaN stays NaN."""

    def limit(x: Expr, number: Expr) -> Expr:
        if not isinstance(number, tirx.FloatImm):
            raise TypeError("trace: np.minimum and np.maximum take a number as their second operand")
        return order(number, x)

    return limit


# ufunc -> (TIR of its operands, type of the result; "" for that of the operands)
UFUNCS: dict[np.ufunc, tuple[Callable[..., Expr], str]] = {
    np.add: (tirx.Add, ""),
    np.subtract: (tirx.Sub, ""),
    np.multiply: (tirx.Mul, ""),
    np.divide: (tirx.Div, ""),
    np.negative: (_negative, ""),
    np.sqrt: (tirx.sqrt, ""),
    np.minimum: (_limit(tirx.Min), ""),
    np.maximum: (_limit(tirx.Max), ""),
    np.left_shift: (tirx.shift_left, ""),
    np.right_shift: (tirx.shift_right, ""),
    np.less: (tirx.LT, "bool"),
    np.greater: (tirx.GT, "bool"),
    np.equal: (tirx.EQ, "bool"),
}
