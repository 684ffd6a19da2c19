"""What the definitions share: limits of codes, and parameters laid along a channel axis."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from tvmq.errors import ConfigError, RangeError

INT32_MAX = 2**31 - 1


def code_limits(dtype: DTypeLike, qmin: int | None = None, qmax: int | None = None) -> tuple[int, int]:
    """Lowest and highest code; None means the limit of the type.

    raises  RangeError if they are out of order or outside of the type

    >>> code_limits("int8", qmin=-127)
    (-127, 127)
    """
    limits = np.iinfo(dtype)
    low = int(limits.min if qmin is None else qmin)
    high = int(limits.max if qmax is None else qmax)
    if not limits.min <= low <= high <= limits.max:
        raise RangeError(
            f"codes of {limits.dtype.name} must lie in {limits.min}..{limits.max}. Got qmin {low} and qmax {high} instead"
        )
    return low, high


def largest_code(values: np.ndarray) -> int:
    """Largest magnitude that the integer type of `values` can hold."""
    if values.dtype.kind not in "iu":
        raise ConfigError(f"codes must be integers. Got an array of {values.dtype.name} instead")
    limits = np.iinfo(values.dtype)
    return max(-int(limits.min), int(limits.max))


def along_axis(values: ArrayLike, axis: int | None, ndim: int) -> np.ndarray:
    """Values of shape () or (C,), reshaped so that they broadcast along `axis` of an array of `ndim` dimensions."""
    values = np.asarray(values)
    if values.ndim == 0:
        return values
    if values.ndim != 1:
        raise ConfigError(f"parameters must have shape () or (channels,). Got {values.shape} instead")
    if axis is None:
        if values.size == 1:
            return values.reshape(())
        raise ConfigError(f"{values.size} parameters need the axis they belong to. Got axis None instead")
    if not -ndim <= axis < ndim:
        raise ConfigError(f"axis must lie in {-ndim}..{ndim - 1}. Got {axis} instead")
    shape = [1] * ndim
    shape[axis] = -1
    return values.reshape(shape)
