"""Several object files as one, for the linker: each kernel is compiled by itself.

A name that several files define (pointers that TVM's runtime fills in, helpers for half floats) means the first of
them everywhere; what defines it in the others stays, under no name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tvmq.artifact.link.elf_object import ABSOLUTE, COMMON, LOCAL, UNDEFINED, ObjectFile, Relocation, Symbol
from tvmq.tvm_internals import MAIN_SYMBOL

SPECIAL = (UNDEFINED, ABSOLUTE, COMMON)
# What TVM calls the only function of a file besides its own name; a module of several has no such function.


def merge_objects(objects: Sequence[ObjectFile]) -> ObjectFile:
    """One object file with the sections of all, in order."""
    sections = tuple(section for source in objects for section in source.sections)
    symbols = list(_shifted_symbols(objects))
    known = _meanings(symbols)
    meaning = [known.get(symbol.name, index) if symbol.bind != LOCAL else index for index, symbol in enumerate(symbols)]
    relocations = tuple(replace(item, symbol=meaning[item.symbol]) for item in _shifted_relocations(objects))
    named = [
        symbol if meaning[index] == index and symbol.name != MAIN_SYMBOL else replace(symbol, bind=LOCAL)
        for index, symbol in enumerate(symbols)
    ]
    return ObjectFile(sections, tuple(named), relocations)


def _meanings(symbols: Sequence[Symbol]) -> dict[str, int]:
    """{name that all files know: number of the symbol that it means}."""
    found: dict[str, int] = {}
    for index, symbol in enumerate(symbols):
        if symbol.bind == LOCAL or not symbol.name:
            continue
        first = found.setdefault(symbol.name, index)
        if symbols[first].section == UNDEFINED != symbol.section:
            found[symbol.name] = index
    return found


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
