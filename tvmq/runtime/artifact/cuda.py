"""Members of a saved model for a GPU, besides the code of its host.

kernels.cu       the kernels in CUDA C++
kernels.fatbin   the same compiled, where nvcc was there when the model was saved; else empty
cuda.bin         names and arguments of the kernels, as TVM's module for CUDA writes itself

Tests: tests/codegen/compile/cuda/test_build.py
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import tvm
from tvm import relax

from tvmq.base.text import last_line
from tvmq.base.tvm_internals import LOAD_CUDA, PACK_IMPORTS, global_function
from tvmq.codegen.target.cuda import CudaTarget
from tvmq.errors import ArtifactError
from tvmq.runtime.artifact.code_bytes import FATBIN, LIBRARY, SOURCE

KIND = "cuda"
LENGTH = struct.Struct("<Q")


def gpu_bytes(code: relax.VMExecutable, source: str, target: CudaTarget) -> dict[str, bytes]:
    """The members of GPU; all are empty for a model without kernels.

    raises   BuildError if nvcc refuses the source
    """
    from tvmq.codegen.target.nvcc import compile_source, find_nvcc

    library = b"".join(_library_bytes(host) for host in code.mod.imports if _has_kernels(host))
    compiled = compile_source(source, target.arch) if source and find_nvcc() else b""
    return {SOURCE: source.encode(), FATBIN: compiled, LIBRARY: library}


def _has_kernels(host: Any) -> bool:
    return any(library.kind == KIND for library in host.imports)


def _library_bytes(host: Any) -> bytes:
    """The module of the kernels as it writes itself: the last text of what TVM packs, behind its kind."""
    data = global_function(PACK_IMPORTS)(host).numpy().tobytes()
    mark = LENGTH.pack(len(KIND)) + KIND.encode()
    begin = data.find(mark) + len(mark)
    (size,) = LENGTH.unpack_from(data, begin)
    if begin < len(mark) or begin + LENGTH.size + size != len(data):
        raise ArtifactError("save: TVM packs modules in a form that is unknown here; use the TVM that tvmq names")
    return data[begin + LENGTH.size :]


def gpu_library(blobs: Mapping[str, bytes]) -> Any:
    """The module of the kernels; None where there are none, or this machine has no GPU to load them for.

    raises   ArtifactError if TVM cannot read it
    """
    if not blobs[LIBRARY] or not tvm.cuda(0).exist:
        return None
    from tvmq.codegen.target.nvcc import remember  # TVM asks it from now on where it would compile

    remember(blobs[SOURCE].decode(), blobs[FATBIN])
    try:
        return global_function(LOAD_CUDA)(blobs[LIBRARY])
    except Exception as error:  # TVM raises many kinds
        reason = last_line(error)
        raise ArtifactError(f"load: TVM cannot read the kernels ({reason}); save the model again") from error
