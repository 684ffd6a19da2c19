"""Facts that a C library tells where no .json lies beside it: its name is in the file, the rest is what functions say.

Names of functions begin with the model's, which the library holds as its SONAME, libNAME.so, whatever the file is
called. Scales of one a channel are in the .json alone.

Tests: tests/library/test_load_by_path.py
"""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

from tvmq.runtime.c_structures import ModelDescription, SizeDescription, TensorDescription

# Of ELF files of 64 bits, little-endian
HEADER = struct.Struct("<4sBB26xQ14xHH")  # magic, class, byte order; place, size and number of the program headers
PROGRAM = struct.Struct("<IIQQQQQQ")  # type, flags, place, address, another one, bytes in file and memory, align
ENTRY = struct.Struct("<qQ")  # of the dynamic section: tag, value
LOAD, DYNAMIC, STRTAB, SONAME = 1, 2, 5, 14
MOST_BYTES = 2**16  # of any part that is read here
NAME = re.compile(rb"lib([a-z][a-z0-9_]*)\.so\0")


def read_name(file: BinaryIO) -> str | None:
    """Name of the model in a library; None where the file is none."""
    magic, bits, order, place, size, count = _read(file, HEADER, 0)
    if (magic, bits, order, size) != (b"\x7fELF", 2, 1, PROGRAM.size):
        return None
    programs = [_read(file, PROGRAM, place + number * size) for number in range(count)]
    dynamic = next((one for one in programs if one[0] == DYNAMIC), None)
    if dynamic is None:
        return None
    listed = _read_bytes(file, dynamic[2], min(dynamic[5], MOST_BYTES))
    entries = dict(ENTRY.iter_unpack(listed[: len(listed) // ENTRY.size * ENTRY.size]))
    address = entries.get(STRTAB, 0) + entries.get(SONAME, 0)
    for kind, _, begin, start, _, held, _, _ in programs:
        if kind == LOAD and start <= address < start + held and SONAME in entries:
            text = NAME.match(_read_bytes(file, begin + address - start, 256))
            return text and text[1].decode()
    return None


def _read(file: BinaryIO, form: struct.Struct, place: int) -> tuple[Any, ...]:
    """The numbers of a structure; zeros behind the end of the file."""
    return form.unpack(_read_bytes(file, place, form.size).ljust(form.size, b"\0"))


def _read_bytes(file: BinaryIO, place: int, count: int) -> bytes:
    try:
        file.seek(place)
    except (OSError, OverflowError, ValueError):  # no place that a file can have
        return b""
    return file.read(count)


def describe_library(functions: Any, described: ModelDescription) -> dict[str, Any]:
    """The facts that a .json would have, of the functions of a library."""
    sizes = [SizeDescription() for _ in range(described.sizes)]
    for number, size in enumerate(sizes):
        functions.dimension(number, ctypes.byref(size))
    return {
        "name": described.name.decode(),
        "code_hash": described.code_hash.decode(),
        "targets": [{"name": name, "needs": []} for name in described.codes.decode().split()],
        "limits": {size.name.decode(): _describe_limit(size) for size in sizes},
        "inputs": [_describe_tensor(functions.input, number, sizes) for number in range(described.inputs)],
        "outputs": [_describe_tensor(functions.output, number, sizes) for number in range(described.outputs)],
    }


def _describe_limit(size: SizeDescription) -> dict[str, Any]:
    return {"least": size.least, "most": size.most, "why": "", "multiple": size.multiple}


def _describe_tensor(function: Any, number: int, sizes: Sequence[SizeDescription]) -> Mapping[str, Any]:
    tensor = _call(function, number, None)
    name = tensor.name.decode()
    codes = {"scale": tensor.scale, "zero_point": tensor.zero_point} if tensor.scale else {}
    shape = [size if size >= 0 else f"{name}_{axis}" for axis, size in enumerate(tensor.shape[: tensor.rank])]
    # a dimension's axis is where its size stands: two sizes of it tell
    least = [size.least for size in sizes]
    for place, size in enumerate(sizes):
        few, more = list(least), list(least)
        more[place] = min(size.least + size.multiple, size.most)
        pairs = zip(_call(function, number, few).shape, _call(function, number, more).shape, strict=True)
        for axis, pair in enumerate(list(pairs)[: tensor.rank]):
            if isinstance(shape[axis], str) and pair == (few[place], more[place]):
                shape[axis] = size.name.decode()
    return {"name": name, "shape": shape, "dtype": tensor.type.decode(), **codes}


def _call(function: Any, number: int, sizes: Sequence[int] | None) -> TensorDescription:
    tensor = TensorDescription()
    function(number, sizes and (ctypes.c_int64 * len(sizes))(*sizes), ctypes.byref(tensor))
    return tensor
