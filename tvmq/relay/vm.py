"""relay.vm: compile, and in the place of tvm.runtime.vm the VirtualMachine that runs the result."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tvm.runtime.module import BenchmarkResult

from tvmq.errors import ConfigError
from tvmq.relay.build_module import compiled
from tvmq.relay.executors import results
from tvmq.relay.graph_runtime import timed
from tvmq.runtime.executable import Executable as Compiled
from tvmq.runtime.executable import load


def compile(
    mod: Any, target: Any = None, target_host: Any = None, params: Mapping[str, Any] | None = None
) -> Executable:
    """A module as code for a VirtualMachine; arguments as those of relay.build."""
    return Executable(compiled(mod, target, params))


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

    def export_library(self, file_name: str | Path, **options: Any) -> str:
        """Write one file and return its sha256; `load_executable` reads it."""
        return self.executable.save(file_name)


def load_executable(path: str | Path) -> Executable:
    """What export_library wrote; raises ArtifactError for a damaged or foreign file."""
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
            timed(
                lambda: self.invoke(func_name, *args, **kwargs),
                number, repeat, min_repeat_ms or 0, cooldown_interval_ms, repeats_to_cooldown,
            )
        )  # fmt: skip
