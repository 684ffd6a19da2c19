"""Memory of a model's constants, in pages of 2 MB where the system has them.

A product of few rows, such as a single token of a language model, reads each weight once, and takes as long as memory
does. With pages of 4 kB a part of that time goes into finding them: single tokens of a model of 134 MB are a tenth
slower (docs/language-models.md).
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Sequence

import numpy as np
import tvm_ffi

from tvmq.base.tvm_runtime import allocate_tensor

PAGE, ALIGNMENT = 2**21, 64  # bytes; of what kernels read
LEAST_CONSTANT = 2**12  # bytes; smaller ones have memory of their own
NUMPY_TYPES = frozenset({"int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64"})


class WeightMemory:
    """Allocates the constants of one file.

    size   bytes of all of them, at most; nothing is taken from the system before it is written
    """

    def __init__(self, size: int) -> None:
        self._free = _map_large_pages(size)

    def allocate(self, shape: Sequence[int], dtype: str) -> tvm_ffi.Tensor:
        """Allocate a tensor that kernels can read; its contents are undefined.

        >>> WeightMemory(2**22).allocate([2, 3], "int8").shape
        (2, 3)
        """
        size = math.prod(shape) * np.dtype(dtype).itemsize if dtype in NUMPY_TYPES else 0
        if not LEAST_CONSTANT <= size <= len(self._free):
            return allocate_tensor(shape, dtype)
        memory, self._free = self._free[:size], self._free[-(-size // ALIGNMENT) * ALIGNMENT :]
        return tvm_ffi.from_dlpack(memory.view(dtype).reshape(shape))


def _map_large_pages(size: int) -> np.ndarray:
    """Fresh memory of so many bytes that begins with a large page; none on systems without them."""
    advice = getattr(mmap, "MADV_HUGEPAGE", None)
    if advice is None:
        return np.empty(0, np.uint8)
    try:
        # shared memory, which `mmap` maps unless told otherwise, has no large pages
        pages = mmap.mmap(-1, size + PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        pages.madvise(advice)
    except (OSError, ValueError):  # too much for the system, or it was built without large pages
        return np.empty(0, np.uint8)
    memory = np.frombuffer(pages, np.uint8)
    begin = -memory.ctypes.data % PAGE
    return memory[begin : begin + size]
