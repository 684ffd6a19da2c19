"""Arrays with guards on both sides, which detect writes outside of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

GUARD = 1024  # bytes before and behind
ALIGNMENT = 64  # bytes; what TVM's host code asks for


class Guarded:
    """Memory for one array; `array` is NumPy's view of it."""

    def __init__(self, shape: Sequence[int], dtype: str, rubbish: int, name: str = "") -> None:
        self._dtype = np.dtype(dtype)
        size = int(np.prod(shape, dtype=np.int64)) * self._dtype.itemsize
        memory = np.full(size + 2 * GUARD + ALIGNMENT, rubbish, np.uint8)
        start = -(memory.ctypes.data + GUARD) % ALIGNMENT + GUARD
        self._before, self._behind = memory[:start], memory[start + size :]
        self._rubbish, self._name = rubbish, name
        self.array = memory[start : start + size].view(self._dtype).reshape(tuple(shape))

    @classmethod
    def of(cls, array: np.ndarray, rubbish: int, name: str = "") -> Guarded:
        """A copy of an array between guards."""
        made = cls(array.shape, str(array.dtype), rubbish, name)
        made.array[...] = array
        return made

    def broken(self) -> str:
        """A description of what was written outside of the array; empty if nothing was."""
        for side, guard in (("before", self._before), ("behind", self._behind)):
            hits = np.flatnonzero(guard != self._rubbish)
            if hits.size:
                shape = self.array.shape
                return f"{hits.size} bytes {side} '{self._name}' {shape} were written, first at byte {hits[0]} of the guard"
        return ""
