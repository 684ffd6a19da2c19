"""Relay's names on Relax: `from tvmq import relay`.

Scripts written for `tvm.relay` find the names they used; what they build is Relax. Each name is loaded when it is first
used. What has no counterpart says so, with the Relax way to do it.

>>> from tvmq import relay
>>> relay.nothing_of_the_kind
Traceback (most recent call last):
    ...
AttributeError: relay.nothing_of_the_kind: it is not here; docs: MIGRATING.md
"""

from __future__ import annotations

import importlib
import typing

from tvmq.relay.paths import PATHS, find_places

find_places()

# Name -> "module:object", or "module" where the name is the module itself.
_PUBLIC = {
    # expressions
    "Any": "tvmq.relay.types:Any",
    "Call": "tvmq.relay.expr:Call",
    "Constant": "tvmq.relay.expr:Constant",
    "Expr": "tvmq.relay.expr:Expr",
    "ExprFunctor": "tvmq.relay.visitor:ExprFunctor",
    "ExprMutator": "tvmq.relay.visitor:ExprMutator",
    "ExprVisitor": "tvmq.relay.visitor:ExprVisitor",
    "FuncType": "tvmq.relay.types:FuncType",
    "Function": "tvmq.relay.expr:Function",
    "IRModule": "tvmq.relay.module:IRModule",
    "Let": "tvmq.relay.expr:Let",
    "Module": "tvmq.relay.module:IRModule",
    "ScopeBuilder": "tvmq.relay.module:ScopeBuilder",
    "TensorType": "tvmq.relay.types:TensorType",
    "Tuple": "tvmq.relay.expr:Tuple",
    "TupleGetItem": "tvmq.relay.expr:TupleGetItem",
    "TupleType": "tvmq.relay.types:TupleType",
    "TupleWrapper": "tvmq.relay.expr:TupleWrapper",
    "Type": "tvmq.relay.types:Type",
    "Var": "tvmq.relay.expr:Var",
    "analysis": "tvmq.relay.analysis",
    "annotation": "tvmq.relay.op.annotation",
    "bind": "tvmq.relay.expr:bind",
    "build_config": "tvmq.relay.transform:PassContext",
    "const": "tvmq.relay.expr:const",
    "expr": "tvmq.relay.expr",
    "expr_functor": "tvmq.relay.visitor",
    "image": "tvmq.relay.op.image",
    "nn": "tvmq.relay.op.nn",
    "op": "tvmq.relay.op",
    "scalar_type": "tvmq.relay.types:scalar_type",
    "transform": "tvmq.relay.transform",
    "tvm": "tvmq.relay.tvm",
    "ty": "tvmq.relay.types",
    "var": "tvmq.relay.expr:var",
    # text
    "astext": "tvmq.relay.text.printer:astext",
    "fromtext": "tvmq.relay.text.reader:parse",
    "parse": "tvmq.relay.text.reader:parse",
    "parse_expr": "tvmq.relay.text.reader:parse_expr",
    # build and run
    "build": "tvmq.relay.build_module:build",
    "build_module": "tvmq.relay.build_module",
    "create_executor": "tvmq.relay.vm:create_executor",
    "debug_executor": "tvmq.relay.debug_executor",
    "frontend": "tvmq.relay.frontend",
    "graph_executor": "tvmq.relay.graph_executor",
    "backend": "tvmq.relay.backend",
    "load_module": "tvmq.relay.executor_factory:load_module",
    "load_param_dict": "tvmq.relay.executor_factory:load_param_dict",
    "optimize": "tvmq.relay.build_module:optimize",
    "save_param_dict": "tvmq.relay.executor_factory:save_param_dict",
    "testing": "tvmq.relay.testing",
    "vm": "tvmq.relay.vm",
    # quantize
    "quantize": "tvmq.relay.quantize",
}


def __getattr__(name: str) -> typing.Any:
    """Load a name on first use (PEP 562) and keep it."""
    if name.startswith("__"):
        raise AttributeError(f"module 'tvmq.relay' has no attribute {name!r}")
    entry = _PUBLIC.get(name) or (f"tvmq.relay.{name}" if name in PATHS else _operator(name))
    module_name, _, attribute = entry.partition(":")
    module = importlib.import_module(module_name)
    value = getattr(module, attribute) if attribute else module
    globals()[name] = value
    return value


def _operator(name: str) -> str:
    """Place of the function of an operator; raises AttributeError, with what to do, for other names."""
    from tvmq.relay.advice import advice
    from tvmq.relay.op import FUNCTIONS

    if name not in FUNCTIONS:
        raise AttributeError(f"relay.{name}: {advice(name)}")
    return FUNCTIONS[name]


def __dir__() -> list[str]:
    """The names, loaded or not."""
    return sorted(_PUBLIC)
