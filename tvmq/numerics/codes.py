"""What the definitions share: limits of codes, and parameters laid along a channel axis."""

from __future__ import annotations

from typing import Union

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from tvmq.errors import ConfigError, RangeError

INT32_MAX = 2**31 - 1
CODE_TYPES = ("int8", "uint8", "int16", "uint16")

Number = Union[float, np.generic, np.ndarray]  # noqa: UP007 -- one number, also as an array of shape ()


def code_limits(dtype: DTypeLike, qmin: int | None = None, qmax: int | None = None) -> tuple[int, int]:
    """Lowest and highest code; None means the limit of the type.

    raises  ConfigError for a type that is no code, RangeError for limits out of order or outside of the type

    >>> code_limits("int8", qmin=-127)
    (-127, 127)
    """
    name = np.dtype(dtype).name
    if name not in CODE_TYPES:
        raise ConfigError(f"the type of codes must be one of {', '.join(CODE_TYPES)}. Got {name} instead")
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


def checked_zero_point(zero_point: ArrayLike, low: int, high: int) -> np.ndarray:
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
    return int(checked_zero_point(zero_point, int(limits.min), int(limits.max)))


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
