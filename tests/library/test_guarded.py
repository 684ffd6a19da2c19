"""Libraries between guard pages, with sanitizers and under valgrind: nothing is touched beside buffers; faults are found."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

import tvmq
from tests.library.conftest import DigitsLibrary, quantize_digits
from tests.library.test_export_library import needs_gcc
from tests.support.guarded_library import (
    HEADERS,
    SANITIZED,
    SOURCES,
    VALGRIND,
    Comparison,
    compile_program,
    has_sanitizers,
    run_guarded,
)
from tvmq.library import assemble, compile_library
from tvmq.library.library_export import LibraryExport
from tvmq.runtime.artifact.link.elf_object import read_object
from tvmq.runtime.artifact.native_library import runs_linux_x86

pytestmark = [
    pytest.mark.skipif(not runs_linux_x86(), reason="libraries are opened on Linux on x86-64 only"), needs_gcc,
]  # fmt: skip
needs_valgrind = pytest.mark.skipif(shutil.which("valgrind") is None, reason="no valgrind")
PLACEMENTS, RUNS = 2, 3
VALGRIND_FOUND = 99
FAULTS = {
    "reads behind": "ended with -11", "reads before": "ended with -11", "writes before": "ended with -11",
    "writes input": "ended with -11", "is unknown": "no error|a status",
}  # fmt: skip


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of guarded and wrong_calls, and of both with sanitizers where there are any."""
    folder = tmp_path_factory.mktemp("programs")
    for name in ("guarded", "wrong_calls"):
        compile_program(name, folder / name)
        if has_sanitizers():
            compile_program(name, folder / f"{name}_sanitized", SANITIZED)
    return folder


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """faulty.c as a library."""
    path = tmp_path_factory.mktemp("faulty") / "libmodel.so"
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-I", HEADERS, SOURCES / "faulty.c", "-o", path], check=True)
    return path


def run_digits(
    digits: DigitsLibrary, library: Path, program: Path, threads: int, wrapper: Sequence[str] = ()
) -> Comparison:
    """Two pictures by a library of the embedded network."""
    samples, expected = [[picture] for picture in digits.pictures[:2]], [[scores] for scores in digits.expected[:2]]
    return run_guarded(program, library, samples, expected, threads=threads, wrapper=wrapper)


def all_equal(digits: DigitsLibrary, threads: int) -> Comparison:
    """The comparison of a library in which nothing is wrong."""
    return Comparison(2 * digits.expected[0].size * PLACEMENTS * RUNS * threads, 0, 0)


