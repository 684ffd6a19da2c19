"""Walking from the last operator of a group to its inputs, while a function is rewritten.

Tests: tests/passes/test_spellings.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tvm import relax

from tvmq.graph.names import merge
from tvmq.graph.rewrite import Rewriter
from tvmq.graph.view import const_value, is_const, op_name, used_vars


class BindingGroup:
    """The bindings that one operator may replace: those walked through, and the one being rewritten.

    var  the old variable of the last binding; values are those of the rewriter, so they read new variables
    """

    def __init__(self, rewriter: Rewriter, var: relax.Var) -> None:
        self._rewriter, self._var = rewriter, var
        self._inner: dict[str, relax.Var] = {}

    def producer(self, expr: relax.Expr, *operators: str) -> relax.Call | None:
        """Call that a variable is bound to, if that is one of these operators; the variable joins the group."""
        value = self._rewriter.value_of(expr)
        if value is None or op_name(value) not in operators:
            return None
        self._inner[expr.name] = expr
        return value

    def join(self, walked: Mapping[str, relax.Var]) -> None:
        """More variables that would disappear, by name."""
        self._inner.update(walked)

    def close(self, may_stay: Callable[[relax.Var], bool] = lambda _: False) -> bool:
        """True if only the group reads the variables that would disappear, and none is a result.

        Then they count as gone, and what is emitted for the last binding gets the source names of the whole group.

        may_stay  says of a variable that something else reads whether it may stay beside the group, with what it is
                  made of
        """
        kept = [name for name in self._inner if self._is_read_outside(name)]
        if not all(may_stay(self._inner[name]) for name in kept):
            return False
        for name in kept:
            used = used_vars(self._rewriter.value_of(self._inner[name]))
            kept += [other for other in used if other in self._inner and other not in kept]
        gone = [var for name, var in self._inner.items() if name not in kept]
        self._rewriter.absorbed.update(old for var in gone for old in self._rewriter.old_names(var))
        names = [self._rewriter.names.get(name, ()) for name in self._inner]
        self._rewriter.sources = merge(*reversed(names), self._rewriter.sources)
        return True

    def _is_read_outside(self, name: str) -> bool:
        view = self._rewriter.view
        inside = {old for var in self._inner.values() for old in self._rewriter.old_names(var)}
        members = inside | {self._var.name} | self._rewriter.absorbed
        olds = self._rewriter.old_names(self._inner[name])
        return any(view.is_output(old) or not members.issuperset(view.readers[old]) for old in olds)


def number(expr: relax.Expr) -> float | None:
    """The value of a constant of one element; None for anything else."""
    if not is_const(expr):
        return None
    array = const_value(expr)
    return float(array.reshape(())) if array.size == 1 else None
