"""The state of a graph executor: inputs that are set one by one, a run, outputs that are read; and its timing.

Tests: tests/relay/test_build.py
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmq.errors import ConfigError, DataError

if TYPE_CHECKING:
    from tvm.runtime.module import BenchmarkResult


class UnknownInput(DataError, RuntimeError):
    """An input, or a number of one, that the model does not have: a RuntimeError, as of old."""


class GraphRuntime:
    """Runtime that `lib["default"](dev)` returns; graph_executor.GraphModule wraps it.

    executable  the compiled model, or one that tvmq.load read; several runtimes share it, each with inputs and outputs
                of its own
    """

    def __init__(self, executable: Any) -> None:
        self.executable = executable
        self.inputs = {info.name: _zeros(info) for info in executable.input_info}
        self.outputs: list[np.ndarray] | None = None
        self._dtypes = {info.name: info.dtype for info in executable.input_info}
        self._shapes = {info.name: info.shape for info in executable.input_info}

    def set(self, key: str | int, value: Any) -> None:
        """Set an input by name or number; the value is copied and converted to the input's element type.

        raises   UnknownInput, a RuntimeError, for an input that is not there; DataError for another shape
        """
        name = self.name_of(key)
        array = np.array(as_array(value), self._dtypes[name])
        wanted = self._shapes[name]
        if array.ndim != len(wanted) or any(
            isinstance(w, int) and w != have for w, have in zip(wanted, array.shape, strict=True)
        ):
            raise DataError(f"set_input: '{name}' has shape {tuple(wanted)}. Got {array.shape}; reshape it")
        self.inputs[name] = array

    def name_of(self, key: str | int) -> str:
        """Name of an input, by name or number."""
        names = list(self.inputs)
        if isinstance(key, str) and key in self.inputs:
            return key
        if isinstance(key, int) and 0 <= key < len(names):
            return names[key]
        raise UnknownInput(f"graph_executor: there is no input {key!r}; the model has {names}")

    def run(self) -> None:
        """Compute the outputs from the inputs as they are; an input that was never set is zero."""
        self.outputs = self.executable.run(self.inputs)

    def output(self, index: int) -> np.ndarray:
        """An output of the last run; UnknownInput, a RuntimeError, before the first and for a wrong number."""
        if self.outputs is None:
            raise UnknownInput("get_output: nothing has been computed; call run() before")
        if not 0 <= index < len(self.outputs):
            raise UnknownInput(f"get_output: there is no output {index}; the model has {len(self.outputs)}")
        return self.outputs[index]

    def __getitem__(self, name: str) -> Callable[..., Any]:
        """The functions of the executor by name: "set_input", "run", "get_output", ..."""
        functions: Mapping[str, Callable[..., Any]] = {
            "set_input": self.set,
            "run": self.run,
            "get_output": lambda index: make_tensor(self.output(index)),
            "get_input": lambda key: make_tensor(self.inputs[self.name_of(key)]),
            "get_num_outputs": lambda: len(self.executable.output_info),
            "get_num_inputs": lambda: len(self.inputs),
            "get_input_index": lambda key: list(self.inputs).index(key) if key in self.inputs else -1,
        }
        if name not in functions:
            raise ConfigError(f"graph_executor: there is no function '{name}'; it has {', '.join(functions)}")
        return functions[name]

    def time_evaluator(
        self, func_name: str = "run", dev: Any = None, number: int = 10, repeat: int = 1,
        min_repeat_ms: float = 0, limit_zero_time_iterations: int = 100, cooldown_interval_ms: float = 0,
        repeats_to_cooldown: int = 1, cache_flush_bytes: int = 0, f_preproc: str = "",
    ) -> Callable[..., BenchmarkResult]:  # fmt: skip
        """A function that measures: `repeat` times the mean of `number` runs, in seconds, after one run for nothing.

        min_repeat_ms  a repeat takes at least so long: `number` grows until it does
        cooldown_interval_ms, repeats_to_cooldown   a pause after so many repeats
        """
        from tvm.runtime.module import BenchmarkResult

        run = self[func_name]

        def evaluate(*args: Any) -> BenchmarkResult:
            return BenchmarkResult(
                time_runs(lambda: run(*args), number, repeat, min_repeat_ms, cooldown_interval_ms, repeats_to_cooldown)
            )

        return evaluate


def time_runs(
    run: Callable[[], object], number: int, repeat: int, least_ms: float = 0, pause_ms: float = 0, every: int = 1
) -> list[float]:
    """Seconds of a run, one mean a repeat; ConfigError for counts below 1."""
    if min(number, repeat, every) < 1:
        raise ConfigError(f"time_evaluator: number={number}, repeat={repeat}; counts begin at 1")
    run()
    results = []
    for index in range(repeat):
        seconds = _seconds(run, number)
        while seconds * 1e3 < least_ms:
            number = max(number + 1, int(number * min(10.0, 1.2 * least_ms / max(seconds * 1e3, 1e-6))))
            seconds = _seconds(run, number)
        results.append(seconds / number)
        if pause_ms and (index + 1) % every == 0:
            time.sleep(pause_ms / 1e3)
    return results


class HostTensor:
    """An array where the program has not loaded TVM, as a tensor of the CPU.

    >>> tensor = HostTensor(np.zeros((2, 3), "float32"))
    >>> tensor.numpy().tolist(), tensor.shape, tensor.dtype
    ([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], (2, 3), 'float32')
    """

    def __init__(self, array: np.ndarray) -> None:
        self._array, self.shape, self.dtype = array, array.shape, str(array.dtype)

    def numpy(self) -> np.ndarray:
        """A copy as an array, as TVM's tensors give it."""
        return self._array.copy()

    asnumpy = numpy  # its name before TVM 0.8


def make_tensor(array: np.ndarray) -> Any:
    """A tensor of the CPU: TVM's, or a HostTensor where the program has not loaded TVM."""
    tvm = sys.modules.get("tvm")
    return tvm.runtime.tensor(array) if tvm is not None else HostTensor(array)


def as_array(value: Any) -> np.ndarray:
    """A NumPy array of anything that is one: tvm and torch tensors, numbers, lists."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
    return np.asarray(value.numpy() if hasattr(value, "numpy") else value)


def _seconds(run: Callable[[], object], number: int) -> float:
    start = time.perf_counter()
    for _ in range(number):
        run()
    return time.perf_counter() - start


def _zeros(info: Any) -> np.ndarray:
    """Zeros of an input; a dynamic dimension is 1."""
    return np.zeros([d if isinstance(d, int) else 1 for d in info.shape], info.dtype)
