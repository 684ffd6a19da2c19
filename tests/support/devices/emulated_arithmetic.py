"""The arithmetic unit of the emulated device: int32 alone, every operation checked for overflow.

Written from the description of the device, not from tvmq.numerics: it has sums, products, shifts, comparisons,
clips and look-ups, and nothing else. The watchdogs count in wider numbers; no result comes from them.
"""

from __future__ import annotations

import numpy as np

INT32 = np.iinfo(np.int32)


class Overflow(AssertionError):
    """A result left int32."""


def word(values: np.ndarray) -> np.ndarray:
    """8-bit codes as 32-bit words; anything else than int8, int32 and bool is refused."""
    values = np.asarray(values)
    assert values.dtype in (np.int8, np.int32, np.bool_), f"the device has no {values.dtype}"
    return values.astype(np.int32)


def _watched(result: np.ndarray, truth: np.ndarray) -> np.ndarray:
    assert result.dtype == np.int32, f"the device has no {result.dtype}"
    if not np.array_equal(result, truth):
        raise Overflow(f"a result reaches {int(np.abs(truth).max())}")
    return result


def plus(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a, b = word(a), word(b)
    return _watched(a + b, a.astype(np.int64) + b)


def minus(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a, b = word(a), word(b)
    return _watched(a - b, a.astype(np.int64) - b)


def times(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a, b = word(a), word(b)
    return _watched(a * b, a.astype(np.int64) * b)


def left(a: np.ndarray, count: int) -> np.ndarray:
    a = word(a)
    return _watched(a << np.int32(count), a.astype(np.int64) * 2**count)


def right(a: np.ndarray, count: int) -> np.ndarray:
    """a >> count, towards minus infinity; counts beyond 31 act as 31."""
    return np.asarray(word(a) >> np.int32(min(count, 31)))


def clip(a: np.ndarray, low: int, high: int) -> np.ndarray:
    """a, at least low and at most high."""
    a = word(a)
    a = np.where(a < np.int32(low), np.int32(low), a)
    return np.where(a > np.int32(high), np.int32(high), a)


def code(a: np.ndarray) -> np.ndarray:
    """A word that is a code, as one byte."""
    a = word(a)
    assert ((a >= -128) & (a <= 127)).all(), "a code leaves int8"
    return a.astype(np.int8)


def dot(w: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(..., F, C) times (..., C, N): products of words, summed along C in int32."""
    w, x = word(w), word(x)
    most = np.abs(w).astype(np.float64) @ np.abs(x).astype(np.float64)  # exact below 2^53
    if most.size and most.max() > INT32.max:
        raise Overflow(f"partial sums can reach {most.max():.0f}")
    return np.asarray(w @ x)


def shifted(acc: np.ndarray, shift: int, *, away: bool) -> np.ndarray:
    """acc * 2^shift, rounded to the nearest; ties upwards, or those below 0 downwards.

    Where shift is positive what leaves -128..127 stays outside of it, and will be clipped to codes.
    """
    if shift >= 0:
        return left(clip(acc, -128, 127), min(shift, 8))
    count = min(-shift, 32)
    whole = right(acc, count)
    # the highest bit that is lost rounds: acc + half would not fit next to the end of int32
    up = plus(whole, minus(right(acc, count - 1), left(whole, 1)))
    if not away or count > 31:
        return up
    lost = minus(acc, left(whole, count))
    return minus(up, (lost == left(np.int32(1), count - 1)) & (acc < 0))
