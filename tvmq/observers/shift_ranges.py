"""Ranges whose scale is a power of two, for requantizing by shifts alone: which power is decided by the error.

A scale that is raised to the next power of two wastes up to a bit; the one below clips the largest values and resolves
the others twice as finely. Both are offered for every range that an observer chose, and the least error wins.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from tvmq.observers.base import Range
from tvmq.spec import QuantSpec


def shift_ranges(candidates: Mapping[str, Range], spec: QuantSpec) -> dict[str, Range]:
    """The ranges with their scales at the next and at the previous power of two; empty ranges as they are.

    Ends move in proportion, so that 0 keeps its code.

    >>> shift_ranges({"minmax": (-3.0, 3.0)}, QuantSpec("int8", symmetric=True))
    {'minmax': (-3.96875, 3.96875), 'minmax_shift': (-1.984375, 1.984375)}
    """
    found: dict[str, Range] = {}
    for name, (low, high) in candidates.items():
        step = _step(low, high, spec)
        if not (0.0 < step < math.inf):
            found[name] = (low, high)
            continue
        wide = 2.0 ** math.ceil(math.log2(step)) / step
        found[name] = (low * wide, high * wide)
        found[f"{name}_shift"] = (low * wide / 2, high * wide / 2)
    return found


def _step(low: float, high: float, spec: QuantSpec) -> float:
    """The scale that covers a range, as choose_qparams has it before it rounds to float32."""
    low, high = min(low, 0.0), max(high, 0.0)
    return max(-low, high) / spec.qmax if spec.symmetric else (high - low) / (spec.qmax - spec.qmin)
