"""Arithmetic of a backend description, ready to compute with: accumulators, requantize rule, floats.

Tests: tests/chips/emulation/test_emulator.py
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from tvmq.backends.description import Backend
from tvmq.chips.emulation.accumulator import Accumulator
from tvmq.numerics.codes import Number, along_axis
from tvmq.numerics.narrow_float_types import NARROW
from tvmq.numerics.requantize_rule import RequantizeRule, apply

FLOATS = ("float32", *NARROW)


@dataclass(frozen=True)
class Arithmetic:
    """How a chip computes one kind of operator.

    accumulator  of its sums
    rule         how it makes codes of sums; None: as the module says
    bias_bits    width of what is added to sums; what does not fit saturates
    floats       type that the results of float operators are rounded to, one of FLOATS
    """

    accumulator: Accumulator = Accumulator()
    rule: RequantizeRule | None = None
    bias_bits: int = 32
    floats: str = "float32"

    def with_rule(self, rule: RequantizeRule) -> Arithmetic:
        """Copy with another rule, and with the accumulators and biases of that rule."""
        accumulator = Accumulator(rule.accumulator_bits, rule.overflow)
        return replace(self, rule=rule, accumulator=accumulator, bias_bits=rule.bias_bits)


def requantize_sums(
    acc: np.ndarray,
    factor: ArrayLike,
    rule: RequantizeRule,
    *,
    zero_point: Number,
    axis: int | None,
    dtype: str,
    qmin: int,
    qmax: int,
    negative_slope: float = 1.0,
    scale_y: float = 1.0,
) -> np.ndarray:
    """Codes of sums by a rule.

    factor   real factors (float64), shape () or (C,): steps of the sums in steps of the result
    scale_y  of the result, for rules that divide by it
    """
    factor = np.asarray(factor, np.float64)
    divisor: ArrayLike = 1.0
    if rule.order == "divide":
        factor, divisor = factor * np.float64(scale_y), np.float32(scale_y)
    return apply(
        rule, acc, factor, zero_point=zero_point, axis=axis, divisor=divisor, negative_slope=negative_slope,
        dtype=dtype, qmin=qmin, qmax=qmax,
    )  # fmt: skip


def saturated_codes(
    acc: np.ndarray, factor: ArrayLike, *, zero_point: int, axis: int | None, dtype: str, qmin: int, qmax: int
) -> int:
    """How many codes are an end of their type because the real value lies beyond it; a relu's end is none.

    >>> saturated_codes(np.int32([-900, 0, 300]), 1.0, zero_point=0, axis=None, dtype="int8", qmin=-128, qmax=127)
    2
    """
    limits = np.iinfo(dtype)
    real = acc * along_axis(np.asarray(factor, np.float64), axis, acc.shape) + zero_point
    above = int((real >= qmax + 0.5).sum()) if qmax == limits.max else 0
    is_end = qmin == limits.min and qmin != zero_point
    return above + (int((real < qmin - 0.5).sum()) if is_end else 0)


def arithmetic_of(backend: Backend, family: str = "", *, depthwise: bool = False) -> Arithmetic:
    """Arithmetic that a description gives an operator family; "" for that of all families.

    Without a rule of its own a chip requantizes as the module says.

    >>> from tvmq.backends import backend_named
    >>> arithmetic_of(backend_named("tflite"), "conv2d").rule.roundings
    ('upward', 'away')
    """
    entry = backend.entry(family, depthwise=depthwise) if family else None
    rule = backend.rule(family, depthwise=depthwise)
    says = backend.requantize_rule is not None or (entry is not None and entry.requantize is not None)
    stays_float = entry is not None and entry.computes != "integer"
    floats = entry.computes if entry is not None and stays_float else backend.float_type
    accumulator = Accumulator(rule.accumulator_bits, rule.overflow)
    return Arithmetic(accumulator, rule if says else None, rule.bias_bits, floats)
