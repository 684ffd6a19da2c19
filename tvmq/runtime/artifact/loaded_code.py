"""The compiled code of a saved model: a virtual machine of the runtime library, and more where it is asked for.

Tests: tests/runtime/artifact/test_weightless.py
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from tvmq.base.tvm_internals import INVOKE_CLOSURE, LOAD_BYTECODE, global_function
from tvmq.base.tvm_runtime import is_compiler_loaded, load_compiler, start_machine
from tvmq.runtime.artifact.bytecode import Bytecode
from tvmq.runtime.artifact.weightless import BIND, without_weights

if TYPE_CHECKING:
    from tvm import relax


class LoadedCode:
    """Bytecode and kernels of a loaded model.

    code      the bytecode, or a module of TVM's where only TVM reads it
    library   the kernels as a module of TVM; None if there are none
    """

    def __init__(self, code: Any, library: Any) -> None:
        self._code, self._library = code, library

    def machine(self) -> LoadedFunctions:
        """A virtual machine with the functions on the memory of the CPU."""
        try:
            return self._machine()
        except Exception:
            # It may need a function that the compiler's library has.
            if is_compiler_loaded():
                raise
            load_compiler()
            return self._machine()

    def _machine(self) -> LoadedFunctions:
        if not isinstance(self._code, Bytecode):
            return LoadedFunctions(start_machine(self._code), {})
        parts = without_weights(self._code)
        machine = start_machine(self._with_library(global_function(LOAD_BYTECODE)(parts.code)))
        closures = {name: machine[BIND + name](*weights) for name, weights in parts.weights.items()}
        return LoadedFunctions(machine, closures)

    def _with_library(self, module: Any) -> Any:
        if self._library is not None:
            module.import_module(self._library)
        return module

    @cached_property
    def executable(self) -> relax.VMExecutable:
        """Executable for the compiler's virtual machine, which has a place to look at single calls."""
        from tvm import relax

        whole = self._with_library(self._code.module()) if isinstance(self._code, Bytecode) else self._code
        return relax.VMExecutable(whole)


class LoadedFunctions:
    """Functions by name; AttributeError for a name that there is not."""

    def __init__(self, machine: Any, closures: dict[str, Any]) -> None:
        self._machine, self._closures = machine, closures

    def __getitem__(self, name: str) -> Callable[..., Any]:
        if name in self._closures:
            return partial(self._machine[INVOKE_CLOSURE], self._closures[name])
        function: Callable[..., Any] = self._machine[name]
        return function
