"""Bound that a quantized model must keep: on the signal-to-error ratio of its outputs, or the drop of a metric.

Tests: tests/quantization/guard/test_guard.py
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tvmq.errors import ConfigError
from tvmq.options.option_checks import is_number
from tvmq.quantization.meaning.mean_precision import METRICS, precision_named

# Error of a tenth of the signal's amplitude; all trained networks that tvmq is measured on stay above
USUAL_SQNR = 20.0  # dB
# What mending aims at where it can: just above the bound a network still loses points of its score
AMPLE = 10.0  # dB above the bound
TEXT = re.compile(r"\s*sqnr\s*>=\s*(?P<sqnr>-?\d+(\.\d+)?)\s*(dB)?\s*")
# (outputs of all samples, labels) -> a figure, higher is better
Metric = Callable[[Sequence[np.ndarray], Any], float]


@dataclass(frozen=True)
class Guard:
    """Bound that `quantize` checks when the integers are made, and the data for the check.

    sqnr      the least signal-to-error ratio of an output, dB
    metric    a function of (outputs of all samples, labels), higher is better, or "map50" or "map", mean precisions of
              boxes (docs/detectors.md): it judges instead of sqnr
    max_drop  how much less than float's the metric may be, in its own units
    data      samples to judge by, as `dataset` of `quantize` takes them; None: some of those that it calibrates on
    labels    what `metric` gets as its second argument, in the order of `data`
    advance   called after each module that was tried with how many these are, and how many there are at most
    is_late   asked before each of them: True ends the search with the best one so far
    outputs   {name of an output: "detections", "heatmap", "classes", "sequence", "mask", "embedding" or "numbers"},
              where its meaning is another than what its structure shows; see docs/detectors.md
    decode    how "map50" reads boxes: "yolo", "yolov5", "yolov8", or a function of the outputs
    raises    ConfigError for a bound that is no number, for a metric without max_drop or data, and for an unknown name

    >>> Guard(sqnr=30.0)
    Guard('sqnr >= 30')
    """

    sqnr: float = USUAL_SQNR
    metric: Metric | str | None = field(default=None, repr=False)
    max_drop: float | None = None
    data: Any = field(default=None, repr=False, compare=False)
    labels: Any = field(default=None, repr=False, compare=False)
    advance: Callable[[int, int], None] | None = field(default=None, repr=False, compare=False)
    is_late: Callable[[], bool] | None = field(default=None, repr=False, compare=False)
    outputs: Mapping[str, str] | None = field(default=None, repr=False, compare=False)
    decode: Any = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._load_metric()
        if not is_number(self.sqnr):
            raise ConfigError(f"guard: sqnr must be a finite number of dB. Got {self.sqnr!r} instead; 20 is usual")
        if (self.metric is None) != (self.max_drop is None):
            argument = "metric" if self.metric is not None else "max_drop"
            raise ConfigError(f"guard: metric= and max_drop= go together. Got {argument}= alone; give both, or neither")
        if self.max_drop is not None and not (is_number(self.max_drop) and self.max_drop >= 0):
            raise ConfigError(f"guard: max_drop must be a number of at least 0. Got {self.max_drop!r} instead")
        if self.metric is not None and (not callable(self.metric) or self.data is None):
            raise ConfigError("guard: metric= is a function of (outputs, labels) and needs data= to be asked about")

    def score(self, outputs: Sequence[np.ndarray]) -> float:
        """Score of the outputs of all samples."""
        assert callable(self.metric)
        return float(self.metric(outputs, self.labels))

    def _load_metric(self) -> None:
        """Replace the name of a metric by its function.

        raises  ConfigError for another name, and for `decode` beside a metric that decodes nothing
        """
        if self.decode is not None and not isinstance(self.metric, str):
            raise ConfigError(f"guard: decode= belongs to metric='map50' or 'map'. Got metric={self.metric!r} instead")
        if isinstance(self.metric, str):
            metric = precision_named(self.metric, self.decode)
            if metric is None:
                names = ", ".join(METRICS)
                raise ConfigError(f"guard: metric= is a function or one of {names}. Got {self.metric!r} instead")
            object.__setattr__(self, "metric", metric)

    def __repr__(self) -> str:
        return f"Guard({str(self)!r})"

    def __str__(self) -> str:
        return f"sqnr >= {self.sqnr:g}" if self.metric is None else f"drop <= {self.max_drop:g}"


@dataclass(frozen=True)
class Figure:
    """Quality of a module compared with float.

    sqnr     of the worst output, dB, rounded to tenths: noise of the last bits decides nothing
    score    what the metric gave, and float's; None without a metric
    """

    sqnr: float
    score: tuple[float, float] | None = None

    @property
    def drop(self) -> float:
        """Drop of the metric against float's; 0 without a metric."""
        return 0.0 if self.score is None else round(self.score[1] - self.score[0], 9)

    def holds(self, guard: Guard) -> bool:
        """True if the bound is met.

        >>> Figure(19.9).holds(Guard()), Figure(20.0).holds(Guard())
        (False, True)
        """
        return self.drop <= (guard.max_drop or 0.0) if guard.metric else self.sqnr >= guard.sqnr

    def is_ample(self, guard: Guard) -> bool:
        """True if the bound is exceeded clearly: just above a bound in dB, scores still lose points.

        >>> Figure(29.9).is_ample(Guard()), Figure(30.0).is_ample(Guard())
        (False, True)
        """
        return self.holds(guard) and (guard.metric is not None or self.sqnr >= guard.sqnr + AMPLE)

    def beats(self, other: Figure) -> bool:
        """True if this one is better: by the metric where there is one, by dB where that is equal."""
        return (-self.drop, self.sqnr) > (-other.drop, other.sqnr)

    def __str__(self) -> str:
        text = "equal to float" if self.sqnr == math.inf else f"{self.sqnr:.1f} dB"
        return text if self.score is None else f"{self.score[0]:.4g} of {self.score[1]:.4g}"


def guard_of(choice: Guard | str | None) -> Guard | None:
    """The guard that a user names: one made before, a text such as "sqnr >= 20", None for none.

    raises  ConfigError for another text

    >>> guard_of("sqnr >= 25").sqnr, guard_of(None)
    (25.0, None)
    """
    if choice is None or isinstance(choice, Guard):
        return choice
    match = TEXT.fullmatch(choice) if isinstance(choice, str) else None
    if match is None:
        raise ConfigError(
            f"guard: {choice!r} is no bound; write 'sqnr >= 20', or None (--guard none) for no guard, or "
            "tvmq.Guard(metric=..., max_drop=..., data=...); on the command line --metric and --max-drop"
        )
    return Guard(float(match["sqnr"]))
