"""tvmq's side of the tables: a task's model in float, simulated and in integers, and what its ledger says."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tvmq
from harness.zoo import Feed, Predict, batch_one_shape


@dataclass(frozen=True, eq=False)
class Quantized:
    """An integer module, compiled, with the seconds that took.

    quantize_seconds    import not included; reading the calibration data is
    """

    module: Any
    executable: Any
    quantize_seconds: float
    build_seconds: float


@dataclass(frozen=True, eq=False)
class Model:
    """An imported float model."""

    module: Any
    params: dict[str, Any]

    @classmethod
    def read(cls, path: str | Path, shape: Mapping[str, Sequence[int]]) -> Model:
        """Import an ONNX file with its inputs fixed to `shape`."""
        return cls(*tvmq.from_onnx(path, shape=shape))

    @classmethod
    def of_task(cls, task: Any) -> Model:
        """Import the model of a task for one sample."""
        return cls.read(task.model_path, batch_one_shape(task))

    def floats(self, target: str = "llvm") -> Any:
        """Executable of the float model."""
        return tvmq.build(self.module, target=target, params=self.params)

    def simulated(self, data: Iterable[Feed]) -> Any:
        """The float32 module that rounds where the integer model does."""
        with tvmq.qconfig(do_simulation=True):
            return tvmq.quantize(self.module, self.params, data)

    def integer(self, data: Iterable[Feed], **options: Any) -> Any:
        """The integer module; default settings without options of `tvmq.quantize`."""
        return tvmq.quantize(self.module, self.params, data, **options)

    def quantized(self, data: Iterable[Feed], target: str = "llvm", **options: Any) -> Quantized:
        """The integer module, compiled, with the times."""
        start = time.perf_counter()
        module = self.integer(data, **options)
        middle = time.perf_counter()
        executable = tvmq.build(module, target=target)
        return Quantized(module, executable, middle - start, time.perf_counter() - middle)


def integer_share(module: Any) -> float:
    """Share of the multiply-accumulates whose both operands are 8-bit integers."""
    from tvmq.graph.ledger import get_ledger

    layers = get_ledger(module).layers.values()
    total = sum(layer.get("macs", 0) for layer in layers)
    return sum(layer.get("macs", 0) for layer in layers if layer["precision"] == "int8") / total


def constant_bytes(module: Any) -> int:
    """Bytes of all constants of a module, each counted once."""
    from tvmq.graph.view import View, is_const

    found = {}
    for _, value in View(module).bindings:
        for arg in getattr(value, "args", ()):
            if is_const(arg):
                found[arg] = arg.value.numpy().nbytes
    return sum(found.values())


def file_bytes(executable: Any) -> int:
    """Bytes of the saved model."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.tvmq"
        executable.save(path)
        return path.stat().st_size


def core_samples(module: Any, feeds: Sequence[Feed]) -> list[tuple[list[np.ndarray], list[np.ndarray]]]:
    """(codes into the integer core, its results by compiled code) of each sample."""
    executable = tvmq.build(module)
    first, core, found = executable["quantize_inputs"], executable["quantized_main"], []
    for feed in feeds:
        codes = [array.copy() for array in first.run(feed)]
        results = core.run({info.name: array for info, array in zip(core.input_info, codes, strict=True)})
        found.append((codes, [array.copy() for array in results]))
    return found


def network_predict(net: Any) -> Predict:
    """The torch network of a training as the function that tasks evaluate."""
    import torch

    from tvmq.graph.symbolic import inputs_of

    names = [given.name for given in inputs_of(net.integers)]

    @torch.no_grad()
    def predict(feed: Feed) -> list[np.ndarray]:
        outputs = net(*(torch.from_numpy(feed[name]) for name in names))
        return [output.numpy() for output in (outputs if isinstance(outputs, list) else [outputs])]

    return predict


def onnx_model(
    nodes: Sequence[Any], inputs: Mapping[str, Sequence[int]], constants: Mapping[str, Any], *, dtype: str = "float32",
    output: str = "y", ir_version: int = 8,
) -> Any:  # fmt: skip
    """An ONNX model of nodes and constants, opset 17, with one output; `dtype` is that of the inputs."""
    from onnx import TensorProto, helper, numpy_helper

    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    given = [helper.make_tensor_value_info(name, kind, shape) for name, shape in inputs.items()]
    arrays = [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()]
    result = helper.make_empty_tensor_value_info(output)
    if dtype == "float32":
        result = helper.make_tensor_value_info(output, TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "network", given, [result], arrays)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=ir_version)


def read_model(path: str | bytes) -> tuple[Any, Any]:
    """A float model whose batch is dynamic: file, or the bytes of one."""
    import io

    import onnx

    return tvmq.from_onnx(onnx.load(io.BytesIO(path)) if isinstance(path, bytes) else path)
