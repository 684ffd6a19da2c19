"""Goal of a search: the fastest or the smallest model within a bound.

Tests: tests/quantization/search/test_search.py
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tvmq.errors import ConfigError
from tvmq.options.option_checks import is_number

LATENCY, SIZE = "latency", "size"
OBJECTIVES = {LATENCY: "seconds", SIZE: "bytes"}  # what to minimize -> its figure in a result
USUAL_SQNR = 20.0  # dB; as the guard of `quantize`


@dataclass(frozen=True)
class Goal:
    """Objective to minimize, and the bound that must hold meanwhile.

    minimize  "latency": seconds of a run of one sample, by forecast; "size": bytes of the constants
    max_drop  how much less than float's the mean score may be, in units of the metric; None: no metric judges
    sqnr      the least signal-to-error ratio of an output in dB, where no metric judges
    raises    ConfigError for another objective, for a bound that is no number

    >>> str(Goal("size", max_drop=0.01)), str(Goal())
    ('least size with drop <= 0.01', 'least latency with sqnr >= 20')
    """

    minimize: str = LATENCY
    max_drop: float | None = None
    sqnr: float = USUAL_SQNR

    def __post_init__(self) -> None:
        if self.minimize not in OBJECTIVES:
            raise ConfigError(f"search: minimize must be 'latency' or 'size'. Got {self.minimize!r} instead")
        if self.max_drop is not None and not (is_number(self.max_drop) and self.max_drop >= 0):
            raise ConfigError(f"search: max_drop must be a number of at least 0. Got {self.max_drop!r} instead")
        if not is_number(self.sqnr):
            raise ConfigError(f"search: sqnr must be a finite number of dB. Got {self.sqnr!r} instead; 20 is usual")

    @property
    def figure(self) -> str:
        """The figure of a result that is minimized."""
        return OBJECTIVES[self.minimize]

    def holds(self, result: Mapping[str, Any]) -> bool:
        """True if a result keeps the bound."""
        return result["drop"] <= self.max_drop if self.max_drop is not None else result["sqnr"] >= self.sqnr

    def __str__(self) -> str:
        bound = f"drop <= {self.max_drop:g}" if self.max_drop is not None else f"sqnr >= {self.sqnr:g}"
        return f"least {self.minimize} with {bound}"
