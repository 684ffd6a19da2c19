"""numerics.moments of depthwise convolutions as compiled code of this CPU: the same integers in a tenth of the time.

Tests: tests/codegen/compile/test_calibration.py
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import tvm_ffi

from tvmq.codegen.compile.loop_functions import compile_functions
from tvmq.codegen.kernels.calibrate.window_sums import LANES, MOST_ROWS, window_sums
from tvmq.numerics.code_type import CODES_8
from tvmq.runtime.call_code import share_memory
from tvmq.runtime.inputs import aligned_zeros

MOST_TAPS = 64  # of which the sums of LANES channels stay in a cache


def sum_windows(channels: int, taps: int, dtype: str) -> WindowSums | None:
    """Sums of a depthwise convolution of codes of this type; None where it is not one for this code."""
    fits = channels >= LANES and taps <= MOST_TAPS and dtype in CODES_8
    return WindowSums(channels, taps) if fits else None


class WindowSums:
    """Sums over rows of what the taps of each channel read.

    >>> sums = WindowSums(channels=16, taps=1)
    >>> sums.add(np.full((1, 2, 2, 16), 5, np.uint8), np.int32([[0], [3]]), 2)
    >>> [part[0].tolist() for part in sums.totals()]
    [[6], [[18]]]
    """

    def __init__(self, channels: int, taps: int) -> None:
        self._channels, self._taps, self._rows = channels, taps, 0
        vectors, pairs = -(-channels // LANES), (taps + 1) * (taps + 2) // 2
        self._sums = aligned_zeros((vectors, pairs, LANES), "int32")
        self._facts, self._totals = aligned_zeros((3,), "int32"), np.zeros(self._sums.shape, np.int64)
        self._shared = [share_memory(array) for array in (self._facts, self._sums)]

    def add(self, codes: np.ndarray, places: np.ndarray, zero_point: int) -> None:
        """Add pictures, codes (samples, rows, columns, channels).

        places   int32 (rows, taps): the pixel of a picture that each tap reads; below 0 it reads nothing, 0.0
        """
        flat = np.ascontiguousarray(codes).reshape(-1)
        tensors = tvm_ffi.from_dlpack(flat, require_alignment=1), tvm_ffi.from_dlpack(places, require_alignment=4)
        for sample in range(len(codes)):
            if self._rows + len(places) > MOST_ROWS:
                self._flush()
            self._rows += len(places)
            self._facts[:] = zero_point, self._channels, sample * (flat.size // len(codes))
            _compile_sums(str(codes.dtype))(*tensors, *self._shared)

    def _flush(self) -> None:
        self._totals += self._sums
        self._sums[...], self._rows = 0, 0

    def totals(self) -> list[np.ndarray]:
        """As `Moments.totals`: sums int64 (channels, taps), products int64 (channels, taps, taps)."""
        self._flush()
        ends = np.arange(self._channels) // LANES, np.arange(self._channels) % LANES
        if self._channels % LANES:  # the last vector ends with the last channel
            ends[1][self._channels // LANES * LANES :] += LANES - self._channels % LANES
        sums = self._totals[ends[0], :, ends[1]]
        products = np.zeros((self._channels, self._taps + 1, self._taps + 1), np.int64)
        rows, columns = np.triu_indices(self._taps + 1)
        products[:, rows, columns] = products[:, columns, rows] = sums
        return [products[:, :-1, -1].copy(), products[:, :-1, :-1].copy()]


@lru_cache(maxsize=2)
def _compile_sums(dtype: str) -> Any:
    name = f"window_sums_{dtype}"
    return compile_functions({name: window_sums(dtype)})[name]
