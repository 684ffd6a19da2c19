"""The walk of a module in any domain of values: what each variable is, by a function for each operator.

    arrays               tvmq/reference, tvmq/chips/emulation     tensors with gradients   tvmq/training
    intervals of sums    graph/analysis/core_bounds               ranges of codes          codegen/lower/code_range

Consumers are tables {operator: function(call, *arguments)}. They differ in what an argument is: `read` says it, for a
constant and for a variable, whose value stands in `values`.

Tests: tests/graph/test_interpret.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tvm import relax

from tvmq.graph.view import View, const_value, is_const

Function = Callable[..., Any]
Values = dict[str, Any]


def read_array(expr: relax.Expr, values: Values) -> Any:
    """Value of an argument, with constants as arrays: a list for a tuple, a Python number for a scalar."""
    if isinstance(expr, relax.Var):
        return values[expr.name]
    if isinstance(expr, relax.Tuple):
        return [read_array(item, values) for item in expr.fields]
    if isinstance(expr, relax.TupleGetItem):
        return read_array(expr.tuple_value, values)[expr.index]
    if is_const(expr):
        return const_value(expr)
    return getattr(expr, "value", expr)


def interpret(
    view: View,
    function_of: Callable[[relax.Var, relax.Call], Function | None],
    values: Values,
    read: Callable[[relax.Expr, Values], Any] = read_array,
) -> Iterator[tuple[relax.Var, relax.Expr]]:
    """Value of each binding, in order, put into `values`; yields the binding then, so that a caller may look at it.

    function_of  the function of a call, applied to it and its arguments; None: nothing is known, arguments are not read
    values       those of the parameters
    """
    for var, value in view.bindings:
        if isinstance(value, relax.Call):
            function = function_of(var, value)
            values[var.name] = function and function(value, *[read(arg, values) for arg in value.args])
        else:
            values[var.name] = read(value, values)
        yield var, value
