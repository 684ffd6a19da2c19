"""A kernel for GPUs, run on the CPU in several orders of threads.

CUDA C++ of a kernel, and what nvcc makes of it; no GPU is needed.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm

from tests.cuda_emulator.emulate import FORWARD, SHUFFLED, run_in_orders
from tests.cuda_emulator.library import missing_compiler
from tvmq.codegen.kernels.cuda.device import HEADER
from tvmq.codegen.kernels.parts.kernel_types import Kernel

needs_compiler = pytest.mark.skipif(bool(missing_compiler()), reason=missing_compiler())


def run_kernel(kernel: Kernel, inputs: Sequence[np.ndarray], arch: int = 80) -> np.ndarray:
    """Output of a kernel; two orders of threads must give the same."""
    host = {"kind": "llvm", "mcpu": "generic", "opt-level": 0}  # only launches kernels
    target = tvm.target.Target({"kind": "cuda", "arch": f"sm_{arch}"}, host=host)
    arrays = [np.ascontiguousarray(array) for array in (*inputs, *kernel.constants)]
    first, second = run_in_orders(kernel.func, arrays, target, (FORWARD, SHUFFLED))
    np.testing.assert_array_equal(first, second)
    return first


ARCHS = (75, 80, 90)
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")


def cuda_source(name: str, func: Any, arch: int = 80) -> str:
    """Our device functions, and the source that TVM makes of a PrimFunc."""
    return source_of({name: func}, arch)


def source_of(functions: dict[str, Any], arch: int = 80) -> str:
    """CUDA source of several PrimFuncs, by name."""
    host = {"kind": "llvm", "mcpu": "generic"}
    target = tvm.target.Target({"kind": "cuda", "arch": f"sm_{arch}"}, host=host)
    library = tvm.compile(tvm.IRModule(functions), target)
    return HEADER + str(library.mod.imports[0].inspect_source())


def compiled(source: str, arch: int, folder: Path, kind: str = "cubin") -> tuple[Path, str]:
    """(file of that kind, what ptxas says about registers and memory); fails where nvcc or ptxas does."""
    path, result = folder / "kernel.cu", folder / f"kernel_{arch}.{kind}"
    path.write_text(source)
    options = ["-Xptxas", "-v"] if kind == "cubin" else []
    command = ["nvcc", f"-arch=sm_{arch}", f"-{kind}", *options, "-diag-suppress", "177", "-o", str(result), str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return result, done.stderr
