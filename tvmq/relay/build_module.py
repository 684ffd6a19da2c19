"""relay.build: a module to a library, by tvmq.build.

relay.backend: names of executors and runtimes, as relay.build takes them.

Tests: tests/relay/test_build.py
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import tvm

import tvmq
from tvmq.errors import ConfigError, ModelError
from tvmq.extension import stage_of
from tvmq.passes.fold_constants import fold_constants
from tvmq.passes.prepare import prepare
from tvmq.relay.executor_factory import ExecutorFactoryModule
from tvmq.relay.expr import Constant, Function, bind
from tvmq.relay.graph_runtime import as_array
from tvmq.relay.module import IRModule, as_module, as_relax

RUNTIMES = ("cpp",)
EXECUTORS = ("graph", "aot", "vm", "debug")


def build(
    ir_mod: Any, target: Any = None, target_host: Any = None, executor: Any = None, runtime: Any = None,
    workspace_memory_pools: Any = None, constant_memory_pools: Any = None,
    params: Mapping[str, Any] | None = None, mod_name: str = "default",
) -> ExecutorFactoryModule:  # fmt: skip
    """Compile a module, as relay.build; `lib["default"](dev)` makes what graph_executor.GraphModule takes.

    ir_mod       a module of any stage: of a front end, of relay.quantize, of relay.parse; a Function with a warning
    target       as tvmq.build takes it; None: the target of the scope, else "llvm", this CPU with all its features
    executor     "graph", "aot", "vm": the same code for all
    params       weights by name, which become constants; names that the module does not have are ignored. Weights that
                 are not given stay inputs: set_input(**params)
    mod_name     what the library calls the model
    raises       TargetError, ModelError, ConfigError for a runtime other than "cpp"; BuildError if TVM fails

    target_host and the memory pools of microcontrollers are accepted and change nothing. No opt_level around it
    changes what is done.
    """
    _check("executor", executor, EXECUTORS)
    _check("runtime", runtime, RUNTIMES)
    if isinstance(ir_mod, Function | tvm.relax.Function):
        warnings.warn("relay.build: give a module: IRModule.from_expr(function)", DeprecationWarning, stacklevel=2)
    return ExecutorFactoryModule(compile_module(ir_mod, target, params), as_module(ir_mod), mod_name)


def compile_module(mod: Any, target: Any = None, params: Mapping[str, Any] | None = None) -> tvmq.Executable:
    """The executable of a module in any form; see `build`."""
    module = as_relax(mod)
    if stage_of(module) == "imported":
        module = _prepare_imported(module, params)
    return tvmq.build(module, _target(target))


def optimize(mod: Any, target: Any = None, params: Mapping[str, Any] | None = None) -> tuple[IRModule, dict[str, Any]]:
    """The float module with its parameters bound, batch norms and constants folded; and the weights that are left.

    target   accepted as relay.optimize had it; nothing here depends on it
    """
    module = as_relax(mod)
    if stage_of(module) == "imported":
        module = fold_constants(_prepare_imported(module, params))
    return as_module(module), {}


def bind_params_by_name(func: Function, params: Mapping[str, Any]) -> Function:
    """The function with constants in the place of the parameters that `params` names.

    raises   ModelError, a ValueError as of old, for a name that two parameters have
    """
    names = [param.name_hint for param in func.params]
    twice = [name for name in params if names.count(name) > 1]
    if twice:
        raise ModelError(f"relay: Multiple args in the function have name {twice[0]}; give each variable its own")
    bound = {p: Constant(as_array(params[p.name_hint])) for p in func.params if p.name_hint in params}
    kept = [param for param in func.params if param not in bound]
    return Function(kept, bind(func.body, bound), None, func.type_params, func.attrs)


def _prepare_imported(module: tvm.IRModule, params: Mapping[str, Any] | None) -> tvm.IRModule:
    """The module of a front end or of expressions with the given weights bound; what is left are inputs."""
    names = [param.name for param in module["main"].params]
    weights = {name: as_array(value) for name, value in (params or {}).items() if name in names}
    main = module["main"]
    if main.attrs and "num_input" in main.attrs:
        module = module.clone()
        module["main"] = main.with_attr("num_input", len(names))
    return prepare(*tvmq.from_relax(module, weights))


def _target(target: Any) -> Any:
    """Target as tvmq.build takes it: a dictionary of one device is that device's target."""
    if target is None:
        target = tvm.target.Target.current(allow_none=True) or "llvm"
    if isinstance(target, Mapping) and "kind" not in target and len(target) == 1:
        return next(iter(target.values()))
    return target


def _check(what: str, choice: Any, known: tuple[str, ...]) -> None:
    """Refuse an executor or runtime that is not here; None is the usual one."""
    name = choice if isinstance(choice, str) else getattr(choice, "name", None)
    if choice is not None and name not in known:
        raise ConfigError(f"relay.build: {what} {choice!r} is unknown; use {' or '.join(map(repr, known))}")


def __getattr__(name: str) -> Any:
    """create_executor, which scripts found here too (PEP 562)."""
    if name == "create_executor":
        from tvmq.relay.vm import create_executor

        return create_executor
    raise AttributeError(f"module 'tvmq.relay.build_module' has no attribute {name!r}")


@dataclass(frozen=True)
class Executor:
    """How a model is run: "graph", "aot"; all have the same code here.

    >>> Executor("graph", {"link-params": True}).name
    'graph'
    """

    name: str = "graph"
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Runtime:
    """Runtime of a library: "cpp".

    >>> Runtime("cpp").name
    'cpp'
    """

    name: str = "cpp"
    options: Mapping[str, Any] = field(default_factory=dict)
