"""From sums to averages: what pooling and mean share.

one count for all sums               requantize(sum, s_x / (count * s_y))
counts that differ (at the border)   requantize(sum * factor, s_x / (divisor * s_y)), factor = divisor / count
mode power_of_two                    the same with divisor 2^22 and rounded factors, since 1 / count is no shift
"""

from __future__ import annotations

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.graph.view import make_const
from tvmq.passes.families.base import Codes, Group, Realizer

# 255 * 2^22 is half of int32, and a factor is then off by at most count / 2^23 of itself.
POWER = 2**22


def emit_average(
    realizer: Realizer, sums: relax.Expr, x: Codes, counts: np.ndarray, group: Group
) -> Codes | relax.Expr:
    """Emit what makes averages of the sums of centred codes of `x`.

    sums    call that gives int32 sums
    counts  how many codes are in each: one number, or what broadcasts against the sums
    """
    acc = realizer.emit(sums, f"{group.root}_sum")
    factors, divisor = _factors(np.asarray(counts), realizer.mode)
    if np.any(factors != 1):
        acc = realizer.emit(relax.op.multiply(acc, make_const(factors)), f"{group.root}_weighted")
    return realizer.requantized(acc, np.atleast_1d(np.float64(x.scale) / divisor), group)


def _factors(counts: np.ndarray, mode: str) -> tuple[np.ndarray, int]:
    """Integers and a divisor with factor / divisor = 1 / count."""
    first = int(counts.flat[0])
    counts = np.asarray(first) if np.all(counts == first) else counts
    if np.all(counts == first) and (is_shift(counts) or mode != "power_of_two"):
        return np.ones((), np.int32), first
    if mode == "power_of_two":
        return np.rint(POWER / counts).astype(np.int32), POWER
    return numerics.average_factors(counts)


def is_shift(counts: np.ndarray) -> bool:
    """True if dividing by the counts is one shift: all are the same power of two."""
    counts = np.asarray(counts)
    first = int(counts.flat[0])
    return bool(np.all(counts == first)) and first & (first - 1) == 0
