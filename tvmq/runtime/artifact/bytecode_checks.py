"""Bytecode that stays within itself: the virtual machine looks up registers, constants, functions and instructions by
their numbers and checks none of them.

A damaged file is told by its hash. This is for one whose hashes were made anew: what it names is there, and what is
read was written before.

Tests: tests/runtime/artifact/test_inconsistent.py
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tvmq.base.tvm_internals import (
    BYTECODE_FUNCTION,
    CALL,
    CONSTANT_KIND,
    FIRST_SPECIAL_REGISTER,
    FUNCTION_KIND,
    GOTO,
    IMMEDIATE_KIND,
    KIND_SHIFT,
    MATCH_SHAPE,
    REGISTER_KIND,
    RETURN,
    SPECIAL_REGISTERS,
)
from tvmq.errors import ArtifactError

if TYPE_CHECKING:
    from tvmq.runtime.artifact.bytecode import Bytecode, BytecodeFunction

MASK = (1 << KIND_SHIFT) - 1
SPECIAL = range(FIRST_SPECIAL_REGISTER, FIRST_SPECIAL_REGISTER + SPECIAL_REGISTERS)


def check_bytecode(code: Bytecode) -> None:
    """Nothing for bytecode that stays within itself.

    raises   ArtifactError naming the function and the instruction that does not
    """
    for function in code.functions:
        if function.kind == BYTECODE_FUNCTION:
            for problem in _problems(code, function):
                raise ArtifactError(f"load: the code is damaged ('{function.name}': {problem}); save the model again")


def _problems(code: Bytecode, function: BytecodeFunction) -> Iterator[str]:
    """Faults of a function's instructions, in words."""
    begin, end, count = function.begin, function.end, len(function.inputs)
    if not 0 <= begin < end <= len(code.instructions):
        yield f"instructions {begin} to {end} of {len(code.instructions)}"
        return
    if not count <= function.registers <= count + end - begin + 1:  # each instruction writes one at most
        yield f"{function.registers} registers for {count} inputs and {end - begin} instructions"
        return
    written = set(range(count))
    for place in range(begin, end):
        kind, *rest = code.instructions[place]
        wrong = (
            _wrong_call(code, function, written, rest)
            if kind == CALL
            else _wrong_step(range(begin - place, end - place), written, kind, rest)
        )
        if wrong:
            yield f"instruction {place - begin}, {wrong}"
    if code.instructions[end - 1][0] not in (RETURN, GOTO):
        yield "no return at its end"


def _wrong_step(inside: range, written: set[int], kind: int, rest: list[int]) -> str:
    """Fault of a return or a jump, in words; inside: steps that stay in the function."""
    if kind != GOTO and rest[0] not in written:
        return f"register {rest[0]}, which nothing has written"
    step = 1 if kind == RETURN else rest[-1]
    if kind != RETURN and (step not in inside or step == 0):
        return f"a jump of {step}"
    return ""


def _wrong_call(code: Bytecode, function: BytecodeFunction, written: set[int], rest: list[int]) -> str:
    result, callee, _count, *args = rest
    if not (0 <= result < function.registers or result in SPECIAL):
        return f"register {result} of {function.registers}"
    called = code.functions[callee]
    if called.kind == BYTECODE_FUNCTION and len(args) != len(called.inputs):
        return f"{len(args)} arguments for the {len(called.inputs)} of '{called.name}'"
    for arg in args:
        kind, number = (arg >> KIND_SHIFT) & 0xFF, arg & MASK
        if kind == REGISTER_KIND and not (number in written or number in SPECIAL):
            return f"register {number}, which nothing has written"
        if kind == CONSTANT_KIND and number >= len(code.constants):
            return f"constant {number} of {len(code.constants)}"
        if kind == FUNCTION_KIND and number >= len(code.functions):
            return f"function {number} of {len(code.functions)}"
        if kind not in (REGISTER_KIND, IMMEDIATE_KIND, CONSTANT_KIND, FUNCTION_KIND):
            return f"an argument of kind {kind}"
    if called.name == MATCH_SHAPE and not _is_pattern(args):
        return f"{len(args)} arguments that are no pattern of a shape"
    written.add(result)
    return ""


def _is_pattern(args: list[int]) -> bool:
    """True if match_shape(tensor, heap, rank, (code, value) ..., text) has as many arguments as it reads."""
    return len(args) > 3 and (args[2] >> KIND_SHIFT) & 0xFF == IMMEDIATE_KIND and len(args) == 4 + 2 * (args[2] & MASK)
