"""relay.analysis: what an expression reads and holds. Functions of Relax are taken too, seen as Relay's.

Tests: tests/relay/test_expr.py
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvmq.relay.base import lower, post_order
from tvmq.relay.expr import Call, Constant, Expr, Function, Tuple, TupleWrapper, Var


def as_expr(value: Any) -> Expr:
    """An expression from anything that is one: results of several values, functions of Relax, modules (their main)."""
    if isinstance(value, TupleWrapper):
        return value.astuple()
    if isinstance(value, tvm.IRModule):
        from tvmq.relay.module import as_module

        return as_module(value)["main"]
    if isinstance(value, relax.Function):
        from tvmq.relay.view import view_function

        return view_function(value)
    return value


def _infer_types(value: Any) -> Expr:
    """An expression whose variables have their types."""
    expr = as_expr(value)
    lower(expr.body if isinstance(expr, Function) else expr)
    return expr


def post_order_visit(expr: Any, fvisit: Callable[[Expr], Any]) -> None:
    """Call fvisit for every node once, operands first, as relay.analysis.post_order_visit; operators are not visited.

    >>> from tvmq.relay.expr import var
    >>> post_order_visit(-(var("x", shape=(2,)) + var("y", shape=(2,))), lambda node: print(type(node).__name__))
    Var
    Var
    Call
    Call
    """
    for node in post_order(as_expr(expr)):
        fvisit(node)


def all_vars(expr: Any) -> list[Var]:
    """Every variable, in the order of the first visit, operands from left to right."""
    return [node for node in post_order(as_expr(expr)) if isinstance(node, Var)]


def bound_vars(expr: Any) -> list[Var]:
    """Parameters of functions inside, and what Let binds."""
    expr = as_expr(expr)
    params = [p for node in post_order(expr) if isinstance(node, Function) for p in node.params]
    return list(dict.fromkeys([*params, *(v for v in all_vars(expr) if v.bound is not None)]))


def free_vars(expr: Any) -> list[Var]:
    """Variables that no function and no Let inside of the expression binds, in the order of the first visit.

    >>> from tvmq.relay.expr import var
    >>> x, w = var("x", shape=(2,)), var("w", shape=(2,))
    >>> [v.name_hint for v in free_vars((x + w) * w)]
    ['x', 'w']
    """
    bound = set(bound_vars(expr))
    return [v for v in all_vars(expr) if v not in bound]


def check_constant(expr: Any) -> bool:
    """True for a constant, and for a tuple of constants."""
    return isinstance(expr, Constant) or (isinstance(expr, Tuple) and all(map(check_constant, expr.fields)))


def all_dtypes(expr: Any) -> set[str]:
    """Element types of all values inside."""
    nodes = [node for node in post_order(_infer_types(expr)) if not isinstance(node, Function)]
    return {dtype for node in nodes for dtype in _dtypes(node.checked_type)}


def _dtypes(ty: Any) -> list[str]:
    return [dtype for field in ty.fields for dtype in _dtypes(field)] if hasattr(ty, "fields") else [ty.dtype]


def list_op_freqs(mod: Any) -> dict[str, int]:
    """Count the uses of each operator in a module's main, or in an expression."""
    calls = [node for node in post_order(as_expr(mod)) if isinstance(node, Call)]
    return dict(Counter(call.op.name for call in calls if hasattr(call.op, "name")))


def well_formed(expr: Any) -> bool:
    """True where Relax finds the function complete: types known, every variable defined."""
    expr = as_expr(expr)
    func = expr if isinstance(expr, Function) else Function(free_vars(expr), expr)
    return bool(relax.analysis.check_well_formed(tvm.IRModule({"main": func.relax})))


def get_total_mac_number(expr: Any) -> int:
    """Multiply-accumulates of convolutions and matrix products, as relay.analysis.get_total_mac_number.

    >>> from tvmq.relay.expr import var
    >>> from tvmq.relay.op.nn import dense
    >>> get_total_mac_number(dense(var("x", shape=(2, 3)), var("w", shape=(4, 3))))
    24
    """
    return sum(_macs(node) for node in post_order(_infer_types(expr)) if isinstance(node, Call))


def _macs(call: Call) -> int:
    """Products that a call adds up: its results times the elements of the weight that each of them reads."""
    name = getattr(call.op, "name", "")
    if name in ("nn.dense", "nn.matmul", "nn.batch_matmul"):
        swapped = bool(call.attrs.get("transpose_a"))
        inner = call.args[0].checked_type.shape[-2 if swapped else -1]
        return int(np.prod(call.checked_type.shape)) * int(inner)
    if not name.startswith("nn.conv"):
        return 0
    weight, transposed = call.args[1].checked_type.shape, "transpose" in name
    outer = call.attrs.kernel_layout.index("I" if transposed else "O")
    sized = call.args[0] if transposed else call
    return int(np.prod(sized.checked_type.shape)) * int(np.prod(weight)) // int(weight[outer])


def extract_intermdeiate_expr(mod: Any, expr_id: int) -> Any:
    """A module that gives the call of a number, counted in the order of the visit (the name is spelt as Relay did)."""
    from tvmq.relay.module import IRModule

    main = as_expr(mod)
    calls = [node for node in post_order(main) if isinstance(node, Call)]
    if not 0 <= expr_id < len(calls):
        raise ValueError(f"relay: call {expr_id} of {len(calls)}; the first is 0")
    return IRModule.from_expr(Function(free_vars(calls[expr_id]), calls[expr_id]))


def __getattr__(name: str) -> Any:
    """Refuse other names of relay.analysis, with what to do instead (PEP 562)."""
    from tvmq.relay.advice import advice

    raise AttributeError(f"relay.analysis.{name}: {advice(f'analysis.{name}')}")
