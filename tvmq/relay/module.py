"""Modules: tvm.IRModule of Relax functions whose functions are seen, and set, as Relay's.

>>> from tvmq.relay.expr import var
>>> mod = IRModule.from_expr(var("x", shape=(2,)) + var("y", shape=(2,)))
>>> mod["main"].body.op.name, [param.name_hint for param in mod["main"].params]
('add', ['x', 'y'])
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tvm
from tvm import relax

from tvmq.graph.functions import plain_module
from tvmq.relay.expr import Expr, Function, TupleWrapper


class IRModule(tvm.IRModule):
    """A module of Relax; `mod["main"]` gives Relay's view of a function, `mod["main"] = f` takes either.

    functions  {name: Relay or Relax function}
    """

    def __init__(
        self, functions: Mapping[Any, Any] | None = None, type_definitions: Any = None, attrs: Any = None
    ) -> None:
        super().__init__({}, attrs=attrs)
        self._views: dict[str, tuple[Any, Function]] = {}
        for name, func in (functions or {}).items():
            self[name] = func

    @property
    def relax(self) -> tvm.IRModule:
        """The module for those who look into it, as tvmq.build does: `mod.relax["main"]` is a function of Relax."""
        return plain(self)

    @staticmethod
    def from_expr(expr: Any, functions: Any = None, type_defs: Any = None) -> IRModule:
        """A module whose "main" is a function; other expressions get their free variables as parameters."""
        from tvmq.relay.analysis import free_vars

        expr = expr.astuple() if isinstance(expr, TupleWrapper) else expr
        main = expr if isinstance(expr, Function | relax.Function) else Function(free_vars(expr), expr)
        return IRModule({"main": main, **dict(functions or {})})

    def astext(self, show_meta_data: bool = True) -> str:
        """Relay's text, see relay.astext."""
        from tvmq.relay.text.printer import astext

        return astext(self, show_meta_data)

    def __setitem__(self, name: Any, func: Any) -> None:
        key = name if isinstance(name, str) else name.name_hint
        made = func.relax if isinstance(func, Function) else func
        super().__setitem__(key, made)
        if isinstance(func, Function):
            self._views[key] = (made, func)

    def __getitem__(self, name: Any) -> Any:
        key = name if isinstance(name, str) else name.name_hint
        func = super().__getitem__(key)
        known = self._views.get(key)
        if known and known[0].same_as(func):
            return known[1]
        from tvmq.relay.view import view_function

        return view_function(func) if isinstance(func, relax.Function) else func


def as_module(mod: Any) -> IRModule:
    """A module, or an expression, as one whose functions are seen as Relay's."""
    if isinstance(mod, IRModule):
        return mod
    if isinstance(mod, tvm.IRModule):
        made = IRModule(attrs=mod.attrs)
        made.update(mod)
        return made
    return IRModule.from_expr(mod)


def plain(mod: Any) -> tvm.IRModule:
    """A module for those who look into it: `mod["main"]` is a function of Relax."""
    if isinstance(mod, Expr | Function):
        mod = IRModule.from_expr(mod)
    return plain_module(mod)
