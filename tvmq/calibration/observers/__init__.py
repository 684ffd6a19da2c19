"""Statistics of tensors, and the thresholds chosen from them.

Statistics stream and merge: their memory does not depend on the number of samples, and their state is the
same, byte for byte, however the samples are batched, ordered and sharded. Observers turn statistics into the
range of a tensor; weight observers do so with a constant. Everything here is NumPy.

    TensorStatistics    ranges (RangeStatistics) and histogram (Histogram) of one tensor
    OBSERVERS           name -> "module:class", loaded on use by `make_observer`
    WEIGHT_OBSERVERS    the same for weights, `make_weight_observer`
"""

from __future__ import annotations

import dataclasses
import difflib
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from tvmq.base.by_name import is_object_name, load_object, object_named
from tvmq.calibration.observers.base import Observer
from tvmq.calibration.observers.weight_observers import WeightObserver
from tvmq.errors import ConfigError

OBSERVERS: dict[str, str] = {
    "auto": "tvmq.calibration.observers.auto:Auto",
    "minmax": "tvmq.calibration.observers.minmax:MinMax",
    "moving_average": "tvmq.calibration.observers.minmax:MovingAverage",
    "percentile": "tvmq.calibration.observers.minmax:Percentile",
    "histogram": "tvmq.calibration.observers.histogram:LeastSquares",
    "kl_divergence": "tvmq.calibration.observers.kl_divergence:KlDivergence",
    "global_scale": "tvmq.calibration.observers.minmax:GlobalScale",
}

WEIGHT_OBSERVERS: dict[str, str] = {
    "max": "tvmq.calibration.observers.weight_observers:WeightMax",
    "power2": "tvmq.calibration.observers.weight_observers:WeightPower2",
    "mse": "tvmq.calibration.observers.weight_observers:WeightMse",
    "lanes": "tvmq.calibration.observers.lane_weights:WeightLanes",
}


def make_observer(name: str, **options: Any) -> Observer:
    """The observer of that name, or of that "module:object", with these options.

    raises  ConfigError for an unknown name or option, and for an object that is no observer

    >>> make_observer("minmax")
    MinMax()
    """
    return _make(OBSERVERS, "calibrate_mode", name, options)


def needs_histogram(name: str) -> bool:
    """True if the observer of that name, or of that "module:object", reads histograms; of others none are taken.

    One of another package that does not say what it needs gets all there is.

    >>> needs_histogram("minmax"), needs_histogram("percentile")
    (False, True)
    """
    observer = _load_observer("calibrate_mode", name) if is_object_name(name) else load_object(OBSERVERS[name])
    return "histogram" in getattr(observer, "needs", ("histogram",))


def make_weight_observer(name: str, **options: Any) -> WeightObserver:
    """The weight observer of that name with these options.

    raises  ConfigError for an unknown name or option

    >>> make_weight_observer("max")
    WeightMax()
    """
    return _make(WEIGHT_OBSERVERS, "weight_scale", name, options)


# How an observer of one's own is called, by the option that names it
ARGUMENTS = {"calibrate_mode": ("statistics", "spec"), "weight_scale": ("weights", "spec", "axis", "name")}


def _load_observer(option: str, name: str) -> Any:
    """An observer of another package: the object itself, or what the class that is named makes."""
    target = object_named(name, option, "observer")
    observer = target() if isinstance(target, type) else target
    method, wanted = getattr(observer, "thresholds", None), ARGUMENTS[option]
    listed = f"thresholds({', '.join(wanted)})"
    if not callable(method):
        raise ConfigError(f"{option}: {name!r} has no method {listed}; see docs/extending.md")
    if not takes_arguments(method, wanted):
        raise ConfigError(f"{option}: {name!r} has thresholds{inspect.signature(method)}; it is called as {listed}")
    return observer


def takes_arguments(method: Any, arguments: Sequence[str]) -> bool:
    """Whether a call with so many arguments fits; True for what Python cannot tell, such as compiled code."""
    try:
        inspect.signature(method).bind(*arguments)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def check_range(observer: Any, ends: Any) -> tuple[Any, Any]:
    """Low and high, as `thresholds` of an observer gave them. raises ConfigError for anything else"""
    if isinstance(ends, tuple | list) and len(ends) == 2:
        return ends[0], ends[1]
    raise ConfigError(
        f"observer {type(observer).__name__}: thresholds must give two values, low and high of the range. "
        f"Got {type(ends).__name__} instead; see docs/extending.md"
    )


def _make(table: Mapping[str, str], option: str, name: str, options: Mapping[str, Any]) -> Any:
    if is_object_name(name):
        return _load_observer(option, name)
    if name not in table:
        near = difflib.get_close_matches(str(name), table, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ConfigError(f"{option!r} must be one of {', '.join(table)}. Got {name!r} instead{hint}")
    maker = load_object(table[name])
    known = [field.name for field in dataclasses.fields(maker)]
    for key in options:
        if key not in known:
            listed = ", ".join(known) or "none"
            raise ConfigError(f"{name} observer: unknown option {key!r}; known: {listed}")
    return maker(**options)
