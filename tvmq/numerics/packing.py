"""Codes of at most 4 bits, two to a byte.

The order is that of memory (C order) over the whole array, whatever its axes: code 0 stands in the low half of byte 0,
code 1 in its high half. A half is the code modulo 16: two's complement. An odd number of codes leaves
the last high half 0. This is ONNX's form of INT4 tensors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tvmq.errors import RangeError

INT4_MIN, INT4_MAX = -8, 7
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
