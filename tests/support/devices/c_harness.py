"""Exported C compiled and run: as a library of this machine, and as a bare program on emulated microcontrollers.

The bare program has no C library: a start, the model, inputs and the results that are expected, and a comparison. It
says "values N differing D" by semihosting (Arm) or by a system call (RISC-V).
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import tvm

import tvmq
from tvmq.formats.c.constants import CConstants
from tvmq.formats.c.export_c import CExport

WARNINGS = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic")
SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g1")
Arrays = Sequence[np.ndarray]


# ---- this machine


class Native:
    """The run function of an export, compiled for this machine and called in this process.

    flags   of the compiler; sanitizers need a program of their own, see `run_program`
    """

    def __init__(self, export: CExport, compiler: str = "gcc", flags: Sequence[str] = ("-O2",)) -> None:
        library = export.source.with_suffix(f".{compiler}.so")
        compile_c(compiler, [export.source], library, [*flags, "-shared", "-fPIC"])
        self._run = getattr(ctypes.CDLL(str(library)), f"{export.source.stem}_run")

    def __call__(self, codes: Arrays, like: Arrays) -> list[np.ndarray]:
        """Results of the types and shapes of `like`; buffers hold other values before."""
        results = [np.full_like(array, 85) for array in like]
        given = [np.ascontiguousarray(array) for array in codes]
        self._run(*(array.ctypes.data_as(ctypes.c_void_p) for array in (*given, *results)))
        return results


def compile_c(compiler: str, sources: Sequence[Path], output: Path, flags: Sequence[str]) -> None:
    """Every warning is an error."""
    command = [compiler, *WARNINGS, *flags, "-o", str(output), *map(str, sources)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]


def wanted_of(mod: tvm.IRModule, codes: Arrays) -> list[np.ndarray]:
    """Results of the definition for these codes."""
    return tvmq.reference.run(mod, codes, function="quantized_main")


def random_codes(mod: tvm.IRModule, seed: int) -> list[np.ndarray]:
    """Codes for the inputs of the core; integers of more than 16 bits stay small."""
    random, found = np.random.default_rng(seed), []
    for param in mod["quantized_main"].params:
        dtype = np.dtype(str(param.ty.dtype))
        low, high = (np.iinfo(dtype).min, np.iinfo(dtype).max) if dtype.itemsize < 4 else (0, 7)
        found.append(random.integers(low, high + 1, [int(d) for d in param.ty.shape]).astype(dtype))
    return found


# ---- a program that compares by itself

COMPARE = """
static unsigned long differing, values;

static void compare(const void *found, const void *wanted, unsigned long count, unsigned long size)
{
    const unsigned char *a = found, *b = wanted;
    for (unsigned long i = 0; i < count; i++, values++) {
        unsigned long different = 0;
        for (unsigned long k = 0; k < size; k++)
            different |= a[i * size + k] != b[i * size + k];
        differing += different;
    }
}

