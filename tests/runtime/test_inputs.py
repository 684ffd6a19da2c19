"""Checks and conversions of the inputs of an executable; nothing is compiled here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tvmq
from tvmq.errors import DataError
from tvmq.runtime.inputs import Inputs, TensorInfo, aligned_zeros, convert_value, describe_refusal, infos

FLOAT = TensorInfo("picture", (2, 3), "float32")
BYTE = TensorInfo("mask", (4,), "int8")
X = np.arange(6, dtype=np.float32).reshape(2, 3)
MASK = np.array([-128, 0, 1, 127], np.int8)


def inputs() -> Inputs:
    """Inputs of a model that has two."""
    return Inputs([FLOAT, BYTE])


def take(value: Any, info: TensorInfo = FLOAT, **options: Any) -> np.ndarray:
    """Convert a value for a model of one input."""
    return Inputs([info]).check({info.name: value}, **options)[0]


def unaligned(array: np.ndarray) -> np.ndarray:
    """A copy at an odd address."""
    memory = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    memory[...] = array
    assert memory.ctypes.data % array.itemsize
    return memory


def test_arrays_that_fit_are_taken_as_they_are():
    assert take(X) is X


@pytest.mark.parametrize("array", [
    X.astype(np.float64), X.astype(">f4"), X.astype(np.float16), X.astype(np.int64), X.astype(np.uint8),
    np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], X[::-1][::-1], unaligned(X), X.tolist(),
    np.ascontiguousarray(X.T).T, np.ma.masked_array(X), X.view(np.recarray),
], ids=["float64", "big-endian", "float16", "int64", "uint8", "Fortran", "strided", "reversed", "unaligned",
        "list", "transposed", "masked", "subclass"])  # fmt: skip
def test_values_that_can_be_converted(array):
    taken = take(array)
    assert taken.dtype == np.float32 and np.array_equal(taken, X)


def test_bool_for_floats_and_integers():
    flags = np.array([True, False, True, True])
    assert take(flags, TensorInfo("x", (4,), "float32")).tolist() == [1, 0, 1, 1]
    assert take(flags, BYTE).tolist() == [1, 0, 1, 1]
    assert take(flags, TensorInfo("x", (4,), "bool")) is flags


def test_integers_in_range():
    assert take(MASK.astype(np.int64), BYTE).tolist() == MASK.tolist()
    assert take(np.uint64([0, 5, 127, 1]), BYTE).dtype == np.int8
    assert take(np.zeros((0,), np.int64), TensorInfo("x", (0,), "int8")).shape == (0,)


def test_a_scalar_input():
    taken = take(2.5, TensorInfo("x", (), "float32"))
    assert taken.shape == () and taken == 2.5


class NoArray:
    """Something that NumPy cannot read, as a tensor on another device."""

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise TypeError("move it to the CPU first")


@pytest.mark.parametrize("value, info, message", [
    (X.T, FLOAT, r"input 'picture' has shape \(3, 2\), the model takes \(2, 3\)"),
    (X[:1], TensorInfo("picture", (2, 3), "float32"), r"has shape \(1, 3\), the model takes \(2, 3\)$"),
    (X, TensorInfo("picture", (1, 3), "float32"), r"takes \(1, 3\); Executable.run_many takes any number of samples, as"),
    (X[0], FLOAT, r"has shape \(3,\), the model takes \(2, 3\)"),
    (5.0, FLOAT, r"has shape \(\), the model takes \(2, 3\)"),
    (tvmq.quantize_tensor(MASK, "minmax"), BYTE, r"is float32, the model takes int8; give its codes, .int_repr\(\)"),
    (X.astype(object), FLOAT, r"is object, the model takes float32; convert it on purpose"),
    (X.astype(np.complex64), FLOAT, "is complex64, the model takes float32"),
    (X.astype(str), FLOAT, "is <U32, the model takes float32"),
    ([[1, 2, 3], [4, 5]], FLOAT, "is a list that makes no array"),
    (NoArray(), FLOAT, r"is a NoArray that makes no array \(move it to the CPU first\)"),
    (MASK.astype(np.float32), BYTE, r"input 'mask' is float32, the model takes int8; .* astype\('int8'\)"),
    (MASK.astype(np.int64) + 1, BYTE, r"input 'mask' holds -127..128, the model takes int8: -128..127"),
    (np.uint8([0, 0, 0, 200]), BYTE, "holds 0..200, the model takes int8"),
    (np.int64([-1, 0, 0, 0]), TensorInfo("x", (4,), "uint8"), "holds -1..0, the model takes uint8: 0..255"),
    (MASK, TensorInfo("x", (4,), "bool"), "is int8, the model takes bool"),
])  # fmt: skip
def test_values_that_cannot_be_taken(value, info, message):
    with pytest.raises(DataError, match=f"run: .*{message}"):
        take(value, info)


@pytest.mark.parametrize("given, message", [
    ({"pictures": X, "mask": MASK}, r"no input 'pictures', it .*'mask'\]; did you mean 'picture'\?"),
    ({"zzz": X, "mask": MASK}, r"no input 'zzz', it takes \['picture', 'mask'\]$"),
    ({"picture": X}, r"input 'mask' is missing; the model takes \['picture', 'mask'\]"),
    ({"picture": X, "mask": None}, "input 'mask' is missing"),
    ({"picture": X, "mask": MASK, "more": X}, "no input 'more'"),
    ({}, "input 'picture' is missing"),
    ({1: X, "mask": MASK}, "no input '1'"),
    ([X, MASK], r"must be \{name: array\}. Got list instead; exe\(x\) takes arrays"),
    (X, "Got ndarray instead"),
    (None, "Got NoneType instead"),
])  # fmt: skip
def test_wrong_names(given, message):
    with pytest.raises(DataError, match=message):
        inputs().check(given)


def test_order_of_the_names_does_not_matter():
    picture, mask = inputs().check({"mask": MASK, "picture": X})
    assert picture is X and mask is MASK


def test_by_position():
    assert inputs().by_position((X, MASK)) == {"picture": X, "mask": MASK}
    with pytest.raises(DataError, match=r"1 arrays given, the model takes 2: \['picture', 'mask'\]"):
        inputs().by_position((X,))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_check_finite(value):
    x = X.copy()
    x[1, 2] = value
    assert take(x) is x
    with pytest.raises(DataError, match=r"'picture' holds 1 NaN or infinite values of 6, first at \[1, 2\]"):
        take(x, check_finite=True)


def test_beyond_float32_is_infinite(recwarn):
    huge = np.full((2, 3), 1e300)
    assert np.isposinf(take(huge)).all()
    with pytest.raises(DataError, match="6 NaN or infinite values"):
        take(huge, check_finite=True)
    assert not recwarn.list


def test_check_finite_of_integers():
    assert take(MASK, BYTE, check_finite=True) is MASK


SHAPES = [((3, 5), "float32"), ((), "int8"), ((0, 4), "float64"), ((7,), "bool"), ((1, 1), "int64")]


@pytest.mark.parametrize("shape, dtype", SHAPES)
def test_aligned_memory(shape, dtype):
    for _ in range(20):
        array = aligned_zeros(shape, dtype)
        assert array.size == 0 or array.ctypes.data % 64 == 0
        assert array.shape == shape and array.dtype == dtype and array.flags.writeable and not array.any()


def test_infos():
    (info,) = infos([{"name": "x", "shape": [1, 2], "dtype": "uint8", "scale": 0.5, "zero_point": 3}])
    assert info == TensorInfo("x", (1, 2), "uint8", 0.5, 3)
    assert str(info) == "x uint8[1, 2]"


def test_converted_does_not_touch_its_input():
    given = X.astype(np.float64)
    convert_value(given, FLOAT)[...] = 7
    assert np.array_equal(given, X)


def test_sizes_that_are_refused_are_described() -> None:
    def words(least: int, most: int, size: int) -> str:
        return describe_refusal({"least": least, "most": most, "why": "a table"}, size)

    assert words(2, 2**31 - 1, 1) == "the model takes at least 2: a table"
    assert words(0, 64, 65) == "the model takes at most 64: a table"
    assert words(1, 64, 65) == "the model takes 1 to 64: a table" and words(1, 64, 64) == ""
