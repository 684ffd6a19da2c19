"""float32 arithmetic of the instruction sets, in the interface that the convolution template uses.

One product is added at a time: sum = fma(x, w, sum), rounded once, in the order of the template's loop. The
order is the same on every instruction set, so all give equal bits; "generic" computes it in float64.

Quantize without a division: a product that proves itself, for kernels that do more than quantize.

numerics.quantize divides: rint(x / scale). x * (1 / scale) lies within three roundings of the quotient, so what the
definition rounds lies between v * (1 - MARGIN) and v * (1 + MARGIN). Where both round to the same integer that is the
definition's; where they do not (once in some ten thousand numbers) the caller divides.

Vectors of the definition's float sums (numerics.lane_sum): 16 lanes, whatever the CPU's width, then a tree.

Tests: tests/codegen/kernels/conv/test_conv2d_float.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from tvm import tirx
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.isa.generic import GENERIC, Instructions
from tvmq.codegen.kernels.parts.builder import Buffer, Expr, bind, const, fence, llvm, load, spread, store, vector_type
from tvmq.codegen.kernels.parts.fused_multiply_add import fused_multiply_add
from tvmq.codegen.kernels.parts.kernel_types import Clip, Epilogue, Isa
from tvmq.codegen.kernels.parts.loops import plain_vectors, tail_pieces
from tvmq.errors import BuildError
from tvmq.numerics.float_sum import LANES

FLOAT = vector_type("float32", LANES)


def spread_float(value: float | np.floating) -> Expr:
    """A float32 number in all lanes."""
    return spread(float(value), LANES, "float32")


def sum_halves(vector: Expr, combine: Callable[[Expr, Expr], Expr]) -> Expr:
    """Lane i with lane i + n / 2, until one lane is left: the tree of the definition."""
    lanes = LANES
    while lanes > 1:
        lanes //= 2
        low, high = (tirx.Shuffle([vector], [const(first + lane) for lane in range(lanes)]) for first in (0, lanes))
        vector = bind(combine(low, high))
    return vector


def load_tail(buffer: Buffer, begin: Expr, length: int) -> Expr:
    """The elements that whole vectors leave of buffer[begin : begin + length], zeros behind them."""
    count = length % LANES
    if length >= LANES:
        last = load(buffer, begin + (length - LANES), FLOAT)
        turned = tirx.Shuffle([last], [const((LANES - count + lane) % LANES) for lane in range(LANES)])
        return keep_first_lanes(count, turned)
    scratch = T.alloc_buffer((LANES,), "float32")
    store(scratch, 0, spread_float(0.0), LANES)
    for offset, lanes in tail_pieces(count, LANES):
        store(scratch, offset, load(buffer, begin + offset, vector_type("float32", lanes)), lanes)
    return load(scratch, 0, FLOAT)


def keep_first_lanes(count: int, vector: Expr) -> Expr:
    """The first lanes of a vector, zeros behind them."""
    return bind(T.Select(T.ramp(0, 1, LANES) < spread(count, LANES), vector, spread_float(0.0)))


class FloatVectors(Instructions):
    """Vectors of float32 of one instruction set.

    kind  type name of a vector
    """

    taps = 1
    x_dtype = "float32"
    w_dtype = "float32"
    dot_cycles = 0.5
    dot_temporaries = 1

    def __init__(self, isa: Isa, lanes: int | None = None) -> None:
        ins = instructions(isa)
        self._isa, self.name = isa, ins.name
        self.registers, self.step_cycles = ins.registers, ins.step_cycles
        self.vector_bytes = 4 * (lanes or ins.lanes)
        self.kind = vector_type("float32", self.lanes)
        self._fma = f"llvm.fma.v{self.lanes}f32" if self.lanes > 1 else "llvm.fma.f32"

    def limit_lanes(self, count: int) -> FloatVectors:
        """Vectors of at most `count` lanes, a power of two."""
        return float_vectors(self._isa, min(self.lanes, 1 << (count.bit_length() - 1)))

    def broadcast(self, buffer: Buffer, offset: Expr) -> Expr:
        """Vector with one element in all lanes."""
        return bind(spread(buffer[offset], self.lanes))

    def dot(self, sums: Expr, x: Expr, w: Expr) -> Expr:
        """sums + x * w, rounded once."""
        if self.name == "generic":
            return fused_multiply_add(x, w, sums, bind, self.lanes)
        return llvm(self.kind, self._fma, x, w, sums)

    def channel_order(self, count: int) -> np.ndarray:
        """Channels stand in the order of memory."""
        return np.arange(count * self.lanes).reshape(count, self.lanes)


@lru_cache(maxsize=64)
def float_vectors(isa: Isa, lanes: int | None = None) -> FloatVectors:
    """The vectors of an instruction set, of all or of fewer lanes."""
    return FloatVectors(isa, lanes)


def clip_of(epilogue: Epilogue, template: str) -> Clip:
    """The one Clip of a float epilogue; without bounds if there is none.

    raises  BuildError for other steps
    """
    if not epilogue:
        return Clip(-np.inf, np.inf)
    if len(epilogue) > 1 or not isinstance(epilogue[0], Clip):
        steps = ", ".join(type(step).__name__ for step in epilogue)
        raise BuildError(f"kernels, {template}: a float epilogue is one Clip or nothing. Got {steps}")
    return epilogue[0]


def clip(value: Expr, bounds: Clip, lanes: int) -> Expr:
    """min(max(value, low), high); NaN stays NaN."""
    # x86 takes the second operand where one is NaN, TVM's max and min do the same
    if bounds.low > -np.inf:
        value = T.max(spread(float(bounds.low), lanes, "float32"), value)
    if bounds.high < np.inf:
        value = T.min(spread(float(bounds.high), lanes, "float32"), value)
    return value


def check_arrays(
    template: str, weight: np.ndarray, shape: Sequence[int], bias: np.ndarray | None, filters: int
) -> None:
    """Raise BuildError unless weight is float32 of that shape and bias None or float32 [filters]."""
    if weight.dtype != np.float32 or weight.shape != tuple(shape):
        raise BuildError(
            f"kernels, {template}: weights must be float32 {tuple(shape)}. Got {weight.dtype} {weight.shape}"
        )
    if bias is not None and (bias.dtype != np.float32 or bias.shape != (filters,)):
        got = f"{bias.dtype} {bias.shape}"
        raise BuildError(f"kernels, {template}: bias must be float32 ({filters},). Got {got}")


# Adding it to a float32 of magnitude below 2^22 rounds it to an integer, half to even, that stands in the bits below
ROUNDER, ROUNDER_BITS = 1.5 * 2.0**23, 0x4B400000
MARGIN = 2.0**-21
INT = vector_type("int32", LANES)
# Whose inverse is a normal number, and zero times it zero
LEAST_SCALE, MOST_SCALE = 2.0**-100, 2.0**100


@dataclass(frozen=True)
class CodeLimits:
    """Limits of the codes of a quantize with one scale."""

    zero_point: int
    qmin: int
    qmax: int
    dtype: str


def inverse(scale: Buffer) -> Expr:
    """1 / scale in all lanes, for `quantize_by_reciprocal`."""
    return bind(spread(const(1.0, "float32") / scale[0], LANES))


def quantize_by_reciprocal(value: Expr, factor: Expr, codes: CodeLimits) -> tuple[Expr, Expr]:
    """Codes of a vector of LANES float32, and bits of which one is set where they may be wrong."""
    low, high = (spread_float(limit - codes.zero_point) for limit in (codes.qmin, codes.qmax))
    # the order of operands makes NaN the lowest code
    steps = bind(T.min(T.max(value * factor, low), high))
    least, most = (
        bind(T.reinterpret(INT, bind(fence(steps * spread_float(1 + side * MARGIN) + spread_float(ROUNDER)))))
        for side in (-1, 1)
    )
    shifted = least + spread(codes.zero_point - ROUNDER_BITS, LANES)
    return bind(T.Cast(vector_type(codes.dtype, LANES), shifted)), T.bitwise_xor(least, most)


def quantize_by_division(value: Expr, scale: Buffer, codes: CodeLimits, lanes: int) -> Expr:
    """Codes of a vector by the definition's steps."""
    return quantize_vector(GENERIC, value, scale, lanes, codes.zero_point, (codes.qmin, codes.qmax), codes.dtype)


def any_bit(bits: Expr) -> Expr:
    """True if any bit of a vector is set."""
    return sum_halves(bits, T.bitwise_or) != const(0)


def quantize_vector(
    ins: Instructions,
    value: Expr,
    scale: Buffer,
    lanes: int,
    zero_point: int,
    limits: tuple[int, int],
    dtype: str,
) -> Expr:
    """Codes of a vector of float32: clip(rint(value / scale)) + zero_point.

    Clipping before rounding gives the same, as both limits are integers, and leaves numbers that every
    conversion can take. The order of the operands of max makes NaN the lowest code.
    """
    low, high = (spread(float(limit - zero_point), lanes, "float32") for limit in limits)
    steps = value / spread(scale[0], lanes)
    inside = T.min(T.max(steps, low), high)
    rounded = plain_vectors(lanes).to_int32(inside) if lanes != ins.lanes else ins.to_int32(inside)
    return bind(T.Cast(vector_type(dtype, lanes), rounded + spread(zero_point, lanes)))
