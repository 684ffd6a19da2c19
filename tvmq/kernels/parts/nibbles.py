"""Weights that a kernel reads two to a byte: half the memory of int8, an eighth of float32.

Order      that of the packed weights (see packing), the first of two in the low half of a byte (numerics.pack_int4)
Unpacking  a byte is widened to two lanes, shifted against itself and masked: lane 2i is its low half, lane 2i + 1 its
           high one; (half ^ 8) - 8 gives the sign. Five instructions a vector on every instruction set
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq import numerics
from tvmq.kernels.isa.generic import Instructions
from tvmq.kernels.parts.builder import Buffer, Expr, bind, load, spread, vector_type


@dataclass(frozen=True, eq=False)
class Narrow:
    """Float weights that are codes of at most 4 bits times scales: numerics.group_dequantize along the reduction.

    codes       int8 [filters, channels / groups, kernel rows, kernel columns], in -8..7
    scale       float32 [groups of the reduction, filters]
    group_size  input channels of a group, of a 1 x 1 convolution; all of the reduction if there is one group
    """

    codes: np.ndarray
    scale: np.ndarray
    group_size: int


class Nibbles:
    """Vectors of `ins.lanes * ins.taps` weights, in the type in which `dot` takes them."""

    def __init__(self, ins: Instructions) -> None:
        self.count = ins.lanes * ins.taps
        self.bits = 8 * np.dtype(ins.w_dtype).itemsize
        self.is_float = ins.w_dtype == "float32"

    def vector(self, buffer: Buffer, begin: Expr) -> Expr:
        """The weights from weight `begin`, a multiple of `count`, of a flat buffer of bytes; int32 lanes for floats."""
        half, pair = self.count // 2, f"int{2 * self.bits}"
        data = load(buffer, T.floordiv(begin, 2) if not isinstance(begin, int) else begin // 2, f"uint8x{half}")
        words = bind(T.Cast(f"{pair}x{half}", data))
        both = T.bitwise_or(words, T.shift_left(words, spread(self.bits - 4, half, pair)))
        halves = T.bitwise_and(both, spread(15 | 15 << self.bits, half, pair))
        kind = f"int{self.bits}"
        lanes = T.reinterpret(vector_type(kind, self.count), halves)
        sign = spread(8, self.count, kind)
        return bind(T.bitwise_xor(lanes, sign) - sign)

    def real(self, codes: Expr, scale: Expr) -> Expr:
        """float32 of codes: the product is rounded once, numerics.dequantize."""
        return bind(T.Cast(vector_type("float32", self.count), codes) * scale)


def nibbles_for(weight: np.ndarray, ins: Instructions) -> Nibbles | None:
    """How a kernel reads these integer weights; None for weights of more than 4 bits."""
    return Nibbles(ins) if weight.size and numerics.fits_int4(weight) else None


def weight_parameter(count: int, ins: Instructions, nibbles: Nibbles | None) -> tuple[tuple[int], str]:
    """Shape and type of the buffer of so many weights."""
    return ((count,), ins.w_dtype) if nibbles is None else ((count // 2,), "uint8")
