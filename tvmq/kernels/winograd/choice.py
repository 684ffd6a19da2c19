"""Whether a convolution is computed by Winograd: only where it is proved exact, and then by modelled time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tvmq import numerics
from tvmq.kernels.isa import instructions
from tvmq.kernels.parts.types import Conv2d, Isa
from tvmq.kernels.winograd.cost import direct_cycles, shape_for, winograd_cycles
from tvmq.kernels.winograd.scheme import F2, F4, Scheme, refusal
from tvmq.kernels.winograd.shape import WinogradShape
from tvmq.kernels.winograd.winograd import CODES, why_unsuited

# Modelled gain from which Winograd is taken: the model errs, and transformed weights need more memory.
LEAST_GAIN = 1.15


@dataclass(frozen=True)
class Choice:
    """The tiles of a Winograd kernel, or None for the direct one; and why, for people."""

    shape: WinogradShape | None
    note: str = ""


def choose_winograd(conv: Conv2d, weight: np.ndarray, x_zero: int, isa: Isa, *, direct: float = 1.0) -> Choice:
    """The choice for a convolution of codes with these weights (int8 OIHW).

    direct  so many times as fast as conv2d is the direct kernel that it would have (see conv2d_lanes)
    The note is empty where Winograd is out of the question, for its shape or the instruction set.
    """
    if why_unsuited(conv, isa):
        return Choice(None)
    gains = {scheme: _gain(conv, x_zero, isa, scheme) / direct for scheme in (F4, F2)}
    if gains[F4] < LEAST_GAIN:
        return Choice(
            None, f"Winograd {F4.name} would not be faster: {gains[F4]:.2f} times the speed by the cost model"
        )
    reason, refused = _refusal(conv, weight, F4), ""
    if reason:
        refused = f"Winograd {F4.name} would be {gains[F4]:.2f} times as fast, but {reason}"
        if gains[F2] < LEAST_GAIN or _refusal(conv, weight, F2):
            return Choice(None, refused)
    scheme = F2 if reason else F4
    text = f"Winograd {scheme.name}, {gains[scheme]:.2f} times as fast as the direct kernel by the cost model"
    shape = shape_for(conv, instructions(isa), x_zero, scheme)
    return Choice(shape, f"{text}; {refused}" if refused else text)


def _gain(conv: Conv2d, x_zero: int, isa: Isa, scheme: Scheme) -> float:
    shape = shape_for(conv, instructions(isa), x_zero, scheme)
    return direct_cycles(shape) / winograd_cycles(shape)


def _refusal(conv: Conv2d, weight: np.ndarray, scheme: Scheme) -> str:
    if numerics.fits_int4(weight):
        return "weights of 4 bits stay packed"
    reason = refusal(weight, *CODES[conv.x_dtype], scheme)
    return f"is not proved exact: {reason}" if reason else ""
