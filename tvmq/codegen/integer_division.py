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
    zero, one = tirx.const(0, dtype), tirx.const(1, dtype)
    by_zero = topi.equal(divisor, zero)
    if dtype.startswith("uint"):
        return topi.where(by_zero, topi.full_like(divisor, 0), compute(value, topi.where(by_zero, one, divisor)))
    by_minus_one = topi.equal(divisor, tirx.const(-1, dtype))
    plain = compute(value, topi.where(topi.logical_or(by_zero, by_minus_one), one, divisor))
    # as unsigned numbers: they wrap, where the negative of the lowest signed one is not defined
    negative = topi.cast(topi.subtract(tirx.const(0, f"u{dtype}"), topi.cast(value, f"u{dtype}")), dtype)
    by_one = topi.add(negative, topi.full_like(divisor, 0)) if name.endswith("divide") else topi.full_like(plain, 0)
    return topi.where(by_zero, topi.full_like(plain, 0), topi.where(by_minus_one, by_one, plain))
