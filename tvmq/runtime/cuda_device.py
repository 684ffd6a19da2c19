"""Running compiled code on this machine's GPU.

Tests: tests/codegen/target/test_cuda.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tvm

from tvmq.codegen.target.cuda import CudaTarget, device_arch

INSTALL = "the NVIDIA driver (libcuda.so.1) and the CUDA 13 runtime (libcudart.so.13)"


def refusal(target: CudaTarget) -> str:
    """Why code for a GPU cannot run on this machine, and what to do; empty if it can."""
    if not tvm.cuda(0).exist:
        return (
            f"run: the model was built for {target.name} and this machine has no NVIDIA GPU that TVM can use; save it "
            f"and load it on a machine with one, with {INSTALL}, or build it for 'llvm', this CPU"
        )
    here = str(device_arch())
    capability = CudaTarget(here, target.host).capability
    if capability < target.capability or (target.arch.endswith("a") and capability != target.capability):
        return (
            f"run: the model was built for {target.name}, this machine's GPU is {here}; build it for 'cuda', this GPU"
        )
    return ""


class DeviceFunction:
    """A function of code for a GPU, as one that takes and gives tensors in the memory of the CPU."""

    def __init__(self, code: Callable[..., Any]) -> None:
        self.device = tvm.cuda(0)
        self._code = code

    def __call__(self, *inputs: Any) -> Any:
        return to_host(self._code(*(tensor.copyto(self.device) for tensor in inputs)))

    def prepare_run(self, inputs: Sequence[np.ndarray]) -> Callable[[], None]:
        """A function that runs it once on arrays that are there already, and waits until the GPU has done it."""
        there = [tvm.runtime.tensor(array, self.device) for array in inputs]

        def run() -> None:
            self._code(*there)
            self.device.sync()

        return run


def to_host(result: Any) -> Any:
    """Results in the memory of the CPU: a tensor, or a list where there are several."""
    if isinstance(result, tvm.runtime.Tensor):
        return result.copyto(tvm.cpu())
    return [to_host(item) for item in result]
