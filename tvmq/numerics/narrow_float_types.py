"""Floats of fewer bits than 32: float32 numbers rounded to them, half to even.

An operator of a narrower type is that of float32 on rounded numbers, whose result is rounded. For one sum, difference,
product, quotient or root of float16 numbers this is what instructions of that type give: float32 has more than twice
their bits, so nothing is rounded twice.
"""

from __future__ import annotations

import numpy as np

NARROW = ("float16", "bfloat16")


def round_floats(values: np.ndarray, dtype: str) -> np.ndarray:
    """float32 numbers rounded to a narrower type, half to even, as float32; what is beyond its largest is infinite.

    values  any type; others than float32 stay as they are
    dtype   "float16" or "bfloat16"; "float32" rounds nothing

    >>> x = np.float32([1 + 2.0**-9, 70000.0, 3.0])
    >>> round_floats(x, "float16").tolist(), round_floats(x, "bfloat16").tolist()
    ([1.001953125, inf, 3.0], [1.0, 70144.0, 3.0])
    """
    if dtype == "float32" or values.dtype != np.float32:
        return values
    if dtype == "float16":
        with np.errstate(over="ignore"):
            return np.asarray(values.astype(np.float16).astype(np.float32))
    bits = np.ascontiguousarray(values).view(np.uint32).astype(np.uint64)
    even = (bits + 0x7FFF + ((bits >> np.uint64(16)) & np.uint64(1))) & np.uint64(0xFFFF0000)
    result = even.astype(np.uint32).view(np.float32).reshape(values.shape)
    return np.asarray(np.where(np.isnan(values), values, result))
