"""auto: for each tensor the range that makes the least error, among those of several observers.

Which error is up to the caller. `choose` takes any function of the QParams, such as the error on a layer's
output for a reservoir of samples; `Auto.thresholds` takes the proxy that costs least, `expected_error` of the
tensor itself. Ties go to the widest range, and a narrower one has to lower the error by more than 0.1 %:
nothing is clipped for nothing.

Ranges whose scale is a power of two, for requantizing by shifts alone: which power is decided by the error.

A scale that is raised to the next power of two wastes up to a bit; the one below clips the largest values and resolves
the others twice as finely. Both are offered for every range that an observer chose, and the least error wins.

Tests: tests/calibration/observers/test_shift_ranges.py
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tvmq.calibration.observers.base import LEAST_GAIN, Observer, Range, TensorStatistics
from tvmq.calibration.observers.histogram import ErrorModel, LeastSquares
from tvmq.calibration.observers.minmax import MinMax, MovingAverage, Percentile
from tvmq.errors import CalibrationError
from tvmq.numerics.spec import QParams, QuantSpec, choose_qparams

CANDIDATES: dict[str, Observer] = {
    "minmax": MinMax(),
    "moving_average": MovingAverage(),
    "percentile_99.999": Percentile(99.999),
    "percentile_99.99": Percentile(99.99),
    "histogram": LeastSquares(),
}


@dataclass(frozen=True)
class Choice:
    """Result of `choose`: the candidate's name, its range, and the error of every candidate."""

    name: str
    low: float
    high: float
    errors: dict[str, float]


@dataclass(frozen=True)
class Auto:
    """Best of `CANDIDATES` by the expected error of the tensor itself."""

    needs: ClassVar[tuple[str, ...]] = ("ranges", "histogram")

    def candidates(self, statistics: TensorStatistics, spec: QuantSpec) -> dict[str, Range]:
        """The range that each candidate would take."""
        return {name: observer.thresholds(statistics, spec) for name, observer in CANDIDATES.items()}

    def thresholds(self, statistics: TensorStatistics, spec: QuantSpec) -> Range:
        """See `Observer.thresholds`."""
        choice = choose(self.candidates(statistics, spec), spec, ErrorModel(statistics.histogram).error)
        return choice.low, choice.high


def choose(candidates: Mapping[str, Range], spec: QuantSpec, error: Callable[[QParams], float]) -> Choice:
    """The candidate of least error.

    candidates  name -> (low, high); equal ranges are judged once
    error       of quantizing with these QParams, not negative, in any unit; NaN counts as infinite
    raises      CalibrationError without candidates

    >>> spec = QuantSpec("uint8")
    >>> choose({"wide": (0.0, 8.0), "narrow": (0.0, 4.0)}, spec, lambda qparams: 1.0).name
    'wide'
    """
    if not candidates:
        raise CalibrationError("auto: no candidates to choose from; give at least one observer")
    known: dict[Range, float] = {}
    for ends in candidates.values():
        if ends not in known:
            value = float(error(choose_qparams(*ends, spec)))
            known[ends] = np.inf if np.isnan(value) else value
    by_width = sorted(candidates, key=lambda name: candidates[name][0] - candidates[name][1])
    best = by_width[0]
    for name in by_width[1:]:
        if known[candidates[name]] < known[candidates[best]] * (1 - LEAST_GAIN):
            best = name
    return Choice(best, *candidates[best], {name: known[ends] for name, ends in candidates.items()})


def shift_ranges(candidates: Mapping[str, Range], spec: QuantSpec) -> dict[str, Range]:
    """The ranges with their scales at the next and at the previous power of two; empty ranges as they are.

    Ends move in proportion, so that 0 keeps its code.

    >>> shift_ranges({"minmax": (-3.0, 3.0)}, QuantSpec("int8", symmetric=True))
    {'minmax': (-3.96875, 3.96875), 'minmax_shift': (-1.984375, 1.984375)}
    """
    ranges: dict[str, Range] = {}
    for name, (low, high) in candidates.items():
        step = _step(low, high, spec)
        if not (0.0 < step < math.inf):
            ranges[name] = (low, high)
            continue
        wide = 2.0 ** math.ceil(math.log2(step)) / step
        ranges[name] = (low * wide, high * wide)
        ranges[f"{name}_shift"] = (low * wide / 2, high * wide / 2)
    return ranges


def _step(low: float, high: float, spec: QuantSpec) -> float:
    """The scale that covers a range, as choose_qparams has it before it rounds to float32."""
    low, high = min(low, 0.0), max(high, 0.0)
    return max(-low, high) / spec.qmax if spec.symmetric else (high - low) / (spec.qmax - spec.qmin)
