"""CUDA C++ to code of GPUs by nvcc, with flags that leave the arithmetic alone; and what TVM gets where it compiles.

nvcc is a program; it makes a "fatbin": machine code of one GPU, and PTX that the driver compiles for later ones.
Where it is missing NVRTC does it (nvrtc.py).

TVM compiles with --use_fast_math, which flushes small numbers to zero and divides approximately. Sources of ours
are compiled here instead, also when TVM asks; those of others go TVM's way.

Tests: tests/codegen/target/test_cuda_compilers.py
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tvm_ffi
from tvm.support import nvcc as tvm_nvcc

from tvmq.base.tvm_internals import COMPILE_CUDA
from tvmq.codegen.target.cuda import PORTABLE, device_arch
from tvmq.codegen.target.nvrtc import FLAGS, compile_by_nvrtc, first_error, is_ours
from tvmq.errors import BuildError, TargetError

FORMATS = ("fatbin", "cubin", "ptx")
HOMES = ("CUDA_HOME", "CUDA_PATH")
USUAL = Path("/usr/local/cuda")

# sha256 of a source -> what it was compiled to, where a saved model has brought both.
_COMPILED: dict[str, bytes] = {}


def find_nvcc() -> str | None:
    """nvcc on the PATH, of CUDA_HOME or CUDA_PATH, or where CUDA is usually installed; None if there is none."""
    homes = [Path(os.environ[name]) for name in HOMES if os.environ.get(name)]
    beside = (shutil.which(str(home / "bin" / "nvcc")) for home in (*homes, USUAL))
    return next((path for path in (shutil.which("nvcc"), *beside) if path), None)


def compile_source(source: str, arch: str, form: str = "fatbin") -> bytes:
    """A source compiled by nvcc.

    arch     "sm_90"
    form     "fatbin": machine code and PTX; "cubin": machine code; "ptx"
    raises   TargetError without nvcc, BuildError with what it says
    """
    nvcc = find_nvcc()
    if nvcc is None:
        raise TargetError(
            "build: there is no nvcc on the PATH, in CUDA_HOME or /usr/local/cuda; install CUDA 12 or later"
        )
    with TemporaryDirectory(prefix="tvmq-") as folder:
        before, after = Path(folder, "kernels.cu"), Path(folder, "kernels.out")
        before.write_text(source)
        command = [nvcc, f"--{form}", *_for_arch(arch, form), "-O3", "-w", *FLAGS, "-o", str(after), str(before)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise BuildError(f"build: nvcc could not compile the kernels for {arch}: {first_error(done.stderr)}")
        return after.read_bytes()


def _for_arch(arch: str, form: str) -> tuple[str, ...]:
    virtual = arch.replace("sm_", "compute_")
    if form == "fatbin":
        return (f"-gencode=arch={virtual},code=[{arch},{virtual}]",)
    return (f"-arch={virtual if form == 'ptx' else arch}",)


def remember(source: str, code: bytes) -> None:
    """Code that a source was compiled to: TVM gets it where it would compile the source."""
    if code:
        _COMPILED[_key(source)] = code


def _key(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()


def _compile(source: str, by_tvm: Callable[[str], Any], known: Mapping[str, bytes]) -> Any:
    """Binary that TVM loads for a source, compiled for this GPU."""
    if not is_ours(source):
        return by_tvm(source)
    code = known.get(_key(source))
    if code is not None:
        return bytearray(code)
    arch = device_arch() or PORTABLE
    return bytearray(compile_source(source, arch) if find_nvcc() else compile_by_nvrtc(source, arch))


def register() -> None:
    """Register our compiler for the sources that TVM compiles."""
    by_tvm = tvm_nvcc.tvm_callback_cuda_compile
    tvm_ffi.register_global_func(COMPILE_CUDA, lambda source: _compile(str(source), by_tvm, _COMPILED), override=True)


register()
