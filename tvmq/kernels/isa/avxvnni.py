"""vpdpbusd on 32-byte vectors; two levels.

avxvnni    {vex} vpdpbusd, 16 registers, CPUs without AVX-512 (Alder Lake 2021, Sierra Forest 2024)
avx512vl   the EVEX form of the same, 32 registers: targets with AVX512-VNNI that avoid 64-byte vectors
           (-mattr=-avx512bw). Kernels of wider levels take these vectors where theirs would be half empty
           (depthwise of 8 to 15 channels)

Peak       32 products an instruction, half of AVX-512's; twice AVX2's vpmaddwd + vpaddd
Measured   Zen 5, M=784 N=128 K=512, tile 6 x 2 of 16 registers: 201-214 GMAC/s of a peak of 250; AVX2 97
"""

from __future__ import annotations

from tvmq.kernels.isa.avx2 import Avx2
from tvmq.kernels.parts.builder import Expr, llvm


class AvxVNNI(Avx2):
    """See the head of this file."""

    name = "avxvnni"
    features: tuple[str, ...] = (*Avx2.features, "avxvnni")
    taps = 4
    x_dtype = "uint8"
    w_dtype = "int8"
    dot_cycles = 0.5
    step_cycles = (0.03, 0.1, 0.25)  # one instruction a dot leaves slots for loads, as on AVX-512

    def dot(self, sums: Expr, x: Expr, w: Expr) -> Expr:
        """See Instructions: uint8 activations (int8 codes arrive as q + 128) times int8 weights."""
        return llvm("int32x8", "llvm.x86.avx512.vpdpbusd.256", sums, x, w)

    def dot_words(self, sums: Expr, x: Expr, w: Expr) -> Expr:
        """See Instructions: vpdpwssd, which wraps."""
        return llvm("int32x8", "llvm.x86.avx512.vpdpwssd.256", sums, x, w)


class Avx512VL(AvxVNNI):
    """See the head of this file."""

    name = "avx512vl"
    features = (*Avx2.features, "avx512vl", "avx512vnni")
    registers = 32


AVXVNNI = AvxVNNI()
AVX512VL = Avx512VL()
