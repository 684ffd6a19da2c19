"""Products of bytes summed in int16 lanes (vpmaddubsw), where weights prove that no lane can overflow. NumPy only.

A group is four neighbouring activations x of a window and the weights w that each output channel has for them. One
instruction gives each channel two lanes of 16 bits, x0 w0 + x1 w1 and x2 w2 + x3 w3, and saturates silently.

    fold1   the lanes of one group are widened and added to the sums:         3 instructions for 4 products
    fold2   the lanes of two groups are added first, in 16 bits:              5 instructions for 8 products
    fold4   the same of four groups:                                          9 instructions for 16 products
    pair    two neighbouring activations and weights of 16 bits (vpmaddwd):   2 instructions for 2 products, exact

Proof     x is 0..highest, so a lane lies within -highest * n .. highest * p, where p and n are the sums of its positive
          and of its absolute negative weights. `sums_fit_int16` asks both to fit int16; so does each part of such a sum
Cut       each stretch of neighbouring activations is cut into groups that are proved and pairs between them, wherever
          they begin, so that it costs least; a group must hold for all channels of a panel, so panels are one vector
Order     of the reduction is free: integers. So groups are paired for fold2 by what fits, not by where they stand,
          and such pairs once more for fold4; the kernel finds its activations by a table of offsets
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

INT16 = np.iinfo(np.int16)
TAPS, PAIR = 4, 2
# Entries that are paired among themselves, as the time of pairing grows with their square; then what is left of all.
BLOCK, ROUNDS = 320, 2
# vector instructions for the products with a vector of channels: of a group in fold4, fold2 or fold1, and of a pair in
# int16
FOLDED4, PAIRED, ALONE, INT16_PAIR = 2.25, 2.5, 3.0, 2.0
USUAL_GROUP = 2.6  # of a group, before it is known which are paired


def sums_fit_int16(weight: np.ndarray, highest: int) -> np.ndarray:
    """True where int16 holds every lane, whatever the activations are.

    weight   int8 [..., groups, 4, channels]: groups whose lanes are added before they are widened
    highest  largest activation, 0..255; the smallest is 0
    returns  bool [...]: for all channels and both lanes

    >>> group = np.int8([[[64], [64], [127], [-128]]])  # two lanes, one channel
    >>> bool(sums_fit_int16(group, 255)), bool(sums_fit_int16(2 * group[:, :2].repeat(2, 1), 255))
    (True, False)
    """
    lanes = weight.astype(np.int32).reshape(*weight.shape[:-2], 2, TAPS // 2, weight.shape[-1])
    positive = np.maximum(lanes, 0).sum(axis=(-4, -2)) * highest
    negative = np.maximum(-lanes, 0).sum(axis=(-4, -2)) * highest
    held: np.ndarray = ((positive <= INT16.max) & (negative <= -INT16.min)).all(axis=(-2, -1))
    return held


@dataclass(frozen=True, eq=False)
class PanelPlan:
    """Folding of the products of a panel of channels.

    groups        where each group begins, in elements of all runs: those of fold4, one fold behind the other, then
                  those of fold2, then those of fold1
    weight        int8 [groups, 4, channels]
    fours, pairs  so many times four groups, and two, are folded together
    int16_pairs   where each pair that is multiplied in int16 begins, an even number of them
    int16_weight  int8 [int16_pairs, 2, channels]
    """

    groups: np.ndarray
    weight: np.ndarray
    fours: int
    pairs: int
    int16_pairs: np.ndarray
    int16_weight: np.ndarray

    @property
    def alone(self) -> int:
        """Number of groups that are folded with no other."""
        return len(self.groups) - 4 * self.fours - 2 * self.pairs

    @property
    def cost(self) -> float:
        """Vector instructions for each vector of channels and activation row."""
        folded = 4 * FOLDED4 * self.fours + 2 * PAIRED * self.pairs + ALONE * self.alone
        return folded + INT16_PAIR * len(self.int16_pairs)


def plan_panels(weight: np.ndarray, highest: int) -> list[PanelPlan]:
    """Folding of panels; every fold of them passes `sums_fit_int16`.

    weight   int8 [panels, runs, elements of a run, channels]
    highest  largest activation
    """
    panels, runs, run, channels = weight.shape
    groups, int16_pairs = cut_runs(*_what_holds(weight.reshape(-1, run, channels), highest))
    behind = np.zeros((panels, runs, TAPS, channels), weight.dtype)  # a pair may begin at the last element of a run
    longer = np.concatenate([weight, behind], axis=2)
    plans = []
    for panel, inside in enumerate(groups.reshape(panels, -1)):
        places = np.flatnonzero(inside)
        entries = _elements(longer[panel], places, TAPS)
        fours, pairs, rest = _fold_groups(entries, highest)
        folds = [fold[np.argsort(places[fold[:, 0]])].reshape(-1) for fold in (fours, pairs)]
        order = np.concatenate([*folds, np.sort(rest)])
        alone = np.flatnonzero(int16_pairs[panel * runs : (panel + 1) * runs])
        int16_weight = _elements(longer[panel], alone, PAIR)
        if len(alone) % 2:
            alone, int16_weight = np.append(alone, 0), np.concatenate([int16_weight, np.zeros_like(int16_weight[:1])])
        plans.append(PanelPlan(places[order], entries[order], len(fours), len(pairs), alone, int16_weight))
    return plans


def _elements(weight: np.ndarray, places: np.ndarray, count: int) -> np.ndarray:
    """Weights of `count` elements from each place: [runs, elements and some more, channels] -> [places, count, ...]."""
    run = weight.shape[1] - TAPS
    elements: np.ndarray = weight[(places // run)[:, None], (places % run)[:, None] + np.arange(count)]
    return elements


def _what_holds(weight: np.ndarray, highest: int) -> tuple[np.ndarray, np.ndarray]:
    """Flags of [runs, elements, channels]: a group that begins there is proved; all weights there are 0."""
    lines, elements, _ = weight.shape
    groups, empty = np.zeros((lines, elements), bool), (weight == 0).all(axis=2)
    if elements >= TAPS:
        positive, negative = np.maximum(weight, 0).astype(np.int16), np.maximum(-weight.astype(np.int16), 0)
        lanes = [(part[:, :-1] + part[:, 1:]).max(axis=2) for part in (positive, negative)]
        held = (lanes[0] <= INT16.max // highest) & (lanes[1] <= -INT16.min // highest)
        # a lane begins at i and holds weights i, i + 1 of all channels; a group is the lanes at i and i + 2
        groups[:, : elements - TAPS + 1] = held[:, : elements - TAPS + 1] & held[:, PAIR:]
    return groups, empty


def cut_runs(groups: np.ndarray, empty: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The cut of runs into groups of four and pairs that costs least, as flags of where each begins.

    groups  bool [runs, elements]: where a group may begin
    empty   bool [runs, elements]: what need not be in any

    >>> groups, int16_pairs = cut_runs(np.bool_([[0, 0, 1, 0, 0, 0, 0]]), np.bool_([[0, 0, 0, 0, 0, 0, 1]]))
    >>> groups.astype(int).tolist(), int16_pairs.astype(int).tolist()
    ([[0, 0, 1, 0, 0, 0, 0]], [[1, 0, 0, 0, 0, 0, 0]])
    """
    lines, elements = groups.shape
    # Dynamic programming from the last element to the first, for all runs at once. What begins at element i is one of
    #
    #     a group, if it is proved     i .. i + 3     USUAL_GROUP + cost[i + 4]
    #     a pair, which always is      i, i + 1       INT16_PAIR + cost[i + 2]
    #     nothing, if weights are 0    i              cost[i + 1]
    #
    # and as the pieces behind do not depend on those before, cost[i], the least of the three, is that of the best cut
    # of elements i and following; step[i] is the size of its first piece. A pair may reach one element beyond the run,
    # where weights are 0 (plan_panels) and cost is, too. In the example: pair 0, 1, group 2 .. 5, nothing at 6.
    cost = np.zeros((elements + TAPS, lines), np.float32)
    step = np.zeros((elements, lines), np.int8)
    sizes = np.array([TAPS, PAIR, 1], np.int8)
    for i in range(elements - 1, -1, -1):
        choices = np.stack(
            [
                np.where(groups[:, i], USUAL_GROUP + cost[i + TAPS], np.inf),
                INT16_PAIR + cost[i + PAIR],
                np.where(empty[:, i], cost[i + 1], np.inf),
            ]
        )
        best = choices.argmin(axis=0)
        cost[i], step[i] = choices.min(axis=0), sizes[best]
    # Forwards along the best cut of each run. step[i] says what would begin at i if a piece began there: only elements
    # that a piece before ends at (`following`) count, and at these the next one begins
    begins = np.zeros((elements, lines), np.int8)
    following = np.zeros(lines, np.int64)
    for i in range(elements):
        here = following == i
        begins[i] = np.where(here, step[i], 0)
        following += begins[i]
    return (begins == TAPS).T, (begins == PAIR).T


