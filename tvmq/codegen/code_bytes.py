"""Compiled code as bytes and back.

TVM writes code to files only, and LLVM ends the process where the disk is full. On Linux they are files in
memory, which nothing can leave half-written; elsewhere they lie in a temporary folder.

The bitcode that TVM writes names the buffers of a kernel by their address in the compiling process (metadata
for alias analysis), so that no two builds are equal. Here the addresses become numbers in order of
appearance: equal modules give equal bytes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tvm_ffi
from tvm import relax

from tvmq.codegen.quiet import without_noise
from tvmq.errors import ArtifactError

BYTECODE, BITCODE = "vm.bin", "kernels.bc"
LOAD_BYTECODE = "ffi.Module.load_from_bytes.relax.VMExecutable"
LOAD_BITCODE = "ffi.Module.load_from_file.ll"  # reads bitcode as well as text
ADDRESS = re.compile(r'!"(0x[0-9a-f]+)')


def to_bytes(executable: relax.VMExecutable) -> dict[str, bytes]:
    """The bytecode with its constants, and the kernels as LLVM bitcode (empty if there are no kernels)."""
    with without_noise():
        bytecode = _written(lambda path: executable.mod.write_to_file(path, ""))
    libraries = list(executable.mod.imports)
    if len(libraries) > 1:
        raise ArtifactError(f"save: the code has {len(libraries)} libraries, one is expected; build it anew")
    bitcode = b""
    for library in libraries:
        written = _written(lambda path, library=library: library.write_to_file(path, "bc"))  # type: ignore[misc]
        bitcode = without_addresses(written, library.inspect_source("ll"))
    return {BYTECODE: bytecode, BITCODE: bitcode}


def from_bytes(blobs: Mapping[str, bytes]) -> relax.VMExecutable:
    """What `to_bytes` gave, as an executable; needs no C compiler.

    raises   ArtifactError if TVM cannot read it
    """
    try:
        with without_noise():
            module = tvm_ffi.get_global_func(LOAD_BYTECODE)(blobs[BYTECODE])
        if blobs[BITCODE]:
            with _file(blobs[BITCODE]) as path:
                module.import_module(tvm_ffi.get_global_func(LOAD_BITCODE)(path, "ll"))
        return relax.VMExecutable(module)
    except Exception as error:  # TVM raises many kinds
        reason = last_line(error)
        raise ArtifactError(f"load: TVM cannot read the code ({reason}); save the model again") from error


def last_line(error: Exception) -> str:
    """What an error of TVM says below its stack trace.

    >>> last_line(ValueError("trace\\n  reason\\n")), last_line(KeyError())
    ('reason', 'KeyError')
    """
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[-1].strip()


def without_addresses(bitcode: bytes, text: str) -> bytes:
    """Bitcode in which the address of the n-th buffer is the number n, of equal width.

    text     the same code as LLVM's text: says which addresses there are

    >>> without_addresses(b"..0x55d0.b4..0x55c0..0x55d0", '!0 = !{!"0x55d0.b4"} !1 = !{!"0x55c0"}')
    b'..0x0000.b4..0x0001..0x0000'
    """
    found = dict.fromkeys(ADDRESS.findall(text))
    numbers = {address.encode(): b"0x%0*x" % (len(address) - 2, i) for i, address in enumerate(found)}
    if not numbers:
        return bitcode
    longest_first = sorted(numbers, key=len, reverse=True)
    return re.sub(b"|".join(longest_first), lambda match: numbers[match[0]], bitcode)


def _written(write: Callable[[str], Any]) -> bytes:
    """What a function writes to the path that it is given."""
    with _file(b"") as path:
        write(path)
        return Path(path).read_bytes()


@contextmanager
def _file(content: bytes) -> Iterator[str]:
    """Path of a file with this content, for as long as the context lasts."""
    descriptor = _memory_file()
    if descriptor is None:
        with TemporaryDirectory(prefix="tvmq-") as folder:
            path = Path(folder, "code.ll")
            path.write_bytes(content)
            yield str(path)
        return
    try:
        name = f"/proc/self/fd/{descriptor}"
        Path(name).write_bytes(content)
        yield name
    finally:
        os.close(descriptor)


def _memory_file() -> int | None:
    """A file in memory; None where the system has none."""
    if not hasattr(os, "memfd_create") or not os.path.isdir("/proc/self/fd"):
        return None
    return os.memfd_create("tvmq")
