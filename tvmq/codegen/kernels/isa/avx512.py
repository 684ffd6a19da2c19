"""AVX-512: 64-byte vectors, 32 registers; three levels.

avx512bw     vpmaddwd on int16 activations, as AVX2 but twice as wide (Skylake-X, 2017)
avx512vnni   vpdpbusd: four uint8 x int8 products a lane, 2.3 times avx512bw (Cascade Lake, 2019)
avx512vbmi   the same, and vpermi2b for tables, 4 times vpshufb (Ice Lake 2019, Zen 4 2022)

Tests: tests/backends/test_described_layers.py
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from tvm import tirx
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa.avx2 import Avx512VL, Avx512VLWords
from tvmq.codegen.kernels.isa.generic import Instructions
from tvmq.codegen.kernels.isa.x86 import X86, LaneInstructions, WordInstructions
from tvmq.codegen.kernels.parts.builder import Buffer, Expr, bind, const, llvm, load, spread

ALL_LANES = -1  # mask of sixteen lanes as int16
CURRENT_ROUNDING = 4  # use the rounding mode of the CPU's control register: half to even


class Avx512BW(X86):
    """Instructions of AVX-512 without VNNI; see the head of this file."""

    name = "avx512bw"
    features: tuple[str, ...] = ("avx512f", "avx512bw", "avx512vl", "avx512dq")
    vector_bytes = 64
    registers = 32
    multiply_pairs_name = "llvm.x86.avx512.pmaddw.d.512"
    multiply_bytes_name = "llvm.x86.avx512.pmaddubs.w.512"
    pack_int16_name = "llvm.x86.avx512.packssdw.512"
    pack_unsigned_name = "llvm.x86.avx512.packuswb.512"
    pack_signed_name = "llvm.x86.avx512.packsswb.512"
    shuffle_bytes_name = "llvm.x86.avx512.pshuf.b.512"

    @property
    def int16_operands(self) -> Instructions:
        return AVX512BW_WORDS

    @property
    def lane_form(self) -> Any:
        """See Instructions; of this level alone, not of those that have a product of bytes."""
        return AVX512_LANES if type(self) is Avx512BW else None

    def to_int32(self, value: Expr, lanes: int | None = None) -> Expr:
        """See Instructions: vcvtps2dq; what is out of range becomes -2^31."""
        if lanes not in (None, self.lanes):
            return super().to_int32(value, lanes)
        mask, rounding = tirx.const(ALL_LANES, "int16"), const(CURRENT_ROUNDING)
        return llvm("int32x16", "llvm.x86.avx512.mask.cvtps2dq.512", value, spread(0, 16), mask, rounding)


class Avx512Lanes(LaneInstructions, Avx512BW):
    """Products of bytes in int16 lanes; for weights that prove it (see int16_accumulation)."""

    name = "avx512bw_lanes"

    @property
    def int16_form(self) -> X86:
        return AVX512BW


class Avx512VNNI(Avx512BW):
    """Instructions of AVX-512 VNNI; see the head of this file."""

    name = "avx512vnni"
    features = (*Avx512BW.features, "avx512vnni")
    taps = 4
    x_dtype = "uint8"
    w_dtype = "int8"
    dot_cycles = 0.5
    dot_temporaries = 2  # one more than it names: full register files were seen to spill

    @cached_property  # tilings are remembered by instructions
    def half_width(self) -> Instructions:
        return Half(self)

    @property
    def int16_operands(self) -> Instructions:
        return AVX512VNNI_WORDS

    def dot(self, sums: Expr, x: Expr, w: Expr) -> Expr:
        """See Instructions: vpdpbusd, uint8 activations (int8 codes arrive as q + 128) times int8 weights."""
        return llvm("int32x16", "llvm.x86.avx512.vpdpbusd.512", sums, x, w)

    def dot_int16(self, sums: Expr, x: Expr, w: Expr) -> Expr:
        """See Instructions: vpdpwssd, which wraps."""
        return llvm("int32x16", "llvm.x86.avx512.vpdpwssd.512", sums, x, w)


class Avx512VBMI(Avx512VNNI):
    """Instructions of AVX-512 VNNI and VBMI; see the head of this file."""

    name = "avx512vbmi"
    features = (*Avx512VNNI.features, "avx512vbmi")

    @property
    def int16_operands(self) -> Instructions:
        return AVX512VBMI_WORDS

    def lookup(self, table: Buffer, dtype: str) -> Callable[[Expr], Expr]:
        """See Instructions: two vpermi2b of 128 entries each, chosen by bit 7."""
        quarters = [bind(T.reinterpret("int8x64", load(table, 64 * i, f"{dtype}x64"))) for i in range(4)]

        def find(codes: Expr) -> Expr:
            index = bind(T.reinterpret("int8x64", codes))
            name = "llvm.x86.avx512.vpermi2var.qi.512"
            low = llvm("int8x64", name, quarters[0], index, quarters[1])
            high = llvm("int8x64", name, quarters[2], index, quarters[3])
            negative = index < spread(0, 64, "int8")
            return T.reinterpret(f"{dtype}x64", T.Select(negative, high, low))

        return find


class Half(Avx512VL):
    """AVX512-VNNI on 32-byte vectors, for layers whose last vector of 64 bytes would be half empty.

    Measured  Zen 4, 1 x 1, time of 64-byte vectors: 8 filters 0.58, 24 0.77, 40 0.84, 56 0.90; 64 1.02
    """

    def __init__(self, full_width: Instructions) -> None:
        self._full_width = full_width

    @property
    def full_width(self) -> Instructions:
        return self._full_width


class Avx512BWWords(WordInstructions, Avx512BW):
    """Codes of 16 bits."""

    name = "avx512bw_words"


class Avx512VNNIWords(WordInstructions, Avx512VNNI):
    """Codes of 16 bits."""

    name = "avx512vnni_words"

    @cached_property
    def half_width(self) -> Instructions:
        return HalfWords(self)


class Avx512VBMIWords(Avx512VNNIWords, Avx512VBMI):
    """Codes of 16 bits."""

    name = "avx512vbmi_words"


class HalfWords(Avx512VLWords):
    """Half vectors as `Half`, for codes of 16 bits."""

    def __init__(self, full_width: Instructions) -> None:
        self._full_width = full_width

    @property
    def full_width(self) -> Instructions:
        return self._full_width


AVX512BW = Avx512BW()
AVX512BW_WORDS = Avx512BWWords()
AVX512VNNI_WORDS = Avx512VNNIWords()
AVX512VBMI_WORDS = Avx512VBMIWords()
AVX512_LANES = Avx512Lanes()
AVX512VNNI = Avx512VNNI()
AVX512VBMI = Avx512VBMI()
