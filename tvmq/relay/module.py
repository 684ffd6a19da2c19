"""Modules: tvm.IRModule of Relax functions whose functions are seen, and set, as Relay's.

>>> from tvmq.relay.expr import var
>>> mod = IRModule.from_expr(var("x", shape=(2,)) + var("y", shape=(2,)))
>>> mod["main"].body.op.name, [param.name_hint for param in mod["main"].params]
('add', ['x', 'y'])

relay.ScopeBuilder: an expression written as steps with names.

Passes that give the kind of module they are given: Relay's for Relay's, a plain one for a plain one.

TVM hands modules through C++, behind which all are plain ones. So the call itself is wrapped; inside of a Sequential a
pass is run by C++, and the Sequential's own call keeps the kind.

Tests: tests/relay/test_expr.py
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import tvm
from tvm import relax

from tvmq.errors import ModelError, UnsupportedOpError
from tvmq.extension import plain_module
from tvmq.relay.expr import Expr, Function, Let, TupleWrapper, Var
from tvmq.relay.op.arguments import as_expr


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
        return as_relax(self)

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

    def __str__(self) -> str:
        return self.astext()

    def __setitem__(self, name: Any, func: Any) -> None:
        key = name if isinstance(name, str) else name.name_hint
        function = func.relax if isinstance(func, Function) else func
        super().__setitem__(key, function)
        if isinstance(func, Function):
            self._views[key] = (function, func)

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
        module = IRModule(attrs=mod.attrs)
        module.update(mod)
        return module
    return IRModule.from_expr(mod)


def as_relax(mod: Any) -> tvm.IRModule:
    """A module for those who look into it: `mod["main"]` is a function of Relax."""
    if isinstance(mod, Expr | Function):
        mod = IRModule.from_expr(mod)
    return plain_module(mod)


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
        variable = Var(var) if isinstance(var, str) else var
        self._steps.append((variable, as_expr(value)))
        variable.bound = self._steps[-1][1]
        return variable

    def ret(self, value: Any) -> None:
        """Set the value of the expression."""
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


class _KeepsKind:
    """A pass whose call looks at the kind of its module; mixed in before a class of TVM's passes."""

    __slots__ = ()

    def __call__(self, mod: Any) -> Any:
        return match_view(mod, super().__call__(mod))  # type: ignore[misc]


class Sequential(_KeepsKind, tvm.transform.Sequential):
    """As tvm.transform.Sequential: passes one after another."""


def module_pass(pass_func: Any = None, opt_level: int | None = None, **options: Any) -> Any:
    """As tvm.transform.module_pass: decorates (module, context) -> module, or a class with transform_module.

    >>> @module_pass(opt_level=0)
    ... def nothing(mod, context):
    ...     return mod
    >>> nothing(IRModule()).astext().split()[0], type(nothing(tvm.IRModule())).__module__
    ('#[version', 'tvm.ir.module')
    """
    if pass_func is None:
        return lambda func: module_pass(func, opt_level, **options)
    return keeping_kind(tvm.transform.module_pass(pass_func, opt_level, **options))


def keeping_kind(tvm_pass: Any) -> Any:
    """A pass of TVM, or a class of them, whose call gives the kind of module it is given; it takes the pass over."""
    if isinstance(tvm_pass, type):
        return _kind(tvm_pass)
    own: Any = type(tvm_pass)
    kind = _kind(own)
    kept = kind.__new__(kind)
    vars(kept).update(vars(tvm_pass))
    kept.__move_handle_from__(tvm_pass)
    return kept


def makes_pass(make: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator of what makes a pass: the pass keeps the kind of module it is given."""

    @functools.wraps(make)
    def make_kept(*args: Any, **options: Any) -> Any:
        return keeping_kind(make(*args, **options))

    return make_kept


def match_view(original: Any, result: tvm.IRModule) -> tvm.IRModule:
    """The result for one who gave `original`: Relay's view of it for a Relay module, function or expression."""
    return as_module(result) if isinstance(original, IRModule | Expr | Function) else result


@functools.cache
def _kind(kind: Any) -> Any:
    return kind if issubclass(kind, _KeepsKind) else type(kind.__name__, (_KeepsKind, kind), {"__doc__": kind.__doc__})
