"""Limits of codes, and parameters laid along a channel axis: what the definitions share.

Codes of at most 4 bits, two to a byte.

The order is that of memory (C order) over the whole array, whatever its axes: code 0 stands in the low half of byte 0,
code 1 in its high half. A half is the code modulo 16: two's complement. An odd number of codes leaves
the last high half 0. This is ONNX's form of INT4 tensors.

Tests: tests/numerics/test_affine.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Union

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from tvmq.errors import ConfigError, RangeError
from tvmq.numerics.code_type import CODE_TYPES, CODES_16

INT32_MAX = 2**31 - 1
STORAGES = (*CODES_16, "uint16")

Number = Union[float, np.generic, np.ndarray]  # noqa: UP007 -- one number, also as an array of shape ()


def code_limits(dtype: DTypeLike, qmin: int | None = None, qmax: int | None = None) -> tuple[int, int]:
    """Lowest and highest code; None means the limit of the type.

    raises  ConfigError for a type that is no code, RangeError for limits out of order or outside of the type

    >>> code_limits("int8", qmin=-127)
    (-127, 127)
    """
    name = np.dtype(dtype).name
    if name not in STORAGES:
        raise ConfigError(f"the type of codes must be one of {', '.join(STORAGES)}. Got {name} instead")
    limits = np.iinfo(name)
    low = int(limits.min if qmin is None else qmin)
    high = int(limits.max if qmax is None else qmax)
    if not limits.min <= low <= high <= limits.max:
        raise RangeError(
            f"codes of {name} must lie in {limits.min}..{limits.max}. Got qmin {low} and qmax {high} instead"
        )
    return low, high


def largest_code(values: np.ndarray) -> int:
    """Largest magnitude that the integer type of `values` can hold."""
    if values.dtype.kind not in "iu":
        raise ConfigError(f"codes must be integers. Got an array of {values.dtype.name} instead")
    limits = np.iinfo(values.dtype)
    return max(-int(limits.min), int(limits.max))


def check_zero_point(zero_point: ArrayLike, low: int, high: int) -> np.ndarray:
    """Zero points as int32; RangeError for one outside of the codes low..high."""
    values = np.asarray(zero_point)
    bad = (values < low) | (values > high) | (values != np.rint(values))
    if bad.any():
        raise RangeError(
            f"zero_point must be an integer in {low}..{high}. Got {np.ravel(values)[int(np.argmax(bad))]:g} instead"
        )
    return values.astype(np.int32)


def zero_of(codes: np.ndarray, zero_point: Number) -> int:
    """The zero point of an array of codes; RangeError if its type does not hold it.

    >>> zero_of(np.uint8([1, 2]), 255)
    255
    """
    largest_code(codes)
    limits = np.iinfo(codes.dtype)
    return int(check_zero_point(zero_point, int(limits.min), int(limits.max)))


def along_axis(values: np.ndarray, axis: int | None, shape: tuple[int, ...]) -> np.ndarray:
    """Values of shape () or (C,), reshaped so that they broadcast along `axis` of an array of that shape.

    raises  ConfigError if the axis is missing or has another size
    """
    if values.ndim == 0:
        return values
    if axis is None or not -len(shape) <= axis < len(shape) or values.shape != (shape[axis],):
        raise ConfigError(
            f"parameters must have shape () or that of the channel axis. "
            f"Got shape {values.shape} for axis {axis} of {shape} instead"
        )
    broadcast = [1] * len(shape)
    broadcast[axis] = -1
    return values.reshape(broadcast)


INT4_MIN, INT4_MAX = CODE_TYPES["int4"].limits
PACKED_BITS = 4  # weights of so many bits and fewer are kept packed


def fits_int4(codes: np.ndarray) -> bool:
    """True for integers that all lie in -8..7.

    >>> fits_int4(np.int8([-8, 7])), fits_int4(np.int8([8]))
    (True, False)
    """
    return codes.dtype.kind in "iu" and (codes.size == 0 or bool(codes.min() >= INT4_MIN and codes.max() <= INT4_MAX))


def pack_int4(codes: np.ndarray) -> np.ndarray:
    """Integers of any shape as uint8[ceil(n / 2)]; see the head of this file.

    codes    any integer type, values in -8..7
    raises   RangeError for a value outside, naming it
    source   INT4 tensors of ONNX

    >>> pack_int4(np.int8([[1, -1, 7]]))
    array([241,   7], dtype=uint8)
    """
    if not fits_int4(codes):
        outside = codes.ravel()[int(np.argmax((codes.ravel() < INT4_MIN) | (codes.ravel() > INT4_MAX)))]
        raise RangeError(f"pack_int4: codes must be integers in {INT4_MIN}..{INT4_MAX}. Got {outside} instead")
    halves = np.zeros(codes.size + codes.size % 2, np.uint8)
    halves[: codes.size] = codes.astype(np.int8).ravel().view(np.uint8) & 15
    return halves[0::2] | halves[1::2] << 4


def unpack_int4(packed: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """int8 of that shape: the first codes of what `pack_int4` gave.

    raises   RangeError where the bytes hold another number of codes

    >>> unpack_int4(np.uint8([241, 7]), (1, 3))
    array([[ 1, -1,  7]], dtype=int8)
    """
    count = math.prod(shape)
    if packed.size != -(-count // 2):
        raise RangeError(
            f"unpack_int4: {count} codes of shape {tuple(shape)} take {-(-count // 2)} bytes. Got {packed.size} instead"
        )
    halves = np.stack([packed & 15, packed >> 4], axis=-1).ravel()[:count]
    return ((halves ^ 8).astype(np.int8) - np.int8(8)).reshape(shape)
