"""Positions of a sequence in a tensor, and which values depend on which of them.

The rules of operators are in position_moves.py and position_sums.py.

A position is the sample's own, or masked. Of a tensor `Positions` says that what lies at own positions is a function of
the sample's own positions alone, and which values lie at masked ones: where these are known to be 0, a sum over all
positions is one over the sample's own. `Mixture` says of which layer that does not hold, and why.

Tests: tests/graph/test_padding.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, combinations

from tvmq.graph.analysis.value_ranges import Range, join_ranges

Axes = frozenset[int]
OWN: Axes = frozenset()


@dataclass(frozen=True)
class Positions:
    """A tensor whose values at own positions are a function of the sample's own positions.

    ranges  {axes: range of the values whose positions on these axes are masked, and own on the others}, for every
            subset of the axes that are positions; a tensor without such axes has one range
    place   layer for which it matters how many positions are before: padding on the left changes it; "" if none
    """

    ranges: Mapping[Axes, Range]
    place: str = ""

    @property
    def axes(self) -> tuple[int, ...]:
        """Axes that are positions, ascending."""
        return tuple(sorted(frozenset(chain.from_iterable(self.ranges))))

    @property
    def range(self) -> Range:
        """Range of all values."""
        return join_ranges(list(self.ranges.values()))

    def move_axes(self, target: Mapping[int, int]) -> Positions:
        """Values with their axes elsewhere."""
        return replace(self, ranges={frozenset(target[a] for a in key): one for key, one in self.ranges.items()})

    def drop_axis(self, axis: int, rank: int) -> Mapping[int, int]:
        """Where the axes are after one of `rank` axes is gone."""
        return {a: a - (a > axis) for a in range(rank) if a != axis}

    def each_range(self, function: Callable[[Range], Range]) -> Positions:
        """The ranges replaced, at the same axes."""
        return replace(self, ranges={key: function(one) for key, one in self.ranges.items()})


@dataclass(frozen=True)
class Mixture:
    """A tensor whose values depend on masked positions, or for which nothing is proved.

    layer  name of the variable that begins it
    why    sentence
    """

    layer: str
    why: str


Value = Positions | Mixture


def subsets(axes: tuple[int, ...]) -> Iterator[Axes]:
    """All sets of these axes.

    >>> [sorted(one) for one in subsets((1, 3))]
    [[], [1], [3], [1, 3]]
    """
    return map(frozenset, chain.from_iterable(combinations(axes, size) for size in range(len(axes) + 1)))


def without_positions(values: Range) -> Positions:
    """A tensor that has no axis of positions."""
    return Positions({OWN: values})


def split_by_mask(own: Range, masked: Range, axis: int) -> Positions:
    """A tensor with one axis of positions."""
    return Positions({OWN: own, frozenset({axis}): masked})
