"""C files of libraries as object files for a CPU: runtime.c, and onnxruntime.c for libraries that have an operator.

Who exports has no C compiler, but TVM holds LLVM: what clang made of a file stands beside it as LLVM's text, once for
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

RUNTIME, OPERATOR = "runtime", "onnxruntime"
SOURCES = {
    RUNTIME: ("model.h", "plan.h", "sizes.h", "pool.h", "processor.h", "selftest.h", "run.h", "runtime.c"),
    OPERATOR: (
        "model.h", "onnxruntime_api.h", "onnxruntime_text.h", "onnxruntime_memory.h", "onnxruntime_run.h",
        "onnxruntime.c",
    ),
}  # fmt: skip
# architecture -> as systems and pip name machines of it
ARCHITECTURES = {X86: "x86_64", ARM: "aarch64"}
TEXTS = {(part, arch): f"{part}.{name}.ll" for part in SOURCES for arch, name in ARCHITECTURES.items()}


def read_source(name: str) -> str:
    """Text of a file beside this one."""
    return (importlib.resources.files("tvmq.library") / name).read_text(encoding="utf-8")


def hash_sources(part: str = RUNTIME) -> str:
    """sha256 of the C files of a part.

    >>> len(hash_sources())
    64
    """
    return hashlib.sha256("\0".join(map(read_source, SOURCES[part])).encode()).hexdigest()


@lru_cache(maxsize=4)
def runtime_object(arch: str = X86, part: str = RUNTIME) -> ObjectFile:
    """The object file of a part; arch: as CpuTarget.arch."""
    load_compiler()
    with TemporaryDirectory(prefix="tvmq-") as folder:
        path = Path(folder, "runtime.ll")
        path.write_text(read_source(TEXTS[part, arch]), encoding="utf-8")
        return read_object(object_file(global_function(LOAD_BITCODE)(str(path), "ll")), MACHINE_NAMES)
