"""relay.ScopeBuilder: an expression written as steps with names."""

from __future__ import annotations

from typing import Any

from tvmq.errors import ModelError, UnsupportedOpError
from tvmq.relay.expr import Expr, Let, Var
from tvmq.relay.op.arguments import as_expr


class ScopeBuilder:
    """let, let, ..., ret; then get() is the expression.

    >>> from tvmq.relay.expr import var
    >>> scope, x = ScopeBuilder(), var("x", shape=(2,))
    >>> y = scope.let("y", x + x)
    >>> scope.ret(y * y)
    >>> str(scope.get().checked_type)
    'Tensor[(2), float32]'
    """

    def __init__(self) -> None:
        self._steps: list[tuple[Var, Expr]] = []
        self._result: Expr | None = None

    def let(self, var: Var | str, value: Any) -> Var:
        """The variable that a value is bound to."""
        made = Var(var) if isinstance(var, str) else var
        self._steps.append((made, as_expr(value)))
        made.bound = self._steps[-1][1]
        return made

    def ret(self, value: Any) -> None:
        """What the expression gives."""
        self._result = as_expr(value)

    def get(self) -> Expr:
        """The expression; raises ModelError without `ret`."""
        if self._result is None:
            raise ModelError("relay.ScopeBuilder: nothing is returned; call ret(value) first")
        expr = self._result
        for var, value in reversed(self._steps):
            expr = Let(var, value, expr)
        return expr

    def if_scope(self, cond: Any) -> Any:
        """Refused: models are straight lines."""
        raise UnsupportedOpError("relay.ScopeBuilder: no control flow; compute both and choose with relay.where")
