"""Compiled code as bytes and back.

Kernels for Linux on x86-64 are saved as a shared library, which loads in a millisecond; for other systems as
LLVM bitcode, which is compiled when it is loaded. Neither needs a C compiler.

The bitcode that TVM writes names the buffers of a kernel by their address in the compiling process (metadata
for alias analysis), so that no two builds are equal. Here the addresses become numbers in the order in which
they appear: equal modules give equal bytes.

Tests: tests/runtime/artifact/test_container.py
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tvmq.base.text import last_line
from tvmq.base.tvm_internals import LOAD_BITCODE, LOAD_BYTECODE, LOOKUPS, global_function
from tvmq.base.tvm_runtime import load_compiler
from tvmq.codegen.target.cpu import CpuTarget
from tvmq.errors import ArtifactError, TargetError, TvmqError
from tvmq.runtime.artifact.bytecode import Bytecode, check_lengths, read_bytecode
from tvmq.runtime.artifact.bytecode_checks import check_bytecode
from tvmq.runtime.artifact.loaded_code import LoadedCode
from tvmq.runtime.artifact.memory_file import check_size, memory_file, read_written_file
from tvmq.runtime.artifact.native_library import ONE_LOAD, is_linux_x86, load_native, native_library, runs_linux_x86
from tvmq.runtime.artifact.quiet import without_noise

if TYPE_CHECKING:
    from tvm import relax

BYTECODE, BITCODE, NATIVE = "vm.bin", "kernels.bc", "kernels.so"
MODULE, CONSTANTS = "module.json", "constants.bin"
GPU = (SOURCE, FATBIN, LIBRARY) = ("kernels.cu", "kernels.fatbin", "cuda.bin")
ADDRESS = re.compile(r'!"(0x[0-9a-f]+)')


def to_bytes(executable: relax.VMExecutable, target: CpuTarget, native: bytes | None = None) -> dict[str, bytes]:
    """The bytecode with its constants, and the kernels in one of both forms; what there is not is empty.

    executable   as it was compiled; one that was loaded cannot be taken apart again
    target       the CPU; of a GPU its host
    native       the kernels, where they were compiled to a shared library in the first place
    """
    from tvmq.runtime.artifact.equal_constants import merge_equal_constants  # only what is saved needs it

    with without_noise():
        bytecode = merge_equal_constants(read_written_file(lambda path: executable.mod.write_to_file(path, "")))
    if native:
        return {BYTECODE: bytecode, BITCODE: b"", NATIVE: native}
    # A model that only reshapes has no kernels, and TVM gives it an empty library of another kind.
    libraries = [library for library in executable.mod.imports if library.kind == "llvm"]
    if len(libraries) > 1:
        raise ArtifactError(f"save: the code has {len(libraries)} libraries, one is expected; build it anew")
    bitcode, native = b"", b""
    for library in libraries:
        native = native_library(library, target) or b""
        bitcode = b"" if native else _bitcode(library)
    return {BYTECODE: bytecode, BITCODE: bitcode, NATIVE: native}


def _bitcode(library: Any) -> bytes:
    text = library.inspect_source("ll")
    check_size("kernel", len(text))  # LLVM ends the process where it cannot write
    return without_addresses(read_written_file(lambda path: library.write_to_file(path, "bc")), text)


def from_bytes(blobs: Mapping[str, Any], target: CpuTarget, imports: Sequence[Any] = ()) -> LoadedCode:
    """Load the code that `to_bytes` wrote, ready to run.

    blobs    that; also with a bytecode.Bytecode in place of its bytes
    imports  modules that the kernels call
    raises   ArtifactError if TVM cannot read it, TargetError for a shared library of another system
    """
    try:
        with ONE_LOAD:
            return _load_code(blobs, target, imports)
    except TvmqError:
        raise
    except Exception as error:  # TVM raises many kinds
        reason = last_line(error)
        raise ArtifactError(f"load: TVM cannot read the code ({reason}); save the model again") from error


def _load_code(blobs: Mapping[str, Any], target: CpuTarget, imports: Sequence[Any]) -> LoadedCode:
    library = _library(blobs, target)
    if library is None and imports:
        library, *imports = imports
    for called in imports if library is not None else ():
        library.import_module(called)
    bytecode = blobs[BYTECODE]
    code = bytecode if isinstance(bytecode, Bytecode) else read_bytecode(io.BytesIO(bytecode), len(bytecode))
    if code is None:
        return LoadedCode(_by_tvm(bytecode, library), library)
    check_bytecode(code)
    return LoadedCode(code, library)


def _by_tvm(code: bytes, library: Any) -> Any:
    """The bytecode and the kernels as a module, by TVM's own reader."""
    with without_noise():
        check_lengths(code)
        module = global_function(LOAD_BYTECODE)(code)
    if library is not None:
        module.import_module(library)
    return module


def _library(blobs: Mapping[str, bytes], target: CpuTarget) -> Any:
    """The kernels as a module of TVM; None if there are none."""
    if blobs[NATIVE]:
        if not (is_linux_x86(target) and runs_linux_x86()):
            raise TargetError("load: the model was built for Linux on x86-64, this is not; build it here")
        if any(name in blobs[NATIVE] for name in LOOKUPS):  # what is called may stand in the compiler's library
            load_compiler()
        return load_native(blobs[NATIVE])
    if not blobs[BITCODE]:
        return None
    load_compiler()
    with memory_file(blobs[BITCODE]) as path:
        return global_function(LOAD_BITCODE)(path, "ll")


def without_addresses(bitcode: bytes, text: str) -> bytes:
    """Bitcode in which the address of the n-th buffer is the number n, of equal width.

    text     the same code as LLVM's text: says which addresses there are

    >>> without_addresses(b"..0x55d0.b4..0x55c0..0x55d0", '!0 = !{!"0x55d0.b4"} !1 = !{!"0x55c0"}')
    b'..0x0000.b4..0x0001..0x0000'
    """
    addresses = dict.fromkeys(ADDRESS.findall(text))
    numbers = {address.encode(): b"0x%0*x" % (len(address) - 2, i) for i, address in enumerate(addresses)}
    if not numbers:
        return bitcode
    longest_first = sorted(numbers, key=len, reverse=True)
    return re.sub(b"|".join(longest_first), lambda match: numbers[match[0]], bitcode)