def _fold_groups(entries: np.ndarray, highest: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Entries that can be folded together, [fours, 4] and [pairs, 2], and those left alone."""
    channels, limit = entries.shape[-1], INT16.max // highest
    lanes = entries.astype(np.int16).reshape(len(entries), 2, TAPS // 2, channels)
    # [entries, positive lanes and negative lanes]. The bound of two groups that are added in int16 is the sum of their
    # bounds, lane by lane: what is asked for is a matching of entries in which no pair exceeds the limit in any lane,
    # and then of these pairs
    reach = np.stack([np.maximum(lanes, 0).sum(axis=2), np.maximum(-lanes, 0).sum(axis=2)], axis=1)
    reach = reach.reshape(len(entries), 4 * channels).astype(np.int16)
    pairs, rest = _pairs(reach, limit)
    fours, twos = _pairs(reach[pairs].sum(axis=1, dtype=np.int16), limit)
    return pairs[fours].reshape(-1, 4), pairs[twos], rest


def _pairs(reach: np.ndarray, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs whose reach stays within the limit, [pairs, 2], and those left alone."""
    rest, all_pairs = np.argsort(-reach.max(axis=1, initial=0), kind="stable"), np.zeros((0, 2), np.int64)
    for _ in range(ROUNDS):
        blocks = -(-len(rest) // BLOCK)
        # each block has heavy entries and light ones
        parts = [_match_pairs(rest[block::blocks], reach, limit) for block in range(blocks)]
        all_pairs = np.concatenate([all_pairs, *(pairs for pairs, _ in parts)])
        rest = np.concatenate([left for _, left in parts] or [rest])
        if blocks <= 1:
            break
    return all_pairs, rest


def _match_pairs(entries: np.ndarray, reach: np.ndarray, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of these entries whose reach stays within the limit, and the others: who has fewest partners chooses first,
    and takes the one with fewest."""
    own = reach[entries]
    fits = np.ones((len(entries), len(entries)), bool)
    for lane in own.T:
        fits &= lane[:, None] <= (limit - lane)[None]
    np.fill_diagonal(fits, False)
    order = np.argsort(fits.sum(axis=1), kind="stable")
    fits = fits[order][:, order]
    # Greedy, and good: an entry with few partners is lost if others take them, one with many will find another
    pairs, free = [], np.ones(len(entries), bool)
    for first in range(len(entries)):
        if not free[first]:
            continue
        partners = fits[first] & free
        second = int(partners.argmax())
        if partners[second]:
            free[first] = free[second] = False
            pairs.append((first, second))
    chosen = order[np.array(pairs, np.int64).reshape(-1, 2)]
    return entries[chosen], entries[order[free]]


@dataclass(frozen=True, eq=False)
class LanePlan:
    """Folding of a whole layer: one plan for each group of the convolution and panel, in the order of the kernel.

    elements  activations under a window, as many for each panel
    """

    panels: Sequence[PanelPlan]
    elements: int

    @property
    def cost(self) -> float:
        """Vector instructions beside those of int16 products; below 1 is a gain."""
        return sum(panel.cost for panel in self.panels) / (INT16_PAIR / PAIR * self.elements * len(self.panels))

    @property
    def note(self) -> str:
        """Share of the products in each kind of group, as text."""
        counts = (
            ("fold4", sum(4 * panel.fours for panel in self.panels)),
            ("fold2", sum(2 * panel.pairs for panel in self.panels)),
            ("fold1", sum(panel.alone for panel in self.panels)),
        )
        share = 100 * TAPS / (self.elements * len(self.panels))
        text = "int16 lanes proved: " + ", ".join(f"{share * count:.0f} % {name}" for name, count in counts if count)
        return f"{text}, {self.int16_share:.0%} of the products in 16 bits" if self.int16_share else text

    @property
    def shortfall(self) -> str:
        """Why int16 products are better, for people."""
        return f"{self.int16_share:.0%} of the products are not proved ({self.cost:.2f} times the instructions)"

    @property
    def int16_share(self) -> float:
        """Share of the products that are made in 16 bits."""
        return PAIR * sum(len(panel.int16_pairs) for panel in self.panels) / max(1, self.elements * len(self.panels))
