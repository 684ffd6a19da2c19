"""A model as a C library: bits of the definition, what it exports and asks for, refusals."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tvm import relax

import tvmq
from tests.library.conftest import DigitsLibrary
from tvmq.errors import BuildError, ConfigError, TargetError
from tvmq.library.assemble import FUNCTIONS, LIBC, LIBM
from tvmq.runtime.artifact.native_library import runs_linux_x86

pytestmark = pytest.mark.skipif(not runs_linux_x86(), reason="libraries are opened on Linux on x86-64 only")
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc to compile a C program with")
STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic")


def compile_example(folder: Path, output: Path) -> Path:
    """The example program of an exported library."""
    source, library = folder / "example.c", ["-L", folder, f"-l{folder.name}", f"-Wl,-rpath,{folder}"]
    subprocess.run(["gcc", "-std=c99", *STRICT, source, *library, "-o", output], check=True)
    return output


@needs_gcc
def test_a_c_program_gives_the_bits_of_the_definition(digits, digits_folder, tmp_path):
    program = compile_example(digits_folder, tmp_path / "example")
    for picture, expected in zip(digits.pictures, digits.expected, strict=True):
        picture.tofile(tmp_path / "in")
        subprocess.run([program, tmp_path / "in", tmp_path / "out"], check=True)
        scores = np.fromfile(tmp_path / "out", np.float32).reshape(expected.shape)
        np.testing.assert_array_equal(scores.view(np.int32), expected.view(np.int32))
        np.testing.assert_array_equal(scores, digits.exe.run({"image": picture[None]})[0])
    shown = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    assert shown.startswith("scores, float32 of 40 bytes: ")


@pytest.mark.skipif(shutil.which("musl-gcc") is None, reason="no musl-gcc (Debian: musl-tools)")
def test_a_program_of_musl_opens_the_library(digits, tmp_path):
    source = """#include <dlfcn.h>
    int main(int count, char **paths) {
        void *library = dlopen(paths[count - 1], RTLD_NOW);
        int (*init)(void);
        if (!library) return 2;
        *(void **)&init = dlsym(library, "digits_init");
        return !init || init();
    }"""
    (tmp_path / "open.c").write_text(source)
    subprocess.run(["musl-gcc", "-std=c99", *STRICT, tmp_path / "open.c", "-o", tmp_path / "open"], check=True)
    assert subprocess.run([tmp_path / "open", digits.export.library], check=False).returncode == 0


@needs_gcc
def test_the_header_is_c99_and_cpp(digits_folder, tmp_path):
    (tmp_path / "use.c").write_text('#include "digits.h"\nint main(void) { return digits_init(); }\n')
    for language in ("c", "c++"):
        standard = "-std=c99" if language == "c" else "-std=c++11"
        flags = ["-fsyntax-only", "-x", language, standard, *STRICT, "-I", digits_folder]
        subprocess.run(["gcc", *flags, tmp_path / "use.c"], check=True)


def test_the_library_asks_for_little_and_exports_its_own_names(digits):
    assert set(digits.export.undefined) <= {*LIBC, *LIBM} and "memcpy" in digits.export.undefined
    library = ctypes.CDLL(str(digits.export.library))
    assert all(hasattr(library, f"digits_{name}") for name in FUNCTIONS)
    for hidden in ("model_run", "model_plan", "__TVMBackendAllocWorkspace", *LIBM[:1]):
        assert not hasattr(library, hidden) or hidden in LIBM


@pytest.mark.skipif(shutil.which("nm") is None, reason="no nm")
def test_tools_of_the_system_read_the_library(digits):
    lines = subprocess.run(["nm", "-D", digits.export.library], check=True, capture_output=True, text=True).stdout
    symbols = [line.split()[-2:] for line in lines.splitlines()]
    assert sorted(name for kind, name in symbols if kind == "U") == list(digits.export.undefined)
    assert sorted(name for kind, name in symbols if kind == "T") == sorted(f"digits_{name}" for name in FUNCTIONS)
    programs = ["readelf", "-dlnVW", digits.export.library]
    text = subprocess.run(programs, check=True, capture_output=True, text=True).stdout
    assert "NEEDED" not in text and "Library soname: [libdigits.so]" in text and "GNU_RELRO" in text
    facts = json.loads(digits.export.facts.read_text())
    assert facts["model_hash"] in text.replace(" ", "")
    assert "No version information" in text  # any glibc, and musl
    for line in text.splitlines():  # nothing is writable and executable
        assert not ("RWE" in line or "TEXTREL" in line)


def test_two_exports_have_equal_bytes(digits, tmp_path):
    again = tvmq.export_library(digits.module, tmp_path / "digits", static=True)
    for name in ("libdigits.so", "libdigits.a", "digits.h", "digits.json", "example.c"):
        assert (tmp_path / "digits" / name).read_bytes() == (digits.export.library.parent / name).read_bytes()
    assert again.library_bytes == digits.export.library.stat().st_size
    assert str(again).endswith("it asks a program for __tls_get_addr, memcpy")


def test_facts_beside_the_library(digits):
    facts = json.loads(digits.export.facts.read_text())
    assert facts["inputs"][0] == {
        "name": "image", "shape": [1, 1, 16, 16], "dtype": "float32", "scale": digits.exe.input_info[0].scale,
        "zero_point": 0, "alignment": facts["inputs"][0]["alignment"],
    }  # fmt: skip
    assert facts["undefined"] == list(digits.export.undefined) and facts["bytes"] == digits.export.library_bytes
    assert "input 0: image, float32 [1, 1, 16, 16]" in digits.export.header.read_text()


def test_refusals(digits: DigitsLibrary, tmp_path):
    with pytest.raises(
        ConfigError, match="name must be lower-case letters, digits and '_' and begin with a letter. Got"
    ):
        tvmq.export_library(digits.exe, tmp_path, name="7")
    others = "x86_64-apple-macosx11 arm64-apple-macosx11 x86_64-pc-windows-msvc aarch64-linux-android"
    for triple in ("riscv64-linux-gnu", "i686-linux-gnu", "aarch64_be-linux-gnu", *others.split()):
        with pytest.raises(TargetError, match=rf"generic \({triple}\) is no CPU of Linux on x86-64 or aarch64; name one"):
            tvmq.export_library(digits.exe, tmp_path, target=f"llvm -mtriple={triple}")
    assert list(tmp_path.iterdir()) == []


def test_a_function_of_a_runtime_is_refused(tmp_path):
    x = relax.Var("x", relax.TensorType((2, 50), "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            y = builder.emit_output(relax.op.sort(x))
        builder.emit_func_output(y)
    with pytest.raises(BuildError, match="^export_library: "):
        tvmq.export_library(builder.get(), tmp_path / "m")


def test_a_library_alone(digits, tmp_path):
    export = tvmq.export_library(digits.exe, tmp_path / "digits.so")
    assert [path.name for path in tmp_path.iterdir()] == ["digits.so"]
    assert (export.library, export.header) == (tmp_path / "digits.so", None)
    assert export.library.read_bytes() == digits.export.library.read_bytes()
    assert str(export).startswith(f"{export.library}: ")
    with pytest.raises(ConfigError, match="further files need a folder; '.*net.so' names a library alone"):
        tvmq.export_library(digits.exe, tmp_path / "net.so", wheel=True)
    (tmp_path / "folder.so").mkdir()
    assert tvmq.export_library(digits.exe, tmp_path / "folder.so").library == tmp_path / "folder.so" / "libfolder.so"


@pytest.mark.slow
def test_default_name_is_that_of_the_folder(digits, tmp_path):
    export = tvmq.export_library(digits.exe, tmp_path / "Key-Words.2", target="x86-64-v3")
    assert export.library.name == "libkey_words_2.so" and "int key_words_2_run(" in export.header.read_text()


@pytest.mark.slow
def test_processes_of_other_hashes_write_equal_bytes(digits, tmp_path):
    """Order of sets and dictionaries, names of temporary files and addresses differ; the files do not."""
    pytest.importorskip("cyclonedx")
    digits.exe.save(tmp_path / "digits.tvmq")
    script = "import sys, tvmq; tvmq.export_library(tvmq.load(sys.argv[1]), sys.argv[2], name='digits', wheel=True, bom=True)"
    folders = [tmp_path / "one" / "digits", tmp_path / "other" / "place"]
    for seed, folder in zip(("0", "12345"), folders, strict=True):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "TVMQ_CACHE": str(tmp_path / f"cache{seed}")}
        command = [sys.executable, "-c", script, tmp_path / "digits.tvmq", folder]
        subprocess.run(command, check=True, env=environment)
    names = sorted(path.name for path in folders[0].iterdir())
    assert len(names) == 6 and names == sorted(path.name for path in folders[1].iterdir())
    for name in names:
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes(), name
