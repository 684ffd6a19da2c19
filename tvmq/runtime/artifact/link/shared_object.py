"""Linking of the compiler's object file to a shared library, without a linker, for Linux on x86-64.

A saved model that holds a shared library loads in a millisecond; bitcode has to go through LLVM first, which
takes about 30 us for each instruction. TVM kernels ask little of a linker: code and constants that know each
other by relative addresses, a few pointers that the runtime fills in, functions of the C library. The result:

    readable, executable    headers, hash table, symbols, dynamic relocations, code, constants, stubs
    readable, writable      pointers (the global offset table), dynamic section, data, zeros

Symbols of the object itself are bound to it. Debug information and unwind tables are left out.
"""

from __future__ import annotations

import struct

from tvmq.errors import BuildError
from tvmq.runtime.artifact.link.aarch64 import MACHINES
from tvmq.runtime.artifact.link.elf_object import (
    ABSOLUTE,
    ALLOC,
    COMMON,
    HEADER,
    LOCAL,
    NOBITS,
    PROGBITS,
    RELOCATION,
    SYMBOL,
    UNDEFINED,
    WRITE,
    ObjectFile,
    Symbol,
    read_object,
)
from tvmq.runtime.artifact.link.link_target import Image

SHARED = 3
PROGRAM = struct.Struct("<IIQQQQQQ")
LOAD, DYNAMIC, STACK = 1, 2, 0x6474E551
READ_EXECUTE, READ_WRITE = 5, 6
# dynamic tags
NEEDED, HASH, STRTAB, SYMTAB, RELA, RELASZ, RELAENT, STRSZ, SYMENT = 1, 4, 5, 6, 7, 8, 9, 10, 11
LIBRARIES = ("libm.so.6", "libc.so.6")


def link_shared(data: bytes) -> bytes:
    """A shared library with the code of an object file.

    data     relocatable ELF file for x86-64, position independent
    raises   BuildError for other files and for relocations that TVM's code does not have
    """
    return link_objects(read_object(data))


def link_objects(source: ObjectFile) -> bytes:
    """Link an object file that was read, or several that were merged (artifact/link/elf_object.py)."""
    return Linker(source).link()


