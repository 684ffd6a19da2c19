"""Libraries that the linker makes of a C compiler's objects: constants, data, zeros, addresses, variables of threads."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.codegen.kernels.arm import COMPILER as ARM_COMPILER
from tests.codegen.kernels.arm import EMULATOR, needs_arm
from tests.library.test_machines import DYNAMIC, SYSTEM
from tvmq.errors import BuildError
from tvmq.runtime.artifact.link.elf_object import MACHINE_NAMES, read_object
from tvmq.runtime.artifact.link.standalone import link_standalone
from tvmq.runtime.artifact.native_library import runs_linux_x86

needs_gcc = pytest.mark.skipif(
    shutil.which("gcc") is None or not runs_linux_x86(), reason="no gcc, or no Linux on x86-64 to run its code on"
)
SOURCE = """
#include <string.h>
static const unsigned char bytes[5] = {1, 2, 3, 4, 5};
static const unsigned short halves[3] = {300, 400, 500};
static const long longs[64] = {[63] = 1L << 40};
static const char *const names[3] = {"one", "two", "three"};
%(data)s
static int zeros[1000];
static __thread int calls;
static __thread long own;
extern char other(char) __attribute__((weak));
__attribute__((noinline)) static long sum(int at) { return bytes[at %% 5] + halves[at %% 3] + longs[at] + counter; }
long call(int at) {
    char text[64];
    calls++, counter++, zeros[at] += 2, own -= at;
    memcpy(text, names[at %% 3], strlen(names[at %% 3]) + 1);
    return sum(at) + zeros[at] + 1000 * calls + own + (long)strlen(text) + (other ? 1 : 0);
}
"""
DATA = "static int counter = 7, *volatile place = &counter;\n#define counter (*place)"
NO_DATA = "static int counter;"
CALLER = """
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **paths) {
    void *library = dlopen(paths[count - 1], RTLD_NOW);
    if (!library) return puts(dlerror()), 1;
    long (*call)(int);
    *(void **)&call = dlsym(library, "call");
    for (int at = 0; at < 64; at += 9) printf("%ld ", call(at));
    return dlsym(library, "sum") != NULL;
}
"""
FLAGS = ("-O2", "-fPIC", "-fno-stack-protector", "-fno-asynchronous-unwind-tables", "-fcf-protection=none")


def results(data: str, compiler: str, folder: Path, linked: bool, *emulator: object) -> str:
    """Output of the program with the source, which our linker or that of the compiler made a library."""
    (folder / "source.c").write_text(SOURCE % {"data": data})
    (folder / "caller.c").write_text(CALLER)
    is_x86 = compiler == "gcc"
    flags = [*FLAGS, "-ftls-model=local-dynamic"] if is_x86 else [*FLAGS[:-1], "-mno-outline-atomics"]
    subprocess.run([compiler, *flags, "-c", folder / "source.c", "-o", folder / "source.o"], check=True)
    if linked:
        source = read_object((folder / "source.o").read_bytes(), MACHINE_NAMES)
        (folder / "library.so").write_bytes(link_standalone(source, "library.so", b"note"))
    else:
        subprocess.run([compiler, "-shared", folder / "source.o", "-o", folder / "library.so"], check=True)
    subprocess.run([compiler, folder / "caller.c", "-ldl", "-o", folder / "caller"], check=True)
    command = [*emulator, folder / "caller", folder / "library.so"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@needs_gcc
@pytest.mark.parametrize("data", [DATA, NO_DATA], ids=["data", "zeros"])
def test_library_for_x86(data, tmp_path):
    assert results(data, "gcc", tmp_path, True) == results(data, "gcc", tmp_path, False) != ""


@needs_arm
@DYNAMIC
@pytest.mark.parametrize("data", [DATA, NO_DATA], ids=["data", "zeros"])
def test_library_for_arm(data, tmp_path):
    emulator = EMULATOR, "-L", SYSTEM
    linked, expected = (results(data, ARM_COMPILER, tmp_path, linked, *emulator) for linked in (True, False))
    assert linked == expected != ""


@needs_gcc
@pytest.mark.parametrize(("source", "why"), [
    ("static __thread int value = 3; int call(void) { return value++; }", "a variable of threads that does not begin as"),
    ("static int value; __attribute__((section(\".rodata.x\"))) int *const call = &value;", "an address in constants"),
])  # fmt: skip
def test_what_it_cannot_hold_is_refused(source, why, tmp_path):
    (tmp_path / "source.c").write_text(source)
    command = ["gcc", *FLAGS, "-w", "-ftls-model=local-dynamic", "-S", tmp_path / "source.c", "-o", tmp_path / "source.s"]
    subprocess.run(command, check=True)
    text = (tmp_path / "source.s").read_text().replace(',"aw"', ',"a"')  # constants, whatever they hold
    (tmp_path / "source.s").write_text(text)
    subprocess.run(["gcc", "-c", tmp_path / "source.s", "-o", tmp_path / "source.o"], check=True)
    with pytest.raises(BuildError, match=why):
        link_standalone(read_object((tmp_path / "source.o").read_bytes()), "library.so", b"note")
