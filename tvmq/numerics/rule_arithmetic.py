"""The steps of a requantize rule in NumPy: how sums become numbers of steps, before they are clipped to codes.

integer   one rounding     round(acc * m / 2^n), n = bits - shift
          two roundings    round(round(acc * m / 2^bits) / 2^-shift): the high half of a product, then a shift
          A positive shift goes before the product (acc << shift) or behind it; what leaves int32 there stays wide,
          saturates or wraps.
shift     the same with m = 1 and bits = 0
float32   float32(acc) * m, each operation rounded to float32; the zero point is added behind the rounding to integers
          (in integers) or before it (in float32, by an addition of its own or by one fused multiply-add)

Tests: tests/numerics/test_requantize_rule.py
"""

from __future__ import annotations

import numpy as np

from tvmq.errors import RangeError
from tvmq.numerics.codes import INT32_MAX
from tvmq.numerics.tie_rules import rounded_float, rounded_shift

LARGEST_PRODUCT = 2**62
# A factor below 2^-32 takes every int32 to 0; one above 2^30 takes every int32 but 0 out of all codes.
SMALLEST_SHIFT, LARGEST_SHIFT = -32, 31


def fit_bits(values: np.ndarray, bits: int, overflow: str) -> np.ndarray:
    """int64 numbers in an integer of so many bits: int64.

    overflow  "wrap", "saturate", or "proved" (nothing is done, but checked)
    raises    RangeError if "proved" numbers do not fit

    >>> fit_bits(np.int64([127, 128, -300]), 8, "wrap").tolist(), fit_bits(np.int64([128]), 8, "saturate").tolist()
    ([127, -128, -44], [127])
    """
    values, end = np.asarray(values, np.int64), 2 ** (bits - 1)
    if overflow == "wrap":
        return np.asarray(((values + end) & (2 * end - 1)) - end)
    if overflow == "saturate":
        return np.asarray(np.clip(values, -end, end - 1))
    bad = (values < -end) | (values >= end)
    if bad.any():
        raise RangeError(
            f"requantize: a sum of {int(values[bad].flat[0])} does not fit {bits} bits, whose sums were said to be "
            "proved to fit; use overflow 'wrap' or 'saturate', or weights of fewer bits"
        )
    return values


def integer_steps(
    acc: np.ndarray, multiplier: np.ndarray, shift: np.ndarray, *, bits: int, roundings: tuple[str, ...],
    left_shift: str, left_overflow: str,
) -> np.ndarray:  # fmt: skip
    """Rounded numbers of steps, int64, not clipped; see the head of this file.

    acc                int64, values of int32
    multiplier, shift  int64 as they broadcast: multiplier 0..2^bits - 1, shift at most 31; what takes all sums below
                       half a step acts as the first that does: -32, or -33 where there is no mantissa (bits 0)
    left_overflow      "wide": where a product would pass 2^62 sums are clipped so that it does not; the result then
                       lies outside of every code, on the right side
    """
    shift = np.maximum(shift, SMALLEST_SHIFT if bits else SMALLEST_SHIFT - 1)
    left, right = np.maximum(shift, 0), np.maximum(-shift, 0)
    if left_shift == "before":
        if left_overflow == "wide":
            reach = LARGEST_PRODUCT // np.maximum(multiplier << left, 1)
            acc = np.clip(acc, -reach, reach)
        acc = _shift_left(acc, left, left_overflow)
    product = acc * multiplier
    if len(roundings) == 2:
        steps = rounded_shift(rounded_shift(product, bits, roundings[0]), right, roundings[1])
    elif left_shift == "before":
        return rounded_shift(product, bits + right, roundings[0])
    else:  # one rounding at the whole shift: what is shifted to the left is taken off the shift to the right
        kept = np.minimum(left, bits)
        steps, left = rounded_shift(product, bits + right - kept, roundings[0]), left - kept
    return steps if left_shift == "before" else _shift_left(steps, left, left_overflow)


def _shift_left(values: np.ndarray, left: np.ndarray, overflow: str) -> np.ndarray:
    if overflow == "wide":
        return np.asarray(values << left)
    return fit_bits(values << left, 32, overflow)  # at most 2^31 before it, or 2^46 and fewer bits: int64 holds it


def float_steps(
    acc: np.ndarray, multiplier: np.ndarray, divisor: np.ndarray | None, zero_point: int, *, tie: str, fused: bool
) -> np.ndarray:
    """Rounded numbers of steps with the zero point that is given here (0: it comes later), float64, not clipped.

    multiplier, divisor  float32 as they broadcast; divisor None: no division
    """
    sums = acc.astype(np.float32)
    with np.errstate(all="ignore"):  # may overflow to infinity, which saturates
        if fused:
            return rounded_float(fused_multiply_add(sums, multiplier, np.float32(zero_point)), tie)
        steps = sums * multiplier
        steps = steps if divisor is None else steps / divisor
        return rounded_float(steps + np.float32(zero_point) if zero_point else steps, tie)


def fused_multiply_add(a: np.ndarray, b: np.ndarray, c: np.ndarray | np.float32) -> np.ndarray:
    """float32(a * b + c), rounded once.

    The product is exact in float64. Their sum is rounded to odd there, so that rounding it again to float32 is the same
    as rounding once (Boldo and Melquiond 2008): of 53 bits at least 24 + 2 are needed.

    >>> one = np.float32(1 + 2.0**-12)
    >>> float(fused_multiply_add(one, one, np.float32(-1))), float(one * one - np.float32(1))
    (0.0004883408546447754, 0.00048828125)
    """
    product, addend = np.asarray(a, np.float64) * np.asarray(b, np.float64), np.asarray(c, np.float64)
    with np.errstate(all="ignore"):
        total = np.asarray(product + addend)
        virtual = total - product
        error = (product - (total - virtual)) + (addend - virtual)
        is_even = (total.view(np.int64) & 1) == 0
        towards = np.where(error > 0, np.inf, -np.inf)
        odd = np.where(np.isfinite(total) & (error != 0) & is_even, np.nextafter(total, towards), total)
        return np.asarray(odd.astype(np.float32))


def check_sums(acc: np.ndarray) -> np.ndarray:
    """Sums as int64; RangeError where they are no int32."""
    if acc.dtype.kind not in "iu":
        raise RangeError(f"requantize: sums must be integers. Got {acc.dtype.name} instead")
    values = acc.astype(np.int64)
    if values.size and (values.max() > INT32_MAX or values.min() < -INT32_MAX - 1):
        raise RangeError(f"requantize: sums must lie in int32. Got {int(values.min())}..{int(values.max())} instead")
    return values
