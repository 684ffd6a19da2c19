"""float32 arithmetic of the instruction sets, in the interface that the convolution template uses.

One product is added at a time: sum = fma(x, w, sum), rounded once, in the order of the template's loop. The
order is the same on every instruction set, so AVX2 and AVX-512 give equal bits; "generic" leaves it to LLVM
whether the CPU fuses product and sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.errors import BuildError
from tvmq.kernels.isa import instructions
from tvmq.kernels.isa.generic import Instructions
from tvmq.kernels.parts.builder import Buffer, Expr, bind, llvm, spread, vector_type
from tvmq.kernels.parts.types import Clip, Epilogue, Isa


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

    def narrowed(self, count: int) -> FloatVectors:
        """Vectors of at most `count` lanes, a power of two."""
        return float_vectors(self._isa, min(self.lanes, 1 << (count.bit_length() - 1)))

    def broadcast(self, buffer: Buffer, offset: Expr) -> Expr:
        """One element in all lanes."""
        return bind(spread(buffer[offset], self.lanes))

    def dot(self, sums: Expr, x: Expr, w: Expr) -> Expr:
        """sums + x * w."""
        return sums + x * w if self.name == "generic" else llvm(self.kind, self._fma, x, w, sums)

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
