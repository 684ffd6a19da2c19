"""Base of the steps right behind the sums of a kernel that have constants for each channel.

A subclass says its `arrays`, and computes one of

    codes    the sums of some vectors, rounded by `round_sum`, in one vector of 8-bit codes
    reals    each vector of sums by itself: floats, or codes of 16 bits, as many lanes as sums

Tests: tests/codegen/kernels/conv/test_matmul.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tvmq.codegen.kernels.isa.generic import Instructions, clip_codes
from tvmq.codegen.kernels.parts.builder import Buffer, Expr, Shape, bind, load, vector_type

Parameters = dict[str, tuple[Shape, str]]
LARGEST_INT32 = 2**31


@dataclass(frozen=True, eq=False)
class Scaler:
    """Step with constants for each channel; these are run-time constants, `key` says what the code depends on."""

    step: Any

    @property
    def dtype(self) -> str:
        """Type of the result."""
        return str(self.step.dtype)

    @property
    def key(self) -> tuple[Any, ...]:
        """Parameters that the generated code depends on."""
        raise NotImplementedError

    @cached_property
    def arrays(self) -> dict[str, np.ndarray]:
        """Constants by parameter name: one number, or one for each channel of the template."""
        raise NotImplementedError

    def parameters(self, channels: int) -> Parameters:
        """Constants for this many channels (as packed)."""
        return {name: ((channels,), str(array.dtype)) for name, array in self.arrays.items()}

    def constants(self, pack: Callable[[np.ndarray], np.ndarray]) -> tuple[np.ndarray, ...]:
        """Arrays of `parameters`; pack pads and permutes an array of the template's channels."""
        return tuple(pack(array) for array in self.arrays.values())

    def load(self, buffers: Sequence[Buffer], offset: Expr, lanes: int) -> tuple[Expr, ...]:
        """Bound constants of the vector of channels at `offset` (as packed), for `codes` and `reals`."""
        pairs = zip(buffers, self.arrays.values(), strict=False)
        return tuple(load(buffer, offset, vector_type(str(array.dtype), lanes)) for buffer, array in pairs)

    def round_sum(self, ins: Instructions, total: Expr, constants: tuple[Expr, ...]) -> Expr:
        """Bound vector of rounded results, int32, before the zero point."""
        raise NotImplementedError

    def codes(self, ins: Instructions, sums: Sequence[Expr], constants: Sequence[tuple[Expr, ...]]) -> Expr:
        """Bound vector of codes of 1, 2 or 4 vectors of sums in `channel_order`."""
        step = self.step
        rounded = [self.round_sum(ins, *pair) for pair in zip(sums, constants, strict=True)]
        narrow = ins.narrow_vectors(rounded, step.zero_point, step.dtype)
        return bind(clip_codes(narrow, step.dtype, step.qmin, step.qmax, ins.lanes * len(sums)))

    def reals(self, total: Expr, constants: tuple[Expr, ...], lanes: int) -> Expr:
        """Bound vector of floats, or of int16 codes, of one vector of sums."""
        raise NotImplementedError
