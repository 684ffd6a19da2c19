"""AVX2: 32-byte vectors, 16 registers; int16 products only.

Peak      vpmaddwd + vpaddd: 16 products an instruction pair, 21 % of AVX512-VNNI's vpdpbusd on the same CPU
Needs     Haswell (2013) or Zen 1; `fma` is listed because every such CPU has it and the float kernels use it
"""

from __future__ import annotations

from typing import Any

from tvmq.kernels.isa.x86 import X86, LaneInstructions
from tvmq.kernels.parts.builder import Expr, llvm


class Avx2(X86):
    """See the head of this file."""

    name = "avx2"
    features: tuple[str, ...] = ("avx2", "fma")
    vector_bytes = 32
    registers = 16
    # two instructions a dot fill the issue slots (fitted on Zen 4: 6 x 2 beats 4 x 2 by 6 %, 2 x 4 by 20 %)
    step_cycles = (0.25, 0.7, 1.0)
    dot_temporaries = 2  # activations and a product
    multiply_pairs_name = "llvm.x86.avx2.pmadd.wd"
    multiply_bytes_name = "llvm.x86.avx2.pmadd.ub.sw"
    pack_words_name = "llvm.x86.avx2.packssdw"
    pack_unsigned_name = "llvm.x86.avx2.packuswb"
    pack_signed_name = "llvm.x86.avx2.packsswb"
    shuffle_bytes_name = "llvm.x86.avx2.pshuf.b"

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
    """Products of bytes in int16 lanes; for weights that prove it (see lanes)."""

    name = "avx2_lanes"
    dot_cycles = 1.3  # of four products; 4 x 2 and 3 x 2 are best, 6 x 2 loses 9 % (measured on Zen 4)
    dot_temporaries = 6


AVX2 = Avx2()
AVX2_LANES = Avx2Lanes()
