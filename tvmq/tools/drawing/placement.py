"""Positions of cards and edges in pixels: each near the middle of its neighbors, long pictures in columns.

Tests: tests/tools/drawing/test_draw.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from tvmq.tools.drawing.layering import Layering, Spot

GAP, ROW_GAP, COLUMN_GAP, MARGIN = 22.0, 30.0, 56.0, 12.0
LANE = 5.0  # between edges that go to the next column side by side
PASSING = 10.0  # width of an edge between cards
SWEEPS = 3
TALLEST = 1500.0  # of one column; more is broken where few edges cross
FEW = 3
SLACK = 0.35  # of a column's height, to find such a place
ASPECT = 1.6  # width by height that several columns are to have together

Point = tuple[float, float]


@dataclass(frozen=True)
class Edge:
    """Edge between two cards: its points, and whether its pieces are curves or straight lines with corners.

    ends    True where a card begins behind it
    is_far  True if it has no spots of its own and runs behind the cards
    """

    source: int
    points: tuple[Point, ...]
    is_curved: bool
    ends: bool
    is_far: bool = False


@dataclass(frozen=True)
class Placement:
    """Upper left corners of the cards, the edges, and the size of the picture."""

    corners: tuple[Point, ...]
    edges: tuple[Edge, ...]
    width: float
    height: float


@dataclass(frozen=True)
class _Grid:
    """Tops, heights and columns of the rows, and the lanes between columns."""

    tops: Sequence[float]
    heights: Sequence[float]
    column: Sequence[int]
    gutters: Sequence[float]

    def end(self, row: int) -> float:
        """Bottom of a row."""
        return self.tops[row] + self.heights[row]


def place(layering: Layering, sizes: Sequence[Point], *, columns: int | None = None) -> Placement:
    """Place the rows; `sizes` are width and height of each card, `columns` None means as many as look good."""
    rows = layering.rows
    if not rows:
        return Placement((), (), 2 * MARGIN, 2 * MARGIN)
    _set_middles(rows, sizes)
    heights = [max((sizes[spot.card][1] for spot in row if not spot.passes), default=0.0) for row in rows]
    bands = _columns(rows, heights, sizes, columns)
    grid, width, height = _set_columns(rows, heights, sizes, bands)
    corners = [
        (spot.x - sizes[card][0] / 2, grid.tops[spot.row] + (heights[spot.row] - sizes[card][1]) / 2)
        for card, spot in enumerate(layering.of_card)
    ]
    boxes = [(y, y + size[1]) for (_, y), size in zip(corners, sizes, strict=True)]
    pairs = [list(enumerate((a, b) for b in row for a in b.above)) for row in rows[1:]]
    edges = [_edge(a, b, boxes, grid, lane) for each in pairs for lane, (a, b) in each]
    for a, b in layering.straight:
        begin, end = (layering.of_card[a].x, boxes[a][1]), (layering.of_card[b].x, boxes[b][0])
        edges.append(Edge(a, (begin, end), True, ends=True, is_far=True))
    return Placement(tuple(corners), tuple(edges), width + MARGIN, height + MARGIN)


def _set_middles(rows: Sequence[list[Spot]], sizes: Sequence[Point]) -> None:
    """Set x of every spot: near those above and below, without overlaps."""
    for row in rows:
        _set_row(row, [0.0] * len(row), sizes)
    for sweep in range(2 * SWEEPS + 1):
        down = sweep % 2 == 0
        for row in rows if down else rows[::-1]:
            _set_row(row, [_middle(spot.above if down else spot.below, spot.x) for spot in row], sizes)


def _middle(near: Sequence[Spot], own: float) -> float:
    """Mean position of neighbors, weighted so that a trunk returns to where it forked."""
    total = sum(map(_weight, near))
    return sum(_weight(spot) * spot.x for spot in near) / total if total else own


def _weight(spot: Spot) -> float:
    return 2.0 if spot.passes else 1.0  # long edges straight before cards in the middle


def _width(spot: Spot, sizes: Sequence[Point]) -> float:
    return PASSING if spot.passes else sizes[spot.card][0]


def _set_row(row: Sequence[Spot], wanted: Sequence[float], sizes: Sequence[Point]) -> None:
    """Positions in order with least squared distance from the wanted ones: colliding neighbors share their mean."""
    offset, last = 0.0, 0.0
    offsets: list[float] = []
    for spot in row:
        width = _width(spot, sizes)
        offset += (last + width) / 2 + GAP if offsets else 0.0
        offsets.append(offset)
        last = width
    blocks: list[list[float]] = []  # mean, weight, count
    for spot, at, shift in zip(row, wanted, offsets, strict=True):
        blocks.append([at - shift, _weight(spot), 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            mean, weight, count = blocks.pop()
            other = blocks[-1]
            other[0] = (other[0] * other[1] + mean * weight) / (other[1] + weight)
            other[1] += weight
            other[2] += count
    means = [mean for mean, _, count in blocks for _ in range(int(count))]
    for spot, mean, shift in zip(row, means, offsets, strict=True):
        spot.x = mean + shift


def _columns(
    rows: Sequence[list[Spot]], heights: Sequence[float], sizes: Sequence[Point], wanted: int | None
) -> list[range]:
    """Rows of each column."""
    total = sum(heights) + ROW_GAP * len(rows)
    width = max(spot.x for row in rows for spot in row) - min(spot.x for row in rows for spot in row)
    width += max(size[0] for size in sizes) + COLUMN_GAP
    if wanted is None:
        wanted = 1 if total <= TALLEST else max(1, round(math.sqrt(ASPECT * total / width)))
    crossing = [sum(len(spot.above) for spot in row) for row in rows]
    return _break_rows([height + ROW_GAP for height in heights], crossing, wanted)


def _break_rows(heights: Sequence[float], crossing: Sequence[int], wanted: int) -> list[range]:
    """Break rows into about `wanted` columns of similar height, near where the fewest edges cross.

    >>> _break_rows([1.0] * 9, [0, 2, 1, 2, 2, 1, 2, 2, 1], 3)
    [range(0, 2), range(2, 5), range(5, 9)]
    """
    bands: list[range] = []
    start, ends = 0, list(accumulate(heights))
    for left in range(wanted, 1, -1):
        done = ends[start - 1] if start else 0.0
        share = (ends[-1] - done) / left
        near = [
            row
            for row in range(start + 1, len(heights))
            if crossing[row] <= FEW and (1 - SLACK) * share <= ends[row - 1] - done <= (1 + SLACK) * share
        ]
        if near:
            row = min(near, key=lambda row: (crossing[row], abs(ends[row - 1] - done - share)))
            bands.append(range(start, row))
            start = row
    return [*bands, range(start, len(heights))]


def _set_columns(
    rows: Sequence[list[Spot]], heights: Sequence[float], sizes: Sequence[Point], bands: Sequence[range]
) -> tuple[_Grid, float, float]:
    """Shift rows into their columns; returns the grid and the size of the picture."""
    tops, column, gutters = [0.0] * len(rows), [0] * len(rows), []
    way = ROW_GAP if len(bands) > 1 else 0.0  # above and below, for edges between columns
    left, bottom = MARGIN, 0.0
    for number, band in enumerate(bands):
        spots = [spot for row in band for spot in rows[row]]
        least = min(spot.x - _width(spot, sizes) / 2 for spot in spots)
        top, end = MARGIN + way, left
        for row in band:
            tops[row], column[row] = top, number
            top += heights[row] + ROW_GAP
        for spot in spots:
            spot.x += left - least
            end = max(end, spot.x + _width(spot, sizes) / 2)
        bottom = max(bottom, top - ROW_GAP + way)
        gutters.append(end + COLUMN_GAP / 2)
        left = end + COLUMN_GAP
    return _Grid(tops, heights, column, gutters), left - COLUMN_GAP, bottom


def _edge(a: Spot, b: Spot, boxes: Sequence[Point], grid: _Grid, lane: int) -> Edge:
    """Edge from the row of a to the next one, or along the next row if it passes through."""
    begin = grid.end(a.row) if a.passes else boxes[a.card][1]
    end = grid.end(b.row) if b.passes else boxes[b.card][0]
    start, top = grid.end(a.row), grid.tops[b.row]
    if grid.column[a.row] == grid.column[b.row]:
        return Edge(a.card, ((a.x, begin), (a.x, start), (b.x, top), (b.x, end)), True, not b.passes)
    way = grid.gutters[grid.column[a.row]] + LANE * lane
    below, above = start + ROW_GAP / 2 + LANE * lane, MARGIN + LANE * lane
    points = ((a.x, begin), (a.x, below), (way, below), (way, above), (b.x, above), (b.x, end))
    return Edge(a.card, points, False, not b.passes)
