"""Static libraries: bits of the definition from static programs, what they export, two in one program, threads."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tvm import relax

import tvmq
from tests.codegen.kernels.arm import COMPILER, EMULATOR, needs_arm
from tests.library.conftest import quantize_digits
from tests.library.test_export_library import STRICT
from tvmq.demo import load_demo
from tvmq.library.assemble import FUNCTIONS, OPTIONAL
from tvmq.runtime.artifact.native_library import runs_linux_x86

pytestmark = pytest.mark.skipif(not runs_linux_x86(), reason="programs are linked for Linux on x86-64")
HERE = Path(__file__).parent
COMPILERS = ("gcc", "musl-gcc")
TWO = """
#include "%(one)s.h"
#include "digits.h"
int main(void) {
    digits_description digits;
    %(one)s_description other;
    if (digits_init() || %(one)s_init() || digits_describe(&digits) || %(one)s_describe(&other)) return 1;
    return digits.inputs != 1 || other.inputs != 2;
}
"""


def compile_static(compiler: str, *arguments: object) -> Path:
    """A static program from sources and libraries; the last argument is its path."""
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    *sources, output = arguments
    command = [compiler, "-static", "-std=c99", "-D_POSIX_C_SOURCE=200809L", *STRICT, *sources, "-o", output]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")  # no warning of the linker
    assert isinstance(output, Path)
    return output


@pytest.mark.slow
@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_static_program_gives_the_bits_of_the_definition(compiler, digits, digits_folder, tmp_path):
    program = compile_static(compiler, digits.export.example, digits.export.archive, tmp_path / "example")
    shown = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    assert "not a dynamic executable" in shown.stderr or "statically linked" in shown.stdout
    for picture, expected in zip(digits.pictures, digits.expected, strict=True):
        picture.tofile(tmp_path / "in")
        subprocess.run([program, tmp_path / "in", tmp_path / "out"], check=True)
        scores = np.fromfile(tmp_path / "out", np.int32).reshape(expected.shape)
        np.testing.assert_array_equal(scores, expected.view(np.int32))


def can_change_root() -> bool:
    """Whether a process may have a folder as its root."""
    done = subprocess.run(["chroot", "/", "true"], capture_output=True, check=False) if shutil.which("chroot") else None
    return done is not None and done.returncode == 0


@pytest.mark.skipif(not can_change_root(), reason="the root may not be changed here")
def test_a_static_program_runs_where_nothing_else_is(digits, digits_folder, tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    compile_static("musl-gcc", "-I", digits_folder, HERE / "selftest.c", digits.export.archive, root / "selftest")
    done = subprocess.run(["/selftest"], executable="/selftest", env={}, preexec_fn=lambda: enter(root),
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0 and done.stdout.endswith(" results\n"), done.stdout + done.stderr
    assert [path.name for path in root.iterdir()] == ["selftest"]


def enter(root: Path) -> None:
    """Have a folder as the root."""
    os.chroot(root)
    os.chdir("/")


@pytest.mark.skipif(shutil.which("nm") is None, reason="no nm")
def test_only_public_functions_are_known_outside(digits):
    command = ["nm", "--extern-only", digits.export.archive]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    symbols = {(line.split()[-2], line.split()[-1]) for line in lines if len(line.split()) > 1}
    public = {("T", f"digits_{name}") for name in FUNCTIONS}
    assert symbols == public | {("U", name) for name in digits.export.undefined} | {("w", name) for name in OPTIONAL}


@pytest.mark.skipif(shutil.which("readelf") is None, reason="no readelf")
def test_tools_of_the_system_read_the_archive(digits):
    done = subprocess.run(["readelf", "-hSrsn", digits.export.archive], check=True, capture_output=True, text=True)
    assert not done.stderr and ".note.GNU-stack" in done.stdout and ".debug" not in done.stdout
    assert tvmq.load(digits.export.library).facts["model_hash"] in done.stdout.replace(" ", "")
    members = subprocess.run(["ar", "t", digits.export.archive], check=True, capture_output=True, text=True)
    assert members.stdout == "model.o\n"


def test_two_libraries_in_one_program(digits, digits_folder, tmp_path):
    x, y = (relax.Var(name, relax.TensorType((2, 3), "float32")) for name in "xy")
    builder = relax.BlockBuilder()
    with builder.function("main", [x, y]):
        with builder.dataflow():
            z = builder.emit_output(relax.op.add(x, y))
        builder.emit_func_output(z)
    other = tvmq.export_library(builder.get(), tmp_path / "sums", static=True)
    (tmp_path / "two.c").write_text(TWO % {"one": "sums"})
    folders = ["-I", digits_folder, "-I", tmp_path / "sums"]
    program = compile_static(
        "gcc", *folders, tmp_path / "two.c", digits.export.archive, other.archive, tmp_path / "two"
    )
    assert subprocess.run([program], check=False).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("compiler", COMPILERS)
def test_threads_of_static_programs(compiler, tmp_path):
    module, pictures = quantize_digits(32), load_demo().test[:32]
    export = tvmq.export_library(module, tmp_path / "digits", static=True, selftest=False)
    arguments = ["-DRUNS=10", "-pthread", "-I", tmp_path / "digits", HERE / "threads.c", export.archive]
    program = compile_static(compiler, *arguments, tmp_path / "threads")
    pictures.astype(np.float32).tofile(tmp_path / "in")
    tvmq.reference.run(module, {"image": pictures})[0].tofile(tmp_path / "out")
    subprocess.run([program, tmp_path / "in", tmp_path / "out"], check=True, timeout=60)


def test_a_static_program_without_threads_gets_a_status(digits, digits_folder, tmp_path):
    source = """#include "digits.h"
    static _Alignas(DIGITS_ALIGNMENT) char memory[4096];
    int main(void) {
        digits_threads threads;
        digits_buffer pool = {memory, sizeof memory};
        return digits_pool_start(pool, 2, &threads) != DIGITS_NO_THREADS || digits_pool_start(pool, 1, &threads);
    }"""
    (tmp_path / "pool.c").write_text(source)
    arguments = ["-std=c11", "-I", digits_folder, tmp_path / "pool.c", digits.export.archive]
    program = compile_static("musl-gcc", *arguments, tmp_path / "pool")
    assert subprocess.run([program], check=False).returncode == 0


@pytest.mark.slow
def test_fresh_processes_write_equal_bytes(digits, tmp_path):
    digits.exe.save(tmp_path / "digits.tvmq")
    files = []
    for number in ("1", "2"):  # of hashes; kernels are compiled anew, since the cache is empty
        folder = tmp_path / number / "digits"
        environment = {**os.environ, "PYTHONHASHSEED": number, "TVMQ_CACHE": str(tmp_path / f"cache{number}")}
        command = [sys.executable, "-m", "tvmq", "export-library", tmp_path / "digits.tvmq", "-o", folder, "--static"]
        subprocess.run(list(map(str, command)), check=True, env=environment, capture_output=True)
        files.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert files[0] == files[1] and {"libdigits.so", "libdigits.a", "digits.json"} < files[0].keys()


@needs_arm
@pytest.mark.slow
def test_a_static_program_for_arm(digits, tmp_path):
    export = tvmq.export_library(digits.module, tmp_path / "digits", target=["arm-neon", "arm-dotprod"], static=True)
    program = compile_static(
        COMPILER, "-I", tmp_path / "digits", HERE / "selftest.c", export.archive, tmp_path / "test"
    )
    for cpu, code in (("cortex-a72", "generic"), ("neoverse-n1", "generic+v8.2a+dotprod")):
        done = subprocess.run([EMULATOR, "-cpu", cpu, program], check=True, capture_output=True, text=True)
        assert done.stdout.startswith(f"{code}: ")
