"""Walking and rewriting Relay expressions: ExprVisitor, ExprMutator and the rewriting they share.

Tests: tests/relay/quantize/test_classic_cases.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tvmq.relay.base import post_order
from tvmq.relay.expr import Call, Constant, Expr, Function, Let, Tuple, TupleGetItem, Var

_KINDS = {
    Call: "call", Constant: "constant", Function: "function", Let: "let", Tuple: "tuple",
    TupleGetItem: "tuple_getitem", Var: "var",
}  # fmt: skip


def rebuild(root: Expr, values: Mapping[int, Expr]) -> Expr:
    """The expression with other ones in the place of nodes, by id; what does not change stays the same object."""
    rebuilt: dict[int, Expr] = dict(values)
    for node in post_order(root):
        if id(node) not in rebuilt:
            rebuilt[id(node)] = with_children(node, [rebuilt[id(child)] for child in node.children()])
    return rebuilt[id(root)]


def with_children(node: Expr, children: Sequence[Expr]) -> Expr:
    """The node over other operands; the node itself where they are its own."""
    same = all(new is old for new, old in zip(children, node.children(), strict=True))
    return node if same else node.with_children(children)


class ExprFunctor:
    """Calls visit_<kind> for an expression (call, var, constant, tuple, tuple_getitem, function, let, op), once.

    memo_map  {expression: its result}
    """

    def __init__(self) -> None:
        self.memo_map: dict[Any, Any] = {}

    def visit(self, expr: Any) -> Any:
        """The result for an expression, computed when it is first met."""
        if expr not in self.memo_map:
            kind = next((name for kind, name in _KINDS.items() if isinstance(expr, kind)), "op")
            self.memo_map[expr] = getattr(self, f"visit_{kind}")(expr)
        return self.memo_map[expr]


class ExprVisitor(ExprFunctor):
    """Visits every node once; override visit_call and the like, and call super() to go on into the operands.

    >>> from tvmq.relay.expr import var
    >>> class Names(ExprVisitor):
    ...     found = []
    ...     def visit_call(self, call):
    ...         super().visit_call(call)
    ...         self.found.append(call.op.name)
    >>> Names().visit(-(var("x", shape=(2,)) + var("y", shape=(2,))))
    >>> Names.found
    ['add', 'negative']
    """

    def visit_call(self, call: Call) -> Any:
        """A call: its operator, then its operands."""
        self.visit(call.op)
        for arg in call.args:
            self.visit(arg)

    def visit_leaf(self, leaf: Any) -> Any:
        """A variable, a constant or an operator: there is nothing in it."""

    def visit_parts(self, node: Expr) -> Any:
        """A tuple: its fields; a field: its tuple; a function: its parameters, then its body."""
        for part in node.children():
            self.visit(part)

    visit_var = visit_constant = visit_op = visit_leaf
    visit_tuple = visit_tuple_getitem = visit_function = visit_parts

    def visit_let(self, let: Let) -> Any:
        """A binding: its variable, its value, its body."""
        for part in (let.var, let.bound_value, let.body):
            self.visit(part)


class ExprMutator(ExprFunctor):
    """Rebuilds an expression; override visit_call and the like to give other expressions back.

    >>> from tvmq.relay.expr import const, var
    >>> class Doubled(ExprMutator):
    ...     def visit_var(self, v):
    ...         return v + v
    >>> Doubled().visit(-var("x", shape=(2,))).args[0].op.name
    'add'
    """

    def visit_call(self, call: Call) -> Expr:
        """The call with its operator and operands rebuilt."""
        op, args = self.visit(call.op), [self.visit(arg) for arg in call.args]
        same = op is call.op and all(new is old for new, old in zip(args, call.args, strict=True))
        return call if same else Call(op, args, call.attrs, call.type_args, call.span)

    def visit_leaf(self, leaf: Any) -> Any:
        """The variable, the constant or the operator itself."""
        return leaf

    def visit_parts(self, node: Expr) -> Expr:
        """The tuple, field or function of the rebuilt parts."""
        return with_children(node, [self.visit(part) for part in node.children()])

    visit_var = visit_constant = visit_op = visit_leaf
    visit_tuple = visit_tuple_getitem = visit_function = visit_parts

    def visit_let(self, let: Let) -> Expr:
        """The body; its variable stands for the value."""
        return self.visit(let.body)
