"""The plan of a library as bytes, in the form that runtime.c reads: one section of constants of an object file.

All places are bytes from the begin of the section, so that nothing in it depends on where the library is loaded.
Constants stand at its end, at multiples of 64 bytes, each once for all codes.

Tests: tests/library/test_call_plan.py
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tvmq.base.tvm_internals import SYMBOL as KERNEL_SYMBOL
from tvmq.errors import BuildError
from tvmq.library.call_plan import CONSTANT, INPUT, NUMBER, OUTPUT, STORAGE, Call, CallPlan, TensorLocation
from tvmq.library.golden_values import MOST_HASHES, GoldenValue
from tvmq.library.interface import Interface
from tvmq.library.size_table import ALIGNMENT, SizeTable
from tvmq.runtime.artifact.link.aarch64 import MACHINES
from tvmq.runtime.artifact.link.elf_object import (
    ALLOC,
    GLOBAL,
    PROGBITS,
    UNDEFINED,
    X86_64,
    ObjectFile,
    Relocation,
    Section,
)
from tvmq.runtime.artifact.link.elf_object import Symbol as ElfSymbol

# The structures of plan.h
VERSION = 3
HEAD = struct.Struct("<20I")
DIMENSION = struct.Struct("<2I2q")
TENSOR = struct.Struct("<6Idq9q")
OPERATION = struct.Struct("<2I3q")
INDICES = struct.Struct("<4I")
PLACE = struct.Struct("<I2H2BHI2q")
CODE = struct.Struct("<8I3q4I")
GOLDEN = struct.Struct("<4I2Q")
CALL, COPY = 0, 1
IN_PLAN, IN_STORAGE, A_NUMBER, IN_TENSORS = 0, 1, 2, 3
MOST_RANK = 8
TYPE_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}  # of DLPack, by NumPy's kinds
PLAN_SYMBOL = "model_plan"
OBJECT = 1  # kind of a symbol


@dataclass(frozen=True)
class CodePlan:
    """Code for one instruction set.

    name     as users name the target
    needs    words that tell the runtime which CPUs can run it (processors.py)
    plan     its steps
    symbols  {kernel: its symbol}
    golden   what its layers give in a self-test
    """

    name: str
    needs: Sequence[int]
    plan: CallPlan
    symbols: Mapping[str, str]
    golden: Sequence[GoldenValue] = ()


@dataclass
class _Writer:
    """Bytes that grow, of which texts and lists of numbers are kept once."""

    data: bytearray = field(default_factory=bytearray)
    known: dict[bytes, int] = field(default_factory=dict)
    relocations: list[tuple[int, str]] = field(default_factory=list)  # (place, symbol)

    def add(self, data: bytes, align: int = 8) -> int:
        self.data += bytes(-len(self.data) % align)
        place = len(self.data)
        self.data += data
        return place

    def share(self, data: bytes, align: int = 8) -> int:
        """TensorLocation of equal bytes, new ones if there are none at such a place."""
        if self.known.get(data, 1) % align:
            self.known[data] = self.add(data, align)
        return self.known[data]

    def text(self, text: str) -> int:
        return self.share(text.encode() + b"\0")


def plan_object(interface: Interface, codes: Sequence[CodePlan], machine: int = X86_64) -> ObjectFile:
    """An object file, for a machine by its number in ELF, with the plan of all codes, best first."""
    writer = _Writer(bytearray(HEAD.size))
    tensors = _write_tensors(writer, interface)
    tables = [(_order_places(code), code) for code in codes]
    begins_of_places = [writer.add(bytes(len(places) * PLACE.size)) for places, _ in tables]
    entries = [
        _write_code(writer, code, places, at) for (places, code), at in zip(tables, begins_of_places, strict=True)
    ]
    table = writer.add(b"".join(entries))
    names = " ".join(code.name for code in codes)
    texts = [writer.text(text) for text in (interface.name, interface.model_hash, interface.code_hash, names)]
    sizes = _write_sizes(writer, interface)
    for (places, code), at in zip(tables, begins_of_places, strict=True):
        begins = [writer.share(array.tobytes(), ALIGNMENT) for array in code.plan.constants]
        packed = [_pack_place(writer, place, code.plan.sizes, len(interface.inputs), begins) for place in places]
        writer.data[at : at + len(packed) * PLACE.size] = b"".join(packed)
    head = VERSION, table, len(codes), *tensors, len(interface.dimensions), *texts, *sizes
    writer.data[: HEAD.size] = HEAD.pack(*head)
    return _object(writer, machine)


def _write_tensors(writer: _Writer, interface: Interface) -> tuple[int, int, int, int]:
    """Place and count of inputs, of outputs."""
    entries = []
    for tensor, shape, size, axis in zip(
        interface.tensors, interface.shapes, interface.bytes, interface.batch_axes, strict=True
    ):
        dtype = np.dtype(tensor["dtype"])
        if len(shape) > MOST_RANK:
            raise BuildError(
                f"export_library: '{tensor['name']}' has {len(shape)} axes, a library takes tensors of at most "
                f"{MOST_RANK}; reshape it outside of the model"
            )
        scale, zero = _single_number(tensor.get("scale")), _single_number(tensor.get("zero_point"))
        encoding = (0.0, 0) if scale is None else (scale, int(zero or 0))
        texts = writer.text(tensor["name"]), writer.text(str(dtype))
        numbers = [*shape, *[0] * (MOST_RANK - len(shape)), size]
        batch = 0 if axis is None else axis + 1
        entries.append(TENSOR.pack(*texts, len(shape), tensor["alignment"], dtype.itemsize, batch, *encoding, *numbers))
    count = len(interface.inputs)
    inputs, outputs = (writer.add(b"".join(part)) for part in (entries[:count], entries[count:]))
    return inputs, count, outputs, len(interface.outputs)


def _write_sizes(writer: _Writer, interface: Interface) -> tuple[int, ...]:
    """Dimensions, the table, inputs that are indices, sizes of a self-test: the end of the head."""
    dimensions = [
        DIMENSION.pack(writer.text(one.name), one.multiple, one.least, one.most) for one in interface.dimensions
    ]
    uses = [
        INDICES.pack(use.input, len(use.sizes), writer.share(struct.pack(f"<{len(use.sizes)}q", *use.sizes)), 0)
        for use in interface.indices
    ]
    usual = struct.pack(f"<{len(interface.dimensions)}q", *(interface.usual[one.name] for one in interface.dimensions))
    return (
        writer.add(b"".join(dimensions)), 0 if interface.batch is None else interface.batch + 1,
        *_write_operations(writer, interface.sizes), writer.add(b"".join(uses)), len(uses), writer.add(usual), 0,
    )  # fmt: skip


def _write_operations(writer: _Writer, table: SizeTable) -> tuple[int, int]:
    """Place and count of a table's entries."""
    packed = [OPERATION.pack(operation, 0, *operands) for operation, *operands in table.entries]
    return writer.share(b"".join(packed)), len(packed)


