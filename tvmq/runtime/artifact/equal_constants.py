"""Weights that several layers share: the compiler packs them for each use, and equal ones are written once.

A transformer whose layers share their weights would else have them in its file, and in memory when it is loaded, as
often as it uses them.

Tests: tests/backends/test_described_layers.py
"""

from __future__ import annotations

import ctypes
import hashlib
import io
from typing import Any

import tvm_ffi

from tvmq.base.tvm_internals import CALL, CONSTANT, CONSTANT_KIND
from tvmq.runtime.artifact.bytecode import Bytecode, read_bytecode
from tvmq.runtime.artifact.weightless import MASK, byte_size, kind_of, write_bytecode

LEAST = 4096  # bytes of a constant that is looked at


def merge_equal_constants(code: bytes) -> bytes:
    """Bytecode as TVM wrote it without the constants that are there again; the same bytes where there are none."""
    bytecode = read_bytecode(io.BytesIO(code), len(code))
    if bytecode is None:
        return code
    firsts: dict[Any, int] = {}
    kept: list[Any] = []
    numbers: list[int] = []  # what each constant is called then
    for constant in bytecode.constants:
        key = _key(constant)
        if key is None or key not in firsts:
            kept.append(constant)
            if key is not None:
                firsts[key] = len(kept) - 1
        numbers.append(len(kept) - 1 if key is None else firsts[key])
    if len(kept) == len(bytecode.constants):
        return code
    instructions = [_renumber_constants(words, numbers) for words in bytecode.instructions]
    return write_bytecode(Bytecode(bytecode.functions, kept, instructions))


def _key(constant: Any) -> Any:
    """Key that equal constants share; None for one that stays as it is."""
    if not isinstance(constant, tvm_ffi.Tensor) or byte_size(constant) < LEAST:
        return None
    digest = hashlib.sha256(ctypes.string_at(constant.data_ptr(), byte_size(constant))).digest()
    return str(constant.dtype), tuple(map(int, constant.shape)), digest


def _renumber_constants(words: list[int], numbers: list[int]) -> list[int]:
    if words[0] != CALL:
        return words
    return [*words[:4], *(CONSTANT | numbers[w & MASK] if kind_of(w) == CONSTANT_KIND else w for w in words[4:])]
