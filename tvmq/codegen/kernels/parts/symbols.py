"""NumPy definitions as TIR: a function is run on a symbol, and what it computes is written down.

A symbol stands for a number, or a vector of them, that only a run knows. It has what the definitions of elementary
functions use: arithmetic, comparisons, np.minimum and np.maximum with a number, np.where, np.sqrt, shifts, astype and
view. Everything else is a TypeError while the function is written down.

Tests: tests/codegen/kernels/parts/test_float_steps.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from tvm import tirx

from tvmq.codegen.kernels.parts.builder import spread, vector_type

Expr = Any
# (value, type of its elements) -> a variable that holds it; floats must come out as they are, never contracted
Step = Callable[[Expr, str], Expr]


class TirSymbol(NDArrayOperatorsMixin):
    """An array that is not there yet: NumPy's functions and operators on it make steps.

    exprs  TIR variables; steps take turns between several, which a CPU works on at once
    dtype  of their elements: "float32", "int32" or "bool"
    step   makes a variable of a value
    lanes  of each variable
    """

    def __init__(self, exprs: Sequence[Expr], dtype: str, step: Step, lanes: int = 1) -> None:
        self.exprs, self.dtype, self._step_of, self._lanes = exprs, dtype, step, lanes

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> TirSymbol:
        if method != "__call__" or options or ufunc not in UFUNCS:
            raise TypeError(f"trace: numpy.{ufunc.__name__} with these options cannot be compiled")
        if ufunc in (np.minimum, np.maximum) and isinstance(inputs[1], TirSymbol):
            raise TypeError("trace: np.minimum and np.maximum take a number as their second operand")
        operands = [self._operand(value) for value in inputs]
        result, dtype = UFUNCS[ufunc]
        return self._step([result(*each) for each in zip(*operands, strict=True)], dtype or self._type(inputs))

    def __array_function__(self, function: Any, _types: Any, args: Any, options: Any) -> TirSymbol:
        if function is not np.where or options or len(args) != 3:
            raise TypeError(f"trace: numpy.{function.__name__} cannot be compiled")
        chosen = zip(*(self._operand(value) for value in args), strict=True)
        return self._step([tirx.Select(*each) for each in chosen], self._type(args[1:]))

    def astype(self, dtype: Any) -> TirSymbol:
        """Cast: a whole float32 to int32, and back."""
        name = str(np.dtype(dtype))
        return self._step([tirx.Cast(vector_type(name, self._lanes), expr) for expr in self.exprs], name)

    def view(self, dtype: Any) -> TirSymbol:
        """The bits as another type of four bytes."""
        name = str(np.dtype(dtype))
        return self._step([tirx.reinterpret(vector_type(name, self._lanes), expr) for expr in self.exprs], name)

    def _type(self, values: Any) -> str:
        return next(value.dtype if isinstance(value, TirSymbol) else str(np.asarray(value).dtype) for value in values)

    def _operand(self, value: Any) -> Sequence[Expr]:
        if isinstance(value, TirSymbol):
            return value.exprs
        array = np.asarray(value)
        if array.ndim or str(array.dtype) not in ("float32", "int32"):
            raise TypeError(f"trace: constants are single float32 or int32. Got {array.dtype} of shape {array.shape}")
        return [spread(tirx.const(array.item(), str(array.dtype)), self._lanes)] * len(self.exprs)

    def _step(self, values: list[Expr], dtype: str) -> TirSymbol:
        if dtype != "bool":  # TVM makes no vectors of variables of this type
            values = [self._step_of(value, dtype) for value in values]
        return TirSymbol(values, dtype, self._step_of, self._lanes)


def _negative(x: Expr) -> Expr:
    """By the sign bit: 0 - x would lose the sign of zeros."""
    kind = str(x.dtype) if not hasattr(x, "ty") else str(x.ty)
    bits = kind.replace("float32", "int32")
    lanes = int(kind.partition("x")[2] or 1)
    sign = spread(tirx.const(-(2**31), "int32"), lanes)
    return tirx.reinterpret(kind, tirx.bitwise_xor(tirx.reinterpret(bits, x), sign))


def _limit(order: Any) -> Callable[[Expr, Expr], Expr]:
    """Minimum or maximum with a number: the number stands first, so that NaN stays NaN."""
    return lambda x, number: order(number, x)


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
    np.greater_equal: (tirx.GE, "bool"),
    np.equal: (tirx.EQ, "bool"),
}
