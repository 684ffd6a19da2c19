"""The Pareto front of a search, read from its JSON file and drawn: drop of accuracy over time.

    {"points": [{"name", "drop", "low", "high", "seconds", "bytes", "recipe": {...}}, ...],
     "float": {"seconds", "bytes", "score"}, "goal": {...}}

drop, low, high  of a point, in the units of the metric: its drop below float and the interval of that; null where no
                 metric judged, then "sqnr" in dB counts
seconds, bytes   of a run, of the saved model
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from tvmq.errors import DataError
from tvmq.precision_search.picture import draw_front
from tvmq.regular_file import check_regular

JUDGED_BY_SCORES = ("drop", "low", "high", "seconds", "bytes")
JUDGED_BY_DECIBELS = ("sqnr", "seconds", "bytes")


def read_front(path: Path) -> dict[str, Any]:
    """The front as data, with the SVG of its picture as "svg".

    raises   DataError for a file that cannot be read or is of another form, with the point and what it lacks
    """
    try:
        check_regular(path)
        front = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(
            f"report: '{path}' cannot be read ({error.strerror}); give the front.json of a search"
        ) from error
    except ValueError as error:
        raise DataError(f"report: '{path}' is no JSON ({error}); give the front.json of a search") from error
    points = front.get("points") if isinstance(front, dict) else None
    if not isinstance(points, list) or not points:
        raise DataError(
            f"report: '{path}' holds no list 'points' of at least one point; give the front.json of a search"
        )
    for number, point in enumerate(points):
        _check(point, number, path)
    points = sorted(points, key=lambda point: point["seconds"])
    base = front.get("float") if isinstance(front.get("float"), dict) else {}
    base = {name: value for name, value in base.items() if _number(value) is not None}
    goal = front.get("goal") if isinstance(front.get("goal"), dict) else {}
    goal = {name: value for name, value in goal.items() if value is not None}
    if "max_drop" in goal:
        goal.pop("sqnr", None)  # the drop decides
    data = {"points": points, "float": base, "goal": goal, "best": front.get("best")}
    return {**data, "svg": draw_front(data)}


def _check(point: Any, number: int, path: Path) -> None:
    if not isinstance(point, dict):
        raise DataError(f"report: point {number} of '{path}' must be an object. Got {type(point).__name__} instead")
    for name in JUDGED_BY_DECIBELS if point.get("drop") is None and "sqnr" in point else JUDGED_BY_SCORES:
        if _number(point.get(name)) is None:
            raise DataError(
                f"report: point {number} of '{path}' must have a number '{name}'. Got {point.get(name)!r} instead"
            )
    point.setdefault("name", f"point {number}")
    point["recipe"] = point.get("recipe") if isinstance(point.get("recipe"), dict) else {}


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if is_number else None
