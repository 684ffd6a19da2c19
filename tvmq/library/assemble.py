"""Kernels of all codes, the plan and the runtime as one object file, and that as a shared library.

Kernels of several codes may have equal names, and so may helpers that the compiler adds to each: within a code they
mean each other, and only kernels are known outside, by the number of their code.

Tests: tests/library/test_export_library.py
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tvmq.errors import BuildError
from tvmq.library.interface import Interface
from tvmq.library.plan_bytes import CodePlan, kernel_symbol, plan_object
from tvmq.runtime.artifact.link.elf_object import ALLOC, LOCAL, UNDEFINED, ObjectFile, Section, merge_objects
from tvmq.runtime.artifact.link.standalone import NOTE_SECTION, S_NOTE, link_standalone, note_bytes
from tvmq.runtime.artifact.link.static_library import archive_object

# What the runtime and kernels may ask of the program that opens the library; tests/library holds all libraries to it
LIBC = ("__tls_get_addr", "getauxval", "memcpy", "memmove", "memset")
OPTIONAL = ("pthread_create", "pthread_join")  # null in programs without threads
LIBM = (
    "acos acosf acosh acoshf asin asinf asinh asinhf atan atanf atan2 atan2f atanh atanhf ceil ceilf cos cosf cosh "
    "coshf erf erff exp expf exp2 exp2f floor floorf fma fmaf fmod fmodf hypot hypotf ldexp ldexpf log logf log10 "
    "log10f log1p log1pf log2 log2f nearbyint nearbyintf nextafter nextafterf pow powf rint rintf round roundf sin "
    "sinf sinh sinhf sqrt sqrtf tan tanf tanh tanhf trunc truncf"
).split()
FUNCTIONS = (
    "init", "select_code", "describe", "dimension", "input", "output", "workspace_bytes", "run", "pool_bytes",
    "pool_start", "pool_stop", "selftest_bytes", "selftest", "status_text",
)  # fmt: skip
POINTERS = "__TVM"  # how the pointers begin by which kernels call a runtime


def isolate_code(number: int, objects: Sequence[ObjectFile], kernels: Sequence[str]) -> ObjectFile:
    """The objects of one code; kernels are known by `numbered_symbol`, pointers of the runtime by their names."""
    merged = merge_objects(objects)
    known = {kernel_symbol(kernel): numbered_symbol(number, kernel) for kernel in kernels}
    symbols = []
    for symbol in merged.symbols:
        if symbol.name in known:
            symbol = replace(symbol, name=known[symbol.name])
        elif symbol.section != UNDEFINED and not symbol.name.startswith(POINTERS):
            symbol = replace(symbol, bind=LOCAL)
        symbols.append(symbol)
    return replace(merged, symbols=tuple(symbols))


def numbered_symbol(number: int, kernel: str) -> str:
    """Name of a kernel among those of all codes.

    >>> numbered_symbol(1, "conv")
    'code1.conv'
    """
    return f"code{number}.{kernel}"


@dataclass(frozen=True)
class Assembly:
    """A library as one object file.

    merged     the object; symbols that are not local are what programs call
    library    the shared library libNAME.so
    undefined  symbols that it asks a program for
    interface  with the hash of its code
    """

    merged: ObjectFile
    library: bytes
    undefined: tuple[str, ...]
    interface: Interface

    def archive(self) -> bytes:
        """The static library libNAME.a."""
        note = note_bytes(bytes.fromhex(self.interface.model_hash))
        section = Section(NOTE_SECTION, S_NOTE, ALLOC, len(note), 4, note)
        return archive_object(replace(self.merged, sections=(*self.merged.sections, section)))


def assemble_library(
    interface: Interface, codes: Sequence[CodePlan], objects: Sequence[ObjectFile], runtime: ObjectFile
) -> Assembly:
    """The library of all codes.

    objects  of each code, from `isolate_code`
    raises   BuildError for kernels that call something that a library has not
    """
    draft = _link(replace(interface, code_hash="0" * 64), codes, objects, runtime)
    return _link(replace(interface, code_hash=hashlib.sha256(draft.library).hexdigest()), codes, objects, runtime)


def _link(
    interface: Interface, codes: Sequence[CodePlan], objects: Sequence[ObjectFile], runtime: ObjectFile
) -> Assembly:
    # the runtime first: its pointers are those that kernels share
    merged = merge_objects([runtime, plan_object(interface, codes, runtime.machine), *objects])
    public = {f"model_{name}": f"{interface.name}_{name}" for name in FUNCTIONS}
    symbols = tuple(
        replace(symbol, name=public[symbol.name]) if symbol.name in public
        else symbol if symbol.section == UNDEFINED
        else replace(symbol, bind=LOCAL)
        for symbol in merged.symbols
    )  # fmt: skip
    whole = replace(merged, symbols=symbols)
    undefined = _list_undefined(whole)
    _refuse_calls(whole, undefined, runtime)
    # programs in C have the C library, but libm only if they ask for it; musl takes the name for its own
    needed = ["libm.so.6"] if set(undefined) & set(LIBM) else []
    library = link_standalone(whole, f"lib{interface.name}.so", bytes.fromhex(interface.model_hash), needed)
    return Assembly(whole, library, tuple(undefined), interface)


def _list_undefined(whole: ObjectFile) -> list[str]:
    used = {item.symbol for item in whole.relocations if whole.sections[item.section].flags & 2}
    names = {whole.symbols[index].name for index in used if whole.symbols[index].section == UNDEFINED}
    return sorted(names - {"", *OPTIONAL})


def _refuse_calls(whole: ObjectFile, undefined: Sequence[str], runtime: ObjectFile) -> None:
    own = {symbol.name for symbol in runtime.symbols if symbol.section != UNDEFINED}
    used = {whole.symbols[item.symbol].name for item in whole.relocations}
    foreign = sorted(name for name in used if name.startswith(POINTERS) and name not in own)
    foreign += [name for name in undefined if name not in LIBC and name not in LIBM]
    if foreign:
        raise BuildError(
            f"export_library: kernels call {', '.join(foreign)}, which a library without TVM has not; "
            "`tvmq.build` and `save` take the model"
        )
