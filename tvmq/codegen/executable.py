"""A compiled model: run, benchmark, save; `load` gives it back."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvmq.codegen import artifact
from tvmq.codegen.inputs import TensorInfo, checked_inputs, infos
from tvmq.codegen.target import CpuTarget
from tvmq.codegen.timing import Timing, measure
from tvmq.graph.ledger import Ledger


@dataclass(frozen=True, eq=False)
class Parts:
    """What an executable is made of; `build` and `load` make it.

    code         compiled functions
    target       what they were compiled for
    description  inputs, outputs, ledger, layer names (codegen/description.py)
    kernels      {variable: kernel that computes it}
    module       the Relax module that was compiled: what `verify` executes in NumPy
    """

    code: relax.VMExecutable
    target: CpuTarget
    description: dict[str, Any]
    kernels: dict[str, str]
    module: tvm.IRModule


class Executable:
    """A compiled model for one CPU.

        exe = tvmq.build(qmod)
        y, = exe.run({"x": x})
        exe.save("m.tvmq")

    Safe to share between threads: runs take turns. Results are fresh arrays.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._lock = threading.Lock()
        self._main = relax.VirtualMachine(parts.code, tvm.cpu())["main"]
        self._inputs = [tvm.runtime.empty(info.shape, info.dtype) for info in self.input_info]
        self._views = [np.from_dlpack(tensor) for tensor in self._inputs]

    @property
    def input_info(self) -> tuple[TensorInfo, ...]:
        """Name, shape, dtype, and scale and zero point of the codes, of each input."""
        return infos(self._parts.description["inputs"])

    @property
    def output_info(self) -> tuple[TensorInfo, ...]:
        """The same of each output."""
        return infos(self._parts.description["outputs"])

    @property
    def target(self) -> CpuTarget:
        """The CPU it was compiled for."""
        return self._parts.target

    @property
    def ledger(self) -> Ledger:
        """What was decided for every layer, and why."""
        return Ledger(**self._parts.description["ledger"])

    @property
    def kernels(self) -> dict[str, str]:
        """{variable: kernel}; what is absent has the generic schedule."""
        return dict(self._parts.kernels)

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        """{variable: source names}."""
        return {name: tuple(sources) for name, sources in self._parts.description["names"].items()}

    @property
    def module(self) -> tvm.IRModule:
        """The Relax module that was compiled."""
        return self._parts.module

    def run(self, inputs: Mapping[str, np.ndarray], *, check_finite: bool = False) -> list[np.ndarray]:
        """One array an output.

        inputs        {input name: array}; integers are converted to float inputs, any memory layout is taken
        check_finite  refuse NaN and infinities (else NaN becomes the lowest code and infinities clip)
        raises        DataError naming the input
        """
        arrays = checked_inputs(inputs, self.input_info, check_finite=check_finite)
        with self._lock:
            for view, array in zip(self._views, arrays, strict=True):
                np.copyto(view, array)
            result = self._main(*self._inputs)
            return [result.numpy()] if hasattr(result, "numpy") else [item.numpy() for item in result]

    def __call__(self, *arrays: np.ndarray) -> Any:
        """Inputs in order; the result alone if there is one output, else a list."""
        from tvmq.codegen.inputs import by_position

        results = self.run(by_position(arrays, self.input_info))
        return results[0] if len(results) == 1 else results

    def benchmark(self, inputs: Mapping[str, np.ndarray], *, repeat: int = 50, threads: int | None = None) -> Timing:
        """Seconds of single runs after a warm-up; `threads` that the model may use (None: as it is)."""
        return measure(lambda: self.run(inputs), repeat=repeat, threads=threads)

    def save(self, path: str | Path) -> str:
        """Write one .tvmq file (a zip) and return its sha256; OutputError if it cannot be written, and then nothing is."""
        return artifact.save(Path(path), self._parts)

    def __repr__(self) -> str:
        inputs = ", ".join(f"{i.name} {i.dtype}{list(i.shape)}" for i in self.input_info)
        return f"Executable({inputs}; {self.target.mcpu}, {self.ledger.stage})"


def load(path: str | Path, *, sha256: str | None = None) -> Executable:
    """A saved executable.

    A .tvmq file holds machine code: load it only from where you trust, or give the `sha256` that `save` returned.
    raises  ArtifactError for a damaged or foreign file or another hash, TargetError if this CPU lacks a feature
    """
    return Executable(Parts(**artifact.load(Path(path), sha256)))
