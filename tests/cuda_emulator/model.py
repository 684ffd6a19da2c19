"""A whole model of ours, built for a GPU and run on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from unittest import mock

import numpy as np
import tvm

from tests.cuda_emulator.emulate import FORWARD, Emulated
from tvmq.codegen.compile.cuda.compile import bind_threads
from tvmq.codegen.compile.cuda.source import our_sources
from tvmq.codegen.lower.cuda.lowerer import CudaLowerer
from tvmq.codegen.lower.int4_weights import float_weights
from tvmq.codegen.target.cuda import CudaTarget, cuda_target
from tvmq.graph.analysis.batch_dimension import batch_dimension
from tvmq.graph.module_functions import unpack_weights
from tvmq.graph.names import input_names
from tvmq.graph.symbolic import with_sizes
from tvmq.reference import Reference


class EmulatedModel:
    """A model built by `tvmq.build(mod, target)`, with g++ in place of nvcc.

    mod        of any stage behind `quantize`, or a float module without parameters
    target     of kind "cuda"
    contract   compiled as nvcc does by default, where our build asks it not to; the results must not change
    raises     EmulationError where g++ refuses the source, BuildError where TVM cannot compile
    """

    def __init__(self, mod: tvm.IRModule, target: Any = "cuda -arch=sm_80", *, contract: bool = False) -> None:
        machine = cuda_target(target)
        plain = unpack_weights(mod)
        self._batch = batch_dimension(plain)
        if self._batch:
            plain = with_sizes(plain, {self._batch: 1})
        self._names = list(input_names(plain["main"]).values())
        lowered = CudaLowerer(float_weights(plain), machine).run()
        with our_sources():
            self._emulated = Emulated(bind_threads(lowered, machine), _quick(machine), contract=contract)

    @property
    def source(self) -> str:
        """The kernels in CUDA C++."""
        return self._emulated.source

    def run(
        self, inputs: Mapping[str, np.ndarray], *, order: int = FORWARD, watch: Callable[[str, Any], None] | None = None
    ) -> list[np.ndarray]:
        """Run the model; returns an array for each output. A dynamic batch runs sample by sample, see `Emulated`."""
        given = [np.asarray(inputs[name]) for name in self._names]
        if not self._batch:
            return self._emulated.run(given, order=order, watch=watch)
        samples = [[array[i : i + 1] for array in given] for i in range(len(given[0]))]
        runs = [self._emulated.run(sample, order=order, watch=watch) for sample in samples]
        return [np.concatenate(parts) for parts in zip(*runs, strict=True)]


def _quick(machine: CudaTarget) -> Any:
    """The target with a host whose code, which only launches kernels, is not optimized."""
    return tvm.target.Target({**machine.tvm, "host": {**machine.host.tvm, "opt-level": 0}})


def reference_results(
    mod: tvm.IRModule, inputs: Mapping[str, np.ndarray], target: Any = "cuda -arch=sm_80"
) -> list[np.ndarray]:
    """The definition's results; float operators without a definition are emulated, each by itself."""

    def emulated(island: tvm.IRModule, kind: Any) -> EmulatedModel:
        return EmulatedModel(island, kind)

    with mock.patch("tvmq.codegen.compile.build.build", emulated):
        return Reference(mod, target=target).run(inputs)
