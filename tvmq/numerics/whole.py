"""Whole numbers at their ends: indices outside of an axis, casts of floats that do not fit, division by zero, shifts.

Machines and compilers differ in all of these, or fault; here each has one result.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, DTypeLike


def place(index: ArrayLike, size: ArrayLike) -> np.ndarray:
    """The place 0 .. size - 1 that an index means: the index modulo the size, as int64.

    -1 is the last place. ONNX and torch define -size .. size - 1; what lies outside wraps round.

    >>> place([0, 3, -1, 4, -2**63], 4).tolist()
    [0, 3, 3, 0, 0]
    """
    return np.asarray(np.mod(np.asarray(index).astype(np.int64), np.maximum(size, 1)))


def cast(x: np.ndarray, dtype: DTypeLike) -> np.ndarray:
    """Another element type; a float that becomes an integer is cut towards zero.

    What does not fit takes the nearest integer that does, NaN the lowest.

    >>> cast(np.float32([-1.9, 300, -np.inf, np.nan]), "uint8").tolist()
    [0, 255, 0, 0]
    """
    wanted = np.dtype(dtype)
    if x.dtype.kind != "f" or wanted.kind not in "iu":
        return x.astype(wanted)
    limits = np.iinfo(wanted)
    wide = x.astype(np.float64)
    above, below = wide >= 2.0 ** int(limits.max).bit_length(), ~(wide > float(limits.min) - 1)
    with np.errstate(invalid="ignore"):
        inside = np.where(above | below, x.dtype.type(0), x).astype(wanted)
    result: np.ndarray = np.where(above, wanted.type(limits.max), np.where(below, wanted.type(limits.min), inside))
    return result


def divide(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """Quotient of integers, cut towards zero; by zero it is 0, and the lowest integer by -1 itself.

    >>> divide([7, -7, 7, -128], np.int8([2, 2, 0, -1])).tolist()
    [3, -3, 0, 128]
    >>> divide(np.int8([-128]), np.int8([-1])).tolist()
    [-128]
    """
    a, b = np.asarray(a), np.asarray(b)
    with np.errstate(all="ignore"):
        down, rest = np.floor_divide(a, b), np.mod(a, b)
        return np.asarray(down + ((rest != 0) & ((a < 0) != (b < 0))).astype(down.dtype))
