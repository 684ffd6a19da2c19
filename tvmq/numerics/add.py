"""Residual add of two quantized tensors of different scales, in integers only; as TFLite adds them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from tvmq.errors import AccumulatorError, RangeError
from tvmq.numerics.codes import INT32_MAX, Number, check_zero_point, code_limits, largest_code
from tvmq.numerics.requantize import fixed_point_multiply
from tvmq.numerics.requantize_factors import fixed_point_parameters

LARGEST_SHIFT = 22  # more would gain nothing: the error bound is 6e-5 steps there
INT16_SHIFT = 14  # of 8-bit codes; less would cost too much: the error bound is 0.016 steps there
SUMMAND_SHIFT = 20  # TFLite: bits by which 8-bit codes are shifted to the left before they are rescaled


class AddParams(NamedTuple):
    """The constants of `add`, as `add_params` computes them.

    a_multiplier, b_multiplier  int32; scale of that side / scale of the result, times 2^shift
    offset                      int32; what the zero points of both sides come to, and the half that rounds
    shift                       bits by which the sum is shifted to the right

    >>> params = AddParams(a_multiplier=2, b_multiplier=1, offset=0, shift=1)
    >>> add(np.int8([3]), np.int8([4]), **params._asdict(), zero_point=0, dtype=np.int8)
    array([5], dtype=int8)
    """

    a_multiplier: int
    b_multiplier: int
    offset: int
    shift: int


def add(
    a: np.ndarray,
    b: np.ndarray,
    *,
    a_multiplier: int,
    b_multiplier: int,
    offset: int,
    shift: int,
    zero_point: int,
    dtype: DTypeLike,
    qmin: int | None = None,
    qmax: int | None = None,
) -> np.ndarray:
    """q = clip(((a * a_multiplier + b * b_multiplier + offset) >> shift) + zero_point, qmin, qmax).

    a, b      uint8, int8 or int16 codes that broadcast against each other
    others    integers as `add_params` gives them
    returns   dtype, broadcast shape
    raises    AccumulatorError if codes of these types could take a sum out of int32,
              RangeError for a shift outside 0..31 or a zero point outside qmin..qmax
    order     all in int32, the shift is arithmetic (towards minus infinity); offset holds the zero points
              of a and b and the half that makes the shift round half up

    >>> params = add_params(0.5, 0, 0.25, 10, 0.5)
    >>> add(np.uint8([4, 200]), np.uint8([14, 250]), **params._asdict(), zero_point=1, dtype="uint8")
    array([  7, 255], dtype=uint8)
    """
    a, b = np.asarray(a), np.asarray(b)
    low, high = code_limits(dtype, qmin, qmax)
    zero_point = int(check_zero_point(zero_point, low, high))
    if not 0 <= shift <= 31:
        raise RangeError(f"add: shift must lie in 0..31. Got {shift} instead")
    reach = largest_code(a) * abs(a_multiplier) + largest_code(b) * abs(b_multiplier) + abs(offset)
    if reach > INT32_MAX:
        raise AccumulatorError(
            f"add: the sum can reach {reach}, int32 ends at {INT32_MAX}; use the constants of add_params"
        )
    total = np.asarray(np.multiply(a, np.int32(a_multiplier), dtype=np.int32))
    total = np.asarray(total + np.multiply(b, np.int32(b_multiplier), dtype=np.int32))
    total += np.int32(offset)
    total >>= np.int32(shift)
    np.clip(total, low - zero_point, high - zero_point, out=total)
    total += np.int32(zero_point)
    return np.asarray(total.astype(dtype))


def add_params(
    scale_a: Number,
    zero_a: Number,
    scale_b: Number,
    zero_b: Number,
    scale_y: Number,
    *,
    subtract: bool = False,
    dtypes: tuple[str, str] = ("uint8", "uint8"),
    bits: int = 32,
) -> AddParams:
    """Constants of `add` for two tensors of codes and a result of scale `scale_y`, whose type does not matter.

    With r_a = scale_a / scale_y and r_b = scale_b / scale_y (float64), multiplier = rint(r * 2^shift) and
    offset = 2^(shift-1) - zero_a * a_multiplier - zero_b * b_multiplier. `subtract` negates b_multiplier: a - b.
    dtypes  types of a and b; both 8-bit types (uint8, int8) have the same constants
    bits    width of the sums, at most 32: fewer take shifts that are smaller, and errors that are larger
    shift   8-bit codes: the largest up to 22 at which both multipliers fit int16, if that is at least 14 (so wherever
            r_a, r_b <= 1); else, and where a or b is int16, the largest up to 22 at which every partial sum fits int32:
            L_a * a_multiplier + L_b * b_multiplier + 2^(shift-1) < 2^31, L = 2 * 255 of 8-bit codes and
            32768 + |zero point| of int16
    error   a result that does not saturate is within 1/2 + (D_a + D_b) / 2^(shift+1) of the real sum, in steps of
            scale_y: each multiplier is off by at most 1/2 and D bounds a centred code: 255 of 8 bits,
            32768 + |zero point| of int16. For 8 bits that is 1/2 + 255 / 2^shift, of which the second part is at most
            0.016 where r_a + r_b <= 256, and at most 1.3e-4 * (r_a + r_b) beyond. For int16 without zero points the
            shift is at least 15 where r_a + r_b <= 1.9, 14 where it is at most 3.9: 1.5, 2.5 of 65536 steps, and only
            an error of the ratios, at most 2^-(shift+1) each, that all values share
    raises  RangeError if a scale is not positive and finite, a zero point is no code, or r_a + r_b is
            so large (about 2e6, 3e4 of int16, less of narrow sums) that no shift is left

    >>> add_params(0.5, 0, 0.25, 10, 0.5)
    AddParams(a_multiplier=16384, b_multiplier=8192, offset=-73728, shift=14)
    >>> add_params(0.5, 0, 0.25, 0, 0.5, dtypes=("int16", "int16"))
    AddParams(a_multiplier=32768, b_multiplier=16384, offset=16384, shift=15)
    """
    scales = [float(np.float32(scale)) for scale in (scale_a, scale_b, scale_y)]
    scales_text = ", ".join(f"{scale:g}" for scale in scales)
    if not all(np.isfinite(scale) and scale > 0 for scale in scales):
        raise RangeError(f"add: scales must be positive and finite. Got {scales_text} instead")
    limits = [(-(2**15), 2**15 - 1) if dtype == "int16" else (-128, 255) for dtype in dtypes]
    a_zero, b_zero = (int(check_zero_point(zero, *ends)) for zero, ends in zip((zero_a, zero_b), limits, strict=True))
    a_ratio, b_ratio = scales[0] / scales[2], scales[1] / scales[2]
    a_reach, b_reach = (_reach(dtype, zero) for dtype, zero in zip(dtypes, (a_zero, b_zero), strict=True))
    narrow = "int16" not in dtypes
    shift = _int16_shift(a_ratio, b_ratio) if narrow else None
    if shift is None or bits < 32:
        fitting = _fitting_shift(a_ratio, b_ratio, a_reach, b_reach, bits)
        shift = fitting if shift is None or fitting is None else min(shift, fitting)
    if shift is None:
        raise RangeError(
            f"add: scales {scales_text}: the inputs' are too far above the output's for int{bits}; "
            f"the output range does not fit its inputs"
        )
    a_multiplier, b_multiplier = _scale_ratio(a_ratio, shift), _scale_ratio(b_ratio, shift) * (-1 if subtract else 1)
    offset = 2 ** (shift - 1) - a_zero * a_multiplier - b_zero * b_multiplier
    return AddParams(a_multiplier, b_multiplier, offset, shift)


def _scale_ratio(ratio: float, shift: int) -> int:
    return round(ratio * 2.0**shift)  # half to even, and Python's integers cannot overflow


def _reach(dtype: str, zero: int) -> int:
    """Largest sum of the magnitudes of a code and of its zero point; for 8 bits of either type."""
    return 2**15 + abs(zero) if dtype == "int16" else 2 * 255


def _int16_shift(a_ratio: float, b_ratio: float) -> int | None:
    """The largest shift at which both multipliers fit int16; None if that costs too much."""
    for shift in range(LARGEST_SHIFT, INT16_SHIFT - 1, -1):
        if _scale_ratio(max(a_ratio, b_ratio), shift) < 2**15:
            return shift
    return None


def _fitting_shift(a_ratio: float, b_ratio: float, a_reach: int, b_reach: int, bits: int) -> int | None:
    """The largest shift at which every partial sum fits so many bits; None if there is none."""
    for shift in range(LARGEST_SHIFT, 0, -1):
        both = a_reach * _scale_ratio(a_ratio, shift) + b_reach * _scale_ratio(b_ratio, shift)
        if both + 2 ** (shift - 1) < 2 ** (bits - 1):
            return shift
    return None


class SummandTables(NamedTuple):
    """Both sides of a sum as TFLite rescales them, as `summand_tables` computes them.

    a, b   int32 (256,), an entry for each code, in the order that `table` reads
    scale  of the sums of two entries
    """

    a: np.ndarray
    b: np.ndarray
    scale: float


def summand_tables(
    scale_a: Number,
    zero_a: Number,
    scale_b: Number,
    zero_b: Number,
    *,
    subtract: bool = False,
    dtypes: tuple[str, str] = ("int8", "int8"),
) -> SummandTables:
    """The sum of two tensors as TFLite and tflite-micro define it: table(a) + table(b), then a requantize.

    With S = 2 * max(scale_a, scale_b): an entry is ((code - zero) << 20) * (scale / S), rounded by
    `fixed_point_multiply` with rounding DOUBLE; the sums have the scale S / 2^20, and so the factor of their requantize
    is S / (2^20 * scale_y), rounding DOUBLE as well. `subtract` negates the entries of b: a - b.
    dtypes  types of a and b, of 8 bits
    bounds  an entry is at most 255 * 2^19, a sum below 2^28
    raises  RangeError if a scale is not positive and finite, or a zero point is no code
    source  ADD and SUB of TFLite, the reference kernels for 8 bits

    >>> made = summand_tables(0.5, 0, 0.25, 10)
    >>> made.a[128:131], made.b[136:139], made.scale * 2**20
    (array([      0,  524288, 1048576], dtype=int32), array([-524288, -262144,       0], dtype=int32), 1.0)
    """
    scales = [float(np.float32(scale)) for scale in (scale_a, scale_b)]
    if not all(np.isfinite(scale) and scale > 0 for scale in scales):
        raise RangeError(f"add: scales must be positive and finite. Got {scales[0]:g}, {scales[1]:g} instead")
    twice, entries = 2 * max(scales), []
    for scale, zero, dtype in zip(scales, (zero_a, zero_b), dtypes, strict=True):
        limits = np.iinfo(dtype)
        codes = np.arange(limits.min, limits.max + 1, dtype=np.int32)
        steps = codes - check_zero_point(zero, int(limits.min), int(limits.max))
        multiplier, shift = fixed_point_parameters(scale / twice)
        entries.append(fixed_point_multiply(steps << SUMMAND_SHIFT, multiplier, shift, rounding="DOUBLE"))
    sign = -1 if subtract else 1
    return SummandTables(entries[0].astype(np.int32), (sign * entries[1]).astype(np.int32), twice / 2**SUMMAND_SHIFT)