class Linker:
    """Linker of an object file. Addresses count from 0; the loader adds where it puts the library.

    needed           libraries that the loader opens with it
    defined_section  that defined symbols name; the loader asks only whether there is one
    """

    needed: tuple[str, ...] = LIBRARIES
    defined_section = 1

    def __init__(self, source: ObjectFile) -> None:
        self.source, self.machine = source, MACHINES[source.machine]
        self.loaded_sections = {
            index: section
            for index, section in enumerate(source.sections)
            if section.flags & ALLOC and section.kind in (PROGBITS, NOBITS) and section.name != ".eh_frame"
        }
        self.exported = [s for s in source.symbols if s.bind != LOCAL and s.section in (*self.loaded_sections, COMMON)]
        used = sorted({r.symbol for r in source.relocations if r.section in self.loaded_sections})
        self.imported = [i for i in used if source.symbols[i].section == UNDEFINED and source.symbols[i].name]
        self.through_table = [i for i in used if self._needs_pointer(i)]
        self.address: dict[int, int] = {}  # of sections
        self.common: dict[str, int] = {}
        self.pointer: dict[int, int] = {}  # of entries of the offset table, by symbol
        self.stub: dict[int, int] = {}
        self.dynamic_relocations: list[tuple[int, int, int]] = []

    def _needs_pointer(self, symbol: int) -> bool:
        kinds = {r.kind for r in self.source.relocations if r.symbol == symbol and r.section in self.loaded_sections}
        return symbol in self.imported or bool(kinds & set(self.machine.through_table))

    def link(self) -> bytes:
        """Bytes of the linked file."""
        names = self._names()
        symbol_count = 1 + len(self.imported) + len(self.exported)
        code = Image(0, bytearray(HEADER.size + 4 * PROGRAM.size))
        tables = {
            HASH: code.add(self._hash_table()),
            SYMTAB: code.add(bytes(symbol_count * SYMBOL.size)),
            STRTAB: code.add(names),
            RELA: code.add(bytes(self._count_dynamic() * RELOCATION.size)),
        }
        self._place(code, writable=False)
        for symbol in self.imported:
            self.stub[symbol] = code.add(self.machine.empty_stub)
        # the next page of memory; the file goes on without a gap
        data = Image(code.end + self.machine.page)
        for symbol in self.through_table:
            self.pointer[symbol] = data.add(bytes(8))
        dynamic = data.add(self._dynamic_section(tables, names))
        self._place(data, writable=True)
        memory_end = self._place_zeros(data.end)
        self._relocate(code, data)
        self._fill_stubs(code)
        code.put(tables[SYMTAB], self._symbol_table(names))
        code.put(
            tables[RELA], b"".join(RELOCATION.pack(at, info, addend) for at, info, addend in self.dynamic_relocations)
        )
        code.put(0, self._headers(code, data, memory_end, dynamic))
        return bytes(code.data + data.data)

    # ---- places

    def _place(self, image: Image, writable: bool) -> None:
        for index, section in self.loaded_sections.items():
            if section.kind == PROGBITS and bool(section.flags & WRITE) == writable:
                self.address[index] = image.add(section.data, section.align)

    def _place_zeros(self, end: int) -> int:
        """Addresses of what begins as zeros; returns the end of memory."""
        for index, section in self.loaded_sections.items():
            if section.kind == NOBITS:
                end += -end % section.align
                self.address[index] = end
                end += section.size
        for symbol in self.source.symbols:
            if symbol.section == COMMON:
                end += -end % max(symbol.value, 1)  # a common symbol's value is its alignment
                self.common[symbol.name] = end
                end += symbol.size
        return end

    def _address_of(self, symbol: Symbol) -> int:
        if symbol.section == COMMON:
            return self.common[symbol.name]
        if symbol.section not in self.address:
            raise BuildError(f"link: symbol '{symbol.name}' lies in a section that is not loaded; save as bitcode")
        return self.address[symbol.section] + symbol.value

    # ---- relocations

    def _count_dynamic(self) -> int:
        absolute = sum(
            r.kind == self.machine.address and r.section in self.loaded_sections for r in self.source.relocations
        )
        return len(self.through_table) + absolute

    def _relocate(self, code: Image, data: Image) -> None:
        for symbol, at in self.pointer.items():
            self._bind(at, symbol, data)
        for relocation in self.source.relocations:
            if relocation.section not in self.loaded_sections:
                continue
            section = self.loaded_sections[relocation.section]
            at = self.address[relocation.section] + relocation.offset
            image = data if section.flags & WRITE else code
            if relocation.kind == self.machine.address:
                self._bind(at, relocation.symbol, image, relocation.addend)
                continue
            target = self._target(relocation.kind, relocation.symbol) + relocation.addend
            self.machine.relocate(image, at, relocation.kind, target)

    def _target(self, kind: int, number: int) -> int:
        """Address that a relative relocation means."""
        if kind in self.machine.through_table:
            return self.pointer[number]
        if not self.machine.knows(kind) or kind in self.machine.through_pair:
            raise BuildError(f"link: relocation of kind {kind} is not known; save as bitcode")
        return self.stub[number] if number in self.stub else self._address_of(self.source.symbols[number])

    def _bind(self, at: int, number: int, image: Image, addend: int = 0) -> None:
        """Have the loader write the address of a symbol."""
        symbol = self.source.symbols[number]
        if number in self.imported:
            self.dynamic_relocations.append(
                (at, (1 + self.imported.index(number)) << 32 | self.machine.glob_dat, addend)
            )
            return
        value = addend + (symbol.value if symbol.section == ABSOLUTE else self._address_of(symbol))
        image.put(at, value.to_bytes(8, "little"))
        self.dynamic_relocations.append((at, self.machine.relative, value))

    def _fill_stubs(self, code: Image) -> None:
        for symbol, at in self.stub.items():
            self.machine.fill_stub(code, at, self.pointer[symbol])

    # ---- tables

    def _dynamic_symbols(self) -> list[Symbol]:
        return [self.source.symbols[i] for i in self.imported] + self.exported

    def _names(self) -> bytes:
        return b"\0" + b"".join(
            name.encode() + b"\0" for name in (*self.needed, *(symbol.name for symbol in self._dynamic_symbols()))
        )

    def _symbol_table(self, names: bytes) -> bytes:
        entries = [bytes(SYMBOL.size)]
        for symbol in self._dynamic_symbols():
            at = names.index(b"\0" + symbol.name.encode() + b"\0") + 1
            info = symbol.bind << 4 | symbol.kind
            if symbol.section == UNDEFINED:
                entries.append(SYMBOL.pack(at, info, 0, UNDEFINED, 0, 0))
            else:
                entries.append(SYMBOL.pack(at, info, 0, self.defined_section, self._address_of(symbol), symbol.size))
        return b"".join(entries)

    def _hash_table(self) -> bytes:
        """The System V hash table: one chain of symbols for each bucket."""
        symbols = self._dynamic_symbols()
        count = len(symbols) + 1
        buckets, chain = [0] * count, [0] * count
        for number, symbol in enumerate(symbols, 1):
            bucket = _hash(symbol.name) % count
            chain[number], buckets[bucket] = buckets[bucket], number
        return struct.pack(f"<{2 + 2 * count}I", count, count, *buckets, *chain)

    def _dynamic_section(self, tables: dict[int, int], names: bytes) -> bytes:
        entries = [(NEEDED, names.index(library.encode())) for library in self.needed]
        entries += tables.items()
        entries += [(RELASZ, self._count_dynamic() * RELOCATION.size), (RELAENT, RELOCATION.size)]
        entries += [(STRSZ, len(names)), (SYMENT, SYMBOL.size), (0, 0)]
        return b"".join(struct.pack("<QQ", tag, value) for tag, value in entries)

    def _headers(self, code: Image, data: Image, memory_end: int, dynamic: int) -> bytes:
        offset, size = len(code.data), len(data.data)
        place = offset + dynamic - data.address
        dynamic_size = len(self._dynamic_section({HASH: 0, SYMTAB: 0, STRTAB: 0, RELA: 0}, self._names()))
        programs = [
            (LOAD, READ_EXECUTE, 0, 0, 0, offset, offset, self.machine.page),
            (LOAD, READ_WRITE, offset, data.address, data.address, size, memory_end - data.address, self.machine.page),
            (DYNAMIC, READ_WRITE, place, dynamic, dynamic, dynamic_size, dynamic_size, 8),
            (STACK, READ_WRITE, 0, 0, 0, 0, 0, 16),
        ]
        magic = b"\x7fELF\x02\x01\x01" + bytes(9)
        fields = (
            SHARED,
            self.machine.number,
            1,
            0,
            HEADER.size,
            0,
            0,
            HEADER.size,
            PROGRAM.size,
            len(programs),
            0,
            0,
            0,
        )
        return HEADER.pack(magic, *fields) + b"".join(PROGRAM.pack(*program) for program in programs)


def _hash(name: str) -> int:
    """The hash function of System V."""
    value = 0
    for letter in name.encode():
        value = (value << 4) + letter
        value = (value ^ (value & 0xF0000000) >> 24) & 0x0FFFFFFF
    return value