static void say_number(unsigned long number)
{
    char text[12];
    int at = 11;
    text[at] = 0;
    do {
        text[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    say(text + at);
}

static void compare_all(void)
{
CALLS
    say("values ");
    say_number(values);
    say(" differing ");
    say_number(differing);
    say("\\n");
}
"""
HOSTED = """
#include <stdio.h>
static void say(const char *text) { fputs(text, stdout); }
"""
MAIN = "int main(void) { compare_all(); return 0; }\n"
MEMORY = """
#include <stddef.h>
void *memcpy(void *restrict a, const void *restrict b, size_t n)
{
    for (size_t i = 0; i < n; i++) ((volatile char *)a)[i] = ((const char *)b)[i];
    return a;
}
void *memset(void *a, int c, size_t n)
{
    for (size_t i = 0; i < n; i++) ((volatile char *)a)[i] = (char)c;
    return a;
}
"""
ARM = (
    """
#include <stdint.h>
static int semihost(int what, const void *argument)
{
    register int r0 __asm__("r0") = what;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}
static void say(const char *text) { semihost(4, text); }
"""
    + MEMORY
)
ARM_START = """
extern uint32_t stack_top, bss_begin, bss_end;
static void fault(void) { say("fault\\n"); semihost(0x18, (void *)0x20023); for (;;) { } }
void reset(void)
{
    for (uint32_t *p = &bss_begin; p < &bss_end; p++) *p = 0;
#ifdef __ARM_FP
    *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20; /* the coprocessor of floats and vectors */
    __asm__ volatile("dsb\\n isb");
#endif
    compare_all();
    semihost(0x18, (void *)0x20026);
    for (;;) { }
}
__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    &stack_top, (void *)reset, (void *)fault, (void *)fault, (void *)fault, (void *)fault, (void *)fault,
};
"""
RISCV = (
    """
static long system_call(long number, long a, long b, long c)
{
    register long a0 __asm__("a0") = a;
    register long a1 __asm__("a1") = b;
    register long a2 __asm__("a2") = c;
    register long a7 __asm__("a7") = number;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
    return a0;
}
static void say(const char *text)
{
    long n = 0;
    while (text[n]) n++;
    system_call(64, 1, (long)text, n);
}
"""
    + MEMORY
)
RISCV_START = "void _start(void) { compare_all(); system_call(93, 0, 0, 0); for (;;) { } }\n"


def program(export: CExport, samples: Sequence[tuple[Arrays, Arrays]], before: str, after: str) -> str:
    """The text of a program that runs samples of (codes, expected results)."""
    constants, buffers, calls = CConstants(), [], []
    for codes, wanted in samples:
        given = [constants.tensor(a, "given").storage.place for a in codes]
        expected = [constants.tensor(a, "wanted").storage.place for a in wanted]
        found = [f"found_{i}" for i in range(len(wanted))]
        calls.append(f"    {export.source.stem}_run({', '.join([*given, *found])});")
        calls += [
            f"    compare({a}, {b}, {w.size}, {w.itemsize});" for a, b, w in zip(found, expected, wanted, strict=True)
        ]
        buffers = [
            f"static {w.dtype.name.replace('bool', 'uint8')}_t {a}[{w.size}];"
            for a, w in zip(found, wanted, strict=True)
        ]
    text = COMPARE.replace("CALLS", "\n".join(calls))
    definitions, _ = constants.used_in("\n".join(calls))
    head = f'#include "{export.header.name}"\n'
    return head + before + definitions + "\n" + "\n".join(buffers) + text + after


COUNTS = re.compile(r"values (\d+) differing (\d+)")


def counts(output: str) -> tuple[int, int]:
    """(values, differing) that a program said."""
    found = COUNTS.search(output)
    assert found, output[-2000:]
    return int(found.group(1)), int(found.group(2))


def run_program(
    export: CExport, samples: Sequence[tuple[Arrays, Arrays]], compiler: str, flags: Sequence[str]
) -> tuple[int, int]:
    """(values, differing) of a program of its own on this machine, as sanitizers need it."""
    main = export.source.with_name("compare.c")
    main.write_text(program(export, samples, HOSTED, MAIN))
    compile_c(compiler, [export.source, main], main.with_suffix(""), flags)
    done = subprocess.run([main.with_suffix("")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return counts(done.stdout)


# ---- emulated cores


@dataclass(frozen=True)
class Core:
    """An emulated microcontroller.

    flags      of the compiler
    emulator   command before the program
    model      compiler of the model and its flags, where it is another one
    flash, big, ram   (begin, bytes) of memory for code, for constants and for everything else
    """

    name: str
    compiler: str
    flags: tuple[str, ...]
    emulator: tuple[str, ...]
    model: tuple[str, ...] = ()
    flash: tuple[int, int] = (0, 0)
    big: tuple[int, int] = (0, 0)
    ram: tuple[int, int] = (0, 0)

    @property
    def missing(self) -> str:
        """Names of the tools that are not installed; "" if all are."""
        return ", ".join(tool for tool in (self.compiler, *self.model[:1], self.emulator[0]) if not shutil.which(tool))

    @property
    def model_command(self) -> list[str]:
        """Compiler and flags of the model."""
        return [*(self.model or (self.compiler, *self.flags)), "-ffreestanding", "-ffunction-sections"]

    @property
    def is_arm(self) -> bool:
        """True for those that say by semihosting."""
        return self.compiler.startswith("arm")


def _arm(name: str, cpu: str, machine: str, *memory: tuple[int, int]) -> Core:
    emulator = ("qemu-system-arm", "-M", machine, "-nographic", "-semihosting", "-kernel")
    return Core(name, "arm-none-eabi-gcc", (f"-mcpu={cpu}", "-mthumb", "-O2"), emulator, (), *memory)


def _riscv(name: str, march: str, abi: str) -> Core:
    emulator = (f"qemu-riscv{march[2:4]}",)
    return Core(
        name, "riscv64-unknown-elf-gcc", (f"-march={march}", f"-mabi={abi}", "-mcmodel=medany", "-O2"), emulator
    )


KB, MB = 1024, 1024**2
M55 = ((0x10000000, 512 * KB), (0x60000000, 64 * MB), (0x64000000, 16 * MB))
CORES = {
    core.name: core
    for core in (
        _arm("Cortex-M0", "cortex-m0", "microbit", (0, 256 * KB), (0, 0), (0x20000000, 16 * KB)),
        # code of the M0, whose instructions the M3 has too, where the micro:bit's memory is too small
        _arm("Cortex-M0 code", "cortex-m0", "mps2-an385", (0, 4 * MB), (0, 0), (0x20000000, 4 * MB)),
        _arm("Cortex-M3", "cortex-m3", "mps2-an385", (0, 4 * MB), (0, 0), (0x20000000, 4 * MB)),
        _arm("Cortex-M4", "cortex-m4", "mps2-an386", (0, 4 * MB), (0, 0), (0x20000000, 4 * MB)),
        _arm("Cortex-M55", "cortex-m55", "mps3-an547", *M55),
        # with vectors: gcc 12 finds none in loops that widen bytes to 32 bits, clang 14 does
        replace(
            _arm("Cortex-M55 vectors", "cortex-m55", "mps3-an547", *M55),
            flags=("-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard", "-O2"),
            model=("clang", "--target=arm-none-eabi", "-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard", "-O3"),
        ),
        _riscv("RV32IMC", "rv32imc", "ilp32"),
        _riscv("RV64GC", "rv64gc", "lp64d"),
    )
}
SCRIPT = """
MEMORY
{{
    FLASH (rx) : ORIGIN = {flash[0]}, LENGTH = {flash[1]}
    BIG (r) : ORIGIN = {big[0]}, LENGTH = {big[1]}
    RAM (rw) : ORIGIN = {ram[0]}, LENGTH = {ram[1]}
}}
SECTIONS
{{
    .text : {{ KEEP(*(.vectors)) *(.text*) }} > FLASH
    .rodata : {{ *(.rodata*) }} > {constants}
    .ARM.exidx : {{ *(.ARM.exidx*) }} > FLASH
    .bss (NOLOAD) : ALIGN(8) {{ bss_begin = .; *(.data*) *(.bss*) *(COMMON) . = ALIGN(4); bss_end = .; }} > RAM
    stack_top = ORIGIN(RAM) + LENGTH(RAM);
}}
"""


@dataclass(frozen=True)
class Outcome:
    """Report of an emulated core: values compared and differing; bytes of flash and RAM of the model alone."""

    values: int
    differing: int
    flash: int
    ram: int


class DoesNotFit(Exception):
    """The program is larger than the memory of the core."""


def run_on(core: Core, export: CExport, samples: Sequence[tuple[Arrays, Arrays]]) -> Outcome:
    """Compile, link without any C library, run in the emulator.

    raises  DoesNotFit if the linker says so
    """
    folder = export.source.parent
    stem = re.sub(r"\W", "_", core.name)
    before, after = (ARM, ARM_START) if core.is_arm else (RISCV, RISCV_START)
    main, model, image = folder / f"main_{stem}.c", folder / f"model_{stem}.o", folder / f"image_{stem}.elf"
    main.write_text(program(export, samples, before, after))
    freestanding = [*core.flags, "-ffreestanding", "-ffunction-sections"]
    compiler, *flags = core.model_command
    compile_c(compiler, [export.source], model, [*flags, "-c"])
    objects = main.with_suffix(".o")
    done = subprocess.run(
        [core.compiler, "-std=gnu99", *freestanding, "-c", "-o", objects, main], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    # no start sets the global pointer to which the linker would relax addresses
    linked = ["-nostdlib", "-nostartfiles", "-Wl,--gc-sections", "-Wl,--no-relax"]
    if core.is_arm:
        script = folder / f"memory_{stem}.ld"
        script.write_text(SCRIPT.format(**vars(core), constants="BIG" if core.big[1] else "FLASH"))
        linked += ["-T", str(script)]
    command = [core.compiler, *core.flags, *linked, "-o", image, objects, model, "-lgcc"]
    done = subprocess.run(command, capture_output=True, text=True)
    if "will not fit" in done.stderr or "overflowed" in done.stderr:
        raise DoesNotFit(f"{core.name}: {done.stderr.strip().splitlines()[-2]}")
    assert done.returncode == 0, done.stderr[-2000:]
    ran: Any = subprocess.run([*core.emulator, image], capture_output=True, text=True, timeout=300)
    return Outcome(*counts(ran.stdout + ran.stderr), *_sizes(core, model))


def _sizes(core: Core, model: Path) -> tuple[int, int]:
    """(text and constants, zeroed data) of the object file of the model."""
    size = core.compiler.replace("-gcc", "-size")
    text, data, bss = map(int, subprocess.check_output([size, model], text=True).splitlines()[1].split()[:3])
    assert data == 0, "the model has variables with values"
    return text, bss
