"""A kernel for GPUs, run on the CPU in several orders of threads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import tvm

from tests.cuda_emulator.emulate import FORWARD, SHUFFLED, run_in_orders
from tests.cuda_emulator.library import missing_compiler
from tvmq.kernels.parts.types import Kernel

needs_compiler = pytest.mark.skipif(bool(missing_compiler()), reason=missing_compiler())


def run_kernel(kernel: Kernel, inputs: Sequence[np.ndarray], arch: int = 80) -> np.ndarray:
    """Output of a kernel; two orders of threads must give the same."""
    host = {"kind": "llvm", "mcpu": "x86-64", "opt-level": 0}  # only launches kernels
    target = tvm.target.Target({"kind": "cuda", "arch": f"sm_{arch}"}, host=host)
    arrays = [np.ascontiguousarray(array) for array in (*inputs, *kernel.constants)]
    first, second = run_in_orders(kernel.func, arrays, target, (FORWARD, SHUFFLED))
    np.testing.assert_array_equal(first, second)
    return first
