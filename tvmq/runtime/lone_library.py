"""Facts that a C library tells where no .json lies beside it: its name is in the file, the rest is what functions say.

Names of functions begin with the model's, which the library holds as its SONAME, libNAME.so, whatever the file is
called. Scales of one a channel are in the .json alone.

Tests: tests/library/test_load_by_path.py
"""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Mapping
from typing import Any, BinaryIO

from tvmq.errors import ArtifactError
from tvmq.runtime.c_structures import ModelDescription, TensorDescription

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
    """The facts that a .json would have.

    functions   of the library
    raises      ArtifactError for a library of dynamic sizes, whose names its .json has
    """
    if described.sizes:
        raise ArtifactError(
            f"load: '{functions.path}' has dynamic sizes, whose names are in its .json; keep both files together"
        )
    return {
        "name": described.name.decode(),
        "code_hash": described.code_hash.decode(),
        "targets": [{"name": name, "needs": []} for name in described.codes.decode().split()],
        "inputs": [_describe_tensor(functions.input, number) for number in range(described.inputs)],
        "outputs": [_describe_tensor(functions.output, number) for number in range(described.outputs)],
    }


def _describe_tensor(function: Any, number: int) -> Mapping[str, Any]:
    tensor = TensorDescription()
    function(number, None, ctypes.byref(tensor))
    codes = {"scale": tensor.scale, "zero_point": tensor.zero_point} if tensor.scale else {}
    shape = list(tensor.shape[: tensor.rank])
    return {"name": tensor.name.decode(), "shape": shape, "dtype": tensor.type.decode(), **codes}
