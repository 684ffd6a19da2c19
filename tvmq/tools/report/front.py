"""The Pareto front of a search, read from its JSON file and drawn: drop of accuracy over time.

    {"points": [{"name", "drop", "low", "high", "seconds", "bytes", "recipe": {...}}, ...],
     "float": {"seconds", "bytes", "score"}, "goal": {...}}

drop, low, high  drop of a point below float and its confidence interval, in units of the metric; null without a
                 metric, then "sqnr" in dB counts
seconds, bytes   of a run, of the saved model
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tvmq.base.regular_file import check_regular
from tvmq.base.text import read_json
from tvmq.errors import DataError
from tvmq.quantization.search.picture import draw_front

SCORES, COSTS = ("drop", "low", "high"), ("seconds", "bytes")
LARGEST = 1e100


def read_front(path: Path) -> dict[str, Any]:
    """Read the front; its picture is added as "svg".

    raises   DataError for a file that cannot be read or lacks something, with the point and field
    """
    try:
        check_regular(path)
        front = read_json(path.read_bytes())
    except OSError as error:
        raise DataError(
            f"report: '{path}' cannot be read ({error.strerror}); give the front.json of a search"
        ) from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"report: '{path}' is not JSON ({error}); give the front.json of a search") from error
    points = front.get("points") if isinstance(front, dict) else None
    if not isinstance(points, list) or not points:
        raise DataError(f"report: '{path}' has no non-empty list 'points'; give the front.json of a search")
    where = f"report: point {{}} of '{path}'"
    for number, point in enumerate(points):
        _check_form(point, number, where.format(number))
    base = front.get("float") if isinstance(front.get("float"), dict) else {}
    base = {name: value for name, value in base.items() if _number(value) is not None}
    goal = front.get("goal") if isinstance(front.get("goal"), dict) else {}
    goal = {name: value for name, value in goal.items() if value is not None}
    _require(goal, [name for name in ("max_drop", "sqnr") if name in goal], f"report: the goal of '{path}'")
    if "max_drop" in goal:
        goal.pop("sqnr", None)  # the drop decides
    # all are drawn on one scale
    by_scores = "max_drop" in goal or all(point["drop"] is not None for point in points)
    for number, point in enumerate(points):
        _require(point, ["drop"] if by_scores else ["sqnr"], where.format(number))
    data = {"points": sorted(points, key=lambda point: point["seconds"]), "float": base, "goal": goal}
    return {**data, "best": front.get("best"), "svg": draw_front({**data, "best": front.get("best")})}


def _check_form(point: Any, number: int, where: str) -> None:
    if not isinstance(point, dict):
        raise DataError(f"{where} must be an object. Got {type(point).__name__} instead")
    point.setdefault("drop", None)
    names = SCORES if point["drop"] is not None or point.get("sqnr") is None else ()
    _require(point, [*names, *COSTS, *(name for name in ("sqnr", "int8") if point.get(name) is not None)], where)
    point["name"] = str(point.get("name", f"point {number}"))
    point["recipe"] = point.get("recipe") if isinstance(point.get("recipe"), dict) else {}


def _require(fields: Mapping[str, Any], names: Iterable[str], where: str) -> None:
    for name in names:
        if _number(fields.get(name)) is None:
            raise DataError(f"{where} must have a number '{name}'. Got {fields.get(name)!r} instead")


def _number(value: Any) -> float | None:
    """True for a finite number small enough for arithmetic."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LARGEST
    return float(value) if is_number else None
