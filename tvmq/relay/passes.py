"""Passes that give the kind of module they are given: Relay's for Relay's, a plain one for a plain one.

TVM hands modules through C++, behind which all are plain ones. So the call itself is wrapped; inside of a Sequential a
pass is run by C++, and the Sequential's own call keeps the kind.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tvm

from tvmq.relay.expr import Expr, Function
from tvmq.relay.module import IRModule, as_module


class _KeepsKind:
    """A pass whose call looks at the kind of its module; mixed in before a class of TVM's passes."""

    __slots__ = ()

    def __call__(self, mod: Any) -> Any:
        return like(mod, super().__call__(mod))  # type: ignore[misc]


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
        return lambda given: module_pass(given, opt_level, **options)
    return keeping_kind(tvm.transform.module_pass(pass_func, opt_level, **options))


def keeping_kind(given: Any) -> Any:
    """A pass of TVM, or a class of them, whose call gives the kind of module it is given; it takes the pass over."""
    if isinstance(given, type):
        return _kind(given)
    own: Any = type(given)
    kind = _kind(own)
    wrapped = kind.__new__(kind)
    vars(wrapped).update(vars(given))
    wrapped.__move_handle_from__(given)
    return wrapped


def makes_pass(make: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator of what makes a pass: the pass keeps the kind of module it is given."""

    @functools.wraps(make)
    def wrapped(*args: Any, **options: Any) -> Any:
        return keeping_kind(make(*args, **options))

    return wrapped


def like(given: Any, result: tvm.IRModule) -> tvm.IRModule:
    """The result for one who gave `given`: Relay's view of it for a Relay module, function or expression."""
    return as_module(result) if isinstance(given, IRModule | Expr | Function) else result


@functools.cache
def _kind(kind: Any) -> Any:
    return kind if issubclass(kind, _KeepsKind) else type(kind.__name__, (_KeepsKind, kind), {"__doc__": kind.__doc__})
