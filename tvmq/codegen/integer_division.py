"""Integer quotients and remainders for all operands: a CPU ends the process at x / 0 and at the lowest number / -1.

    x / 0 = 0        x mod 0 = 0        lowest / -1 = lowest        x mod -1 = 0

as NumPy has them. Floats, and divisors that are other constants, are as TVM computes them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax, te, tirx, topi
from tvm.ir import GenericConst

OPERATORS = {
    "relax.divide": topi.divide,
    "relax.floor_divide": topi.floor_divide,
    "relax.mod": topi.mod,
    "relax.floor_mod": topi.floor_mod,
}


def divided(builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    """Legalization of the operators above."""
    value, divisor = call.args
    name = call.op.name.removeprefix("relax.")
    dtype = str(value.ty.dtype)
    if not dtype.startswith(("int", "uint")) or _is_harmless(divisor):
        return builder.call_te(OPERATORS[call.op.name], *map(_plain, call.args), primfunc_name_hint=name)
    return builder.call_te(_total, value, divisor, name, dtype, primfunc_name_hint=name)


def _is_harmless(divisor: relax.Expr) -> bool:
    """True for a constant without 0 and -1."""
    if not isinstance(divisor, GenericConst):
        return False
    return not np.isin(divisor.value.numpy(), (0, -1)).any()


def _plain(arg: relax.Expr) -> Any:
    """A constant number as TIR has it, so that the loops multiply where they can."""
    is_number = isinstance(arg, GenericConst) and arg.value.numpy().ndim == 0
    return tirx.const(arg.value.numpy().item(), str(arg.ty.dtype)) if is_number else arg


def _total(value: te.Tensor, divisor: te.Tensor, name: str, dtype: str) -> te.Tensor:
    """The operator with 1 in the place of divisors that a CPU refuses, and their results put in afterwards."""
    compute = OPERATORS[f"relax.{name}"]
    one, by_zero = topi.full_like(divisor, 1), topi.equal(divisor, tirx.const(0, dtype))
    if dtype.startswith("uint"):
        plain = compute(value, topi.where(by_zero, one, divisor))
        return topi.where(by_zero, topi.full_like(plain, 0), plain)
    by_minus_one = topi.equal(divisor, tirx.const(-1, dtype))
    plain = compute(value, topi.where(topi.logical_or(by_zero, by_minus_one), one, divisor))
    nothing = topi.full_like(plain, 0)
    if not name.endswith("divide"):
        return topi.where(topi.logical_or(by_zero, by_minus_one), nothing, plain)
    # the lowest number has no negative, and LLVM may do anything where one is computed
    is_lowest = topi.equal(value, tirx.min_value(dtype))
    negative = topi.subtract(nothing, topi.where(is_lowest, topi.full_like(value, 0), value))
    return topi.where(by_zero, nothing, topi.where(by_minus_one, topi.where(is_lowest, value, negative), plain))
