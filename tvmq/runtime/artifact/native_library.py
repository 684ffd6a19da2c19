"""Kernels as a shared library in memory: what a saved model holds where Linux runs on x86-64.

Loading it takes about a millisecond and needs neither LLVM nor a linker. The same kernels as bitcode take
about 30 us for each instruction, half a second for a network of fifty layers.

Tests: tests/runtime/artifact/link/test_shared_object.py
"""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tvmq.base.forks import LOADING, ForkLock
from tvmq.base.tvm_internals import LOAD_LIBRARY, global_function
from tvmq.codegen.target.cpu import CpuTarget
from tvmq.errors import BuildError
from tvmq.runtime.artifact.memory_file import object_file

# The dynamic linker, and the virtual machine's memory, have locks of their own.
ONE_LOAD = ForkLock("loading a model", LOADING, reentrant=True)


def native_library(library: Any, target: CpuTarget) -> bytes | None:
    """A shared library with the kernels of TVM's LLVM module; None for targets that are not Linux on x86-64.

    Also None where the code asks for something that our linker does not know: bitcode always works.
    """
    from tvmq.runtime.artifact.link.shared_object import link_shared  # only what is saved needs a linker

    if not is_linux_x86(target):
        return None
    try:
        return link_shared(object_file(library))
    except BuildError:
        return None


def load_native(data: bytes) -> Any:
    """The library of `native_library` as a module of TVM.

    raises   RuntimeError, OSError or ValueError if this system does not load it
    """
    # a name of its own for each load: the dynamic linker takes equal names for the same library
    try:
        with TemporaryDirectory(prefix="tvmq-") as folder:
            path = Path(folder, "kernels.so")
            path.write_bytes(data)
            return _module(path)
    except (RuntimeError, OSError, ValueError):
        if not hasattr(os, "memfd_create"):
            raise
        return _load_from_memory(data)


def _load_from_memory(data: bytes) -> Any:
    """Load a library where the temporary folder is full or forbids execution."""
    # Never closed: its number is in the name by which the dynamic linker knows the library.
    descriptor = os.memfd_create("tvmq-kernels")
    path = Path(f"/proc/self/fd/{descriptor}")
    path.write_bytes(data)
    return _module(path)


def _module(path: Path) -> Any:
    """A library as a module of TVM, unloaded when nobody has it any more; `tvm.runtime.load_module` keeps it."""
    with ONE_LOAD:
        return global_function(LOAD_LIBRARY)(str(path), "so")


def is_linux_x86(target: CpuTarget) -> bool:
    """True for 64-bit x86 under Linux with the GNU C library; without a triple the target is this machine."""
    triple = str(target.tvm.get("mtriple", ""))
    if triple:
        return triple.startswith("x86_64") and "linux" in triple and "musl" not in triple
    return runs_linux_x86()


def runs_linux_x86() -> bool:
    """Whether this is such a machine."""
    here = sys.platform == "linux" and platform.machine() == "x86_64"
    return here and platform.libc_ver()[0] == "glibc"
