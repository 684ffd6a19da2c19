"""Quantize without a division: a product that proves itself, for kernels that do more than quantize.

numerics.quantize divides: rint(x / scale). x * (1 / scale) lies within three roundings of the quotient, so what the
definition rounds lies between v * (1 - MARGIN) and v * (1 + MARGIN). Where both round to the same integer that is the
definition's; where they do not (once in some ten thousand numbers) the caller divides.
"""

from __future__ import annotations

from dataclasses import dataclass

from tvm.script.ir_builder import tirx as T

from tvmq.kernels.elementwise.convert import quantize_vector
from tvmq.kernels.isa.generic import GENERIC
from tvmq.kernels.parts.builder import Buffer, Expr, bind, const, fence, spread, vector_type
from tvmq.kernels.parts.lane_sum import LANES, real, sum_halves

# Adding it to a float32 of magnitude below 2^22 rounds it to an integer, half to even, that stands in the bits below
ROUNDER, ROUNDER_BITS = 1.5 * 2.0**23, 0x4B400000
MARGIN = 2.0**-21
INT = vector_type("int32", LANES)
# Whose inverse is a normal number, and zero times it zero
LEAST_SCALE, MOST_SCALE = 2.0**-100, 2.0**100


@dataclass(frozen=True)
class Codes:
    """What a quantize with one scale gives."""

    zero_point: int
    qmin: int
    qmax: int
    dtype: str


def inverse(scale: Buffer) -> Expr:
    """1 / scale in all lanes, for `quantize_by_reciprocal`."""
    return bind(spread(const(1.0, "float32") / scale[0], LANES))


def quantize_by_reciprocal(value: Expr, factor: Expr, codes: Codes) -> tuple[Expr, Expr]:
    """Codes of a vector of LANES float32, and bits of which one is set where they may be wrong."""
    low, high = (real(limit - codes.zero_point) for limit in (codes.qmin, codes.qmax))
    # the order of operands makes NaN the lowest code
    steps = bind(T.min(T.max(value * factor, low), high))
    least, most = (
        bind(T.reinterpret(INT, bind(fence(steps * real(1 + side * MARGIN) + real(ROUNDER))))) for side in (-1, 1)
    )
    shifted = least + spread(codes.zero_point - ROUNDER_BITS, LANES)
    return bind(T.Cast(vector_type(codes.dtype, LANES), shifted)), T.bitwise_xor(least, most)


def quantize_by_division(value: Expr, scale: Buffer, codes: Codes, lanes: int) -> Expr:
    """Codes of a vector by the definition's steps."""
    return quantize_vector(GENERIC, value, scale, lanes, codes.zero_point, (codes.qmin, codes.qmax), codes.dtype)


def any_bit(bits: Expr) -> Expr:
    """True if any bit of a vector is set."""
    return sum_halves(bits, T.bitwise_or) != const(0)
