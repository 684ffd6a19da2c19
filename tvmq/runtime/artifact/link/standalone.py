"""A shared library of a model alone: it names no other library but libm, and constants are in no executable memory.

    readable                headers, note, hash table, symbols, dynamic relocations, constants
    readable, executable    code, stubs
    written by the loader   pointers (the global offset table), dynamic section, data of addresses; readable later
    readable, writable      data, zeros

Functions of the C library are found in the program that loads it, glibc's or musl's. One variable of each thread is
reached by __tls_get_addr, on 64-bit Arm by a descriptor, so that the library may be opened at any time.

Linkers read a library by its sections, so it has a table of them; the loader needs none.

Tests: tests/library/test_export_library.py
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tvmq.errors import BuildError
from tvmq.runtime.artifact.link.aarch64 import MACHINES
from tvmq.runtime.artifact.link.elf_object import HEADER, NOBITS, PROGBITS, SECTION, SYMBOL, WRITE, ObjectFile
from tvmq.runtime.artifact.link.elf_object import RELOCATION as RELOCATION_ENTRY
from tvmq.runtime.artifact.link.link_target import Image
from tvmq.runtime.artifact.link.shared_object import (
    DYNAMIC,
    HASH,
    LOAD,
    PROGRAM,
    READ_EXECUTE,
    READ_WRITE,
    RELA,
    SHARED,
    STACK,
    STRTAB,
    SYMTAB,
    Linker,
)

EXECUTE, THREAD_LOCAL = 4, 0x400  # flags of sections
READ, NOTE, THREADS, RELRO = 4, 4, 7, 0x6474E552  # of programs
SONAME, FLAGS, BIND_NOW = 14, 30, 8  # of the dynamic section
# of section headers
S_STRTAB, S_RELA, S_HASH, S_DYNAMIC, S_NOTE, S_DYNSYM = 3, 4, 5, 6, 7, 11
RELRO_SECTIONS = ".data.rel.ro"
NOTE_SECTION, NOTE_OWNER, NOTE_KIND = ".note.tvmq", b"tvmq\0\0\0\0", 1
PROGRAMS = 8


def link_standalone(source: ObjectFile, soname: str, note: bytes, needed: Sequence[str] = ()) -> bytes:
    """The library; symbols that are not local are exported.

    soname   under which programs find it
    note     bytes that tell models apart
    needed   libraries that the loader opens with it
    raises   BuildError for relocations that it cannot hold
    """
    return _StandaloneLinker(source, soname, note, needed).link()


def note_bytes(content: bytes) -> bytes:
    """A note, by which tools tell models apart.

    >>> len(note_bytes(bytes(32)))
    52
    """
    return struct.pack("<3I", 5, len(content), NOTE_KIND) + NOTE_OWNER + content


@dataclass(frozen=True)
class _FilePart:
    """A piece of the file as its table of sections names it."""

    name: str
    kind: int
    flags: int
    begin: int
    end: int
    align: int = 8
    link: str = ""
    info: int = 0
    entry_size: int = 0


class _StandaloneLinker(Linker):
    def __init__(self, source: ObjectFile, soname: str, note: bytes, needed: Sequence[str]) -> None:
        of_threads = [index for index, one in enumerate(source.sections) if one.flags & THREAD_LOCAL]
        kind = MACHINES[source.machine].thread_offset
        self.offsets_of_threads = [item for item in source.relocations if kind and item.kind == kind]
        others = tuple(item for item in source.relocations if not kind or item.kind != kind)
        super().__init__(replace(source, relocations=others))
        self.soname, self.note, self.needed = soname, note, tuple(needed)
        self.thread_offset, self.thread_bytes, self.thread_align = self._place_threads(of_threads)
        pairs = {self._pair_offset(item.symbol) for item in others if item.kind in self.machine.through_pair}
        self.pairs = dict.fromkeys(sorted(pairs), 0)  # offset of a variable of threads: where the pointers to it lie
        self.parts: list[_FilePart] = []

    def _place_threads(self, sections: list[int]) -> tuple[dict[int, int], int, int]:
        """{section: offset}, bytes and alignment of a thread's variables, all zero in the beginning."""
        offsets, end, align = {}, 0, 1
        for index in sections:
            section = self.source.sections[index]
            if section.kind != NOBITS:
                raise BuildError("link: a variable of threads that does not begin as zero; save as bitcode")
            end += -end % section.align
            offsets[index], end, align = end, end + section.size, max(align, section.align)
            self.loaded_sections.pop(index, None)
        return offsets, end, align

    def link(self) -> bytes:
        """Bytes of the linked file."""
        names = self._names()
        code = Image(0, bytearray(HEADER.size + PROGRAMS * PROGRAM.size))
        note = note_bytes(self.note)
        symbols = (1 + len(self.imported) + len(self.exported)) * SYMBOL.size
        relocations = self._count_dynamic() * RELOCATION_ENTRY.size
        note_at = self._add(code, NOTE_SECTION, S_NOTE, note, 4)
        tables = {
            HASH: self._add(code, ".hash", S_HASH, self._hash_table(), link=".dynsym", entry_size=4),
            SYMTAB: self._add(
                code, ".dynsym", S_DYNSYM, bytes(symbols), link=".dynstr", info=1, entry_size=SYMBOL.size
            ),
            STRTAB: self._add(code, ".dynstr", S_STRTAB, names, 1),
            RELA: self._add(
                code, ".rela.dyn", S_RELA, bytes(relocations), link=".dynsym", entry_size=RELOCATION_ENTRY.size
            ),
        }
        self._place_where(code, ".rodata", 2, lambda flags: not flags & (EXECUTE | WRITE))
        code.add(b"", self.machine.page)
        text = code.end
        self._place_where(code, ".text", 2 | EXECUTE, lambda flags: bool(flags & EXECUTE))
        self._add_stubs(code)
        data = Image(code.end + self.machine.page)
        dynamic = self._add(data, ".dynamic", S_DYNAMIC, self._dynamic_section(tables, names), 16, 3, ".dynstr", 0, 16)
        self._add_pointers(data)
        self._place_where(data, RELRO_SECTIONS, 3, lambda flags: bool(flags & WRITE), only=RELRO_SECTIONS)
        relro = data.end + -data.end % self.machine.page
        if self._has_data():
            data.add(b"", self.machine.page)
            self._place_where(data, ".data", 3, lambda flags: bool(flags & WRITE))
        zeros = max(relro, data.end)  # what the loader makes readable ends with a page: of zeros, if no data follow
        end = self._place_zeros(zeros)
        self.parts.append(_FilePart(".bss", NOBITS, 3, zeros, end, 64))
        self._relocate(code, data)
        self._relocate_threads(code)
        self._fill_stubs(code)
        self.defined_section = 1 + next(number for number, part in enumerate(self.parts) if part.name == ".text")
        code.put(tables[SYMTAB], self._symbol_table(names))
        entries = (RELOCATION_ENTRY.pack(*entry) for entry in self.dynamic_relocations)
        code.put(tables[RELA], b"".join(entries))
        size, shift = len(code.data), data.address - len(code.data)
        protected = min(relro - data.address, len(data.data))
        programs = [
            (LOAD, READ, 0, 0, 0, text, text, self.machine.page),
            (LOAD, READ_EXECUTE, text, text, text, size - text, size - text, self.machine.page),
            (LOAD, READ_WRITE, size, data.address, data.address, len(data.data), end - data.address, self.machine.page),
            (DYNAMIC, READ_WRITE, dynamic - shift, dynamic, dynamic, *[self._size_of(".dynamic")] * 2, 8),
            (NOTE, READ, note_at, note_at, note_at, len(note), len(note), 4),
            (THREADS, READ, dynamic - shift, dynamic, dynamic, 0, self.thread_bytes, self.thread_align),
            (RELRO, READ, size, data.address, data.address, protected, relro - data.address, 1),
            (STACK, READ_WRITE, 0, 0, 0, 0, 0, 16),
        ]
        return self._file(code, data, programs)

    # ---- places

    def _add(
        self, image: Image, name: str, kind: int, data: bytes, align: int = 8, flags: int = 2, link: str = "",
        info: int = 0, entry_size: int = 0,
    ) -> int:  # fmt: skip
        begin = image.add(data, align)
        self.parts.append(_FilePart(name, kind, flags, begin, image.end, align, link, info, entry_size))
        return begin

    def _size_of(self, name: str) -> int:
        return next(part.end - part.begin for part in self.parts if part.name == name)

    def _place_where(self, image: Image, name: str, flags: int, fits: object, only: str = "") -> None:
        """Place all sections with bytes whose flags fit, and that have no place yet, as one part."""
        assert callable(fits)
        align = 64
        begin = image.add(b"", align)
        for index, section in self.loaded_sections.items():
            if section.kind == PROGBITS and index not in self.address and fits(section.flags):
                if section.name.startswith(only):
                    self.address[index] = image.add(section.data, section.align)
        self.parts.append(_FilePart(name, PROGBITS, flags, begin, image.end, align))

    def _has_data(self) -> bool:
        writable = (section for section in self.loaded_sections.values() if section.flags & WRITE)
        return any(one.kind == PROGBITS and one.size and not one.name.startswith(RELRO_SECTIONS) for one in writable)

    def _add_stubs(self, code: Image) -> None:
        begin = code.add(b"", 16)
        for symbol in self.imported:
            self.stub[symbol] = code.add(self.machine.empty_stub)
        self.parts.append(_FilePart(".plt", PROGBITS, 2 | EXECUTE, begin, code.end, 16))

    def _add_pointers(self, data: Image) -> None:
        begin = data.add(b"")
        for symbol in self.through_table:
            self.pointer[symbol] = data.add(bytes(8))
        for offset in self.pairs:
            self.pairs[offset] = data.add(bytes(16))
        self.parts.append(_FilePart(".got", PROGBITS, 3, begin, data.end))

    # ---- relocations

    def _count_dynamic(self) -> int:
        return super()._count_dynamic() + len(self.pairs)

    def _relocate(self, code: Image, data: Image) -> None:
        fixed = {index for index, section in self.loaded_sections.items() if not section.flags & WRITE}
        if any(item.kind == self.machine.address and item.section in fixed for item in self.source.relocations):
            raise BuildError("link: an address in constants, which processes share; no kernel of ours has one")
        super()._relocate(code, data)
        kind = self.machine.thread_pair
        self.dynamic_relocations += [(at, kind, offset) for offset, at in self.pairs.items()]

    def _target(self, kind: int, number: int) -> int:
        if kind in self.machine.through_pair:
            return self.pairs[self._pair_offset(number)]
        return super()._target(kind, number)

    def _pair_offset(self, number: int) -> int:
        """Offset of a variable of threads, 0 where all are found by one pair of pointers."""
        symbol = self.source.symbols[number]
        return self.thread_offset[symbol.section] + symbol.value if self.machine.pair_for_each else 0

    def _relocate_threads(self, code: Image) -> None:
        for item in self.offsets_of_threads:
            if item.section in self.address:
                symbol = self.source.symbols[item.symbol]
                value = self.thread_offset[symbol.section] + symbol.value + item.addend
                code.put_number(self.address[item.section] + item.offset, value, 4)

    # ---- tables

    def _names(self) -> bytes:
        return super()._names() + self.soname.encode() + b"\0"

    def _dynamic_section(self, tables: dict[int, int], names: bytes) -> bytes:
        soname = names.index(b"\0" + self.soname.encode() + b"\0") + 1
        own = struct.pack("<4Q", SONAME, soname, FLAGS, BIND_NOW)
        return own + super()._dynamic_section(tables, names)

    def _file(self, code: Image, data: Image, programs: list[tuple[int, ...]]) -> bytes:
        """The header, both images, the names of the sections and their table."""
        shift = data.address - len(code.data)
        names = b"\0" + b"".join(part.name.encode() + b"\0" for part in self.parts) + b".shstrtab\0"
        begin = len(code.data) + len(data.data)
        table = begin + len(names) + -(begin + len(names)) % 8
        order = {part.name: number for number, part in enumerate(self.parts, 1)}
        entries = [bytes(SECTION.size), *self._section_entries(names, order, data.address, shift)]
        last = SECTION.pack(names.index(b".shstrtab"), S_STRTAB, 0, 0, begin, len(names), 0, 0, 1, 0)
        magic = b"\x7fELF\x02\x01\x01" + bytes(9)
        counts = HEADER.size, PROGRAM.size, len(programs), SECTION.size, len(entries) + 1, len(entries)
        header = HEADER.pack(magic, SHARED, self.machine.number, 1, 0, HEADER.size, table, 0, *counts)
        assert len(programs) == PROGRAMS
        code.put(0, header + b"".join(PROGRAM.pack(*program) for program in programs))
        head = bytes(code.data + data.data) + names
        return head + bytes(table - len(head)) + b"".join([*entries, last])

    def _section_entries(self, names: bytes, order: dict[str, int], data: int, shift: int) -> Iterator[bytes]:
        for part in self.parts:
            at = names.index(b"\0" + part.name.encode() + b"\0") + 1
            place = part.begin - (shift if part.begin >= data else 0)
            yield SECTION.pack(
                at, part.kind, part.flags, part.begin, place, part.end - part.begin, order.get(part.link, 0), part.info,
                part.align, part.entry_size,
            )  # fmt: skip
