"""observers.histogram_statistics.count_bins as compiled code of this CPU: equal counts, in less than half the time.

Tests: tests/codegen/compile/test_calibration.py
"""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import Any

import numpy as np

from tvmq.calibration.observers import histogram_statistics
from tvmq.calibration.observers.histogram_statistics import BINS, BLOCK
from tvmq.codegen.compile.loop_functions import compile_functions
from tvmq.codegen.kernels.calibrate.histogram import TABLES, histogram
from tvmq.runtime.call_code import share_memory
from tvmq.runtime.inputs import aligned_zeros

# Fewer values, of all tensors together, are counted by NumPy before the code would have been compiled.
FEW_VALUES = 30_000_000
MOST_VALUES = 2**31 - 1  # of one tensor: counts are int32 on the way

_seen = 0
_own = threading.local()


def count_bins(x: np.ndarray, exponent: int, first: int, last: int) -> np.ndarray:
    """As observers.histogram_statistics.count_bins; compiled when it begins to pay."""
    global _seen  # noqa: PLW0603  (a count that may be off by a race does no harm)
    _seen += x.size
    if _seen < FEW_VALUES or x.size > MOST_VALUES:
        return histogram_statistics.count_bins(x, exponent, first, last)
    return count_bins_compiled(x, exponent, first, last)


def count_bins_compiled(x: np.ndarray, exponent: int, first: int, last: int) -> np.ndarray:
    """Counts of the bins by compiled code, whatever the size."""
    flat = x.reshape(-1)
    (values, inverse, place, counts), tensors = _memory()
    inverse[0], place[1] = np.ldexp(np.float32(1), -exponent), first
    counts[...] = 0
    for start in range(0, flat.size, BLOCK):
        part = flat[start : start + BLOCK]
        values[: part.size], place[0] = part, part.size
        _compile_counter()(*tensors)
    return counts[:, : last - first + 1].sum(axis=0, dtype=np.int64)


def _memory() -> tuple[list[np.ndarray], list[Any]]:
    """Arrays of this thread that the code works on; it needs them aligned."""
    if not hasattr(_own, "arrays"):
        shapes = (((BLOCK,), "float32"), ((1,), "float32"), ((2,), "int32"), ((TABLES, BINS), "int32"))
        _own.arrays = [aligned_zeros(shape, dtype) for shape, dtype in shapes]
        _own.tensors = [share_memory(array) for array in _own.arrays]
    return _own.arrays, _own.tensors


@lru_cache(maxsize=1)
def _compile_counter() -> Any:
    return compile_functions({"count_bins": histogram(BLOCK, BINS)})["count_bins"]
