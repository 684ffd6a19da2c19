"""Libraries for 64-bit Arm: bits of the definition under an emulator, self-tests, threads, CPUs that lack something."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tvm import relax

import tvmq
from tests.codegen.kernels.arm import COMPILER, EMULATOR, needs_arm
from tests.library.conftest import DigitsLibrary, quantize_digits
from tests.library.test_dynamic_library import export_model, pictures
from tests.library.test_export_library import STRICT
from tests.support.models import dynamic_models
from tvmq.codegen.target.cpu import ARM, NAMES, resolve_target
from tvmq.codegen.target.host import ARM_CODE
from tvmq.demo import load_demo
from tvmq.errors import TargetError
from tvmq.library.assemble import FUNCTIONS
from tvmq.library.library_export import LibraryExport
from tvmq.library.processors import pack_needs
from tvmq.runtime.artifact.link.elf_object import AARCH64
from tvmq.runtime.c_library import load_library

HERE = Path(__file__).parent
SYSTEM = Path("/usr/aarch64-linux-gnu")
CODES = {"arm-neon": "generic", "arm-dotprod": "generic+v8.2a+dotprod", "arm-i8mm": "generic+v8.6a+dotprod+i8mm"}
# each CPU of the emulator, and the best code that it can run
CPUS = {"cortex-a72": "arm-neon", "neoverse-n1": "arm-dotprod", "max": "arm-i8mm"}
DYNAMIC = pytest.mark.skipif(not (SYSTEM / "lib/ld-linux-aarch64.so.1").exists(), reason=f"no C library in {SYSTEM}")


@pytest.fixture(scope="module")
def library(digits: DigitsLibrary, tmp_path_factory: pytest.TempPathFactory) -> LibraryExport:
    """The embedded network for three CPUs of 64-bit Arm, worst first."""
    return tvmq.export_library(digits.module, tmp_path_factory.mktemp("arm") / "digits", target=list(CODES))


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> LibraryExport:
    """A function of one operator for one of them, with a package for pip."""
    x = relax.Var("x", relax.TensorType((2, 3), "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            y = builder.emit_output(relax.op.nn.relu(x))
        builder.emit_func_output(y)
    folder = tmp_path_factory.mktemp("arm-package") / "digits"
    return tvmq.export_library(builder.get(), folder, target="arm-dotprod", wheel=True)


def compile_program(source: Path, folder: Path, output: Path, *options: str) -> Path:
    """A C program with the library of a folder, for 64-bit Arm."""
    flags = [*options, "-std=c99", "-D_POSIX_C_SOURCE=200809L", *STRICT, "-I", folder, "-pthread"]
    library = ["-L", folder, "-ldigits", f"-Wl,-rpath,{folder}"]
    subprocess.run([COMPILER, *flags, source, *library, "-o", output], check=True)
    return output


def emulate(cpu: str, program: Path, *arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    """Run a program on a CPU of the emulator; its status has to be 0."""
    command = [EMULATOR, "-L", SYSTEM, "-cpu", cpu, program, *map(str, arguments)]
    return subprocess.run(command, text=True, check=True, timeout=300, **options)  # type: ignore[call-overload]


@pytest.mark.slow
def test_codes_of_arm_in_one_library(library):
    assert library.targets == tuple(reversed(CODES.values()))
    assert library.undefined == ("getauxval", "memcpy")
    assert struct.unpack_from("<H", library.library.read_bytes(), 18) == (AARCH64,)


@needs_arm
@DYNAMIC
@pytest.mark.slow
@pytest.mark.parametrize("cpu", CPUS)
def test_a_c_program_gives_the_bits_of_the_definition(cpu, digits, library, tmp_path):
    program = compile_program(library.example, library.library.parent, tmp_path / "example")
    for picture, expected in zip(digits.pictures[:3], digits.expected, strict=False):
        picture.tofile(tmp_path / "in")
        emulate(cpu, program, tmp_path / "in", tmp_path / "out")
        scores = np.fromfile(tmp_path / "out", np.int32).reshape(expected.shape)
        np.testing.assert_array_equal(scores, expected.view(np.int32))


@needs_arm
@DYNAMIC
@pytest.mark.slow
@pytest.mark.parametrize("cpu", CPUS)
def test_the_best_code_is_chosen_and_agrees_with_itself(cpu, library, tmp_path):
    program = compile_program(HERE / "selftest.c", library.library.parent, tmp_path / "selftest")
    result = emulate(cpu, program, stdout=subprocess.PIPE)
    name, _, compared = result.stdout.partition(": ")
    assert name == CODES[CPUS[cpu]] and int(compared.removesuffix(" results\n")) > 20


@needs_arm
@DYNAMIC
@pytest.mark.slow
def test_every_code_agrees_with_the_definition(library, tmp_path):
    program = compile_program(HERE / "selftest.c", library.library.parent, tmp_path / "selftest")
    result = emulate("max", program, *library.targets, stdout=subprocess.PIPE)
    assert [line.partition(":")[0] for line in result.stdout.splitlines()] == list(library.targets)
    with pytest.raises(subprocess.CalledProcessError) as failure:
        emulate("cortex-a72", program, CODES["arm-dotprod"], stdout=subprocess.PIPE)
    assert "this processor lacks instructions that the code needs" in failure.value.stdout


@needs_arm
@DYNAMIC
@pytest.mark.slow
def test_a_library_that_a_running_program_opens(library, tmp_path):
    # its variable of threads lies in memory that the C library allocates then
    compile_program(
        HERE / "selftest.c", library.library.parent, tmp_path / "test.so", "-shared", "-fPIC", "-Dmain=test"
    )
    source = """#include <dlfcn.h>
    int main(int count, char **paths) {
        for (int i = 0; i < 3; i++) {
            void *library = dlopen(paths[count - 1], RTLD_NOW);
            int (*test)(int, char **);
            if (!library) return 2;
            *(void **)&test = dlsym(library, "test");
            if (!test || test(1, paths) || dlclose(library)) return 1;
        }
        return 0;
    }"""
    (tmp_path / "open.c").write_text(source)
    subprocess.run([COMPILER, "-std=c99", *STRICT, tmp_path / "open.c", "-ldl", "-o", tmp_path / "open"], check=True)
    result = emulate("neoverse-n1", tmp_path / "open", tmp_path / "test.so", stdout=subprocess.PIPE)
    assert result.stdout.count(f"{CODES['arm-dotprod']}: ") == 3


@needs_arm
@DYNAMIC
@pytest.mark.slow
def test_dynamic_sizes(tmp_path):
    model = export_model(dynamic_models.pictures(), pictures(1, 16, 16), tmp_path / "digits", ["arm-neon", "arm-dotprod"])
    program = compile_program(model.export.example, tmp_path / "digits", tmp_path / "example")
    for sizes in ((1, 16, 16), (3, 17, 9), (2, 40, 33)):
        feed = pictures(*sizes)
        (expected,) = tvmq.reference.run(model.module, feed)
        feed["x"].tofile(tmp_path / "in")
        emulate("neoverse-n1", program, *sizes, tmp_path / "in", tmp_path / "out")
        result = np.fromfile(tmp_path / "out", np.uint8)
        np.testing.assert_array_equal(result, np.ascontiguousarray(expected).reshape(-1).view(np.uint8))


@needs_arm
@DYNAMIC
@pytest.mark.slow
def test_threads(tmp_path):
    module, pictures = quantize_digits(32), load_demo().test[:32]
    tvmq.export_library(module, tmp_path / "digits", target="arm-dotprod", selftest=False)
    program = compile_program(HERE / "threads.c", tmp_path / "digits", tmp_path / "threads", "-DRUNS=4")
    pictures.astype(np.float32).tofile(tmp_path / "in")
    tvmq.reference.run(module, {"image": pictures})[0].tofile(tmp_path / "out")
    emulate("neoverse-n1", program, tmp_path / "in", tmp_path / "out")


@pytest.mark.skipif(shutil.which("readelf") is None, reason="no readelf")
def test_tools_read_the_library(package):
    command = ["readelf", "-dlWs", package.library]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert not done.stderr and "Library soname: [libdigits.so]" in done.stdout and "NEEDED" not in done.stdout
    loads = [line.split() for line in done.stdout.splitlines() if line.split()[:1] == ["LOAD"]]
    assert len(loads) == 3 and {line[-1] for line in loads} == {"0x10000"}  # pages of 64 KiB exist
    assert not any("E" in line[-3] and "W" in line[-3] for line in loads)
    lines = [line.split() for line in done.stdout.splitlines()]
    exported = {line[-1] for line in lines if line[4:5] == ["GLOBAL"] and line[6] != "UND"}
    assert exported == {f"digits_{name}" for name in FUNCTIONS}


def test_a_wheel_for_arm(package):
    assert package.wheel.name == "digits-0.1.0-py3-none-manylinux2014_aarch64.whl"


def test_every_feature_of_code_has_its_bit():
    assert len(pack_needs(ARM_CODE, ARM)) == 2 + 4 * 3
    assert pack_needs(resolve_target("arm-i8mm").needs, ARM)[:2] == [10, 0]
    assert all(pack_needs(resolve_target(name).needs, ARM) for name, (arch, _) in NAMES.items() if arch == ARM)


def test_codes_of_two_architectures_are_refused(digits, tmp_path):
    with pytest.raises(TargetError, match="generic is a CPU of aarch64, x86-64-v3 are not; export a library for each"):
        tvmq.export_library(digits.exe, tmp_path / "digits", target=["arm-neon", "x86-64-v3"])
    assert list(tmp_path.iterdir()) == []


def test_a_library_for_another_architecture_is_not_opened(package):
    with pytest.raises(
        TargetError, match="is for machines of the kind aarch64, and this one is x86_64; export it for this one"
    ):
        load_library(package.library.parent)
