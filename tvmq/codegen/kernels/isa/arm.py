"""64-bit Arm: 16-byte vectors, 32 registers; three levels.

neon      smull + sadalp: two int8 products a lane in int16, added pairwise to int32; exact, as -128 * -128 fits int16
          (every 64-bit Arm CPU)
dotprod   sdot: four int8 x int8 products a lane (Armv8.2: Cortex-A76 2018, Neoverse N1 2019, Apple A13)
i8mm      usdot: the same for uint8 x int8; usmmla for products with constant weights, twice as many products an
          instruction (Armv8.6: Neoverse V1 2020, N2, Cortex-A510, Apple A15)

Activations  int8 for neon and dotprod: uint8 codes arrive as q - 128 and the bias makes up for it; uint8 for i8mm
Narrowing    sqxtn, sqxtun saturate and keep the order of lanes, so no channel is permuted
Tables       tbl and three tbx of 64 bytes each
Rates        not measured here; of Arm's software optimization guides: Cortex-A72 one smull and one sadalp a cycle,
             Cortex-A76 and Neoverse N1 two sdot a cycle of latency 4 (1 between sums), two 16-byte loads a cycle

Tests: tests/codegen/custom_lowering/test_libraries.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa import semantics
from tvmq.codegen.kernels.isa.generic import Instructions, add_lanes, clip_codes, concatenate
from tvmq.codegen.kernels.isa.semantics import means
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    bind,
    llvm,
    load,
    slice_lanes,
    spread,
    vector_type,
    wrapping_operation,
)
from tvmq.codegen.kernels.parts.kernel_types import AddStep

INT16_MAX, INT32_MAX = 2**15 - 1, 2**31 - 1
TABLE_BYTES = 64  # that one tbl looks up


class Neon(Instructions):
    """Instructions of any aarch64; see the head of this file."""

    name = "neon"
    arch = "aarch64"
    features: tuple[str, ...] = ("neon",)
    vector_bytes = 16
    registers = 32
    taps = 2
    x_dtype = "int8"
    w_dtype = "int8"
    dot_cycles = 1.0
    step_cycles = (0.1, 0.1, 0.5)
    dot_temporaries = 3  # activations and two products

    @property
    def int16_operands(self) -> Instructions:
        return NEON_WORDS

    def broadcast(self, buffer: Buffer, offset: Expr) -> Expr:
        """See Instructions: ld1r of the `taps` bytes as one number."""
        number = T.reinterpret(f"int{8 * self.taps}", buffer.vload([offset], vector_type(self.x_dtype, self.taps)))
        return bind(T.reinterpret(vector_type(self.x_dtype, self.taps * self.lanes), spread(number, self.lanes)))

    def dot(self, sums: Expr, x: Expr, w: Expr) -> Expr:
        """See Instructions: smull, sadalp."""
        products = llvm("int16x8", "llvm.aarch64.neon.smull.v8i16", x, w)
        pairs = llvm("int32x4", "llvm.aarch64.neon.saddlp.v4i32.v8i16", products)
        return wrapping_operation("add", sums, pairs, self.lanes)

    def to_int32(self, value: Expr, lanes: int | None = None) -> Expr:
        """See Instructions: fcvtns; what is out of range becomes the nearest int32."""
        if lanes not in (None, self.lanes):
            return super().to_int32(value, lanes)
        return llvm("int32x4", "llvm.aarch64.neon.fcvtns.v4i32.v4f32", value)

    def to_int32_saturated(self, value: Expr) -> Expr:
        """See Instructions: `to_int32` saturates by itself."""
        return self.to_int32(value)

    def narrow_vectors(self, vectors: Sequence[Expr], zero_point: int, dtype: str) -> Expr:
        if len(vectors) == 1:
            return self._saturate(vectors[0], self.lanes, zero_point, dtype)
        parts = [self._narrow_pair(vectors[i], vectors[i + 1], zero_point, dtype) for i in range(0, len(vectors), 2)]
        return concatenate(parts, dtype, 2 * self.lanes)

    def _narrow_pair(self, a: Expr, b: Expr, zero_point: int, dtype: str) -> Expr:
        """Eight codes of two vectors of int32: sqxtn, sqxtn2, sqadd, then sqxtun or sqxtn."""
        halves = [llvm("int16x4", "llvm.aarch64.neon.sqxtn.v4i16", vector) for vector in (a, b)]
        words = concatenate(halves, "int16", self.lanes)
        if zero_point:
            words = llvm("int16x8", "llvm.sadd.sat.v8i16", words, spread(zero_point, 8, "int16"))
        name = "sqxtun" if dtype == "uint8" else "sqxtn"
        return llvm(f"{dtype}x8", f"llvm.aarch64.neon.{name}.v8i8", words)

    def add(self, a: Expr, b: Expr, step: AddStep, a_dtype: str = "uint8") -> Expr:
        """See Instructions: smull and smlal where the multipliers fit int16."""
        multipliers = step.a_multiplier, step.b_multiplier
        reach = abs(step.offset) + 255 * sum(abs(multiplier) for multiplier in multipliers)
        if max(abs(multiplier) for multiplier in multipliers) > INT16_MAX or reach > INT32_MAX:
            return add_lanes(a, b, step, self.vector_bytes)
        words = [bind(T.Cast(vector_type("int16", self.vector_bytes), codes)) for codes in (a, b)]
        sums = [
            self._weighted_sum(words, multipliers, step, begin) for begin in range(0, self.vector_bytes, self.lanes)
        ]
        narrow = self.narrow_vectors(sums, step.zero_point, step.dtype)
        return clip_codes(narrow, step.dtype, step.qmin, step.qmax, self.vector_bytes)

    def _weighted_sum(self, words: list[Expr], multipliers: tuple[int, int], step: AddStep, begin: int) -> Expr:
        """(a * ma + b * mb + offset) >> shift of four lanes."""
        total = spread(step.offset, self.lanes)
        for vector, multiplier in zip(words, multipliers, strict=True):
            total = total + T.Cast("int32x4", slice_lanes(vector, begin, self.lanes)) * spread(multiplier, self.lanes)
        return bind(T.shift_right(total, spread(step.shift, self.lanes)))

    def lookup(self, table: Buffer, dtype: str) -> Callable[[Expr], Expr]:
        """See Instructions: an index beyond the 64 entries of a part leaves what an earlier part has found."""
        size = self.vector_bytes
        rows = [bind(T.reinterpret("uint8x16", load(table, size * i, f"{dtype}x16"))) for i in range(256 // size)]
        per_part = TABLE_BYTES // size

        def find(codes: Expr) -> Expr:
            codes = bind(codes)
            result = llvm("uint8x16", "llvm.aarch64.neon.tbl4.v16i8", *rows[:per_part], codes)
            for part in range(1, 256 // TABLE_BYTES):
                index = T.bitwise_xor(codes, spread(TABLE_BYTES * part, size, "uint8"))
                entries = rows[per_part * part : per_part * (part + 1)]
                result = bind(llvm("uint8x16", "llvm.aarch64.neon.tbx4.v16i8", result, *entries, index))
            return T.reinterpret(f"{dtype}x16", result)

        return find


class DotProd(Neon):
    """Instructions with sdot; see the head of this file."""

    name = "dotprod"
    features: tuple[str, ...] = ("neon", "dotprod")
    taps = 4
    dot_cycles = 0.5
    dot_temporaries = 2
    dot_name = "llvm.aarch64.neon.sdot.v4i32.v16i8"

    def dot(self, sums: Expr, x: Expr, w: Expr) -> Expr:
        return llvm("int32x4", self.dot_name, sums, x, w)


class I8MM(DotProd):
    """Instructions with usdot and usmmla; see the head of this file."""

    name = "i8mm"
    features = ("neon", "dotprod", "i8mm")
    x_dtype = "uint8"
    dot_name = "llvm.aarch64.neon.usdot.v4i32.v16i8"

    @property
    def products(self) -> Instructions:
        return MATRIX


class Matrix(I8MM):
    """usmmla: eight taps of two pixels times two channels; a vector of weights is two registers.

    Sums of pixels p, q and channels 0..3 stand as [p0, p1, q0, q1] and [p2, p3, q2, q3].
    """

    taps = 8
    row_step = 2

    def tile_registers(self, rows: int, columns: int) -> int:
        return (rows + rows % 2 + 2) * columns + self.dot_temporaries

    @means(semantics.two_pixels)
    def two_pixels(self, buffer: Buffer, first: Expr, second: Expr) -> Expr:
        pixels = [buffer.vload([offset], vector_type(self.x_dtype, self.taps)) for offset in (first, second)]
        return bind(concatenate(pixels, self.x_dtype, self.taps))

    @means(semantics.dot_pair)
    def dot_pair(self, a: Expr, b: Expr, x: Expr, w: Expr) -> tuple[Expr, Expr]:
        name, size = "llvm.aarch64.neon.usmmla.v4i32.v16i8", self.vector_bytes
        low, high = (llvm("int32x4", name, sums, x, slice_lanes(w, begin, size)) for sums, begin in ((a, 0), (b, size)))
        return low, high

    @means(semantics.exchange_halves)
    def exchange_halves(self, a: Expr, b: Expr) -> tuple[Expr, Expr]:
        halves = ((a, 0), (b, 0)), ((a, 2), (b, 2))
        first, second = (concatenate([slice_lanes(v, i, 2) for v, i in half], "int32", 2) for half in halves)
        return bind(first), bind(second)


class NeonWords(Neon):
    """Codes of 16 bits, of every level: one product a lane, smlal."""

    name = "neon_words"
    taps = 1
    x_dtype = "int16"
    w_dtype = "int16"
    dot_cycles = 1.0
    takes_int16 = True

    @property
    def int16_operands(self) -> Instructions:
        return self

    def broadcast(self, buffer: Buffer, offset: Expr) -> Expr:
        """See Instructions: ld1r."""
        return bind(spread(buffer.vload([offset], "int16"), self.lanes, "int16"))

    def dot(self, sums: Expr, x: Expr, w: Expr) -> Expr:
        return sums + llvm("int32x4", "llvm.aarch64.neon.smull.v4i32", x, w)


NEON = Neon()
NEON_WORDS = NeonWords()
DOTPROD = DotProd()
I8MM_LEVEL = I8MM()
MATRIX = Matrix()
