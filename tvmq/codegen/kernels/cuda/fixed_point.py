"""numerics.requantize in mode "fixed_point" on a GPU: 64-bit products of sums and multipliers, shifted right.

With e = shift: the multiplier times 2^max(e, 0) and a shift right by n = 31 + max(-e, 0). Rounding half up adds
2^(n - 1) before the shift, which is the same as shifting by n - 1, adding 1 and shifting by 1: no sum leaves int64.
Where multiplier 2^e is so large that a product could, the sum is clipped first, as the definition does.

Tests: tests/codegen/kernels/cuda/test_cuda_epilogue.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.cuda.builder import value_of
from tvmq.codegen.kernels.parts.builder import Expr, const
from tvmq.codegen.kernels.parts.kernel_types import FixedRequantize
from tvmq.codegen.kernels.parts.scaler import Scaler

SMALLEST_SHIFT = -32  # below, the result is 0 as it is there
LARGEST_PRODUCT = 2**62
LARGEST_INT32 = 2**31 - 1


@dataclass(frozen=True, eq=False)
class CudaFixedRequantizer(Scaler):
    """Requantize step in integers; see the head of this file.

    needs_int64  multipliers are int64, as some are shifted left
    clips        some products would leave int64
    """

    needs_int64: bool
    clips: bool

    @classmethod
    def plan(cls, step: FixedRequantize, largest_sum: int) -> CudaFixedRequantizer:
        """largest_sum: a bound on |sum|."""
        factor = _factors(step)
        clips = LARGEST_PRODUCT // np.maximum(factor, 1) < min(largest_sum, LARGEST_INT32 + 1)
        return cls(step, bool(factor.max(initial=0) > LARGEST_INT32), bool(clips.any()))

    @property
    def key(self) -> tuple[Any, ...]:
        step = self.step
        return "fixed", step.rounding, step.zero_point, step.qmin, step.qmax, step.dtype, self.needs_int64, self.clips

    @cached_property
    def arrays(self) -> dict[str, np.ndarray]:
        factor = _factors(self.step)
        shift = 30 + np.maximum(-np.maximum(self.step.shift, SMALLEST_SHIFT), 0)
        factors = factor.astype(np.int64 if self.needs_int64 else np.int32)
        arrays = {"multiplier": factors, "shift": shift.astype(np.int32)}
        return arrays | ({"reach": _reach(factor).astype(np.int32)} if self.clips else {})

    def code(self, total: Expr, constants: Sequence[Expr]) -> Expr:
        """Code as int32 of a sum; constants of its channel."""
        step, one = self.step, const(1, "int64")
        multiplier, shift, *reach = constants
        if reach:
            total = T.max(T.min(total, reach[0]), -1 - reach[0])  # the least int32 stays where nothing is clipped
        product = value_of("product", T.Cast("int64", total) * T.Cast("int64", multiplier))
        if step.rule.roundings[0] == "away":
            product = product - T.Select(product < const(0, "int64"), one, const(0, "int64"))
        if step.rule.rounds_twice:  # shift is n - 1; numerics.fixed_point_multiply has the sum
            nudge = T.Select(product < const(0, "int64"), const(-(2**30), "int64"), const(2**30, "int64"))
            product = product + T.Select(shift > 30, nudge, const(0, "int64"))
        steps = ((product >> T.Cast("int64", shift)) + one) >> one
        low, high = (const(limit - step.zero_point, "int64") for limit in (step.qmin, step.qmax))
        return T.Cast("int32", T.min(T.max(steps, low), high)) + step.zero_point


def _factors(step: FixedRequantize) -> np.ndarray:
    """Multipliers with their shifts to the left, int64."""
    return np.asarray(step.multiplier, np.int64) << np.maximum(np.asarray(step.shift, np.int64), 0)


def _reach(factor: np.ndarray) -> np.ndarray:
    """Largest |sum| that a factor takes, at most that of int32."""
    return np.minimum(LARGEST_PRODUCT // np.maximum(factor, 1), LARGEST_INT32)
