"""relay.vm: compile, and in the place of tvm.runtime.vm the VirtualMachine that runs the result.

relay.create_executor: modules and expressions as functions of arrays.

Tests: tests/relay/test_build.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import tvm
from tvm.runtime.module import BenchmarkResult

from tvmq import Executable as Compiled
from tvmq import load
from tvmq.errors import ConfigError, DataError
from tvmq.relay.analysis import free_vars
from tvmq.relay.build_module import compile_module
from tvmq.relay.expr import Constant, Expr, Function, TupleWrapper, bind
from tvmq.relay.graph_runtime import as_array, time_runs
from tvmq.relay.module import IRModule, as_module

KINDS = ("debug", "graph", "vm", "aot")


def create_executor(
    kind: str = "debug",
    mod: Any = None,
    device: Any = None,
    target: Any = "llvm",
    params: Mapping[str, Any] | None = None,
) -> Evaluator:
    """Create an evaluator of a module or of expressions, as relay.create_executor.

    kind     "debug", "graph", "vm", "aot": the same compiled code for all
    mod      a module; None where only expressions are evaluated
    params   weights by name, which become constants
    raises   ConfigError for another kind

    >>> from tvmq.relay.expr import const
    >>> create_executor("vm").evaluate(const(1.0) + const(2.0)).numpy().item()
    3.0
    """
    if kind not in KINDS:
        raise ConfigError(f"relay.create_executor: kind {kind!r} is unknown; use {', '.join(map(repr, KINDS))}")
    return Evaluator(mod, target, dict(params or {}))


class Evaluator:
    """Evaluator of a module or of expressions."""

    def __init__(self, mod: Any, target: Any, params: dict[str, Any]) -> None:
        self.mod = None if mod is None else as_module(mod)
        self.target = target
        self.params = params

    def evaluate(self, expr: Any = None, binds: Mapping[Any, Any] | None = None) -> Any:
        """A function of arrays for a module or a Function; the value itself of an expression.

        expr     None: the module's "main"; a Function; an expression without free variables
        binds    {variable: array} for free variables of an expression
        raises   ConfigError where there is nothing to evaluate, DataError for variables without a value

        The function takes arrays in the order of the parameters, or by keyword, and gives a tensor, or a list of
        tensors where the result is a tuple (of tuples: flat).
        """
        expr = expr.astuple() if isinstance(expr, TupleWrapper) else expr
        if isinstance(expr, Expr) and binds:
            expr = bind(expr, {variable: Constant(as_array(value)) for variable, value in binds.items()})
        if expr is None or isinstance(expr, str | tvm.ir.GlobalVar):
            return self._function(self._of_module(expr))
        if isinstance(expr, Function):
            return self._function(IRModule.from_expr(expr))
        missing = [variable.name_hint for variable in free_vars(expr)]
        if missing:
            raise DataError(f"evaluate: variable '{missing[0]}' has no value; give binds={{variable: array}}")
        return self._function(IRModule.from_expr(Function([], expr)))()

    def _of_module(self, name: Any) -> IRModule:
        if self.mod is None:
            raise ConfigError("evaluate: there is neither a module nor an expression; give create_executor(mod=...)")
        name = "main" if name is None else getattr(name, "name_hint", name)
        return self.mod if name == "main" else IRModule.from_expr(self.mod[name])

    def _function(self, mod: IRModule) -> Callable[..., Any]:
        executable = compile_module(mod, self.target, self.params)
        return lambda *args, **kwargs: results(executable, args, kwargs)


def results(executable: Compiled, args: Any, kwargs: Mapping[str, Any]) -> Any:
    """Tensors of a run on arrays in order and by keyword: the tensor alone, or a list of several.

    raises   DataError for too many, too few or unknown arrays, and what `Executable.run` raises
    """
    names = [info.name for info in executable.input_info]
    dtypes = {info.name: info.dtype for info in executable.input_info}
    feed = {**dict(zip(names, args, strict=False)), **kwargs}
    if len(args) > len(names) or set(feed) != set(names):
        raise DataError(
            f"evaluate: the function takes {names}. Got {len(args)} arrays and {list(kwargs)}; give each once"
        )
    arrays = {name: as_array(value).astype(dtypes[name], copy=False) for name, value in feed.items()}
    outputs = [tvm.runtime.tensor(array) for array in executable.run(arrays)]
    return outputs[0] if len(outputs) == 1 else outputs


def compile(
    mod: Any, target: Any = None, target_host: Any = None, params: Mapping[str, Any] | None = None
) -> Executable:
    """A module as code for a VirtualMachine; arguments as those of relay.build."""
    return Executable(compile_module(mod, target, params))


class Executable:
    """Code for a VirtualMachine; `mod` is itself, as `exe.mod.export_library(path)` asks.

    executable  tvmq's own: run, benchmark, profile, verify
    """

    def __init__(self, executable: Compiled) -> None:
        self.executable = executable

    @property
    def mod(self) -> Executable:
        """Itself."""
        return self

    @property
    def globals(self) -> list[str]:
        """Names of the functions."""
        return list(self.executable.functions)

    def get_function_params(self, func_name: str) -> list[str]:
        """Names of a function's parameters."""
        return [info.name for info in self.executable[func_name].input_info]

    def save(self) -> tuple[bytearray, Executable]:
        """(code, library) of old scripts: the code is in the library, which export_library writes; see `load_exec`."""
        return bytearray(), self

    @staticmethod
    def load_exec(bytecode: bytes | bytearray, lib: Any) -> Executable:
        """The executable of a library that `save` gave, or that relay.load_module read."""
        return lib if isinstance(lib, Executable) else Executable(lib.executable)

    def export_library(self, file_name: str | Path, **options: Any) -> str:
        """Write one file and return its sha256; `load_executable` reads it."""
        return self.executable.save(file_name)


