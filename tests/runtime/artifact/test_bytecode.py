"""Bytecode read piece by piece equals what TVM wrote; damaged or unknown bytecode is left to TVM."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.support.models.networks import parse
from tvmq.runtime.artifact import bytecode, container
from tvmq.runtime.artifact.bytecode import read_bytecode
from tvmq.runtime.artifact.code_bytes import BYTECODE
from tvmq.runtime.artifact.memory_file import read_written_file
from tvmq.runtime.artifact.quiet import without_noise
from tvmq.runtime.artifact.saved_file import SavedFile

BRANCH = """
# from tvm.script import ir as I
# from tvm.script import relax as R
@I.ir_module
class Module:
    @R.function
    def twice(x: R.Tensor(("n", 3), "float32")):
        y = R.add(x, x)
        return y

    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), c: R.Tensor((), "bool"), w: R.Tensor((3,), "float32")):
        n = T.int64()
        cls = Module
        if c:
            y = cls.twice(x)
        else:
            y = R.multiply(x, w)
        return y
"""


def code_of(executable: relax.VMExecutable) -> bytes:
    with without_noise():
        return read_written_file(lambda path: executable.mod.write_to_file(path, ""))


def again(code: bytes) -> bytes:
    """Read and written again."""
    found = read_bytecode(io.BytesIO(code), len(code))
    assert found is not None
    with without_noise():
        return read_written_file(lambda path: found.module().write_to_file(path, ""))


def without_scopes(code: bytes) -> bytes:
    """TVM notes for each constant that its memory is the usual one, in no order; the builder notes nothing."""
    reader = bytecode._Reader(io.BytesIO(code), len(code))
    reader.take(len(bytecode.BYTECODE_MARK))
    reader.text()
    for _ in range(reader.count()):
        reader.function()
    begin = len(code) - reader.bytes_left
    assert [(reader.word(), reader.text())[1] for _ in range(reader.count())].count("") >= 0
    return code[:begin] + code[len(code) - reader.bytes_left :]


@pytest.fixture(scope="module")
def branch() -> relax.VMExecutable:
    """A model with two functions, a branch, a dynamic size and a constant."""
    mod = parse(BRANCH, w=np.float32([1, 2, 3]))
    return tvm.compile(relax.transform.LegalizeOps()(mod), "llvm")


def test_all_kinds_of_instructions(branch):
    code = code_of(branch)
    assert without_scopes(again(code)) == without_scopes(code)
    found = read_bytecode(io.BytesIO(code), len(code))
    assert {words[0] for words in found.instructions} == {1, 2, 3, 4}
    machine = relax.VirtualMachine(branch, tvm.cpu())
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for chosen, expected in ((True, 2 * x), (False, x * np.float32([1, 2, 3]))):
        arguments = (tvm.runtime.tensor(x), tvm.runtime.tensor(np.array(chosen)))
        assert np.array_equal(machine["main"](*arguments).numpy(), expected)


@pytest.mark.slow
def test_a_network(digits):
    code = container._read_members("here", SavedFile.open("here", digits.path))[BYTECODE]
    assert without_scopes(again(code)) == without_scopes(code)


def test_damage_is_no_error(branch):
    """Damaged bytes give None, or something that is not used, as the hash differs."""
    code, random = code_of(branch), np.random.default_rng(3)
    for place in range(0, len(code), 5):
        assert read_bytecode(io.BytesIO(code[:place]), len(code)) is None
        assert read_bytecode(io.BytesIO(code), place) is None
        changed = bytearray(code)
        changed[place] ^= int(random.integers(1, 256))
        read_bytecode(io.BytesIO(changed), len(code))
    assert read_bytecode(io.BytesIO(code + b"?"), len(code) + 1) is None


@pytest.mark.parametrize("dtype", ["float16", "float64", "uint8", "int64", "bool", "bfloat16", "uint32"])
def test_types_of_constants(dtype):
    code = bytecode.struct.pack("<i", bytecode.TENSOR_CONSTANT) + tensor(dtype)
    found = bytecode._Reader(io.BytesIO(code), len(code)).constant()
    assert str(found.dtype) == dtype and tuple(found.shape) == (2, 3)
    assert tensor(dtype)[-6 * found.dtype.itemsize :] == bytes(memory(found))


def memory(found: tvm.runtime.Tensor) -> bytes:
    return bytes((bytecode.ctypes.c_ubyte * (6 * found.dtype.itemsize)).from_address(found.data_ptr()))


def tensor(dtype: str) -> bytes:
    """A tensor in the bytes that TVM writes."""
    kind = tvm.DataType(dtype)
    size = 6 * kind.itemsize
    head = bytecode.TENSOR_HEAD.pack(0xDD5E40F096B4A13F, 0, 1, 0, 2, kind.type_code, kind.bits, 1)
    return head + struct.pack("<qqq", 2, 3, size) + bytes(range(size))


@pytest.mark.parametrize("change", [{"device": 2}, {"rank": 40}, {"bits": 4}, {"lanes": 2}, {"kind": 3}, {"size": 25}])
def test_tensors_of_another_form(change):
    facts = {"device": 1, "rank": 2, "kind": 2, "bits": 32, "lanes": 1, "size": 24, **change}
    values = (facts[key] for key in ("device", "rank", "kind", "bits", "lanes"))
    device, rank, *kind = values
    head = bytecode.TENSOR_HEAD.pack(0xDD5E40F096B4A13F, 0, device, 0, rank, *kind)
    code = head + struct.pack("<qqq", 2, 3, facts["size"]) + bytes(100)
    with pytest.raises(bytecode.UnknownBytecode):
        bytecode._Reader(io.BytesIO(code), len(code)).tensor()


def test_sizes_that_the_file_does_not_have():
    """Such sizes cause no allocation."""
    head = bytecode.TENSOR_HEAD.pack(0xDD5E40F096B4A13F, 0, 1, 0, 1, 0, 8, 1)
    code = head + struct.pack("<qq", 2**40, 2**40)
    with pytest.raises(bytecode.UnknownBytecode, match="of 1099511627776 bytes"):
        bytecode._Reader(io.BytesIO(code), len(code)).tensor()


def test_constants_are_aligned_as_tvm_aligns_them(branch, tmp_path: Path):
    code = bytecode.struct.pack("<i", bytecode.TENSOR_CONSTANT) + tensor("float32")
    for _ in range(8):
        assert bytecode._Reader(io.BytesIO(code), len(code)).constant().data_ptr() % 64 == 0
