"""Layered layout: the row of each card by the longest path, the order within a row by barycenters.

Edges that span several rows get a spot in each row between, so that no edge crosses a card; all edges from one card to
later rows share these spots.

Tests: tests/tools/drawing/test_draw.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

SWEEPS = 4
MOST_PLACES = 20_000  # that long edges may take; beyond, the longest go straight


@dataclass
class Spot:
    """Spot in a row: of a card, or of an edge that passes the row.

    card    number of the card, or of the card where a passing edge begins
    passes  True for an edge
    above   connected spots of the previous row
    """

    card: int
    row: int
    passes: bool
    above: list[Spot] = field(default_factory=list, repr=False)
    below: list[Spot] = field(default_factory=list, repr=False)
    x: float = 0.0


@dataclass
class Layering:
    """Rows of spots in order.

    of_card   the spot of each card
    straight  (from, to) of edges without spots
    """

    rows: list[list[Spot]]
    of_card: list[Spot]
    straight: list[tuple[int, int]]


def layer(reads: Sequence[Sequence[int]]) -> Layering:
    """Arrange cards in rows; `reads` has the earlier cards that each one reads."""
    number = _rows_of(reads)
    spots = [Spot(card, row, passes=False) for card, row in enumerate(number)]
    rows: list[list[Spot]] = [[] for _ in range(max(number, default=-1) + 1)]
    for spot in spots:
        rows[spot.row].append(spot)
    straight = _join(reads, spots, rows)
    for row in rows:
        _spread(row)
    for _ in range(SWEEPS):
        for row in rows[1:]:
            _sort(row, above=True)
        for row in rows[-2::-1]:
            _sort(row, above=False)
    for row in rows[1:]:
        _sort(row, above=True)
    return Layering(rows, spots, straight)


def _rows_of(reads: Sequence[Sequence[int]]) -> list[int]:
    """Row of each card: its longest path; a card that reads nothing is placed just above its first reader."""
    row = [0] * len(reads)
    for card, before in enumerate(reads):
        row[card] = max((row[other] + 1 for other in before), default=0)
    first: dict[int, int] = {}
    for card, before in enumerate(reads):
        for other in before:
            first[other] = min(first.get(other, row[card]), row[card])
    return [first[card] - 1 if not reads[card] and card in first else row[card] for card in range(len(reads))]


def _join(reads: Sequence[Sequence[int]], spots: Sequence[Spot], rows: list[list[Spot]]) -> list[tuple[int, int]]:
    """Connect the spots, with new ones for long edges; returns the edges that got none."""
    edges = [(other, card) for card, before in enumerate(reads) for other in before]
    last: dict[int, int] = {}
    for other, card in sorted(edges, key=lambda edge: spots[edge[1]].row - spots[edge[0]].row):
        last[other] = spots[card].row
    longest = _longest_allowed([last[other] - spots[other].row - 1 for other in last])
    trunks: dict[int, list[Spot]] = {}
    straight = []
    for other, card in edges:
        start, end = spots[other], spots[card]
        if end.row - start.row - 1 > longest:
            straight.append((other, card))
            continue
        trunk = trunks.setdefault(other, [start])
        while trunk[-1].row < end.row - 1:
            place = Spot(other, trunk[-1].row + 1, passes=True)
            rows[place.row].append(place)
            _connect(trunk[-1], place)
            trunk.append(place)
        _connect(trunk[end.row - 1 - start.row], end)
    return straight


def _longest_allowed(lengths: Sequence[int]) -> int:
    """Greatest length so that all edges up to it need no more spots than allowed."""
    total, longest = 0, max(lengths, default=0)
    for length in sorted(lengths):
        total += length
        if total > MOST_PLACES:
            return length - 1
    return longest


def _connect(above: Spot, below: Spot) -> None:
    above.below.append(below)
    below.above.append(above)


def _sort(row: list[Spot], *, above: bool) -> None:
    """Order a row by the mean position of neighbors; spots without neighbors keep theirs."""
    mean: dict[int, float] = {}
    for spot in row:
        near = spot.above if above else spot.below
        mean[id(spot)] = sum(one.x for one in near) / len(near) if near else spot.x
    row.sort(key=lambda spot: mean[id(spot)])
    _spread(row)


def _spread(row: Sequence[Spot]) -> None:
    """Set positions one apart, centered at 0."""
    for place, spot in enumerate(row):
        spot.x = place - (len(row) - 1) / 2
