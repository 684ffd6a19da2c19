"""The linker: libraries give the bits of the compiled module; unknown object files are refused."""

from __future__ import annotations

import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import te, tirx
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.parts import builder
from tvmq.codegen.target.cpu import TRIPLES, resolve_target
from tvmq.errors import BuildError
from tvmq.runtime.artifact.link.elf_object import HEADER, SECTION, read_object
from tvmq.runtime.artifact.link.shared_object import _hash, link_shared
from tvmq.runtime.artifact.native_library import is_linux_x86, load_native, native_library, runs_linux_x86

TARGET = resolve_target(f"llvm -mtriple={TRIPLES['x86']} -mcpu=x86-64")
pytestmark = pytest.mark.skipif(not runs_linux_x86(), reason="linked for Linux on x86-64 only")
SIZE = 5000


def functions() -> tvm.IRModule:
    """Functions that need a thread pool, memory of the runtime, the C library, constants, and nothing."""
    x = te.placeholder((SIZE,), name="x")
    exp = te.create_prim_func([x, te.compute((SIZE,), lambda i: tirx.exp(x[i]) + 0.5)])
    zeros = te.create_prim_func([x, te.compute((SIZE,), lambda i: x[i] * 0.0)])
    with builder.FunctionBuilder("sums", {"x": ((SIZE,), "float32"), "y": ((SIZE,), "float32")}) as sums:
        source, target = (builder.flatten_buffer(buffer) for buffer in sums.buffers)
        with T.parallel(0, 10) as chunk:
            scratch = builder.workspace(SIZE, "float32")
            with T.serial(0, SIZE // 10) as i:
                builder.store(scratch, i, source[chunk * (SIZE // 10) + i] * builder.const(3.5, "float32"), 1)
            with T.serial(0, SIZE // 10) as i:
                builder.store(target, chunk * (SIZE // 10) + i, scratch[i] + scratch[SIZE // 10 - 1 - i], 1)
    made = {"exp": exp, "zeros": zeros, "sums": sums.prim_func}
    return tvm.IRModule({name: func.with_attr("global_symbol", name) for name, func in made.items()})


@pytest.fixture(scope="module")
def library() -> Any:
    """The functions compiled."""
    return tvm.compile(functions(), TARGET.as_tvm()).mod


@pytest.fixture(scope="module")
def object_file(library: Any, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("object") / "code.o"
    library.write_to_file(str(path), "o")
    return path.read_bytes()


def results(module: Any) -> dict[str, np.ndarray]:
    """Results of the functions for one input."""
    x = tvm.runtime.tensor(np.linspace(-3, 3, SIZE, dtype=np.float32))
    found = {}
    for name in ("exp", "zeros", "sums"):
        y = tvm.runtime.tensor(np.full(SIZE, np.nan, np.float32))
        module[name](x, y)
        found[name] = y.numpy()
    return found


def assert_equal(module: Any, expected: Any) -> None:
    """Equal results of all functions."""
    for name, value in results(expected).items():
        np.testing.assert_array_equal(results(module)[name], value, err_msg=name)


@pytest.mark.slow
def test_linked_library_gives_the_bits_of_the_compiled_module(library):
    linked = native_library(library, TARGET)
    assert linked is not None
    assert_equal(load_native(linked), library)


@pytest.mark.slow
def test_two_libraries_of_the_same_names_live_side_by_side(library):
    linked = native_library(library, TARGET)
    first, second = load_native(linked), load_native(linked)
    assert_equal(second, library)
    del second
    assert_equal(first, library)


def test_object_asks_for_what_the_test_is_about(object_file):
    names = {symbol.name for symbol in read_object(object_file).symbols}
    assert {"__TVMBackendParallelLaunch", "__TVMBackendAllocWorkspace", "expf", "__tvm_ffi_sums"} <= names


def test_equal_objects_give_equal_libraries_without_debug_information(object_file):
    linked = link_shared(object_file)
    assert linked == link_shared(object_file)
    assert len(linked) < len(object_file) and b".debug" not in linked


def test_nothing_is_left_in_the_temporary_folder(library, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    load_native(native_library(library, TARGET))
    assert list(tmp_path.iterdir()) == []


def test_hash_of_system_v():
    assert _hash("printf") == 0x077905A6 and _hash("") == 0


def test_other_machines_get_none(library):
    assert native_library(library, resolve_target("llvm -mtriple=aarch64-linux-gnu")) is None
    assert not is_linux_x86(resolve_target("llvm -mtriple=x86_64-apple-darwin"))
    assert is_linux_x86(resolve_target("llvm -mtriple=x86_64-unknown-linux-gnu"))


@pytest.mark.slow
def test_object_for_another_machine_is_refused(tmp_path):
    arm = resolve_target("llvm -mtriple=aarch64-linux-gnu")
    tvm.compile(functions(), arm.as_tvm()).mod.write_to_file(str(tmp_path / "arm.o"), "o")
    with pytest.raises(BuildError, match="machine 183; only objects for x86-64"):
        link_shared((tmp_path / "arm.o").read_bytes())


@pytest.mark.parametrize("start", [b"", b"MZ", b"\x7fELF\x01\x01"], ids=["zeros", "Windows", "32 bits"])
def test_other_files_are_refused(start):
    with pytest.raises(BuildError, match="no 64-bit ELF file"):
        link_shared(start + bytes(100))
    with pytest.raises(BuildError, match="no 64-bit ELF file"):
        link_shared(start)


def test_shared_library_is_refused_as_input(object_file):
    with pytest.raises(BuildError, match="ELF type 3 for machine 62"):
        link_shared(link_shared(object_file))


def changed_relocation(data: bytes, kind: int) -> bytes:
    """The object with another kind for the first relocation of the code."""
    fields = HEADER.unpack_from(data)
    text = next(i for i, section in enumerate(read_object(data).sections) if section.name == ".text")
    for i in range(fields[12]):
        entry = SECTION.unpack_from(data, fields[6] + i * fields[11])
        if entry[1] == 4 and entry[7] == text:
            at = entry[4] + 8
            return data[:at] + struct.pack("<I", kind) + data[at + 4 :]
    raise AssertionError("no relocations")


def test_unknown_relocation_is_refused(object_file):
    with pytest.raises(BuildError, match="relocation of kind 23 is not known"):
        link_shared(changed_relocation(object_file, 23))


def test_unknown_relocation_makes_the_library_optional(object_file, monkeypatch):
    class Module:
        """Writes an object that the linker refuses."""

        def write_to_file(self, path: str, _kind: str) -> None:
            """Write a file as TVM's module does."""
            Path(path).write_bytes(changed_relocation(object_file, 23))

    assert native_library(Module(), TARGET) is None


def test_truncated_library_does_not_load(library):
    with pytest.raises((RuntimeError, OSError, ValueError)):
        load_native(native_library(library, TARGET)[:200])


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_code_is_not_writable(library):
    module = load_native(native_library(library, TARGET))
    results(module)
    lines = [line for line in Path("/proc/self/maps").read_text().splitlines() if "kernels.so" in line]
    assert any(" r-xp " in line for line in lines)
    assert not any("wx" in line.split()[1] for line in lines)
