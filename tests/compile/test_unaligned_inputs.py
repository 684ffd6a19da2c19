"""Inputs that are read where they are: which ones, and the same bits at any address."""

from __future__ import annotations

import numpy as np
import pytest

import tvmq
from tests.models import Net, feeds_of
from tvmq.runtime.call_code import LEAST_SHARED


def executable(kind: str) -> tuple[tvmq.Executable, np.ndarray]:
    """A network of one convolution whose input is read by others too, and a picture for it."""
    n = Net((1, 3, 64, 64))
    y = n.conv("x", 3, 4)
    outputs = {"alone": [y], "shared": [y, n.op("Softmax", "x")]}[kind]
    model = n.model(*outputs)
    mod, params = tvmq.from_onnx(model)
    return tvmq.build(tvmq.quantize(mod, params, feeds_of(model))), feeds_of(model, 1, seed=3)[0]["x"]


def at(x: np.ndarray, address: int) -> np.ndarray:
    """The array at an address of this remainder by 64."""
    memory = np.zeros(x.nbytes + 128, np.uint8)
    begin = (address - memory.ctypes.data) % 64
    moved = memory[begin : begin + x.nbytes].view(x.dtype).reshape(x.shape)
    moved[...] = x
    return moved


def test_the_same_bits_at_any_address(monkeypatch: pytest.MonkeyPatch) -> None:
    exe, x = executable("alone")
    assert exe["main"]._call._unaligned == {0} and x.nbytes >= LEAST_SHARED
    copies = [x.copy() for _ in range(2)]
    copies[1].flags.writeable = False
    transposed = np.ascontiguousarray(x.transpose(0, 1, 3, 2)).transpose(0, 1, 3, 2)
    (expected,) = exe.run({"x": x.astype(np.float64)})  # becomes another array on the way
    monkeypatch.setattr("tvmq.runtime.call_code.LEAST_SHARED", 2**40)
    np.testing.assert_array_equal(exe.run({"x": x})[0], expected)
    monkeypatch.undo()
    for array in (*copies, transposed, *(at(x, address) for address in (0, 4, 20, 60)), at(x, 2)):
        np.testing.assert_array_equal(exe.run({"x": array})[0], expected)


def test_what_other_operators_read_is_copied() -> None:
    exe, x = executable("shared")
    assert exe["main"]._call._unaligned == frozenset()
    for result, other in zip(exe.run({"x": at(x, 4)}), exe.run({"x": x}), strict=True):
        np.testing.assert_array_equal(result, other)
