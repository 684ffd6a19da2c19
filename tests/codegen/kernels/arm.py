"""Functions compiled for 64-bit Arm and run under qemu: a cross compiler links them with arm_driver.c.

Debian: apt-get install qemu-user gcc-aarch64-linux-gnu
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm

from tests.codegen.kernels.harness import check_arguments
from tvmq.codegen.compile.vm_pipeline import OPT_LEVEL, OPTIONS

COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"
# the oldest 64-bit core of note, without dot products; it has fused multiply-add as they all have
CPU = "cortex-a72"
# CPU of each level, for LLVM and for the emulator; that one knows no CPU of its time with i8mm
CPUS = {"neon": (CPU, CPU), "dotprod": ("neoverse-n1", "neoverse-n1"), "i8mm": ("neoverse-n2", "max")}
DRIVER = Path(__file__).with_name("arm_driver.c")
DLPACK_CODES = {"i": 0, "u": 1, "f": 2}

needs_arm = pytest.mark.skipif(
    not (shutil.which(COMPILER) and shutil.which(EMULATOR)),
    reason=f"{COMPILER} or {EMULATOR} is not installed (Debian: qemu-user gcc-aarch64-linux-gnu)",
)


def arm_target(cpu: str = CPU) -> tvm.target.Target:
    """64-bit Arm Linux."""
    return tvm.target.Target({"kind": "llvm", "mtriple": "aarch64-linux-gnu", "mcpu": cpu, **OPT_LEVEL})


def run_on_arm(
    functions: Sequence[Any],
    tensors: Sequence[Sequence[np.ndarray]],
    outputs: Sequence[np.ndarray],
    folder: Path,
    level: str = "neon",
) -> list[np.ndarray]:
    """Results of PrimFuncs, in one process of the emulator.

    functions  PrimFuncs of the inputs and one output
    tensors    the inputs of each
    outputs    arrays of the type and shape of each output; filled with rubbish beforehand
    folder     for the object, the program and the data
    level      instruction set level of the CPU that is compiled for and emulated
    """
    cpu, emulated = CPUS[level]
    names = [f"case_{number}" for number in range(len(functions))]
    named = {name: func.with_attr("global_symbol", name) for name, func in zip(names, functions, strict=True)}
    for func, inputs, output in zip(functions, tensors, outputs, strict=True):
        check_arguments(func, (*inputs, output))
    with tvm.transform.PassContext(**OPTIONS):
        tvm.compile(tvm.IRModule(named), arm_target(cpu)).mod.write_to_file(str(folder / "kernels.o"), "o")
    (folder / "table.h").write_text("".join(f"KERNEL({name})\n" for name in names))
    with (folder / "input").open("wb") as file:
        for inputs, output in zip(tensors, outputs, strict=True):
            rubbish = np.full(output.shape, 77, output.dtype)
            file.write(struct.pack("<i", len(inputs) + 1) + b"".join(_packed(array) for array in (*inputs, rubbish)))
    _link(folder)
    subprocess.run([EMULATOR, "-cpu", emulated, folder / "program", folder / "input", folder / "output"], check=True)
    data, results, begin = (folder / "output").read_bytes(), [], 0
    for output in outputs:
        results.append(np.frombuffer(data, output.dtype, output.size, begin).reshape(output.shape))
        begin += output.nbytes
    assert begin == len(data)
    return results


def _link(folder: Path) -> None:
    import tvm_ffi

    include = os.path.join(os.path.dirname(tvm_ffi.__file__), "include")
    sources = [DRIVER, folder / "kernels.o", "-o", folder / "program", "-lm"]
    subprocess.run([COMPILER, "-static", "-O1", f"-I{include}", f"-I{folder}", *sources], check=True)


def _packed(array: np.ndarray) -> bytes:
    head = struct.pack("<3i", DLPACK_CODES[array.dtype.kind], 8 * array.dtype.itemsize, array.ndim)
    return head + struct.pack(f"<{array.ndim}q", *array.shape) + array.tobytes()
