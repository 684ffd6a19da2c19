"""Result of relay.build: a library that makes executors, is saved and loaded. What was saved as .so runs without TVM.

Weights as bytes, in TVM's form: what `relay.save_param_dict` wrote is read back, by any version.

Tests: tests/relay/test_build.py
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tvmq
from tvmq.errors import ConfigError, ModelError, OutputError, TvmqError
from tvmq.relay.graph_runtime import GraphRuntime, as_array

if TYPE_CHECKING:
    import tvm


class ExecutorFactoryModule:
    """A compiled model: `GraphModule(lib["default"](dev))`, `lib.export_library(path)`.

    executable  tvmq's own: run, benchmark, profile, verify; of a .so that was loaded it has `run` alone
    ir_mod      the module that was built; None for a library that was loaded

    Unpacking gives (graph_json, lib, params), as old scripts do.
    """

    def __init__(self, executable: Any, ir_mod: Any = None, mod_name: str = "default") -> None:
        self.executable = executable
        self.ir_mod = ir_mod
        self.libmod_name = mod_name

    @property
    def target(self) -> Any:
        """Target that it was compiled for; None for a .so that was loaded."""
        return getattr(self.executable, "target", None)

    @property
    def lib(self) -> ExecutorFactoryModule:
        """The library: itself."""
        return self

    def __getitem__(self, name: str) -> Callable[..., GraphRuntime]:
        """`lib["default"]`, a function of devices; each call makes an executor with inputs and outputs of its own.

        `lib["debug_create"]("default", dev)` makes what GraphModuleDebug takes: the same.

        raises   ConfigError for another name
        """
        if name == "debug_create":
            return lambda module_name, *devices: self[module_name](*devices)
        if name != self.libmod_name:
            raise ConfigError(f"relay.build: the library has '{self.libmod_name}', no '{name}'; use that")
        return lambda *devices: GraphRuntime(self.executable)

    @property
    def graph_json(self) -> str:
        """As get_graph_json."""
        return self.get_graph_json()

    @property
    def params(self) -> dict[str, tvm.runtime.Tensor]:
        """As get_params."""
        return self.get_params()

    def get_executor_config(self) -> str:
        """As get_graph_json."""
        return self.get_graph_json()

    def get_graph_json(self) -> str:
        """Inputs, outputs and the one function that computes them, in the form of the graph executor's JSON."""
        inputs, outputs = self.executable.input_info, self.executable.output_info
        count = len(inputs)
        main = {
            "op": "tvm_op",
            "name": f"tvmgen_{self.libmod_name}_main",
            "attrs": {"num_inputs": str(count), "num_outputs": str(len(outputs)), "func_name": "main"},
            "inputs": [[index, 0, 0] for index in range(count)],
        }
        infos = [*inputs, *outputs]
        attrs = {
            "shape": ["list_shape", [list(i.shape) for i in infos]],
            "dltype": ["list_str", [i.dtype for i in infos]],
        }
        graph = {
            "nodes": [*({"op": "null", "name": info.name, "inputs": []} for info in inputs), main],
            "arg_nodes": list(range(count)),
            "heads": [[count, index, 0] for index in range(len(outputs))],
            "attrs": attrs,
        }
        return json.dumps(graph)

    def get_lib(self) -> ExecutorFactoryModule:
        """The library: itself; the weights are in it."""
        return self

    def get_params(self) -> dict[str, tvm.runtime.Tensor]:
        """Weights that the executor still asks for: none, they are constants of the code."""
        return {}

    def export_library(self, file_name: str | Path, fcompile: Any = None, addons: Any = None, **options: Any) -> str:
        """Write one file and return its sha256; `relay.load_module` reads it.

        A name that ends in ".so" gets a C library, as `tvmq.export_library` writes it: it runs where there is no TVM,
        and C programs call it. What such a library cannot hold is written as a saved model, with a warning; so, without
        one, is what has another suffix. Needs no C compiler: fcompile, addons and other options change nothing.
        raises   OutputError if it cannot be written, ConfigError for a .so that was loaded
        """
        if not hasattr(self.executable, "save"):
            raise ConfigError(f"export_library: the module was loaded from '{self.executable.path}'; copy that file")
        if Path(file_name).suffix == ".so":
            try:
                export = tvmq.export_library(self.executable, file_name)
                return sha256(export.library.read_bytes()).hexdigest()
            except OutputError:
                raise
            except TvmqError as error:
                warnings.warn(f"'{file_name}' will be a saved model, which TVM runs: {error}", stacklevel=2)
        return str(self.executable.save(file_name))

    def __iter__(self) -> Iterator[Any]:
        warnings.warn(
            "relay.build gives one library: lib = relay.build(...); GraphModule(lib['default'](dev))",
            DeprecationWarning,
            stacklevel=2,
        )
        return iter((self.get_graph_json(), self, self.get_params()))

    def __repr__(self) -> str:
        return f"ExecutorFactoryModule({self.executable!r})"


def load_module(path: str | Path, fmt: str = "") -> ExecutorFactoryModule:
    """A library that export_library wrote, in the place of tvm.runtime.load_module. A .so needs no TVM.

    raises   ArtifactError for a damaged or foreign file, TargetError for a CPU that lacks what the code needs
    """
    return ExecutorFactoryModule(tvmq.load(path))


def save_param_dict(params: Mapping[str, Any]) -> bytearray:
    """Names and arrays as bytes, to be written to a file.

    params   {name: NumPy array or tvm tensor}

    >>> import numpy as np
    >>> {k: v.numpy().tolist() for k, v in load_param_dict(save_param_dict({"w": np.eye(2)})).items()}
    {'w': [[1.0, 0.0], [0.0, 1.0]]}
    """
    import tvm

    return bytearray(bytes(tvm.runtime.save_param_dict({name: as_tensor(value) for name, value in params.items()})))


def load_param_dict(param_bytes: bytes | bytearray) -> dict[str, tvm.runtime.Tensor]:
    """{name: tensor} of what `save_param_dict` gave.

    raises  ModelError for other bytes
    """
    import tvm

    try:
        loaded = tvm.runtime.load_param_dict(bytes(param_bytes))
    except Exception as error:  # TVM has no narrower one
        reason = str(error).strip().splitlines()[-1:] or [type(error).__name__]
        raise ModelError(
            f"load_param_dict: {len(param_bytes)} bytes are no saved weights ({reason[0]}); "
            "give what save_param_dict returned"
        ) from error
    return {str(name): value for name, value in loaded.items()}


def as_tensor(value: Any) -> tvm.runtime.Tensor:
    """A NumPy array, a number, a torch or a tvm tensor as a tensor of the CPU."""
    import tvm

    if isinstance(value, tvm.runtime.Tensor):
        return value
    return tvm.runtime.tensor(as_array(value))
