"""Rewrites as rows: a pattern, the result, a condition; and the small rewriter that applies them.

    RULES = RewriteRules(
        RewriteRule("subtract(x, const(c))", lambda x, c: relax.op.add(x, make_const(-const_value(c)))),
        RewriteRule("log(y := nn.softmax(x))", lambda x, y: relax.op.nn.log_softmax(x, int(y.attrs.axis))),
    )
    value = RULES.visit(rewriter, var, value)           # None where no row fits

Operands stand in the order of the pattern: passes bring constants to the right first. A result that computes anew what
the operators of the pattern did stands for all of them, so nothing else may read them.

A row of every element type is a rewrite of codes too: tests/passes/test_rewrites_on_codes.py runs both sides of each on
all codes.

Tests: tests/graph/test_patterns.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from typing import Any

from tvm import relax

from tvmq.graph.names import merge
from tvmq.graph.patterns.matching import Matcher
from tvmq.graph.patterns.pattern import AnyOf, OperatorNode, PatternNode, nodes, read_pattern
from tvmq.graph.rewrite import Rewriter
from tvmq.graph.view import dtype_of, is_const, op_name, used_vars


@dataclass(frozen=True)
class RewriteRule:
    """A row of a table of rewrites.

    pattern    in the notation with arguments (pattern.py)
    result     function of named parts of the pattern that its parameters name: variables, constants, and the calls of
               operators. It gives what takes the place of a match; None leaves it
    condition  function of named parts: whether the row holds
    dtype      element type of the result, a tensor of known rank, for which the row is meant; "" for all results

    >>> RewriteRule("log(nn.softmax(x))", lambda x: relax.op.nn.log_softmax(x)).roots
    {'log'}
    """

    pattern: str
    result: Callable[..., relax.Expr | None]
    condition: Callable[..., bool] = lambda: True
    dtype: str = ""

    @cached_property
    def node(self) -> PatternNode:
        """Tree of the pattern."""
        return read_pattern(self.pattern, f"RewriteRule {self.pattern!r}")

    @cached_property
    def _leaves(self) -> set[str]:
        return {node.label for node in nodes(self.node) if not node.parts and not isinstance(node, OperatorNode)}

    @property
    def roots(self) -> set[str]:
        """Names of the operators that may give the result; "" is an item of a tuple."""
        return _roots(self.node)

    def apply(self, rewriter: Rewriter, var: relax.Var, value: relax.Expr) -> relax.Expr | None:
        """Result for `value`, which is about to be bound in place of `var`; None where the row does not fit."""
        is_tensor = isinstance(var.ty, relax.TensorType) and var.ty.shape is not None
        if self.dtype and (not is_tensor or dtype_of(var) != self.dtype):
            return None
        matcher = Matcher(rewriter.value_of, lambda name: rewriter.names.get(name, (name,)), swaps=False)
        for state in matcher.matches(self.node, value):
            parts = state.expressions_by_name(self.node)
            for name in parts.keys() - self._leaves:
                call = rewriter.value_of(parts[name])
                parts[name] = parts[name] if call is None else call
            result = _call(self.result, parts) if _call(self.condition, parts) else None
            if result is None:
                continue
            variables = {expr.name: expr for expr in state.captured.values() if isinstance(expr, relax.Var)}
            inner = {name: variables[name] for name in reversed(state.members)}
            if isinstance(result, relax.Var) or is_const(result) or absorb_bindings(rewriter, var, inner):
                return result
        return None


class RewriteRules(tuple[RewriteRule, ...]):
    """Rows, of which the first one that fits is applied."""

    def __new__(cls, *rules: RewriteRule) -> RewriteRules:
        """These rows."""
        return super().__new__(cls, rules)

    @cached_property
    def _by_root(self) -> dict[str, list[RewriteRule]]:
        names = {root for rule in self for root in rule.roots}
        return {name: [rule for rule in self if name in rule.roots] for name in names}

    def visit(self, rewriter: Rewriter, var: relax.Var, value: relax.Expr) -> relax.Expr | None:
        """Result for `value`, a value of new variables; None where no row fits."""
        ways = (rule.apply(rewriter, var, value) for rule in self._by_root.get(op_name(value), ()))
        return next((result for result in ways if result is not None), None)


def _roots(node: PatternNode) -> set[str]:
    if isinstance(node, AnyOf):
        return _roots(node.left) | _roots(node.right)
    return {node.name if isinstance(node, OperatorNode) else ""}


def _call(function: Callable[..., Any], parts: Mapping[str, relax.Expr]) -> Any:
    return function(**{name: parts[name] for name in signature(function).parameters})


def absorb_bindings(
    rewriter: Rewriter,
    var: relax.Var,
    inner: Mapping[str, relax.Var],
    may_stay: Callable[[relax.Var], bool] = lambda _: False,
) -> bool:
    """True if what takes the place of `var` may do so for `inner` too: nothing else reads those, none is a result.

    Then they count as gone, and what is emitted next gets the source names of all.

    inner     new variables between the operands of the result and `var`, by name
    may_stay  says of one that something else reads whether it may stay, with what it is made of
    """
    kept = [name for name in inner if _is_read_outside(rewriter, var, inner, name)]
    if not all(may_stay(inner[name]) for name in kept):
        return False
    for name in kept:
        kept += [other for other in used_vars(rewriter.value_of(inner[name])) if other in inner and other not in kept]
    gone = [one for name, one in inner.items() if name not in kept]
    rewriter.absorbed.update(old for one in gone for old in rewriter.old_names(one))
    rewriter.sources = merge(*reversed([rewriter.names.get(name, ()) for name in inner]), rewriter.sources)
    return True


def _is_read_outside(rewriter: Rewriter, var: relax.Var, inner: Mapping[str, relax.Var], name: str) -> bool:
    members = {old for one in inner.values() for old in rewriter.old_names(one)} | {var.name} | rewriter.absorbed
    olds = rewriter.old_names(inner[name])
    return any(rewriter.view.is_output(old) or not members.issuperset(rewriter.view.readers[old]) for old in olds)
