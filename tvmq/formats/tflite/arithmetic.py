"""Integer arithmetic of TFLite's kernels in NumPy, and the constants that they make of scales.

Sources: the operators' specification for int8 (tensorflow.org/lite/performance/quantization_spec) and the behaviour of
the kernels themselves, which tests/formats/tflite compares with this file for every code.

Tests: tests/formats/tflite/test_to_tflite.py
"""

from __future__ import annotations

import numpy as np

from tvmq import numerics
from tvmq.numerics.known_rules import KNOWN_RULES

TRIED = 64  # neighbours of a float32 where results are compared and not constants
SMALLEST_SHIFT = -31  # a factor below 2^-32 is 0


def multiplier_of(factor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(multiplier, shift) that a kernel makes of real factors: factor ~ multiplier * 2^(shift - 31).

    >>> [int(value) for value in multiplier_of(np.float64(1.3))]
    [1395864371, 1]
    """
    multiplier, shift = numerics.fixed_point_parameters(factor)
    tiny = shift < SMALLEST_SHIFT
    return np.where(tiny, 0, multiplier), np.where(tiny, 0, shift)


def multiply(x: np.ndarray, multiplier: np.ndarray | int, shift: np.ndarray | int) -> np.ndarray:
    """x * multiplier * 2^(shift - 31), rounded twice: half up at 31 bits, then half away from zero.

    x        int64 within int32, also once it is shifted to the left by a positive shift
    returns  int64

    >>> multiply(np.int64([5, -5, 6, -6]), 2**30, -1)
    array([ 2, -1,  2, -2])
    """
    x, multiplier, shift = (np.asarray(values, np.int64) for values in (x, multiplier, shift))
    return KNOWN_RULES["fixed_point_double"].round_products(x, multiplier, shift)


def float32_neighbours(scale: np.float32) -> np.ndarray:
    """A positive float32 number and its neighbours, the nearest first.

    >>> len(float32_neighbours(np.float32(0.5))), float32_neighbours(np.float32(1.0))[0]
    (129, np.float32(1.0))
    """
    steps = np.arange(2 * TRIED + 1)
    bits = np.float32(scale).view(np.int32) + np.where(steps % 2, (steps + 1) // 2, -(steps // 2))
    return bits.astype(np.int32).view(np.float32)


def relu6_limit(scale: np.float32, zero: int) -> int:
    """Code of 6.0 as a kernel computes it: quotient in float32, half away from zero.

    >>> relu6_limit(np.float32(0.5), -128)
    -116
    """
    return zero + int(np.floor(np.float32(6) / np.float32(scale) + np.float32(0.5)))
