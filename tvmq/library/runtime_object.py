"""The runtime of libraries, runtime.c, as an object file for a CPU.

Who exports has no C compiler, but TVM holds LLVM: what clang made of the file stands beside it as LLVM's text, once for
each architecture, and begins with the hash of its sources. `tools/library_runtime.py` writes it anew.

Tests: tests/library/test_runtime_object.py
"""

from __future__ import annotations

import hashlib
import importlib.resources
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tvmq.base.tvm_internals import LOAD_BITCODE, global_function
from tvmq.base.tvm_runtime import load_compiler
from tvmq.codegen.target.cpu import ARM, X86
from tvmq.runtime.artifact.link.elf_object import MACHINE_NAMES, ObjectFile, read_object
from tvmq.runtime.artifact.memory_file import object_file

SOURCES = ("model.h", "plan.h", "sizes.h", "pool.h", "processor.h", "selftest.h", "run.h", "runtime.c")
TEXTS = {X86: "runtime.x86_64.ll", ARM: "runtime.aarch64.ll"}


def read_source(name: str) -> str:
    """Text of a file beside this one."""
    return (importlib.resources.files("tvmq.library") / name).read_text(encoding="utf-8")


def hash_sources() -> str:
    """sha256 of the C files.

    >>> len(hash_sources())
    64
    """
    return hashlib.sha256("\0".join(map(read_source, SOURCES)).encode()).hexdigest()


@lru_cache(maxsize=2)
def runtime_object(arch: str = X86) -> ObjectFile:
    """The object file; arch: as CpuTarget.arch."""
    load_compiler()
    with TemporaryDirectory(prefix="tvmq-") as folder:
        path = Path(folder, "runtime.ll")
        path.write_text(read_source(TEXTS[arch]), encoding="utf-8")
        return read_object(object_file(global_function(LOAD_BITCODE)(str(path), "ll")), MACHINE_NAMES)
