"""Instruction sets of 32-byte vectors: AVX2, and vpdpbusd on such vectors (AVX-VNNI, AVX-512 VL).

AVX2: 16 registers, int16 products only.

Peak      vpmaddwd + vpaddd: 16 products an instruction pair, 21 % of AVX512-VNNI's vpdpbusd on the same CPU
Needs     Haswell (2013) or Zen 1; `fma` is listed because every such CPU has it and the float kernels use it

vpdpbusd: two levels.

avxvnni    {vex} vpdpbusd, 16 registers, CPUs without AVX-512 (Alder Lake 2021, Sierra Forest 2024)
avx512vl   the EVEX form of the same, 32 registers: targets with AVX512-VNNI that avoid 64-byte vectors
           (-mattr=-avx512bw). Kernels of wider levels take these vectors where theirs would be half empty
           (depthwise of 8 to 15 channels)

Peak       32 products an instruction, half of AVX-512's; twice AVX2's vpmaddwd + vpaddd
Measured   Zen 5, M=784 N=128 K=512, tile 6 x 2 of 16 registers: 201-214 GMAC/s of a peak of 250; AVX2 97

Tests: tests/backends/test_described_layers.py
"""

from __future__ import annotations

from typing import Any

from tvmq.codegen.kernels.isa.generic import Instructions
from tvmq.codegen.kernels.isa.x86 import X86, LaneInstructions, WordInstructions
from tvmq.codegen.kernels.parts.builder import Expr, llvm


class Avx2(X86):
    """Instructions of AVX2 with FMA; see the head of this file."""

    name = "avx2"
    features: tuple[str, ...] = ("avx2", "fma")
    vector_bytes = 32
    registers = 16
    # two instructions a dot fill the issue slots (fitted on Zen 4: 6 x 2 beats 4 x 2 by 6 %, 2 x 4 by 20 %)
    step_cycles = (0.25, 0.7, 1.0)
    dot_temporaries = 2  # activations and a product
    multiply_pairs_name = "llvm.x86.avx2.pmadd.wd"
    multiply_bytes_name = "llvm.x86.avx2.pmadd.ub.sw"
    pack_int16_name = "llvm.x86.avx2.packssdw"
    pack_unsigned_name = "llvm.x86.avx2.packuswb"
    pack_signed_name = "llvm.x86.avx2.packsswb"
    shuffle_bytes_name = "llvm.x86.avx2.pshuf.b"

    @property
    def int16_operands(self) -> Instructions:
        return AVX2_WORDS

    @property
    def lane_form(self) -> Any:
        """See Instructions; of this level alone, not of those that have a product of bytes."""
        return AVX2_LANES if type(self) is Avx2 else None

    def to_int32(self, value: Expr, lanes: int | None = None) -> Expr:
        """See Instructions: vcvtps2dq; what is out of range becomes -2^31."""
        if lanes not in (None, self.lanes):
            return super().to_int32(value, lanes)
        return llvm("int32x8", "llvm.x86.avx.cvt.ps2dq.256", value)


class Avx2Lanes(LaneInstructions, Avx2):
    """Products of bytes in int16 lanes; for weights that prove it (see int16_accumulation)."""

    name = "avx2_lanes"

    @property
    def int16_form(self) -> X86:
        return AVX2


class Avx2Words(WordInstructions, Avx2):
    """Codes of 16 bits."""

    name = "avx2_words"


AVX2 = Avx2()
AVX2_LANES = Avx2Lanes()
AVX2_WORDS = Avx2Words()


class AvxVNNI(Avx2):
    """Instructions of AVX-VNNI; see the head of this file."""

    name = "avxvnni"
    features: tuple[str, ...] = (*Avx2.features, "avxvnni")
    taps = 4
    x_dtype = "uint8"
    w_dtype = "int8"
    dot_cycles = 0.5
    step_cycles = (0.03, 0.1, 0.25)  # one instruction a dot leaves slots for loads, as on AVX-512

    @property
    def int16_operands(self) -> Instructions:
        return AVXVNNI_WORDS

    def dot(self, sums: Expr, x: Expr, w: Expr) -> Expr:
        """See Instructions: uint8 activations (int8 codes arrive as q + 128) times int8 weights."""
        return llvm("int32x8", "llvm.x86.avx512.vpdpbusd.256", sums, x, w)

    def dot_int16(self, sums: Expr, x: Expr, w: Expr) -> Expr:
        """See Instructions: vpdpwssd, which wraps."""
        return llvm("int32x8", "llvm.x86.avx512.vpdpwssd.256", sums, x, w)


class Avx512VL(AvxVNNI):
    """Instructions of AVX-512 VNNI at 32 bytes; see the head of this file."""

    name = "avx512vl"
    features = (*Avx2.features, "avx512vl", "avx512vnni")
    registers = 32

    @property
    def int16_operands(self) -> Instructions:
        return AVX512VL_WORDS


class AvxVNNIWords(WordInstructions, AvxVNNI):
    """Codes of 16 bits."""

    name = "avxvnni_words"


class Avx512VLWords(WordInstructions, Avx512VL):
    """Codes of 16 bits."""

    name = "avx512vl_words"


AVXVNNI = AvxVNNI()
AVX512VL = Avx512VL()
AVXVNNI_WORDS = AvxVNNIWords()
AVX512VL_WORDS = Avx512VLWords()
