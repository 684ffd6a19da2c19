"""From Relay expressions to Relax: every node becomes bindings, once, however often it is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import tvm
from tvm import relax

if TYPE_CHECKING:
    from tvmq.relay.expr import Expr, Function


class Lowered(NamedTuple):
    """What a node is in Relax: the bindings that it adds, and its value (a variable, constant or tuple of them)."""

    bindings: tuple[relax.VarBinding, ...]
    value: Any


@cache
def _builder() -> relax.BlockBuilder:
    return relax.BlockBuilder()


class Emit:
    """Binds Relax calls, one after the other; their types are inferred by Relax."""

    def __init__(self) -> None:
        self.bindings: list[relax.VarBinding] = []

    def __call__(self, call: Any) -> relax.Var:
        """The variable that a call is bound to."""
        value = _builder().normalize(call)
        var = relax.Var("lv", value.ty)
        self.bindings.append(relax.VarBinding(var, value))
        return var

    def typed(self, value: Any) -> Any:
        """A tuple with the type that Relax infers for it; it needs no binding."""
        return typed(value)


def post_order(root: Expr) -> Iterator[Expr]:
    """Every node under a root once, operands first and from left to right; deep graphs need no deep stack."""
    seen: set[int] = set()
    stack = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(node.children()))


def lower(root: Expr) -> Lowered:
    """The Relax form of an expression; each node under it remembers its own."""
    if root.lowered is None:
        for node in post_order(root):
            if node.lowered is None:
                node.lowered = node.lower()
    assert root.lowered is not None
    return root.lowered


def to_relax(func: Function, name: str = "main") -> relax.Function:
    """A function in Relax, with variables of its own.

    One dataflow block; what the result does not need is left out. Parameters keep their names.
    """
    lower(func.body)
    bindings = [b for node in post_order(func.body) if node.lowered for b in node.lowered.bindings]
    result = func.body.value
    bindings = _needed(bindings, result)
    params = [param.value for param in func.params]
    fresh = dict(zip(params, [relax.Var(p.name, p.ty) for p in params], strict=True))
    outputs = set(_leaves(result))
    for binding in bindings:
        kind = relax.Var if binding.var in outputs else relax.DataflowVar
        fresh[binding.var] = kind(f"lv{len(fresh)}", binding.var.ty)
    block = relax.DataflowBlock([relax.VarBinding(fresh[b.var], replace(b.value, fresh)) for b in bindings])
    body = typed(relax.SeqExpr([block] if bindings else [], replace(result, fresh)))
    made = relax.Function([fresh[p] for p in params], body, body.ty)
    return made.with_attr("global_symbol", name)


def replace(expr: Any, values: dict[Any, Any]) -> Any:
    """A Relax expression with its variables exchanged; types stay."""
    if isinstance(expr, relax.Var):
        return values.get(expr, expr)
    if isinstance(expr, relax.Tuple):
        return typed(relax.Tuple([replace(item, values) for item in expr.fields]))
    if isinstance(expr, relax.TupleGetItem):
        return _builder().normalize(relax.TupleGetItem(replace(expr.tuple_value, values), expr.index))
    if isinstance(expr, relax.Call):
        args = [replace(arg, values) for arg in expr.args]
        return _builder().normalize(relax.Call(expr.op, args, expr.attrs, expr.ty_args))
    return expr


def typed(expr: Any) -> Any:
    """An expression with the type that Relax infers for it."""
    return _builder().normalize(expr)


def _needed(bindings: list[relax.VarBinding], result: Any) -> list[relax.VarBinding]:
    """The bindings that a result depends on, in order."""
    read, kept = set(_leaves(result)), []
    for binding in reversed(bindings):
        if binding.var in read:
            kept.append(binding)
            read.update(_leaves(binding.value))
    return kept[::-1]


def _leaves(expr: Any) -> Iterable[relax.Var]:
    if isinstance(expr, relax.Var):
        return [expr]
    if isinstance(expr, relax.TupleGetItem):
        return _leaves(expr.tuple_value)
    inner = expr.fields if isinstance(expr, relax.Tuple) else expr.args if isinstance(expr, relax.Call) else ()
    return [var for item in inner for var in _leaves(item)]


def is_tuple(value: Any) -> bool:
    """True for a Relax value whose type is a tuple."""
    return isinstance(value.ty, tvm.ir.TupleType)
