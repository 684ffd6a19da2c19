"""Bytecode of the virtual machine read piece by piece, its constants straight into the memory where they stay.

TVM's own reader takes all bytes at once and holds the constants three times while it reads. What TVM writes, integers
of 8 bytes unless said otherwise, texts and lists behind their length:

    header       mark, version of the bytecode as text
    functions    each: kind (4 bytes), name, first instruction, end, number of inputs, registers, names of the inputs
    scopes       each: number of a constant, where in a device its memory lies; empty for CPUs
    constants    each: type (4 bytes), value; a tensor as HEAD says
    instructions where each begins in the words behind, and these words

For the runtime library it is written again without the weights (weightless.py); for the compiler, which profiles for
instance, it is built again by the calls with which the compiler built it, so that TVM knows no difference. What this
file does not know, a version of another TVM for instance, is left to TVM's reader.
"""

from __future__ import annotations

import ctypes
import io
import math
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import tvm_ffi

from tvmq.base.text import last_line
from tvmq.base.tvm_internals import (
    BYTECODE_FUNCTION,
    BYTECODE_MARK,
    BYTECODE_VERSION,
    CALL,
    CONSTANT,
    CPU,
    DATA_TYPE_CONSTANT,
    DTYPE,
    GOTO,
    INSTRUCTION_WORDS,
    MOST_AXES,
    PACKED_FUNCTION,
    RETURN,
    SHAPE_CONSTANT,
    TENSOR_CONSTANT,
    TENSOR_HEAD,
    TENSOR_MARK,
    TEXT_CONSTANT,
    TYPE_CODES,
)
from tvmq.base.tvm_runtime import allocate_tensor
from tvmq.errors import ArtifactError, TvmqError
from tvmq.runtime.artifact.saved_file import Readable

if TYPE_CHECKING:
    import tvm
    from tvm import relax

WORD, SHORT, PLACES = struct.Struct("<q"), struct.Struct("<i"), struct.Struct("<4q")
WORDS = [struct.Struct(f"<{count}q") for count in range(MOST_AXES + 2)]
MARK = int.from_bytes(TENSOR_MARK, "little")
AHEAD = 2**12  # bytes of what is no weight that are read at once
LARGE = 2**22  # bytes of a file whose constants lie in large pages


class UnknownBytecode(Exception):
    """Bytecode that this file does not read."""


class Damage(UnknownBytecode):
    """Bytecode that nobody can read: its lengths are not those of what is there."""


@dataclass(frozen=True)
class BytecodeFunction:
    """An entry of the table of functions; `begin` to `end` are its instructions where it is bytecode."""

    kind: int
    name: str
    begin: int
    end: int
    inputs: list[str]
    registers: int


@dataclass(frozen=True)
class Bytecode:
    """Bytecode that was read; it may be damaged, so nothing is made of the instructions before the hash was compared.

    constants   tensors in the memory where they stay, shapes, texts and types
    """

    functions: list[BytecodeFunction]
    constants: list[Any]
    instructions: list[list[int]]

    def module(self) -> tvm.runtime.Module:
        """The executable as a module of TVM, by the compiler's library; it shares the tensors."""
        from tvm import relax

        builder = relax.ExecBuilder()
        for function in self.functions:
            builder.declare_function(function.name, function.kind)
        for number, constant in enumerate(self.constants):
            if builder.convert_constant(constant) != CONSTANT | number:
                raise UnknownBytecode("a constant that is there twice")
        for function in self.functions:
            if function.kind == BYTECODE_FUNCTION:
                with builder.function(function.name, len(function.inputs), function.inputs):
                    for words in self.instructions[function.begin : function.end]:
                        self._emit(builder, words)
        return builder.get().mod

    def _emit(self, builder: relax.ExecBuilder, words: list[int]) -> None:
        code, *rest = words
        if code == CALL:
            result, function, _count, *args = rest
            builder.emit_call(self.functions[function].name, args, result)
        elif code == RETURN:
            builder.emit_ret(*rest)
        elif code == GOTO:
            builder.emit_goto(*rest)
        else:
            builder.emit_if(*rest)


def read_bytecode(file: Readable, size: int) -> Bytecode | None:
    """Bytecode from a file of that many bytes, which need not be trusted; None if it has a form that is not known."""
    try:
        return _Reader(file, size).bytecode()
    except TvmqError:  # the file was changed
        raise
    except (UnknownBytecode, ArithmeticError, ValueError, RuntimeError):  # also invalid texts, sizes that TVM refuses
        return None


def check_lengths(data: bytes) -> None:
    """Nothing for bytecode of a form that only TVM reads, which trusts the lengths in it.

    raises   ArtifactError for what is damaged
    """
    try:
        _Reader(io.BytesIO(data), len(data)).bytecode()
    except UnknownBytecode as error:
        if not isinstance(error, Damage):
            return
        raise ArtifactError(f"load: the code is damaged ({error}); save the model again") from error
    except (ArithmeticError, ValueError, RuntimeError) as error:
        raise ArtifactError(f"load: the code is damaged ({last_line(error)}); save the model again") from error