@pytest.mark.parametrize("kind", ["", "_sanitized"])
def test_a_library_keeps_to_its_buffers(kind, digits, programs):
    if kind and not has_sanitizers():
        pytest.skip("gcc has no AddressSanitizer")
    library = digits.export.library
    assert run_digits(digits, library, programs / f"guarded{kind}", 3) == all_equal(digits, 3)
    done = subprocess.run([programs / f"wrong_calls{kind}", library, "digits"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_values_that_differ_are_counted(digits, programs):
    wrong = [[scores.copy()] for scores in digits.expected[:1]]
    wrong[0][0].flat[3] = np.nextafter(wrong[0][0].flat[3], np.float32(np.inf))
    found = run_guarded(programs / "guarded", digits.export.library, [[digits.pictures[0]]], wrong)
    assert found == Comparison(10 * PLACEMENTS * RUNS, PLACEMENTS * RUNS, 0)


@pytest.mark.parametrize("fault", FAULTS)
def test_what_touches_memory_beside_a_buffer_ends(fault, faulty, programs):
    x = np.arange(5, dtype=np.float32)
    with pytest.raises(RuntimeError, match=FAULTS[fault]):
        run_guarded(programs / "guarded", faulty, [[x]], [[2 * x]], code=fault)


def test_other_faults_are_counted(faulty, programs):
    x = np.arange(5, dtype=np.float32)
    counts = {
        code: run_guarded(programs / "guarded", faulty, [[x]], [[2 * x]], code=code)
        for code in ("right", "writes behind", "is stale", "is wrong")
    }
    assert counts["right"] == Comparison(5 * PLACEMENTS * RUNS, 0, 0)
    assert counts["writes behind"].changed_bytes == 4 * PLACEMENTS
    assert counts["is stale"].differing == PLACEMENTS * 2  # the second run finds what the first left
    assert counts["is wrong"].differing == PLACEMENTS * RUNS


@needs_valgrind
def test_valgrind_sees_reads_of_bytes_beside_a_buffer(faulty, programs):
    x = np.arange(5, dtype=np.float32)
    right = run_guarded(programs / "guarded", faulty, [[x]], [[2 * x]], code="right", wrapper=VALGRIND)
    assert right == Comparison(5 * PLACEMENTS * RUNS, 0, 0)
    with pytest.raises(RuntimeError, match=rf"(?s)ended with {VALGRIND_FOUND}: .*Invalid read of size 4.*model_run"):
        run_guarded(programs / "guarded", faulty, [[x]], [[2 * x]], code="reads unused", wrapper=VALGRIND)


@needs_valgrind
@pytest.mark.slow
@pytest.mark.parametrize("target", ["x86-64", "x86-64-v3"])  # valgrind knows no AVX-512
def test_valgrind_finds_nothing(target, digits, programs, tmp_path):
    library = tvmq.export_library(digits.module, tmp_path / "digits", target=target).library
    found = run_digits(digits, library, programs / "guarded", 3, VALGRIND)
    assert found == all_equal(digits, 3)
    command = [*VALGRIND, programs / "wrong_calls", library, "digits"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "flags",
    [("-fsanitize=undefined", "-fsanitize-trap=undefined"), ("-fsanitize=address", "-mllvm", "-asan-globals=0")],
    ids=["undefined", "address"],
)
def test_the_runtime_itself_under_sanitizers(flags, digits, programs, tmp_path):
    """runtime.c compiled with checks in place of the one that libraries have: a trap for undefined behaviour."""
    clang = shutil.which("clang-16")
    if clang is None or not has_sanitizers():
        pytest.skip("no clang-16, or gcc has no AddressSanitizer")
    path = tmp_path / "runtime.o"
    head = [clang, "-std=gnu11", "-O1", "-fPIC", "-ffreestanding", "-fno-asynchronous-unwind-tables", "-c"]
    subprocess.run([*head, *flags, HEADERS / "runtime.c", "-o", path], check=True)
    runtime = read_object(path.read_bytes())
    checks = tuple(symbol.name for symbol in runtime.symbols if symbol.name.startswith("__asan"))
    assert checks or b"\x67\x0f\xb9" in path.read_bytes()  # ud1: what the trap is
    with (
        mock.patch.object(compile_library, "runtime_object", lambda _arch: runtime),
        mock.patch.object(assemble, "LIBC", (*assemble.LIBC, *checks)),
    ):
        library = tvmq.export_library(digits.module, tmp_path / "digits").library
    assert run_digits(digits, library, programs / "guarded_sanitized", 3) == all_equal(digits, 3)
    done = subprocess.run([programs / "wrong_calls_sanitized", library, "digits"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_parallel_loops_keep_to_their_buffers(programs, tmp_path):
    """A batch of pictures, whose kernels have parallel loops: one to four threads."""
    from tvmq.demo import load_demo

    module = quantize_digits(32)
    export: LibraryExport = tvmq.export_library(module, tmp_path / "digits", target="x86-64-v3")
    pictures = np.ascontiguousarray(load_demo().test[:32], np.float32)
    expected = tvmq.reference.run(module, {"image": pictures})
    for program, wrapper, threads in (("guarded", (), 4), ("guarded", VALGRIND, 2)):
        if wrapper and shutil.which("valgrind") is None:
            continue
        found = run_guarded(
            programs / program, export.library, [[pictures]], [expected], threads=threads, wrapper=wrapper
        )
        assert found == Comparison(expected[0].size * PLACEMENTS * RUNS * threads, 0, 0)
