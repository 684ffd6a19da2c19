"""Instructions in plain TIR, for any CPU that LLVM knows; the interface that other instruction sets refine.

Codes     vectors of vector_bytes uint8 or int8 lanes, in the order of memory
Sums      vectors of int32 lanes, vector_bytes / 4 of them ("lanes"); four of them make one vector of codes
Exactness every method gives the bits of tvmq.numerics; no method may wrap or leave its range unsaid

Tests: tests/codegen/kernels/conv/test_conv2d.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from tvm import tirx
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa import semantics
from tvmq.codegen.kernels.isa.semantics import means
from tvmq.codegen.kernels.parts.builder import Buffer, Expr, bind, const, spread, vector_type
from tvmq.codegen.kernels.parts.kernel_types import AddStep


class Instructions:
    """Interface of an instruction set for the templates; all values are TIR expressions.

    name          as in Isa
    arch          architecture that alone has it ("x86", "aarch64"); empty for any
    features      LLVM names of the CPU features needed
    vector_bytes  width of a vector
    registers     number of vector registers
    taps          products that `dot` adds to each lane
    x_dtype       type in which `dot` takes activations: "uint8", "int8", or "int16" (codes widened by a copy)
    w_dtype       type in which `dot` takes weights: "int8" or "int16"
    dot_cycles    issue time of `dot`, for the choice of tiles (only ratios matter)
    step_cycles   what a step costs besides, in that unit: for each pixel, for each vector of weights, in all
    dot_temporaries  registers that the loop of a tile needs besides sums and weights
    has_dot_int16    True if there is a `dot_int16`
    row_step      pixels that one instruction multiplies: 1, or 2 (see PixelPairs)
    packs_remainders   True if steps of 4 bytes may hold taps of several kernel rows (see remainder_taps)
    takes_int16    True if activations are codes of 16 bits (see `int16_operands`)
    has_matrix_tiles   True if it has those of isa/amx.py
    lane_form     the same CPU with products in int16 lanes (see int16_accumulation), where these are faster than `dot`
    """

    name = "generic"
    arch = ""
    features: tuple[str, ...] = ()
    vector_bytes = 16
    registers = 16
    taps = 1
    x_dtype = "int16"
    w_dtype = "int16"
    dot_cycles = 1.5
    step_cycles = (0.25, 0.7, 1.0)
    row_step = 1
    dot_temporaries = 6  # widened operands; fuller tiles spill and run at a third of the speed
    has_dot_int16 = False
    packs_remainders = False
    takes_int16 = False
    has_matrix_tiles = False

    @property
    def lane_form(self) -> Any:
        """See above; None unless an instruction set says otherwise."""
        return None

    @property
    def lanes(self) -> int:
        """Lanes of a vector of int32 or float32."""
        return self.vector_bytes // 4

    @property
    def products(self) -> Instructions:
        """Instructions for products of several pixels with constant weights: these, or those for pairs of pixels."""
        return self

    @property
    def half_width(self) -> Instructions | None:
        """Instructions on vectors of half the width, which fewer channels fill; None if that does not pay."""
        return None

    @property
    def full_width(self) -> Instructions:
        """Instructions for steps over codes, whose vectors are always full: these, or those that these are half of."""
        return self

    @property
    def key(self) -> tuple[str, str]:
        """Names that code depends on: its own, and that of the whole, whose instructions steps over codes take."""
        return self.name, self.full_width.name

    @property
    def int16_operands(self) -> Instructions:
        """Instructions for codes of 16 bits with weights of 8, which are kept as int16: exact within int32."""
        return self

    def tile_registers(self, rows: int, columns: int) -> int:
        """Registers of the loop of a tile."""
        return (rows + 1) * columns + self.dot_temporaries

    @property
    def takes_bytes(self) -> bool:
        """True if `dot` takes activations of 8 bits."""
        return self.x_dtype != "int16"

    def shift_of(self, dtype: str) -> int:
        """Offset that makes codes of a type those that `dot` takes: 128 or -128 where signedness differs.

        Both flip the highest bit.
        """
        if not self.takes_bytes or dtype == self.x_dtype:
            return 0
        return 128 if dtype == "int8" else -128

    @means(semantics.broadcast)
    def broadcast(self, buffer: Buffer, offset: Expr) -> Expr:
        """`taps` neighbouring activations of a flat x_dtype buffer, in all lanes (vector of taps * lanes)."""
        return bind(spread(buffer.vload([offset], vector_type(self.x_dtype, self.taps)), self.lanes))

    @means(semantics.dot)
    def dot(self, sums: Expr, x: Expr, w: Expr) -> Expr:
        """sums[lane] + sum over taps of x[taps * lane + t] * w[taps * lane + t]; must stay within int32."""
        kind = vector_type("int32", self.lanes)
        return sums + T.Cast(kind, x) * T.Cast(kind, w)

    @means(semantics.dot_int16)
    def dot_int16(self, sums: Expr, x: Expr, w: Expr) -> Expr:
        """sums[lane] + x[2 * lane] * w[2 * lane] + x[2 * lane + 1] * w[2 * lane + 1] of int16, modulo 2^32."""
        raise NotImplementedError(self.name)

    @means(semantics.to_int32)
    def to_int32(self, value: Expr, lanes: int | None = None) -> Expr:
        """float32 to int32, half to even; undefined unless -2^31 <= value < 2^31."""
        return T.Cast(vector_type("int32", lanes or self.lanes), T.nearbyint(value))

    @means(semantics.to_int32_saturated)
    def to_int32_saturated(self, value: Expr) -> Expr:
        """`to_int32` of any float32 but NaN; beyond +-2^30 some number beyond every code."""
        limit = float(2**30)
        inside = T.min(T.max(value, spread(-limit, self.lanes, "float32")), spread(limit, self.lanes, "float32"))
        return self.to_int32(inside)

    def channel_order(self, count: int) -> np.ndarray:
        """Channel, of count * lanes, that stands at [vector, lane] so that `narrow_vectors` gives them in order."""
        return np.arange(count * self.lanes).reshape(count, self.lanes)

    @means(semantics.narrow_vectors)
    def narrow_vectors(self, vectors: Sequence[Expr], zero_point: int, dtype: str) -> Expr:
        """Codes of 1, 2 or 4 vectors of int32 in `channel_order`: value + zero_point, saturated to dtype.

        Exact for every int32 value and zero points within -256..256.
        """
        parts = [self._saturate(vector, self.lanes, zero_point, dtype) for vector in vectors]
        return concatenate(parts, dtype, self.lanes)

    @means(semantics.keep_rows)
    def rows_in_order(self, codes: Expr, count: int, dtype: str) -> Expr:
        """Codes of 4 / count rows, narrowed together from `count` vectors of each, row after row."""
        return codes

    @means(semantics.add)
    def add(self, a: Expr, b: Expr, step: AddStep, a_dtype: str = "uint8") -> Expr:
        """numerics.add of two vectors of vector_bytes codes."""
        return add_lanes(a, b, step, self.vector_bytes)

    @means(semantics.lookup)
    def lookup(self, table: Buffer, dtype: str) -> Callable[[Expr], Expr]:
        """Function from uint8 codes to entries of a flat table of 256; ask for it outside of loops."""

        def find(codes: Expr) -> Expr:
            return table[T.Cast(vector_type("int32", self.vector_bytes), codes)]

        return find

    def _saturate(self, vector: Expr, lanes: int, zero_point: int, dtype: str) -> Expr:
        limits = np.iinfo(dtype)
        low, high = (spread(int(limit) - zero_point, lanes) for limit in (limits.min, limits.max))
        inside = T.min(T.max(vector, low), high)
        return T.Cast(vector_type(dtype, lanes), inside + spread(zero_point, lanes))


class PixelPairs(Protocol):
    """Methods of instructions of row_step 2, instead of `broadcast` and `dot`: sums of two pixels in two vectors."""

    def two_pixels(self, buffer: Buffer, first: Expr, second: Expr) -> Expr:
        """`taps` neighbouring activations of each of two pixels."""

    def dot_pair(self, a: Expr, b: Expr, x: Expr, w: Expr) -> tuple[Expr, Expr]:
        """The sums of two pixels and the products of both with a vector of weights."""

    def exchange_halves(self, a: Expr, b: Expr) -> tuple[Expr, Expr]:
        """The sums of two pixels, a vector each, as `dot_pair` takes them; or back."""


def add_lanes(a: Expr, b: Expr, step: AddStep, lanes: int) -> Expr:
    """numerics.add in plain TIR, of vectors of `lanes` codes or (lanes = 1) of scalars."""
    kind = vector_type("int32", lanes)
    total = T.Cast(kind, a) * spread(step.a_multiplier, lanes) + T.Cast(kind, b) * spread(step.b_multiplier, lanes)
    total = T.shift_right(total + spread(step.offset, lanes), spread(step.shift, lanes))
    inside = T.min(T.max(total, spread(step.qmin - step.zero_point, lanes)), spread(step.qmax - step.zero_point, lanes))
    return T.Cast(vector_type(step.dtype, lanes), inside + spread(step.zero_point, lanes))


def concatenate(vectors: Sequence[Expr], dtype: str, lanes: int) -> Expr:
    """The vectors (of `lanes` lanes each) one after the other."""
    if len(vectors) == 1:
        return vectors[0]
    return tirx.Shuffle([bind(vector) for vector in vectors], [const(lane) for lane in range(len(vectors) * lanes)])


def clip_codes(codes: Expr, dtype: str, qmin: int, qmax: int, lanes: int) -> Expr:
    """Codes limited to qmin..qmax; no instruction where the type already limits them."""
    limits = np.iinfo(dtype)
    if qmin > limits.min:
        codes = T.max(codes, spread(qmin, lanes, dtype))
    if qmax < limits.max:
        codes = T.min(codes, spread(qmax, lanes, dtype))
    return codes


GENERIC = Instructions()
