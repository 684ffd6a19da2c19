"""Gelu written out as a product: x * 0.5 * (1 + erf(x / sqrt(2))), or with tanh, its factors in any order."""

from __future__ import annotations

import math
from collections.abc import Callable

from tvm import relax

from tvmq.graph.rewrite import Rewriter
from tvmq.graph.view import op_name
from tvmq.passes.matching import Group, either_way, is_number, number

DEEPEST = 6  # products in a product; a gelu has three
ROOT_HALF, ROOT_2_PI, CUBIC = math.sqrt(0.5), math.sqrt(2 / math.pi), 0.044715


def gelu(rewriter: Rewriter, var: relax.Var, value: relax.Expr) -> relax.Expr | None:
    """nn.gelu or nn.gelu_tanh for the last product of one."""
    if op_name(value) not in ("multiply", "divide"):
        return None
    for factor in _product(Group(rewriter, var), value)[1]:
        argument = _argument(Group(rewriter, var), factor)
        if argument is None:
            continue
        function, x = argument
        group = Group(rewriter, var)
        constant, factors = _product(group, value, x)
        if math.isclose(constant, 0.5, rel_tol=1e-3) and _same(factors, [x, factor]):
            _argument(group, factor)
            if group.close():
                return function(x)
    return None


def _argument(group: Group, factor: relax.Expr) -> tuple[Callable[[relax.Expr], relax.Expr], relax.Expr] | None:
    """(nn.gelu, x) for 1 + erf(x / sqrt(2)), (nn.gelu_tanh, x) for 1 + tanh(...); None for anything else."""
    one_more = group.producer(factor, "add")
    if one_more is None or not is_number(one_more.args[1], 1.0):
        return None
    inner = group.producer(one_more.args[0], "erf", "tanh")
    if inner is None:
        return None
    if op_name(inner) == "erf":
        scaled = group.producer(inner.args[0], "multiply", "divide")
        by = ROOT_HALF if scaled is not None and op_name(scaled) == "multiply" else math.sqrt(2)
        return (relax.op.nn.gelu, scaled.args[0]) if scaled is not None and is_number(scaled.args[1], by) else None
    constant, factors = _product(group, inner.args[0])
    x = _cubic(group, factors) if math.isclose(constant, ROOT_2_PI, rel_tol=1e-3) else None
    return (relax.op.nn.gelu_tanh, x) if x is not None else None


def _cubic(group: Group, factors: list[relax.Expr]) -> relax.Expr | None:
    """x for the product x + CUBIC x^3, also as x (1 + CUBIC x^2)."""
    if len(factors) == 1:
        total = group.producer(factors[0], "add")
        for x, term in either_way(total) if total is not None else ():
            if _is_power(group, term, x, 3):
                return x
    if len(factors) == 2:
        for x, other in (factors, factors[::-1]):
            total = group.producer(other, "add")
            if total is not None and is_number(total.args[1], 1.0) and _is_power(group, total.args[0], x, 2):
                return x
    return None


def _is_power(group: Group, expr: relax.Expr, x: relax.Expr, power: int) -> bool:
    constant, factors = _product(group, expr, x)
    return math.isclose(constant, CUBIC, rel_tol=1e-3) and _same(factors, [x] * power)


def _product(
    group: Group, expr: relax.Expr, x: relax.Expr | None = None, depth: int = DEEPEST
) -> tuple[float, list[relax.Expr]]:
    """Constant and other factors of nested products, quotients by numbers and powers; `x` is not looked into.

    depth   what stands deeper is a factor
    """
    constant = number(expr)
    if constant is not None:
        return constant, []
    if x is not None and expr.same_as(x):
        return 1.0, [expr]
    if depth == 0:
        return 1.0, [expr]
    value = expr if isinstance(expr, relax.Call) else group.producer(expr, "multiply", "divide", "power", "square")
    if value is None:
        return 1.0, [expr]
    left, right = (value.args[0], value.args[-1])
    constant, factors = _product(group, left, x, depth - 1)
    if op_name(value) == "multiply":
        other, more = _product(group, right, x, depth - 1)
        return constant * other, factors + more
    exponent = 2.0 if op_name(value) == "square" else number(right)
    if op_name(value) == "divide" and exponent:
        return constant / exponent, factors
    if op_name(value) != "divide" and exponent in (2.0, 3.0):
        return constant ** int(exponent), factors * int(exponent)
    return 1.0, [expr]


def _same(found: list[relax.Expr], expected: list[relax.Expr]) -> bool:
    """True for the same variables, in any order."""
    names, others = (sorted(getattr(expr, "name", "") for expr in exprs) for exprs in (found, expected))
    return names == others and "" not in names
