"""A static library: an archive of one object file, for linkers of the system.

Of the object stays what is loaded: no debug information, no unwind tables. Symbols that are not local are what a
program may call; the others are of no concern to it, so that it may hold several libraries.

Tests: tests/library/test_static_library.py
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from tvmq.runtime.artifact.link.elf_object import (
    ALLOC,
    HEADER,
    LOCAL,
    NOBITS,
    PROGBITS,
    RELA,
    RELOCATABLE,
    RELOCATION,
    SECTION,
    SYMBOL,
    SYMTAB,
    UNDEFINED,
    WRITE,
    ObjectFile,
    Section,
    Symbol,
)

EXECUTE, LINK, THREAD_LOCAL = 4, 0x40, 0x400  # flags of sections
KEPT_FLAGS = ALLOC | WRITE | EXECUTE | THREAD_LOCAL  # linkers may not merge what lies in a section, or leave it out
STRTAB, NOTE = 3, 7
RESERVED = 0xFF00  # numbers from here on are no sections
MEMBER = "model.o/"
HEAD = "{name:<16}{time:<12}{user:<6}{group:<6}{mode:<8}{size:<10}`\n"


def archive_object(source: ObjectFile) -> bytes:
    """The static library, with an index of its symbols; equal objects give equal bytes."""
    names = b"".join(name.encode() + b"\0" for name in exported_names(source))
    count = len(exported_names(source))
    index_bytes = 4 + 4 * count + len(names)
    head = b"!<arch>\n"
    begin = len(head) + len(_member("/", b"")) + index_bytes + index_bytes % 2
    index = struct.pack(f">{1 + count}I", count, *[begin] * count) + names
    return head + _member("/", index) + _member(MEMBER, write_object(source))


def exported_names(source: ObjectFile) -> list[str]:
    """Symbols that programs may call, sorted."""
    return sorted(symbol.name for symbol in source.symbols if _is_exported(symbol))


def _is_exported(symbol: Symbol) -> bool:
    return symbol.bind != LOCAL and symbol.section != UNDEFINED


def _is_loaded(section: Section) -> bool:
    is_known = section.kind in (PROGBITS, NOBITS, NOTE)
    return bool(section.flags & ALLOC) and is_known and section.name != ".eh_frame"


def _member(name: str, data: bytes) -> bytes:
    head = HEAD.format(name=name, time=0, user=0, group=0, mode=100644, size=len(data))
    return head.encode() + data + b"\n" * (len(data) % 2)


def write_object(source: ObjectFile) -> bytes:
    """An object file as bytes.

    >>> from tvmq.runtime.artifact.link.elf_object import Section, read_object
    >>> code = Section(".text", 1, ALLOC | EXECUTE, 1, 16, b"\\xc3")
    >>> read_object(write_object(ObjectFile((code,), (Symbol("f", 1, 2, 0, 0, 1),), ()))).sections[1].data
    b'\\xc3'
    """
    return _ObjectWriter(source).write()


class _ObjectWriter:
    """Sections in the order of the file: empty, those that are loaded, relocations of each, symbols, names."""

    def __init__(self, source: ObjectFile) -> None:
        self.source = source
        loaded = {index for index, section in enumerate(source.sections) if _is_loaded(section)}
        self.relocations = [item for item in source.relocations if item.section in loaded]
        used = {item.symbol for item in self.relocations}
        kept = [index for index, symbol in enumerate(source.symbols) if index in used or _is_exported(symbol)]
        named = {source.symbols[index].section for index in kept}
        filled = [index for index in sorted(loaded) if source.sections[index].size or index in named]
        self.number = {index: number for number, index in enumerate(filled, 1)}
        kept.sort(key=lambda index: source.symbols[index].bind != LOCAL)
        self.symbol_number = {index: number for number, index in enumerate(kept, 1)}
        self.locals = 1 + sum(source.symbols[index].bind == LOCAL for index in kept)

    def write(self) -> bytes:
        """Bytes of the file."""
        sections = [Section("", 0, 0, 0, 1, b""), *(self._copy_section(index) for index in self.number)]
        links: dict[int, tuple[int, int]] = {}  # of a section: the section that it is about, a number
        with_relocations = sorted({self.number[item.section] for item in self.relocations})
        symbols = len(sections) + len(with_relocations) + 1  # behind the mark of the stack
        for number in with_relocations:
            links[len(sections)] = symbols, number
            sections.append(self._relocations_of(number, sections[number].name))
        sections.append(Section(".note.GNU-stack", PROGBITS, 0, 0, 1, b""))
        names, table = self._symbols()
        links[symbols] = symbols + 1, self.locals
        sections += [Section(".symtab", SYMTAB, 0, len(table), 8, table), Section(".strtab", STRTAB, 0, 0, 1, names)]
        return _lay_out(sections, links, self.source.machine)

    def _copy_section(self, index: int) -> Section:
        section = self.source.sections[index]
        return Section(
            section.name, section.kind, section.flags & KEPT_FLAGS, section.size, section.align, section.data
        )

    def _relocations_of(self, number: int, name: str) -> Section:
        entries = (
            RELOCATION.pack(item.offset, self.symbol_number[item.symbol] << 32 | item.kind, item.addend)
            for item in self.relocations
            if self.number[item.section] == number
        )
        return Section(f".rela{name}", RELA, LINK, 0, 8, b"".join(entries))

    def _symbols(self) -> tuple[bytes, bytes]:
        """Names of the symbols, and their table."""
        names, entries = bytearray(b"\0"), [bytes(SYMBOL.size)]
        for index in self.symbol_number:
            symbol = self.source.symbols[index]
            entries.append(self._symbol(symbol, len(names) if symbol.name else 0))
            names += symbol.name.encode() + b"\0" if symbol.name else b""
        return bytes(names), b"".join(entries)

    def _symbol(self, symbol: Symbol, name: int) -> bytes:
        section = symbol.section
        if UNDEFINED < section < RESERVED:
            section = self.number[section]
        return SYMBOL.pack(name, symbol.bind << 4 | symbol.kind, 0, section, symbol.value, symbol.size)


def _lay_out(sections: Sequence[Section], links: dict[int, tuple[int, int]], machine: int) -> bytes:
    """The header, the sections, their names and the table of them."""
    names = bytearray(b"\0")
    data, entries = bytearray(HEADER.size), []
    sizes = {RELA: RELOCATION.size, SYMTAB: SYMBOL.size}
    for number, section in enumerate([*sections, Section(".shstrtab", STRTAB, 0, 0, 1, b"")]):
        name = len(names) if section.name else 0
        names += section.name.encode() + b"\0" if section.name else b""
        content = bytes(names) if number == len(sections) else section.data
        data += bytes(-len(data) % section.align) if section.kind else b""
        size = section.size if section.kind == NOBITS else len(content)
        at = len(data) if section.kind else 0
        fields = section.kind, section.flags, 0, at, size, *links.get(number, (0, 0))
        entries.append(SECTION.pack(name, *fields, section.align if section.kind else 0, sizes.get(section.kind, 0)))
        data += content
    data += bytes(-len(data) % 8)
    counts = HEADER.size, 0, 0, SECTION.size, len(entries), len(entries) - 1
    magic = b"\x7fELF\x02\x01\x01" + bytes(9)
    data[: HEADER.size] = HEADER.pack(magic, RELOCATABLE, machine, 1, 0, 0, len(data), 0, *counts)
    return bytes(data) + b"".join(entries)
