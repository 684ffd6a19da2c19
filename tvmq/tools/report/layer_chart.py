"""A chart of the layers in their order: error above, time below, so that the worst and the slowest are seen at once.

Tests: tests/tools/report/test_layer_chart.py
"""

from __future__ import annotations

from collections.abc import Sequence

from tvmq.base.text import xml_text
from tvmq.tools.report.rows import Row

WIDTH, LEFT, RIGHT = 1000, 64, 8
ERROR_TOP, HEIGHT, GAP = 34, 120, 46  # letters of 30, as on narrow screens, have room
MOST_DECIBELS = 60.0  # what is better looks the same
BAR = 0.78  # of its place


def draw_layer_chart(rows: Sequence[Row]) -> str:
    """SVG with a bar for each layer; "" where fewer than two have an error or a time.

    A bar is the taller the larger the error: 0 dB fills the height, MOST_DECIBELS leave none. Each bar has the key of
    its layer, for a page that shows more of it.
    """
    layers = [row for row in rows if (row["local"] and row["local"]["sqnr"] is not None) or row["seconds"]]
    if len(layers) < 2:
        return ""
    errors = [_error_height(row) for row in layers]
    longest = max((row["seconds"] or 0.0) for row in layers)
    times = [(row["seconds"] or 0.0) / longest if longest else 0.0 for row in layers]
    charts = [("signal to error, dB", errors, ("0", "60"), "error")] if any(errors) else []
    charts += [(f"time, up to {longest * 1e6:.4g} us", times, ("", "0"), "time")] if longest else []
    height = ERROR_TOP + len(charts) * (HEIGHT + GAP)
    parts = [f'<svg class="chart" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="Error and time of each layer">']
    for number, (title, values, ends, kind) in enumerate(charts):
        top = ERROR_TOP + number * (HEIGHT + GAP)
        parts += [f'<text x="{LEFT}" y="{top - 5}">{xml_text(title)}</text>', *_axis(top, ends)]
        parts += _bars(layers, values, top, kind)
    return "".join([*parts, "</svg>"])


def _error_height(row: Row) -> float:
    """Share of the height for the error of a layer.

    >>> [_error_height({"local": figures}) for figures in ({"sqnr": 30.0}, None, {"sqnr": 99.0})]
    [0.5, 0.0, 0.0]
    """
    sqnr = (row["local"] or {}).get("sqnr")
    return 0.0 if sqnr is None else min(1.0, max(0.0, 1 - sqnr / MOST_DECIBELS))


def _axis(top: int, ends: tuple[str, str]) -> list[str]:
    """The base line, and the values at both ends of the height."""
    base = top + HEIGHT
    lines = [f'<path class="axis" d="M{LEFT} {base}H{WIDTH - RIGHT}"/>']
    places = zip(ends, (top + 16, base), strict=True)
    return lines + [f'<text x="{LEFT - 8}" y="{y}" text-anchor="end">{end}</text>' for end, y in places if end]


def _bars(layers: Sequence[Row], values: Sequence[float], top: int, kind: str) -> list[str]:
    place = (WIDTH - LEFT - RIGHT) / len(layers)
    bars = []
    for number, (row, value) in enumerate(zip(layers, values, strict=True)):
        tall = max(1.0, value * HEIGHT) if value else 0.0
        x, y = LEFT + number * place, top + HEIGHT - tall
        title = f"<title>{xml_text(_describe(row))}</title>"
        bars.append(
            f'<g data-key="{xml_text(row["key"])}" class="bar {kind}">{title}'
            f'<rect class="room" x="{x:.2f}" y="{top}" width="{place:.2f}" height="{HEIGHT}"/>'
            f'<rect x="{x + place * (1 - BAR) / 2:.2f}" y="{y:.2f}" width="{place * BAR:.2f}" height="{tall:.2f}"/></g>'
        )
    return bars


def _describe(row: Row) -> str:
    """Name and figures of a bar, in a line."""
    parts = [row["title"]]
    if row["local"] and row["local"]["sqnr"] is not None:
        parts.append(f"{row['local']['sqnr']:.1f} dB")
    if row["seconds"]:
        parts.append(f"{row['seconds'] * 1e6:.1f} us")
    return ", ".join(parts)