def _single_number(value: Any) -> float | None:
    """A number, also of a list of one; None for what is none, and for one a channel, which the JSON file tells."""
    values = np.ravel([] if value is None else value)
    return float(values[0]) if values.size == 1 else None


def _order_places(code: CodePlan) -> list[TensorLocation]:
    """Each place that a step or a golden value names, once."""
    named = (place for step in code.plan.steps for place in step.places)
    return list(dict.fromkeys([*named, *(value.place for value in code.golden)]))


def _write_code(writer: _Writer, code: CodePlan, places: Sequence[TensorLocation], at: int) -> bytes:
    """Steps, kernels and needs; the entry of the table of codes."""
    number = {place: index for index, place in enumerate(places)}
    for place in places:  # in front of the constants, which may be long, and of the table
        _write_shape(writer, place, code.plan.sizes)
        code.plan.sizes.tensor_bytes(place.shape, place.dtype)
    kernels = list(dict.fromkeys(step.kernel for step in code.plan.steps if isinstance(step, Call)))
    words: list[int] = []
    for step in code.plan.steps:
        if isinstance(step, Call):
            words += [CALL, kernels.index(step.kernel), len(step.places), *(number[place] for place in step.places)]
        else:
            words += [COPY, number[step.source], number[step.target]]
    distances = writer.add(bytes(4 * len(kernels)))
    writer.relocations += [(distances + 4 * index, code.symbols[kernel]) for index, kernel in enumerate(kernels)]
    golden = [
        GOLDEN.pack(
            value.steps, number[value.place], writer.text(value.layer), 0,
            *(value.hashes * MOST_HASHES)[:MOST_HASHES],
        )
        for value in code.golden
    ]  # fmt: skip
    most = max((len(step.places) for step in code.plan.steps if isinstance(step, Call)), default=0)
    plan = code.plan
    return CODE.pack(
        writer.text(code.name), writer.share(struct.pack(f"<{len(code.needs)}I", *code.needs)),
        writer.add(struct.pack(f"<{len(words)}I", *words)), len(words), at, distances, most, 0,
        plan.storage_bytes, plan.scratch_bytes, plan.task_scratch_bytes, writer.add(b"".join(golden)), len(golden),
        *_write_operations(writer, plan.sizes),
    )  # fmt: skip


