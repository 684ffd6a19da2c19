"""Dot charts as SVG: a line a row, a dot a series, a bar of error where a figure has one.

Nothing but text is needed to draw them. Each is drawn twice, and the style sheet shows the one that has its size on the
screen: as wide as the column of text, and as a telephone. Colours are variables of _static/site.css, so that they
follow light and dark.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

ROW, MARGIN, LETTER = 18, 26, 6.3


class Layout(NamedTuple):
    """Sizes of a drawing in pixels, and about how many ticks it has room for."""

    name: str
    width: int
    labels: int
    ticks: int


WIDE, NARROW = Layout("wide", 736, 190, 6), Layout("narrow", 358, 132, 3)


class Figure(NamedTuple):
    """A value and its standard error."""

    value: float
    error: float = 0.0


Row = tuple[str, Mapping[str, Figure]]


def draw_chart(title: str, rows: Sequence[Row], *, logarithmic: bool = False) -> str:
    """Named rows of figures by series, below a title: HTML with an SVG for each layout.

    >>> html = draw_chart("ms", [("net", {"ours": Figure(1.0), "theirs": Figure(2.5, 0.5)})])
    >>> html.count("<svg"), html.count("<circle"), html.count("theirs, net: 2.5 \u00b1 0.5")
    (2, 8, 2)
    """
    drawings = "".join(_draw(title, rows, layout, logarithmic) for layout in (WIDE, NARROW))
    return f'<div class="chart"><p class="title">{escape(title)}</p>{drawings}</div>'


def _draw(title: str, rows: Sequence[Row], layout: Layout, logarithmic: bool) -> str:
    width, labels = layout.width, layout.labels
    series = list(dict.fromkeys(name for _, figures in rows for name in figures))
    legend, below = _draw_legend(series, width)
    top = below + 14
    bottom = top + ROW * len(rows)
    ends = [end for _, figures in rows for f in figures.values() for end in (f.value - f.error, f.value + f.error)]
    ticks = (_decades if logarithmic else _steps)(min(ends), max(ends), layout.ticks)
    scale = math.log if logarithmic else float
    begin, end = scale(ticks[0]), scale(ticks[-1])

    def place(value: float) -> float:
        return labels + (scale(value) - begin) / (end - begin) * (width - labels - MARGIN)

    parts = [*legend]
    for tick in ticks:
        at = place(tick)
        parts.append(f'<path class="grid" d="M{at:.1f} {top - 6}V{bottom}"/>')
        parts.append(f'<text class="soft" x="{at:.1f}" y="{bottom + 13}" text-anchor="middle">{tick:g}</text>')
    for index, (name, figures) in enumerate(rows):
        y = top + ROW * index + 6
        parts.append(f'<text x="{labels - 12}" y="{y + 4}" text-anchor="end">{escape(_cut(name, labels))}</text>')
        places = [place(f.value) for f in figures.values()]
        parts += [f'<path class="grid" d="M{min(places):.1f} {y}H{max(places):.1f}"/>'] if places else []
        for one, figure in reversed(figures.items()):
            kind = f"series{series.index(one)}"
            if figure.error:
                left, right = place(figure.value - figure.error), place(figure.value + figure.error)
                parts.append(f'<path class="error {kind}" d="M{left:.1f} {y}H{right:.1f}"/>')
            spread = f" \u00b1 {figure.error:g}" if figure.error else ""
            text = f"<title>{escape(one)}, {escape(name)}: {figure.value:.4g}{spread}</title>"
            radius = 3.5 if kind != "series0" else 4.5
            parts.append(f'<circle class="{kind}" cx="{place(figure.value):.1f}" cy="{y}" r="{radius}">{text}</circle>')
    head = f'<svg class="{layout.name}" viewBox="0 0 {width} {bottom + 20}" role="img" aria-label="{escape(title)}">'
    return f"{head}{''.join(parts)}</svg>"


def _draw_legend(series: Sequence[str], room: int) -> tuple[list[str], int]:
    """Dots with names, in as many lines as they need, and where the last one ends."""
    parts, x, y = [], 0.0, 13
    for index, name in enumerate(series):
        width = 26 + LETTER * len(name)
        if x and x + width > room:
            x, y = 0.0, y + 17
        parts.append(f'<circle class="series{index}" cx="{x + 5:.1f}" cy="{y - 4}" r="4.5"/>')
        parts.append(f'<text x="{x + 14:.1f}" y="{y}">{escape(name)}</text>')
        x += width
    return parts, y


def _cut(name: str, labels: int) -> str:
    """A name that fits the column of names."""
    most = int((labels - 12) / LETTER)
    return name if len(name) <= most else f"{name[: most - 1]}\u2026"


def _decades(least: float, most: float, count: int) -> list[float]:
    """Ticks 1, 2, 5, 10, ... around values above 0.

    >>> _decades(0.9, 7, 6)
    [0.5, 1.0, 2.0, 5.0, 10.0]
    """
    ladder = [float(f"{digit}e{power}") for power in range(-6, 10) for digit in (1, 2, 5)]
    first = max(index for index, tick in enumerate(ladder) if tick <= least)
    last = min(index for index, tick in enumerate(ladder) if tick >= most)
    ticks = ladder[first : max(last, first + 1) + 1]
    shown = ticks if len(ticks) <= 2 * count else [tick for tick in ticks if f"{tick:e}"[0] == "1"]
    return sorted({ticks[0], *shown, ticks[-1]})


def _steps(least: float, most: float, count: int) -> list[float]:
    """Round ticks at equal distances around values.

    >>> _steps(-0.9, 0.5, 6)
    [-1.0, -0.8, -0.6, -0.4, -0.2, 0.0, 0.2, 0.4, 0.6]
    """
    rough = max(most - least, 1e-9) / count
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * digit for digit in (1, 2, 5, 10) if unit * digit >= rough * 0.8)
    return [round(index * step, 10) for index in range(math.floor(least / step), math.ceil(most / step) + 1)]
