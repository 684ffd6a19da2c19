"""The Pareto front of a search as a picture: an SVG that needs nothing else.

Tests: tests/quantization/search/test_parts.py
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from tvmq.base.text import xml_text
from tvmq.quantization.search.goal import OBJECTIVES

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640.0, 380.0, 64.0, 24.0, 30.0, 48.0
STYLE = """
svg.pareto { font: 13px system-ui, sans-serif; color: #1b1f24; --front: #0a66c2; --bound: #d4351c; --best: #0a7f5a }
@media (prefers-color-scheme: dark) {
svg.pareto { color: #e6edf3; --front: #58a6ff; --bound: #ff7b72; --best: #3fb68b } }
.pareto text { fill: currentColor } .pareto .grid { stroke: currentColor; opacity: .15 }
.pareto .line { stroke: var(--front); stroke-width: 1.5; opacity: .5; fill: none }
.pareto .interval { stroke: var(--front); stroke-width: 2; opacity: .45 }
.pareto .bound { stroke: var(--bound); stroke-dasharray: 5 4 }
.pareto .point { fill: var(--front) } .pareto .broken { fill: none; stroke: var(--front) }
.pareto .best { fill: var(--best) } .pareto .float { fill: none; stroke: currentColor; stroke-width: 2 }
"""


def draw_front(front: Mapping[str, Any]) -> str:
    """SVG text: time or size to the right, what is lost upwards; the bound as a dashed line, float as a ring.

    front  the data of a front.json: {"goal", "float", "best", "points"}; points have drop (with low and high) or sqnr
    """
    goal, floats, points = front.get("goal") or {}, front.get("float") or {}, front["points"]
    figure = OBJECTIVES.get(str(goal.get("minimize")), "seconds")
    has_drop = goal.get("max_drop") is not None or all(point.get("drop") is not None for point in points)
    bound = goal.get("max_drop") if has_drop else goal.get("sqnr")
    loss = _loss_in_points if has_drop else _loss_in_decibels
    costs = [float(point[figure]) for point in points]
    losses = [value for point in points for value in loss(point)] + ([0.0] if has_drop else [])
    if bound is not None:
        losses.append(float(bound))
    whole = floats.get(figure)
    if whole is not None:
        costs.append(float(whole))
    x = _Axis(costs or [0.0], LEFT, WIDTH - RIGHT)
    # more is lost upwards: of decibels there are fewer
    y = _Axis(losses or [0.0], *((HEIGHT - BOTTOM, TOP) if has_drop else (TOP, HEIGHT - BOTTOM)))
    parts = [_axes(x, y, figure, in_points=has_drop)]
    if bound is not None:
        parts.append(f'<path class="bound" d="M{LEFT} {y.at(bound):.1f}H{WIDTH - RIGHT}"><title>bound</title></path>')
    ordered = sorted(points, key=lambda point: point[figure])
    if ordered:
        line = "L".join(f"{x.at(point[figure]):.1f} {y.at(loss(point)[0]):.1f}" for point in ordered)
        parts.append(f'<path class="line" d="M{line}"/>')
    parts += [_dot(point, x.at(point[figure]), y, loss(point), best=front.get("best")) for point in ordered]
    if whole is not None:
        place = y.at(0.0) if has_drop else HEIGHT - BOTTOM
        parts.append(
            f'<circle class="float" cx="{x.at(whole):.1f}" cy="{place:.1f}" r="5"><title>float</title></circle>'
        )
        parts.append(f'<text x="{x.at(whole) - 9:.1f}" y="{place - 8:.1f}" text-anchor="end">float</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="pareto" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" '
        f'aria-label="Pareto front: what is lost over {xml_text(str(goal.get("minimize", "latency")))}">'
        f"<style>{STYLE}</style>"
        f"{''.join(parts)}</svg>\n"
    )


def _loss_in_points(point: Mapping[str, Any]) -> tuple[float, ...]:
    """The drop, and the ends of its interval where they are known."""
    ends = (point.get("low"), point.get("high"))
    return (point["drop"], *(end for end in ends if end is not None))


def _loss_in_decibels(point: Mapping[str, Any]) -> tuple[float, ...]:
    return (point["sqnr"],)


class _Axis:
    """Axis that maps numbers to places, with a little room at both ends."""

    def __init__(self, values: Sequence[float], first: float, last: float) -> None:
        low, high = min(values), max(values)
        room = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
        self.values, self.low, self.high = (low, high), low - room, high + room
        self.first, self.last = first, last

    def at(self, value: float) -> float:
        """Place of a number."""
        return self.first + (value - self.low) / (self.high - self.low) * (self.last - self.first)


def _dot(point: Mapping[str, Any], x: float, y: _Axis, losses: Sequence[float], *, best: str | None) -> str:
    is_best = best is not None and point.get("name") == best
    kind = "best" if is_best else "point" if point.get("holds", True) else "broken"
    lost = f"{point['sqnr']:.1f} dB" if point.get("drop") is None else f"drop {point['drop']:.4g}"
    int8 = "" if point.get("int8") is None else f", {point['int8']:.0%} int8"
    title = f"{point.get('name', '')}: {lost}, {point['seconds'] * 1e6:.1f} us, {point['bytes']} bytes{int8}"
    low, high = min(losses), max(losses)
    interval = f'<path class="interval" d="M{x:.1f} {y.at(low):.1f}V{y.at(high):.1f}"/>' if low < high else ""
    circle = f'<circle class="{kind}" cx="{x:.1f}" cy="{y.at(losses[0]):.1f}" r="{6 if is_best else 4.5}">'
    return f"{interval}{circle}<title>{xml_text(title)}</title></circle>"


def _axes(x: _Axis, y: _Axis, figure: str, *, in_points: bool) -> str:
    factor, unit = _unit(figure, x.values[1])
    parts = []
    for value in round_numbers(*y.values):
        at = y.at(value)
        parts.append(f'<path class="grid" d="M{LEFT:g} {at:.1f}H{WIDTH - RIGHT:g}"/>')
        parts.append(f'<text x="{LEFT - 8:g}" y="{at + 4:.1f}" text-anchor="end">{value:.4g}</text>')
    for value in round_numbers(*(factor * end for end in x.values)):
        at = x.at(value / factor)
        parts.append(f'<path class="grid" d="M{at:.1f} {TOP:g}V{HEIGHT - BOTTOM:g}"/>')
        parts.append(f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 17:g}" text-anchor="middle">{value:.4g}</text>')
    what = f"forecast of a run, {unit}" if figure == "seconds" else f"constants, {unit}"
    parts.append(
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2:g}" y="{HEIGHT - 8:g}" text-anchor="middle">{what}</text>'
        f'<text x="8" y="{TOP - 14:g}">{"drop of the score" if in_points else "signal to error, dB"}</text>'
    )
    return "".join(parts)


def _unit(figure: str, largest: float) -> tuple[float, str]:
    """(factor, unit) in which the numbers are short.

    >>> _unit("seconds", 3e-4), _unit("bytes", 5_000_000.0)
    ((1000000.0, 'us'), (1e-06, 'MB'))
    """
    if figure == "seconds":
        return (1e3, "ms") if largest >= 1e-3 else (1e6, "us")
    return (1e-6, "MB") if largest >= 1e6 else (1e-3, "kB")


def round_numbers(low: float, high: float) -> list[float]:
    """About four round numbers between two.

    >>> round_numbers(0.0, 1.0)
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    if high <= low:
        return [low]
    rough = (high - low) / 4
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [number * step for number in range(first, math.floor(high / step + 1e-9) + 1)]
