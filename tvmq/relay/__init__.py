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

from tvmq.relay.paths import PATHS, find_places, read_names

find_places()

# Name -> "module:object", or "module" where the name is the module itself; rows as in paths.py
_PUBLIC = read_names({
    "build_module": "build optimize",
    "executor_factory": "load_module load_param_dict save_param_dict",
    "expr": "Call Constant Expr Function Let Tuple TupleGetItem TupleWrapper Var bind const var",
    "module": "IRModule Module=IRModule ScopeBuilder",
    "op.own_compute": "OpPattern register_compute register_injective_schedule register_pattern register_schedule "
    "schedule_injective",
    "text.printer": "astext",
    "text.reader": "fromtext=parse parse parse_expr",
    "transform": "build_config=PassContext",
    "types": "Any FuncType TensorType TupleType Type scalar_type",
    "visitor": "ExprFunctor ExprMutator ExprVisitor",
    "vm": "create_executor",
}) | {
    name: f"tvmq.relay.{module or name}"
    for name, _, module in (word.partition("=") for word in """
        analysis annotation=op.annotation backend build_module debug_executor expr expr_functor=visitor frontend
        graph_executor image=op.image nn=op.nn op quantize testing transform tvm ty=types vm""".split())
}  # fmt: skip


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
