"""Bytecode for TVM's reader without the weights, which are bound to the functions afterwards.

TVM's reader takes all bytes at once and copies the constants out of them: a model would be in memory three times while
it is loaded. So functions that use large constants take them as further inputs, and a function beside each, BIND and
its name, gives it with these inputs bound:

    main(x)         call conv(x, constant 3, r1)          main(x, w)        call conv(x, w, r2)
                    return r1                                               return r2
                                                          tvmq_bind_main(w) call make_closure(main, w, r1)
                                                                            return r1

The numbers of registers behind the inputs grow by as many. A call of such a function passes its weights on.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import tvm_ffi

from tvmq.base.tvm_internals import (
    BYTECODE_FUNCTION,
    BYTECODE_MARK,
    BYTECODE_VERSION,
    CALL,
    CONSTANT_KIND,
    CPU,
    DATA_TYPE_CONSTANT,
    DTYPE,
    FIRST_SPECIAL_REGISTER,
    FUNCTION_KIND,
    GOTO,
    IF,
    KIND_SHIFT,
    MAKE_CLOSURE,
    PACKED_FUNCTION,
    REGISTER_KIND,
    RETURN,
    SHAPE_CONSTANT,
    TENSOR_CONSTANT,
    TENSOR_HEAD,
    TENSOR_MARK,
    TEXT_CONSTANT,
)
from tvmq.runtime.artifact.bytecode import Bytecode, BytecodeFunction

BIND = "tvmq_bind_"
LARGE = 2**16  # bytes of a constant that is bound
WORTH = 2**22  # bytes of all of them; a call took 1.7 us more with 32 bound weights (Xeon with AVX512-VNNI)
MASK = (1 << KIND_SHIFT) - 1
MARK = int.from_bytes(TENSOR_MARK, "little")


@dataclass(frozen=True)
class Weightless:
    """Bytecode as TVM reads it, and what is to be bound: {function: its weights}."""

    code: bytes
    weights: dict[str, list[Any]]


def without_weights(code: Bytecode) -> Weightless:
    """Move large constants out of the bytecode, as the head of this file says."""
    large = [number for number, constant in enumerate(code.constants) if byte_size(constant) >= LARGE]
    uses = _uses(code, set(large)) if sum(byte_size(code.constants[n]) for n in large) >= WORTH else None
    if not uses:
        return Weightless(write_bytecode(code), {})
    bound = {number for used in uses.values() for number in used}
    weights = {code.functions[f].name: [code.constants[n] for n in used] for f, used in uses.items()}
    return Weightless(write_bytecode(_rewritten(code, uses), bound), weights)


def byte_size(constant: Any) -> int:
    """Bytes of a tensor; 0 for what is none."""
    if not isinstance(constant, tvm_ffi.Tensor):
        return 0
    count = 1
    for size in constant.shape:
        count *= int(size)
    return count * int(constant.dtype.itemsize)


def kind_of(word: int) -> int:
    """Kind of an argument of an instruction."""
    return (word >> KIND_SHIFT) & 0xFF


def _uses(code: Bytecode, large: set[int]) -> dict[int, list[int]] | None:
    """{number of a function: the large constants that it needs}; None where a function is handed on as a value."""
    own: dict[int, set[int]] = {}
    callees: dict[int, set[int]] = {}
    for number, function in enumerate(code.functions):
        calls = [words for words in _body(code, function) if words[0] == CALL]
        args = [arg for words in calls for arg in words[4:]]
        if any(kind_of(arg) == FUNCTION_KIND for arg in args):
            return None
        own[number] = {arg & MASK for arg in args if kind_of(arg) == CONSTANT_KIND} & large
        callees[number] = {words[2] for words in calls}
    changed = True
    while changed:
        changed = False
        for number, called in callees.items():
            all_of_them = own[number].union(*(own[other] for other in called))
            changed, own[number] = changed or all_of_them != own[number], all_of_them
    return {number: sorted(used) for number, used in own.items() if used}


def _body(code: Bytecode, function: BytecodeFunction) -> list[list[int]]:
    return code.instructions[function.begin : function.end] if function.kind == BYTECODE_FUNCTION else []


def _rewritten(code: Bytecode, uses: dict[int, list[int]]) -> Bytecode:
    """The functions with their weights as further inputs, and those that bind them."""
    functions, instructions = list(code.functions), list(code.instructions)
    for number, used in uses.items():
        function, names = functions[number], [f"weight_{n}" for n in used]
        first = len(function.inputs)
        places = {constant: first + place for place, constant in enumerate(used)}
        for place in range(function.begin, function.end):
            instructions[place] = _instruction(instructions[place], first, places, uses)
        inputs, registers = [*function.inputs, *names], function.registers + len(used)
        functions[number] = replace(function, inputs=inputs, registers=registers)
    maker = len(functions)
    functions.append(BytecodeFunction(PACKED_FUNCTION, MAKE_CLOSURE, 0, 0, [], 0))
    for number, used in uses.items():
        count, begin = len(used), len(instructions)
        args = [FUNCTION_KIND << KIND_SHIFT | number, *range(count)]
        instructions += [[CALL, count, maker, len(args), *args], [RETURN, count]]
        names, name = [f"weight_{n}" for n in used], BIND + functions[number].name
        functions.append(BytecodeFunction(BYTECODE_FUNCTION, name, begin, begin + 2, names, count + 1))
    return Bytecode(functions, code.constants, instructions)


def _instruction(words: list[int], first: int, places: dict[int, int], uses: dict[int, list[int]]) -> list[int]:
    """Instruction with other registers; first: the number of those that stay, places: registers of the constants."""

    def renumber(word: int) -> int:
        kind, number = kind_of(word), word & MASK
        if kind == CONSTANT_KIND:
            return places.get(number, word)
        behind = kind == REGISTER_KIND and first <= word < FIRST_SPECIAL_REGISTER
        return word + len(places) if behind else word

    code, *rest = words
    if code == CALL:
        result, function, _count, *args = rest
        args = [*map(renumber, args), *(places[constant] for constant in uses.get(function, ()))]
        return [CALL, renumber(result), function, len(args), *args]
    if code == RETURN:
        return [RETURN, renumber(rest[0])]
    if code == IF:
        return [IF, renumber(rest[0]), *rest[1:]]
    assert code == GOTO
    return words


def write_bytecode(code: Bytecode, bound: set[int] | frozenset[int] = frozenset()) -> bytes:
    """Write bytecode as TVM does, with an empty shape for bound constants. No memory scopes: all is in CPU memory."""
    pieces = [BYTECODE_MARK, _text(BYTECODE_VERSION), _word(len(code.functions))]
    for f in code.functions:
        pieces += [struct.pack("<i", f.kind), _text(f.name), *map(_word, (f.begin, f.end, len(f.inputs), f.registers))]
        pieces += [_word(len(f.inputs)), *map(_text, f.inputs)]
    pieces += [_word(0), _word(len(code.constants))]
    pieces += [_constant(tvm_ffi.Shape(()) if n in bound else value) for n, value in enumerate(code.constants)]
    begins: list[int] = []
    words: list[int] = []
    for instruction in code.instructions:
        begins.append(len(words))
        words += instruction
    return b"".join([*pieces, _words(begins), _words(words)])


def _word(value: int) -> bytes:
    return struct.pack("<q", value)


def _words(values: Sequence[int]) -> bytes:
    return struct.pack(f"<q{len(values)}q", len(values), *values)


def _text(value: str) -> bytes:
    data = value.encode()
    return _word(len(data)) + data


def _constant(value: Any) -> bytes:
    if isinstance(value, tvm_ffi.Tensor):
        return struct.pack("<i", TENSOR_CONSTANT) + _tensor(value)
    if isinstance(value, tvm_ffi.dtype):  # a text, too
        return struct.pack("<i", DATA_TYPE_CONSTANT) + DTYPE.pack(value.type_code, value.bits, value.lanes)
    if isinstance(value, str):
        return struct.pack("<i", TEXT_CONSTANT) + _text(value)
    return struct.pack("<i", SHAPE_CONSTANT) + _words([int(size) for size in value])


def _tensor(value: tvm_ffi.Tensor) -> bytes:
    kind, shape, size = value.dtype, [int(n) for n in value.shape], byte_size(value)
    head = TENSOR_HEAD.pack(MARK, 0, CPU, 0, len(shape), kind.type_code, kind.bits, kind.lanes)
    data = ctypes.string_at(value.data_ptr(), size) if size else b""
    return head + b"".join(map(_word, [*shape, size])) + data