def _write_shape(writer: _Writer, place: TensorLocation, table: SizeTable) -> tuple[bool, int]:
    """True for a dynamic shape; its first entry in the table, or the place of its sizes."""
    if min(place.shape, default=0) < 0:
        return True, table.shape(place.shape)
    return False, writer.share(struct.pack(f"<{len(place.shape)}q", *place.shape))


def _pack_place(
    writer: _Writer, place: TensorLocation, table: SizeTable, inputs: int, constants: Sequence[int]
) -> bytes:
    """The entry of a place; constants: where each begins."""
    memory = {
        CONSTANT: IN_PLAN,
        STORAGE: IN_STORAGE,
        NUMBER: A_NUMBER,
        INPUT: IN_TENSORS + place.number,
        OUTPUT: IN_TENSORS + inputs + place.number,
    }[place.memory]
    offset = place.offset + (constants[place.number] if place.memory == CONSTANT else 0)
    dtype = np.dtype(place.dtype)
    is_dynamic, shape = _write_shape(writer, place, table)
    return PLACE.pack(
        memory, len(place.shape), is_dynamic, TYPE_CODES[dtype.kind], 8 * dtype.itemsize, 1, shape, offset,
        table.tensor_bytes(place.shape, place.dtype),
    )  # fmt: skip


def _object(writer: _Writer, machine: int) -> ObjectFile:
    """The bytes as the only section, behind the empty one, of an object file that knows kernels by their symbols."""
    names = list(dict.fromkeys(symbol for _, symbol in writer.relocations))
    empty = Section("", 0, 0, 0, 1, b"")
    section = Section(".rodata.plan", PROGBITS, ALLOC, len(writer.data), ALIGNMENT, bytes(writer.data))
    plan = ElfSymbol(PLAN_SYMBOL, GLOBAL, OBJECT, 1, 0, len(writer.data))
    kernels = [ElfSymbol(name, GLOBAL, 0, UNDEFINED, 0, 0) for name in names]
    kind = MACHINES[machine].distance
    relocations = [Relocation(1, place, kind, 1 + names.index(symbol), 0) for place, symbol in writer.relocations]
    return ObjectFile((empty, section), (plan, *kernels), tuple(relocations), machine)


def kernel_symbol(kernel: str) -> str:
    """Symbol of a kernel in the object files of the compiler."""
    return KERNEL_SYMBOL + kernel
