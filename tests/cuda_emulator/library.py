"""C++ compiled by g++ into a library that TVM's host code calls, once for each text within a process."""

from __future__ import annotations

import atexit
import ctypes
import hashlib
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import tvm

from tests.support.run_folder import make_run_folder

HEADERS = Path(__file__).parent
COMPILER = "g++"
FLAGS = (
    "-std=c++17", "-march=native", "-fwrapv", "-fno-strict-aliasing", "-fno-math-errno", "-fno-trapping-math",
    "-fvisibility=hidden", "-fPIC", "-w", "-fsanitize=alignment,bounds,shift-exponent,integer-divide-by-zero",
)  # fmt: skip
# nvcc contracts by default; g++ does the same with these where the CPU has fused multiply-add, from -O2 on.
CONTRACTED = ("-O2", "-ffp-contract=fast")
# -O1 compiles in three quarters of the time of -O2; most kernels run for less than that.
EXACT = ("-O1", "-ffp-contract=off")


class EmulationError(Exception):
    """A fault that a GPU would have or show in another way: the kernel, the thread and the reason."""


def missing_compiler() -> str:
    """Why kernels cannot be run here; empty if they can."""
    return "" if shutil.which(COMPILER) else f"no {COMPILER} on this machine to run CUDA kernels with"


@lru_cache(maxsize=1)
def _folder() -> Path:
    folder = make_run_folder("cuda_emulator_")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


class _Argument(ctypes.Structure):
    """TVMFFIAny of tvm/ffi/c_api.h."""

    _fields_ = (("type", ctypes.c_int32), ("padding", ctypes.c_uint32), ("bits", ctypes.c_uint64))


def _argument(value: Any) -> _Argument:
    if isinstance(value, np.ndarray):
        return _Argument(0, 0, value.ctypes.data)
    kind = np.float64 if isinstance(value, float) else np.int64
    return _Argument(0, 0, int(kind(value).view(np.uint64)))


@dataclass(frozen=True)
class Library:
    """Compiled kernels: `module` to import into host code, `handle` for what it found."""

    module: Any
    handle: ctypes.CDLL

    def launch(self, kernel: str, arguments: Sequence[Any], launch: Sequence[int]) -> None:
        """Run one kernel, as TVM's host code does.

        arguments   arrays (their memory is used), then numbers
        launch      the numbers that its launch parameters take
        raises      EmulationError for a fault
        """
        given = (_Argument * (len(arguments) + len(launch)))(*map(_argument, [*arguments, *launch]))
        function = self.handle[f"__tvm_ffi_{kernel}"]
        function(None, given, len(given), None)
        self.check()

    def reset(self, order: int, rubbish: int) -> None:
        """Forget faults; `order` of the threads (0 forward, 1 reverse, 2 shuffled), `rubbish` in new shared memory."""
        self.handle.emulator_reset(order, rubbish)

    def check(self) -> None:
        """Raise EmulationError if a kernel has done since `reset` what it must not."""
        fault = self.handle.emulator_fault().decode()
        if fault:
            raise EmulationError(fault)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        complaint = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr[-500:])
        raise EmulationError(f"g++ refuses the source: {complaint}")


@lru_cache(maxsize=64)
def compiled(text: str, contract: bool = False) -> Library:
    """The library of a text.

    contract   products and sums may become one rounding, as nvcc makes them by default
    raises     EmulationError if g++ refuses the text, with its first complaint
    """
    flags = (*FLAGS, *(CONTRACTED if contract else EXACT), f"-I{HEADERS}")
    stem = _folder() / hashlib.sha256("\0".join([text, *flags]).encode()).hexdigest()[:24]
    source, library = stem.with_suffix(".cpp"), stem.with_suffix(".so")
    source.write_text(text)
    code = stem.with_suffix(".o")
    # Linked by itself: with -fsanitize g++ would link a library of handlers, and ours are in the header.
    _run(COMPILER, *flags, "-c", str(source), "-o", str(code))
    _run(COMPILER, "-shared", str(code), "-o", str(library))
    handle = ctypes.CDLL(str(library))
    handle.emulator_fault.restype = ctypes.c_char_p
    handle.emulator_reset.argtypes = [ctypes.c_int, ctypes.c_int]
    return Library(tvm.runtime.load_module(str(library)), handle)
