"""From statistics to the range of each tensor, by the observer that the configuration names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tvmq.config import QConfig
from tvmq.observers import make_observer
from tvmq.observers.expected_error import expected_error
from tvmq.observers.tensor_statistics import TensorStatistics
from tvmq.passes.collect import Watched
from tvmq.spec import QuantSpec, choose_qparams

Range = tuple[float, float]


@dataclass
class Choice:
    """The range of a tensor, the observer that gave it, and the errors of the candidates."""

    low: float
    high: float
    observer: str
    errors: dict[str, float] = field(default_factory=dict)


def choose(
    found: Sequence[Watched], statistics: Mapping[str, TensorStatistics], config: QConfig
) -> dict[str, Choice]:
    """{source variable: choice} for every watched tensor."""
    chosen: dict[str, Choice] = {}
    for w in found:
        if w.source not in chosen:
            chosen[w.source] = _choose_one(statistics.get(w.source), w.spec, config)
    return chosen


def _choose_one(statistics: TensorStatistics | None, spec: QuantSpec, config: QConfig) -> Choice:
    mode = config.calibrate_mode
    if mode == "global_scale":
        low, high = -config.global_scale, config.global_scale
        return Choice(low, high, mode)
    assert statistics is not None
    if mode != "auto":
        low, high = make_observer(mode, **_options(mode, config)).thresholds(statistics, spec)
        return Choice(low, high, mode)
    return _auto(statistics, spec)


def _options(mode: str, config: QConfig) -> dict[str, float]:
    return {"percentile": config.percentile} if mode == "percentile" else {}


def _auto(statistics: TensorStatistics, spec: QuantSpec) -> Choice:
    """The candidate of least expected error on the tensor; ties go to the widest range."""
    candidates = {name: make_observer(name).thresholds(statistics, spec) for name in ("minmax", "histogram")}
    errors = {name: expected_error(statistics.histogram, choose_qparams(*ends, spec)) for name, ends in candidates.items()}
    best = min(candidates, key=lambda name: (errors[name], candidates[name][0] - candidates[name][1]))
    return Choice(*candidates[best], best, errors)