def load_executable(path: str | Path) -> Executable:
    """Load what export_library wrote; raises ArtifactError for a damaged or foreign file."""
    return Executable(load(path))


class VirtualMachine:
    """Runs a function of an executable: `VirtualMachine(exe, tvm.cpu()).invoke("main", x)`."""

    def __init__(self, exe: Executable, device: Any = None, memory_cfg: Any = None) -> None:
        self.executable = exe.executable
        self._inputs: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {}

    def set_input(self, func_name: str, *args: Any, **kwargs: Any) -> None:
        """Arrays for the next run of a function, in order or by name."""
        self._inputs[func_name] = (args, kwargs)

    def invoke(self, func_name: str, *args: Any, **kwargs: Any) -> Any:
        """Run a function on these arrays, or on those that were set: a tensor, or a list of several.

        raises   ConfigError for a function other than "main", DataError for arrays that do not fit
        """
        if func_name != "main":
            raise ConfigError(f"VirtualMachine: there is no function '{func_name}'; it has 'main'")
        if not args and not kwargs:
            args, kwargs = self._inputs.get(func_name, ((), {}))
        return results(self.executable, args, kwargs)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Run "main"."""
        return self.invoke("main", *args, **kwargs)

    def benchmark(
        self, device: Any, *args: Any, func_name: str = "main", repeat: int = 5, number: int = 5,
        min_repeat_ms: float | None = None, limit_zero_time_iterations: int = 100, end_to_end: bool = False,
        cooldown_interval_ms: float = 0, repeats_to_cooldown: int = 1, **kwargs: Any,
    ) -> BenchmarkResult:  # fmt: skip
        """Seconds of a run, as GraphModule.benchmark; inputs are copied in every run."""
        return BenchmarkResult(
            time_runs(
                lambda: self.invoke(func_name, *args, **kwargs),
                number, repeat, min_repeat_ms or 0, cooldown_interval_ms, repeats_to_cooldown,
            )
        )  # fmt: skip
