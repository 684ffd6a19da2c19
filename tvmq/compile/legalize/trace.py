"""The definition of an elementary function as one expression; what a symbol is stands in kernels/parts/symbols.py.

    trace(numerics.tanh, x)  ->  Let(t0, min(max(x, -9.1), 9.1), Let(t1, fence(t0 * t0), ... ))

So a definition and its compiled code are one text. Every float operation gets a fence (no contraction into an FMA, no
simplification by TVM), every step a variable: a value that is used twice is computed once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tvm import tirx
from tvm.ir.prim.expr import Let

from tvmq.graph.ops.registry import fence
from tvmq.kernels.parts.symbols import Expr, Symbol


def trace(function: Callable[[Any], Any], x: Expr) -> Expr:
    """The expression of `function` of a float32 expression.

    raises  TypeError for what a symbol does not know
    """
    steps: list[tuple[tirx.Var, Expr]] = []

    def step(value: Expr, dtype: str) -> Expr:
        var = tirx.Var(f"t{len(steps)}", dtype)
        steps.append((var, fence(value) if dtype == "float32" else value))
        return var

    argument = tirx.Var("x", "float32")
    (value,) = function(Symbol([argument], "float32", step)).exprs
    for var, bound in reversed([(argument, x), *steps]):
        value = Let(var, bound, value)
    return value
