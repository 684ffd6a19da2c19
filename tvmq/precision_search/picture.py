"""The Pareto front of a search as a picture: an SVG that needs nothing else."""

from __future__ import annotations

from html import escape

from tvmq.precision_search.front import Point, SearchResult
from tvmq.precision_search.goal import OBJECTIVES

WIDTH, HEIGHT, MARGIN = 640, 400, 64
STYLE = """
svg { font: 13px system-ui, sans-serif; color: #1a1a1a; background: #ffffff }
text { fill: currentColor } .axis, .step { stroke: currentColor; fill: none } .axis { opacity: .5 }
.step { stroke: #2f6fb3; stroke-width: 1.5; opacity: .5 } .bound { stroke: #b3402f; stroke-dasharray: 5 4 }
.point { fill: #2f6fb3 } .broken { fill: none; stroke: #2f6fb3 } .best { fill: #2e8540 } .float { fill: #777777 }
@media (prefers-color-scheme: dark) { svg { color: #e6e6e6; background: #16181c } }
"""


def draw_front(result: SearchResult) -> str:
    """SVG text: what is lost, from left to right, against time or size; the bound as a line, float as a square."""
    figure = OBJECTIVES[result.goal.minimize]
    costs = [float(getattr(point, figure)) for point in result.front] + [float(result.floats[figure])]
    scale, unit = _unit(figure, max(costs))
    max_drop = result.goal.max_drop
    in_points = max_drop is not None
    losses = [point.loss for point in result.front]
    bound = -result.goal.sqnr if max_drop is None else max_drop
    floor = min([*losses, bound, 0.0 if in_points else bound])
    x = _Axis(floor, max([*losses, bound]), MARGIN, WIDTH - 24)
    y = _Axis(0.0, max(costs), HEIGHT - MARGIN, 24)
    parts = [_axes(x, y, figure, unit, scale, in_points=in_points)]
    parts.append(
        f'<path class="bound" d="M{x.at(bound):.1f} 24V{HEIGHT - MARGIN}">'
        f"<title>{escape(str(result.goal))}</title></path>"
    )
    line = "".join(
        f"{'L' if i else 'M'}{x.at(p.loss):.1f} {y.at(getattr(p, figure)):.1f}" for i, p in enumerate(result.front)
    )
    parts.append(f'<path class="step" d="{line}"/>' if line else "")
    parts += [
        _dot(point, x.at(point.loss), y.at(getattr(point, figure)), is_best=point == result.best)
        for point in result.front
    ]
    parts.append(
        f'<rect class="float" x="{x.at(floor) - 4:.1f}" y="{y.at(costs[-1]) - 4:.1f}" width="8" height="8">'
        "<title>float</title></rect>"
    )
    parts.append(f'<text x="{x.at(floor) + 9:.1f}" y="{y.at(costs[-1]) + 4:.1f}">float</text>')
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
    return (
        f"{head}<title>Pareto front: {escape(str(result.goal))}</title><style>{STYLE}</style>{''.join(parts)}</svg>\n"
    )


class _Axis:
    """Numbers to places, with a little room at both ends."""

    def __init__(self, low: float, high: float, first: float, last: float) -> None:
        room = 0.06 * ((high - low) or 1.0)
        self.low, self.high, self.first, self.last = low - room * (low != 0.0), high + room, first, last

    def at(self, value: float) -> float:
        """Place of a number."""
        return self.first + (value - self.low) / (self.high - self.low) * (self.last - self.first)


def _dot(point: Point, x: float, y: float, *, is_best: bool) -> str:
    kind = "best" if is_best else "point" if point.holds else "broken"
    facts = f"{_loss_text(point)}, {point.seconds * 1e6:.1f} us, {point.bytes} bytes, {point.int8:.0%} int8"
    circle = f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{6 if is_best else 4}">'
    return f"{circle}<title>{escape(facts)}</title></circle>"


def _loss_text(point: Point) -> str:
    return f"{point.sqnr:.1f} dB" if point.drop is None else f"drop {point.drop:.4g}"


def _axes(x: _Axis, y: _Axis, figure: str, unit: str, scale: float, *, in_points: bool) -> str:
    base = HEIGHT - MARGIN
    parts = [f'<path class="axis" d="M{MARGIN} 24V{base}H{WIDTH - 24}"/>']
    for index in range(5):
        loss, cost = (axis.low + (axis.high - axis.low) * index / 4 for axis in (x, y))
        label = f"{loss:.3g}" if in_points else f"{-loss:.0f}"
        parts.append(f'<text x="{x.at(loss):.1f}" y="{base + 18}" text-anchor="middle">{label}</text>')
        parts.append(f'<text x="{MARGIN - 8}" y="{y.at(cost) + 4:.1f}" text-anchor="end">{cost * scale:.3g}</text>')
    what = "drop of the score" if in_points else "signal to error, dB (worse to the right)"
    parts.append(f'<text x="{(MARGIN + WIDTH) / 2}" y="{HEIGHT - 18}" text-anchor="middle">{what}</text>')
    parts.append(f'<text x="{MARGIN - 48}" y="16">{"forecast" if figure == "seconds" else "constants"}, {unit}</text>')
    return "".join(parts)


def _unit(figure: str, largest: float) -> tuple[float, str]:
    """(factor, unit) in which the numbers are short.

    >>> _unit("seconds", 3e-4), _unit("bytes", 5_000_000.0)
    ((1000000.0, 'us'), (1e-06, 'MB'))
    """
    if figure == "seconds":
        return (1e3, "ms") if largest >= 1e-3 else (1e6, "us")
    return (1e-6, "MB") if largest >= 1e6 else (1e-3, "kB")
