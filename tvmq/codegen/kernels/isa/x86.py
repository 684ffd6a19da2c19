"""Instructions that AVX2 and AVX-512 have in common, at 32 and 64 bytes, under two sets of names.

Packs and unpacks work inside 128-bit blocks. Packing four vectors of sums interleaves their blocks, so a
template permutes its channels (weights, bias, multiplier) by `channel_order` when it packs them, and codes
come out in order.

Tests: tests/codegen/kernels/test_isa.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from tvm import tirx
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa import semantics
from tvmq.codegen.kernels.isa.generic import Instructions, add_lanes, clip_codes, concatenate
from tvmq.codegen.kernels.isa.semantics import means
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    bind,
    const,
    llvm,
    load,
    spread,
    vector_type,
    wrapping_operation,
)
from tvmq.codegen.kernels.parts.kernel_types import AddStep

INT16_MAX, INT32_MAX = 2**15 - 1, 2**31 - 1


class X86(Instructions):
    """Instructions shared by all levels; `dot` multiplies int16 pairs (vpmaddwd): exact for 8-bit codes.

    The *_name fields hold the LLVM names of instructions that differ between the levels.
    """

    arch = "x86"
    taps = 2
    x_dtype = "int16"
    w_dtype = "int16"
    dot_cycles = 1.0
    step_cycles = (0.03, 0.1, 0.25)
    dot_temporaries = 3
    has_dot_int16 = True
    packs_remainders = True
    multiply_pairs_name = ""
    multiply_bytes_name = ""
    pack_int16_name = ""
    pack_unsigned_name = ""
    pack_signed_name = ""
    shuffle_bytes_name = ""

    def broadcast(self, buffer: Buffer, offset: Expr) -> Expr:
        """See Instructions: one broadcast of four bytes from memory."""
        four_bytes = T.reinterpret("int32", buffer.vload([offset], vector_type(self.x_dtype, self.taps)))
        kind = vector_type(self.x_dtype, self.taps * self.lanes)
        return bind(T.reinterpret(kind, spread(four_bytes, self.lanes)))

    def dot(self, sums: Expr, x: Expr, w: Expr) -> Expr:
        return sums + self.multiply_pairs(x, w)

    @means(semantics.multiply_pairs)
    def multiply_pairs(self, a: Expr, b: Expr) -> Expr:
        """vpmaddwd: a[2i] * b[2i] + a[2i+1] * b[2i+1] of int16 lanes, as int32."""
        return llvm(vector_type("int32", self.lanes), self.multiply_pairs_name, a, b)

    def dot_int16(self, sums: Expr, x: Expr, w: Expr) -> Expr:
        return wrapping_operation("add", sums, self.multiply_pairs(x, w), self.lanes)

    @means(semantics.multiply_bytes)
    def multiply_bytes(self, x: Expr, w: Expr) -> Expr:
        """vpmaddubsw: x[2i] * w[2i] + x[2i+1] * w[2i+1] of uint8 x, int8 w, saturated (see int16_accumulation)."""
        return llvm(vector_type("int16", 2 * self.lanes), self.multiply_bytes_name, x, w)

    @means(semantics.pack_int16)
    def pack_int16(self, a: Expr, b: Expr) -> Expr:
        """vpackssdw: int32 to int16 with saturation; a 128-bit block is four lanes of a, then four of b."""
        return llvm(vector_type("int16", 2 * self.lanes), self.pack_int16_name, a, b)

    @means(semantics.pack_bytes)
    def pack_bytes(self, a: Expr, b: Expr, dtype: str) -> Expr:
        """vpackuswb, vpacksswb: int16 to uint8 or int8 with saturation; blocks as in `pack_int16`."""
        name = self.pack_unsigned_name if dtype == "uint8" else self.pack_signed_name
        return llvm(vector_type(dtype, self.vector_bytes), name, a, b)

    @means(semantics.add_int16)
    def add_int16(self, a: Expr, b: Expr) -> Expr:
        """vpaddsw: int16 sum with saturation."""
        return llvm(vector_type("int16", 2 * self.lanes), f"llvm.sadd.sat.v{2 * self.lanes}i16", a, b)

    @means(semantics.unpack)
    def unpack(self, a: Expr, b: Expr, high: int, width: int) -> Expr:
        """vpunpck: `width`-byte groups of codes a and b in turn, from one half of every 128-bit block."""
        size = self.vector_bytes
        lanes = [
            source + block * 16 + high * 8 + group * width + byte
            for block in range(size // 16)
            for group in range(8 // width)
            for source in (0, size)
            for byte in range(width)
        ]
        return bind(tirx.Shuffle([a, b], [const(lane) for lane in lanes]))

    def to_int32_saturated(self, value: Expr) -> Expr:
        """See Instructions; below the range vcvtps2dq gives -2^31 by itself, so one vminps is enough."""
        return self.to_int32(T.min(value, spread(float(2**30), self.lanes, "float32")))

    def channel_order(self, count: int) -> np.ndarray:
        """See Instructions: a block of the packed result takes four lanes of each vector."""
        vector, lane = np.indices((count, self.lanes))
        return lane // 4 * (4 * count) + 4 * vector + lane % 4

    def narrow_vectors(self, vectors: Sequence[Expr], zero_point: int, dtype: str) -> Expr:
        if len(vectors) == 1:
            return self._saturate(vectors[0], self.lanes, zero_point, dtype)
        words = [self.pack_int16(vectors[i], vectors[i + 1]) for i in range(0, len(vectors), 2)]
        if zero_point:
            offset = spread(zero_point, 2 * self.lanes, "int16")
            words = [self.add_int16(word, offset) for word in words]
        if len(words) == 2:
            return self.pack_bytes(words[0], words[1], dtype)
        limits = np.iinfo(dtype)
        low, high = (spread(int(limit), 2 * self.lanes, "int16") for limit in (limits.min, limits.max))
        return T.Cast(vector_type(dtype, 2 * self.lanes), T.min(T.max(words[0], low), high))

    @means(semantics.gather_rows)
    def rows_in_order(self, codes: Expr, count: int, dtype: str) -> Expr:
        """See Instructions: each 128-bit block holds 4 * count codes of each row; one permute."""
        rows, group = 4 // count, 4 * count
        blocks = self.vector_bytes // 16
        lanes = [
            (block * rows + row) * group + byte
            for row in range(rows)
            for block in range(blocks)
            for byte in range(group)
        ]
        if rows == 1:
            return codes
        # the fence keeps LLVM 22 from combining permute, limits and stores of pieces, where it may never end
        kind = vector_type("float32", self.lanes)
        permuted = T.reinterpret(kind, tirx.Shuffle([codes], [const(lane) for lane in lanes]))
        fenced = llvm(kind, "llvm.arithmetic.fence", permuted)
        return bind(T.reinterpret(vector_type(dtype, self.vector_bytes), fenced))

    def add(self, a: Expr, b: Expr, step: AddStep, a_dtype: str = "uint8") -> Expr:
        """See Instructions: byte unpacks and vpmaddwd where the multipliers fit int16."""
        offset = step.offset
        codes, multipliers = [], (step.a_multiplier, step.b_multiplier)
        for value, dtype, multiplier in ((a, a_dtype, multipliers[0]), (b, step.b_dtype, multipliers[1])):
            signed = dtype == "int8"
            # int8 q is uint8 q + 128 less 128
            codes.append(bind(self.flip_sign(value, "uint8") if signed else value))
            offset -= 128 * multiplier if signed else 0
        reach = abs(offset) + 255 * sum(abs(multiplier) for multiplier in multipliers)
        if max(abs(multiplier) for multiplier in multipliers) > INT16_MAX or reach > INT32_MAX:
            return add_lanes(a, b, step, self.vector_bytes)
        vectors = self._weighted_sums(codes, multipliers, offset, step.shift)
        return clip_codes(
            self.narrow_vectors(vectors, step.zero_point, step.dtype),
            step.dtype,
            step.qmin,
            step.qmax,
            self.vector_bytes,
        )

    def _weighted_sums(self, codes: list[Expr], multipliers: tuple[int, int], offset: int, shift: int) -> list[Expr]:
        """(a * ma + b * mb + offset) >> shift of uint8 codes: four vectors in the order that packs undo."""
        pair = (multipliers[0] & 0xFFFF) | (multipliers[1] & 0xFFFF) << 16
        pair -= (pair >> 31) << 32
        weights = T.reinterpret(vector_type("int16", 2 * self.lanes), spread(pair, self.lanes))
        zeros = spread(0, self.vector_bytes, "uint8")
        sums = []
        for high in (0, 1):
            pairs = self.unpack(codes[0], codes[1], high, 1)
            for half in (0, 1):
                words = T.reinterpret(vector_type("int16", 2 * self.lanes), self.unpack(pairs, zeros, half, 1))
                total = self.multiply_pairs(words, weights) + spread(offset, self.lanes)
                sums.append(bind(T.shift_right(total, spread(shift, self.lanes))))
        return sums

    @means(semantics.flip_sign)
    def flip_sign(self, codes: Expr, dtype: str) -> Expr:
        """Codes of the other signedness: int8 q as uint8 q + 128 and back."""
        bits = T.reinterpret(vector_type("uint8", self.vector_bytes), codes)
        flipped = T.bitwise_xor(bits, spread(128, self.vector_bytes, "uint8"))
        return T.reinterpret(vector_type(dtype, self.vector_bytes), flipped)

    def lookup(self, table: Buffer, dtype: str) -> Callable[[Expr], Expr]:
        """See Instructions: sixteen tables of sixteen bytes, vpshufb gives 0 for an index with bit 7 set."""
        size = self.vector_bytes
        rows = [load(table, 16 * row, f"{dtype}x16") for row in range(16)]
        repeated = [bind(concatenate([row] * (size // 16), dtype, 16)) for row in rows]

        def find(codes: Expr) -> Expr:
            codes, result = bind(codes), None
            for row in range(16):
                # lanes whose high half is `row` become 0..15, all others get bit 7
                index = T.bitwise_xor(codes, spread(16 * row, size, "uint8"))
                index = llvm(f"uint8x{size}", f"llvm.uadd.sat.v{size}i8", index, spread(0x70, size, "uint8"))
                part = llvm(
                    f"uint8x{size}",
                    self.shuffle_bytes_name,
                    T.reinterpret(f"uint8x{size}", repeated[row]),
                    index,
                )
                result = bind(part if result is None else T.bitwise_or(result, part))
            return T.reinterpret(f"{dtype}x{size}", result)

        return find


class WordInstructions(X86):
    """Codes of 16 bits: `dot` multiplies pairs (vpmaddwd, or vpdpwssd); to be mixed into a level, before it."""

    taps = 2
    x_dtype = "int16"
    w_dtype = "int16"
    takes_int16 = True

    @property
    def int16_operands(self) -> Instructions:
        return self

    def dot(self, sums: Expr, x: Expr, w: Expr) -> Expr:
        """See Instructions; a product is at most 2^22, so that no pair leaves int32."""
        return self.dot_int16(sums, x, w)


class LaneInstructions(X86):
    """Products of bytes in place of those of words (see int16_accumulation); to be mixed into a level, before it.

    int16_form  the same CPU with products of words
    """

    taps = 4
    x_dtype = "uint8"
    w_dtype = "int8"
    packs_remainders = False

    @property
    def int16_form(self) -> X86:
        raise NotImplementedError(self.name)

    @means(semantics.ones)
    def ones(self) -> Expr:
        """Factors with which `multiply_pairs` adds neighbouring lanes."""
        return bind(spread(1, 2 * self.lanes, "int16"))

    @means(semantics.fold_products)
    def fold_products(self, sums: Expr, products: Expr, ones: Expr) -> Expr:
        """Sums plus int16 lanes, added by pairs."""
        return sums + self.multiply_pairs(products, ones)