class _Reader:
    """Reads forward; `left` bytes bound what is allocated. `ahead` are read already: most of what is read is a word."""

    def __init__(self, file: Readable, size: int) -> None:
        self.file, self.bytes_left = file, size
        self.ahead, self.at = b"", 0
        self.allocate = allocate_tensor
        if size >= LARGE:
            from tvmq.runtime.artifact.weight_memory import WeightMemory

            self.allocate = WeightMemory(size).allocate

    def bytecode(self) -> Bytecode:
        if self.take(len(BYTECODE_MARK)) != BYTECODE_MARK or self.text() != BYTECODE_VERSION:
            raise UnknownBytecode("another version")
        functions = [self.function() for _ in range(self.count())]
        scopes = [(self.word(), self.text()) for _ in range(self.count())]
        if any(scope for _, scope in scopes) or any(
            f.kind not in (PACKED_FUNCTION, BYTECODE_FUNCTION) for f in functions
        ):
            raise UnknownBytecode("functions or memory of another kind")
        constants = [self.constant() for _ in range(self.count())]
        return Bytecode(functions, constants, self.instructions(len(functions)))

    def instructions(self, functions: int) -> list[list[int]]:
        """Lists of words, each with as many as it should have."""
        begins, words = self.words(), self.words()
        instructions = [words[i:j] for i, j in zip(begins, [*begins[1:], len(words)], strict=True)]
        for code, *rest in instructions:
            right = len(rest) == (3 + rest[2] if code == CALL and len(rest) > 2 else INSTRUCTION_WORDS.get(code, -1))
            if not right or (code == CALL and not 0 <= rest[1] < functions):
                raise Damage(f"instruction {code} of {len(rest)} words")
        if self.bytes_left:
            raise Damage("something behind the instructions")
        return instructions

    def take(self, count: int) -> bytes:
        """The next bytes."""
        at = self._need(count)
        return self.ahead[at : at + count]

    def unpack(self, form: struct.Struct) -> tuple[Any, ...]:
        """The next numbers."""
        at = self._need(form.size)
        return form.unpack_from(self.ahead, at)

    def _need(self, count: int) -> int:
        """Take the next bytes: their place in `ahead`."""
        if not 0 <= count <= self.bytes_left:
            raise Damage(f"{count} bytes that are not there")
        there = len(self.ahead) - self.at
        if there < count:
            more = self.file.read(min(max(count - there, AHEAD), self.bytes_left - there))
            self.ahead, self.at = self.ahead[self.at :] + more, 0
            if len(self.ahead) < count:
                raise Damage(f"{count} bytes that are not there")
        self.bytes_left -= count
        self.at += count
        return self.at - count

    def fill(self, buffer: memoryview) -> None:
        """The next bytes into a buffer."""
        there = self.ahead[self.at : self.at + len(buffer)]
        self.at += len(there)
        buffer[: len(there)] = there
        if len(there) < len(buffer) and self.file.readinto(buffer[len(there) :]) != len(buffer) - len(there):
            raise Damage(f"{len(buffer)} bytes that are not there")
        self.bytes_left -= len(buffer)

    def word(self) -> int:
        return int(self.unpack(WORD)[0])

    def count(self) -> int:
        """Length of a list, of which every entry has some bytes."""
        length = self.word()
        if not 0 <= length <= self.bytes_left:
            raise Damage(f"a list of {length}")
        return length

    def words(self) -> list[int]:
        return np.frombuffer(self.take(WORD.size * self.count()), "<i8").tolist()

    def short_number(self) -> int:
        return int(self.unpack(SHORT)[0])

    def text(self) -> str:
        return self.take(self.word()).decode()

    def function(self) -> BytecodeFunction:
        kind, name, (begin, end, inputs, registers) = self.short_number(), self.text(), self.unpack(PLACES)
        names = [self.text() for _ in range(self.count())]
        if kind == BYTECODE_FUNCTION and inputs != len(names):
            raise Damage(f"{inputs} inputs with {len(names)} names")
        return BytecodeFunction(kind, name, begin, end, names, registers)

    def constant(self) -> Any:
        kind = self.short_number()
        if kind == TENSOR_CONSTANT:
            return self.tensor()
        if kind == SHAPE_CONSTANT:
            return tvm_ffi.Shape(self.words())
        if kind == TEXT_CONSTANT:
            return self.text()
        if kind == DATA_TYPE_CONSTANT:
            return tvm_ffi.dtype(_dtype(*self.unpack(DTYPE)))
        raise UnknownBytecode(f"a constant of type {kind}")

    def tensor(self) -> tvm_ffi.Tensor:
        """A tensor, its bytes read to where it keeps them."""
        mark, _reserved, device, _number, rank, *kind = self.unpack(TENSOR_HEAD)
        if mark != MARK or device != CPU or not 0 <= rank <= MOST_AXES:
            raise UnknownBytecode("a tensor of another form")
        *shape, size = self.unpack(WORDS[rank + 1])
        dtype = _dtype(*kind)
        if min(shape, default=0) < 0 or size != math.prod(shape) * -(-kind[1] // 8) or size > self.bytes_left:
            raise Damage(f"a tensor {shape} of {size} bytes")
        result = self.allocate(shape, dtype)
        if size:
            self.fill(memoryview((ctypes.c_char * size).from_address(result.data_ptr())).cast("B"))
        return result


def _dtype(kind: int, bits: int, lanes: int) -> str:
    """TVM's name of a type.

    >>> _dtype(0, 8, 1), _dtype(6, 8, 1)
    ('int8', 'bool')
    """
    if kind not in TYPE_CODES or lanes != 1 or bits % 8:
        raise UnknownBytecode(f"type {kind} of {bits} bits, {lanes} lanes")
    return "bool" if kind == 6 else f"{TYPE_CODES[kind]}{bits}"
