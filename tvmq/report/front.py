"""The Pareto front of a search, read from its JSON file and drawn: drop of accuracy over time.

    {"points": [{"name", "drop", "low", "high", "seconds", "bytes", "recipe": {...}}, ...],
     "float": {"seconds", "bytes", "score"}, "goal": {...}}

drop, low, high  of a point, in the units of the metric: its drop below float and the interval of that; null where no
                 metric judged, then "sqnr" in dB counts, negative: more is worse
seconds, bytes   of a run, of the saved model
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from tvmq.errors import DataError

NUMBERS = ("drop", "low", "high", "seconds", "bytes")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640.0, 340.0, 64.0, 24.0, 18.0, 44.0


def read_front(path: Path) -> dict[str, Any]:
    """The front as data, with the SVG of its picture as "svg".

    raises   DataError for a file that cannot be read or is of another form, with the point and what it lacks
    """
    try:
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
    goal = {name: value for name, value in (front.get("goal") or {}).items() if value is not None}
    return {"points": points, "float": base, "goal": goal, "svg": picture(points, base)}


def _check(point: Any, number: int, path: Path) -> None:
    if not isinstance(point, dict):
        raise DataError(f"report: point {number} of '{path}' must be an object. Got {type(point).__name__} instead")
    if point.get("drop") is None and _number(point.get("sqnr")) is not None:
        point.update(dict.fromkeys(("drop", "low", "high"), -point["sqnr"]))
    for name in NUMBERS:
        value = point.get(name)
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
            raise DataError(f"report: point {number} of '{path}' must have a number '{name}'. Got {value!r} instead")
    point.setdefault("name", f"point {number}")
    point["recipe"] = point.get("recipe") if isinstance(point.get("recipe"), dict) else {}


def picture(points: Sequence[Mapping[str, Any]], base: Mapping[str, Any]) -> str:
    """The SVG: time to the right, drop upwards, the interval of each point as a line; float as a ring."""
    times = [point["seconds"] for point in points]
    drops = [value for point in points for value in (point["low"], point["high"], point["drop"])]
    whole = _number(base.get("seconds"))
    if whole is not None:
        times, drops = [*times, whole], [*drops, min(0.0, *drops)]
    x, y = _scale(times, LEFT, WIDTH - RIGHT), _scale(drops, HEIGHT - BOTTOM, TOP)
    parts = [_axis(times, drops, x, y)]
    line = "L".join(f"{x(point['seconds']):.1f} {y(point['drop']):.1f}" for point in points)
    parts.append(f'<path class="front" d="M{line}"/>')
    for point in points:
        at, label = x(point["seconds"]), escape(str(point["name"]))
        parts.append(f'<path class="interval" d="M{at:.1f} {y(point["low"]):.1f}V{y(point["high"]):.1f}"/>')
        parts.append(
            f'<circle class="point" cx="{at:.1f}" cy="{y(point["drop"]):.1f}" r="5"><title>{label}</title></circle>'
        )
    if whole is not None:
        parts.append(f'<circle class="float" cx="{x(whole):.1f}" cy="{y(0.0):.1f}" r="5"><title>float</title></circle>')
    return (
        f'<svg class="pareto" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" aria-label="drop over time">'
        f"{''.join(parts)}</svg>"
    )


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def _scale(values: Sequence[float], begin: float, end: float) -> Any:
    """From values to pixels, with some room at both ends."""
    low, high = min(values), max(values)
    room = 0.06 * (high - low) or abs(high) * 0.1 or 1.0
    low, high = low - room, high + room
    return lambda value: begin + (value - low) / (high - low) * (end - begin)


def _axis(times: Sequence[float], drops: Sequence[float], x: Any, y: Any) -> str:
    parts = []
    for value in _ticks(min(drops), max(drops)):
        at = y(value)
        parts.append(f'<path class="grid" d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{value:.4g}</text>')
    for value in _ticks(min(times), max(times)):
        at = x(value)
        parts.append(f'<path class="grid" d="M{at:.1f} {TOP}V{HEIGHT - BOTTOM}"/>')
        parts.append(f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 17}" text-anchor="middle">{value * 1e3:.4g}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text class="axis" x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">ms a run</text>')
    parts.append(f'<text class="axis" x="{14}" y="{TOP + 2}">drop</text>')
    return "".join(parts)


def _ticks(low: float, high: float) -> list[float]:
    """About four round numbers between two.

    >>> _ticks(0.0, 1.0)
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    if high <= low:
        return [low]
    rough = (high - low) / 4
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [number * step for number in range(first, math.floor(high / step + 1e-9) + 1)]
