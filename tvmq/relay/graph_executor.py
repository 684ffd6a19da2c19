"""In the place of tvm.contrib.graph_executor: GraphModule and create.

In the place of tvm.contrib.debugger.debug_executor: an executor that tells where the time goes.

Tests: tests/relay/test_build.py
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tvmq.errors import ConfigError
from tvmq.relay.executor_factory import ExecutorFactoryModule, load_param_dict
from tvmq.relay.graph_runtime import GraphRuntime, as_array, make_tensor, time_runs

if TYPE_CHECKING:
    import tvm
    from tvm.runtime.module import BenchmarkResult


def create(graph_json_str: str, libmod: ExecutorFactoryModule, device: Any = None) -> GraphModule:
    """An executor of a library; the graph's text is accepted, the library knows its graph."""
    return GraphModule(libmod[libmod.libmod_name](device))


class GraphModule:
    """An executor: set_input, run, get_output.

    module   what `lib["default"](dev)` gave; it has time_evaluator
    """

    def __init__(self, module: GraphRuntime) -> None:
        self.module = module

    def set_input(self, key: str | int | None = None, value: Any = None, **params: Any) -> None:
        """Set one input by name or number, or several by keywords; keywords that name no input are ignored.

        raises   UnknownInput, a RuntimeError, for a key that is not there; DataError for another shape
        """
        if key is not None:
            self.module.set(key, value)
        for name, array in params.items():
            if name in self.module.inputs:
                self.module.set(name, array)

    def set_input_zero_copy(self, key: str | int | None = None, value: Any = None, **params: Any) -> None:
        """As set_input: values are copied all the same, since code asks for aligned memory."""
        self.set_input(key, value, **params)

    def run(self, **input_dict: Any) -> None:
        """Set these inputs and compute the outputs."""
        self.set_input(**input_dict)
        self.module.run()

    def get_output(self, index: int, out: Any = None) -> tvm.runtime.Tensor:
        """An output of the last run; with `out`, written there too. Where TVM is not loaded, it has `numpy()` alone.

        raises   UnknownInput, a RuntimeError, before the first run and for a number that is not there
        """
        array = self.module.output(index)
        return make_tensor(array) if out is None else _copy_into(array, out)

    def get_input(self, index: int | str, out: Any = None) -> tvm.runtime.Tensor:
        """An input as it is set, by name or number."""
        array = self.module.inputs[self.module.name_of(index)]
        return make_tensor(array) if out is None else _copy_into(array, out)

    def get_num_outputs(self) -> int:
        """Number of outputs."""
        return len(self.module.executable.output_info)

    def get_num_inputs(self) -> int:
        """Number of inputs."""
        return len(self.module.inputs)

    def get_input_index(self, name: str) -> int:
        """Number of an input, -1 if there is none of that name."""
        return list(self.module.inputs).index(name) if name in self.module.inputs else -1

    def get_input_info(self) -> tuple[dict[str, tuple[Any, ...]], dict[str, str]]:
        """{input: shape} and {input: element type}."""
        infos = self.module.executable.input_info
        return {info.name: info.shape for info in infos}, {info.name: info.dtype for info in infos}

    def load_params(self, params_bytes: bytes | bytearray) -> None:
        """Set inputs from what save_param_dict gave; names that are no inputs are ignored."""
        self.set_input(**load_param_dict(params_bytes))

    def share_params(self, other: GraphModule, params_bytes: bytes | bytearray) -> None:
        """Set the inputs that the bytes name to those of another executor."""
        for name in load_param_dict(params_bytes):
            if name in self.module.inputs and name in other.module.inputs:
                self.module.inputs[name] = other.module.inputs[name]

    def benchmark(
        self, device: Any = None, func_name: str = "run", repeat: int = 5, number: int = 5,
        min_repeat_ms: float | None = None, limit_zero_time_iterations: int = 100, end_to_end: bool = False,
        cooldown_interval_ms: float = 0, repeats_to_cooldown: int = 1, **kwargs: Any,
    ) -> BenchmarkResult:  # fmt: skip
        """Seconds of a run: .mean, .median, .std, .min, .max, .results (a mean of `number` runs a repeat).

        min_repeat_ms  a repeat takes at least so long
        end_to_end     with the copies of all inputs to the executor and of all outputs from it
        kwargs         inputs; without them, those that are set
        """
        from tvm.runtime.module import BenchmarkResult

        self.set_input(**kwargs)
        inputs = dict(self.module.inputs)

        def run_end_to_end() -> None:
            self.run(**inputs)
            for index in range(self.get_num_outputs()):
                self.get_output(index)

        run = run_end_to_end if end_to_end else self.module[func_name]
        return BenchmarkResult(
            time_runs(run, number, repeat, min_repeat_ms or 0, cooldown_interval_ms, repeats_to_cooldown)
        )

    def __getitem__(self, key: str) -> Any:
        """A function of the executor by name."""
        return self.module[key]


def _copy_into(array: Any, out: Any) -> Any:
    """`out`, which is a tvm tensor or a NumPy array, with the values of an array."""
    if hasattr(out, "copyfrom"):
        out.copyfrom(as_array(array))
    else:
        out[...] = array
    return out


def create_debug(
    graph_json_str: str, libmod: ExecutorFactoryModule, device: Any = None, dump_root: Any = None
) -> GraphModuleDebug:
    """An executor of a library; nothing is dumped to `dump_root`."""
    return GraphModuleDebug(libmod[libmod.libmod_name](device))


class GraphModuleDebug(GraphModule):
    """GraphModule that prints the time of each layer when it runs, and has `profile`; nothing is dumped."""

    def __init__(
        self, module: GraphRuntime, device: Any = None, graph_json_str: Any = None, dump_root: Any = None
    ) -> None:
        super().__init__(module)

    def run(self, **input_dict: Any) -> None:
        """Set these inputs, compute the outputs, and print the time of each layer."""
        super().run(**input_dict)
        print(self.profile())

    def profile(self, collectors: Any = None, **input_dict: Any) -> Any:
        """Seconds of each layer, to be printed; see Executable.profile.

        collectors   accepted; counters of the CPU are not read
        raises       ConfigError for a .so that was loaded
        """
        if not hasattr(self.module.executable, "profile"):
            raise ConfigError("debug_executor: a .so has no names of layers; export the model with another suffix")
        self.set_input(**input_dict)
        return self.module.executable.profile(self.module.inputs)
