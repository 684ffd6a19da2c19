"""Reading a relocatable ELF file: its sections, symbols and relocations. Standard library only.

Several object files as one, for the linker: each kernel is compiled by itself.

A name that several files define (pointers that TVM's runtime fills in, helpers for half floats) means the first of
them everywhere; what defines it in the others stays, under no name.

Tests: tests/runtime/artifact/link/test_shared_object.py
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from tvmq.base.tvm_internals import MAIN_SYMBOL
from tvmq.errors import BuildError

X86_64, AARCH64 = 62, 183
MACHINE_NAMES = {X86_64: "x86-64", AARCH64: "aarch64"}
RELOCATABLE = 1
PROGBITS, SYMTAB, RELA, NOBITS = 1, 2, 4, 8
WRITE, ALLOC = 1, 2
UNDEFINED, ABSOLUTE, COMMON = 0, 0xFFF1, 0xFFF2
LOCAL, GLOBAL, WEAK = 0, 1, 2
HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
RELOCATION = struct.Struct("<QQq")


@dataclass(frozen=True)
class Section:
    """data is empty for NOBITS sections, whose size counts."""

    name: str
    kind: int
    flags: int
    size: int
    align: int
    data: bytes


@dataclass(frozen=True)
class Symbol:
    """section is an index, or UNDEFINED, ABSOLUTE or COMMON; value is an offset in the section."""

    name: str
    bind: int
    kind: int
    section: int
    value: int
    size: int


@dataclass(frozen=True)
class Relocation:
    """At `offset` of section `section`: something of kind `kind` about symbol number `symbol`."""

    section: int
    offset: int
    kind: int
    symbol: int
    addend: int


@dataclass(frozen=True)
class ObjectFile:
    """A relocatable file."""

    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]
    relocations: tuple[Relocation, ...]
    machine: int = X86_64


def read_object(data: bytes, machines: Collection[int] = (X86_64,)) -> ObjectFile:
    """The object file.

    machines  that are taken
    raises  BuildError if it is no relocatable file for one of them
    """
    if len(data) < HEADER.size or data[:6] != b"\x7fELF\x02\x01":
        raise BuildError("link: the compiler's output is no 64-bit ELF file; save the code as bitcode")
    fields = HEADER.unpack_from(data)
    if fields[1] != RELOCATABLE or fields[2] not in machines:
        known = " and ".join(MACHINE_NAMES[machine] for machine in machines)
        raise BuildError(f"link: ELF type {fields[1]} for machine {fields[2]}; only objects for {known} are linked")
    raw = [SECTION.unpack_from(data, fields[6] + i * fields[11]) for i in range(fields[12])]
    names = raw[fields[13]]
    sections = tuple(_section(data, entry, names[4]) for entry in raw)
    symbols: tuple[Symbol, ...] = ()
    relocations: list[Relocation] = []
    for entry in raw:
        body = data[entry[4] : entry[4] + entry[5]]
        if entry[1] == SYMTAB:
            symbols = tuple(_symbols(body, data, raw[entry[6]][4]))
        elif entry[1] == RELA:
            relocations += _relocations(body, entry[7])
    return ObjectFile(sections, symbols, tuple(relocations), fields[2])


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode()


def _section(data: bytes, entry: tuple[int, ...], names: int) -> Section:
    name, kind, flags, _address, offset, size, _link, _info, align, _entry_size = entry
    body = b"" if kind == NOBITS else data[offset : offset + size]
    return Section(_text(data, names + name), kind, flags, size, max(align, 1), body)


def _symbols(body: bytes, data: bytes, names: int) -> Iterator[Symbol]:
    for name, info, _other, section, value, size in SYMBOL.iter_unpack(body):
        yield Symbol(_text(data, names + name), info >> 4, info & 15, section, value, size)


def _relocations(body: bytes, section: int) -> Iterator[Relocation]:
    for offset, info, addend in RELOCATION.iter_unpack(body):
        yield Relocation(section, offset, info & 0xFFFFFFFF, info >> 32, addend)


SPECIAL = (UNDEFINED, ABSOLUTE, COMMON)
# What TVM calls the only function of a file besides its own name; a module of several has no such function.


def merge_objects(objects: Sequence[ObjectFile]) -> ObjectFile:
    """Merge the sections of all objects, in order, into a single object file."""
    sections = tuple(section for source in objects for section in source.sections)
    symbols = list(_shifted_symbols(objects))
    known = _meanings(symbols)
    meaning = [known.get(symbol.name, index) if symbol.bind != LOCAL else index for index, symbol in enumerate(symbols)]
    relocations = tuple(replace(item, symbol=meaning[item.symbol]) for item in _shifted_relocations(objects))
    named = [
        symbol if meaning[index] == index and symbol.name != MAIN_SYMBOL else replace(symbol, bind=LOCAL)
        for index, symbol in enumerate(symbols)
    ]
    return ObjectFile(sections, tuple(named), relocations, objects[0].machine if objects else X86_64)


def _meanings(symbols: Sequence[Symbol]) -> dict[str, int]:
    """{name that all files know: number of the symbol that it means}."""
    meanings: dict[str, int] = {}
    for index, symbol in enumerate(symbols):
        if symbol.bind == LOCAL or not symbol.name:
            continue
        first = meanings.setdefault(symbol.name, index)
        if symbols[first].section == UNDEFINED != symbol.section:
            meanings[symbol.name] = index
    return meanings


def _shifted_symbols(objects: Sequence[ObjectFile]) -> Iterator[Symbol]:
    shift = 0
    for source in objects:
        for symbol in source.symbols:
            yield symbol if symbol.section in SPECIAL else replace(symbol, section=symbol.section + shift)
        shift += len(source.sections)


def _shifted_relocations(objects: Sequence[ObjectFile]) -> Iterator[Relocation]:
    sections = symbols = 0
    for source in objects:
        for item in source.relocations:
            yield replace(item, section=item.section + sections, symbol=item.symbol + symbols)
        sections, symbols = sections + len(source.sections), symbols + len(source.symbols)
