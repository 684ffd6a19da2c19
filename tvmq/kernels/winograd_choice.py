"""Whether a convolution is computed by Winograd: only where it is proved exact, and then by modelled time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tvmq import numerics
from tvmq.kernels.isa import instructions
from tvmq.kernels.types import Conv2d, Isa
from tvmq.kernels.winograd import CODES, unsuited
from tvmq.kernels.winograd_cost import direct_cycles, winograd_cycles
from tvmq.kernels.winograd_scheme import F4, refusal
from tvmq.kernels.winograd_shape import WinogradShape, shape_for

# Modelled gain from which Winograd is taken: the model errs, and transformed weights need more memory.
LEAST_GAIN = 1.15


@dataclass(frozen=True)
class Choice:
    """The tiles of a Winograd kernel, or None for the direct one; and why, for people."""

    shape: WinogradShape | None
    note: str = ""


def choose_winograd(conv: Conv2d, weight: np.ndarray, x_zero: int, isa: Isa) -> Choice:
    """The choice for a convolution of codes with these weights (int8 OIHW).

    The note is empty where Winograd is out of the question, for its shape or the instruction set.
    """
    if unsuited(conv, isa):
        return Choice(None)
    shape = shape_for(conv, instructions(isa), x_zero, F4)
    gain = direct_cycles(shape) / winograd_cycles(shape)
    if gain < LEAST_GAIN:
        return Choice(None, f"Winograd {F4.name} would not be faster: {gain:.2f} times the speed by the cost model")
    if numerics.fits_int4(weight):
        return Choice(None, f"Winograd {F4.name} would be {gain:.2f} times as fast; weights of 4 bits stay packed")
    reason = refusal(weight, *CODES[conv.x_dtype], F4)
    if reason:
        return Choice(None, f"Winograd {F4.name} would be {gain:.2f} times as fast, but is not proved exact: {reason}")
    return Choice(shape, f"Winograd {F4.name}, {gain:.2f} times as fast as the direct kernel by the cost model")
