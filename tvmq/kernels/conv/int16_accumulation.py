"""Products of bytes summed in int16 lanes (vpmaddubsw), where weights prove that no lane can overflow. NumPy only.

A group is four neighbouring activations x of a window and the weights w that each output channel has for them. One
instruction gives each channel two lanes of 16 bits, x0 w0 + x1 w1 and x2 w2 + x3 w3, and saturates silently.

    fold1   the lanes of one group are widened and added to the sums:         3 instructions for 4 products
    fold2   the lanes of two groups are added first, in 16 bits:              5 instructions for 8 products
    int16   activations and weights of 16 bits (vpmaddwd), always exact:      4 instructions for 4 products

Proof     x is 0..highest, so a lane lies within -highest * n .. highest * p, where p and n are the sums of its positive
          and of its absolute negative weights. `sums_fit_int16` asks both to fit int16; so does each part of such a sum
Order     of the reduction is free: integers. So groups are paired for fold2 by what fits, not by where they stand;
          the kernel finds its activations by a table of offsets
Repair    a group of which one lane alone could overflow is read twice, with half of that lane's weights each time
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

INT16 = np.iinfo(np.int16)
TAPS = 4
ROUNDS = 24  # of pairing; the first leaves few unpaired where weights have 7 bits
# vector instructions for the products of a group with a vector of channels: paired, alone, in int16
PAIRED, ALONE, WORDS = 2.5, 3.0, 4.0


def sums_fit_int16(weight: np.ndarray, highest: int) -> np.ndarray:
    """Whether int16 holds every lane, whatever the activations are.

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
    """How the products of a panel of channels are folded.

    order   number of the group that each entry reads; pairs first, one behind the other
    weight  int8 [entries, 4, channels]
    pairs   so many pairs lead
    split   so many groups are read twice
    """

    order: np.ndarray
    weight: np.ndarray
    pairs: int
    split: int

    @property
    def cost(self) -> float:
        """Vector instructions for each vector of channels and activation row."""
        return 2 * PAIRED * self.pairs + ALONE * (len(self.order) - 2 * self.pairs)


def plan_panel(weight: np.ndarray, highest: int) -> PanelPlan:
    """Folding of a panel; every fold of it passes `sums_fit_int16`.

    weight   int8 [groups, 4, channels]
    highest  largest activation
    """
    used = np.flatnonzero(weight.any(axis=(1, 2)))
    weight = weight[used]
    unsafe = ~sums_fit_int16(weight[:, None], highest)
    first, second = _halves(weight[unsafe], highest)
    order = np.concatenate([used[~unsafe], used[unsafe], used[unsafe]])
    entries = np.concatenate([weight[~unsafe], first, second])
    pairs, rest = _pairs(entries, highest)
    places = np.concatenate([pairs.reshape(-1), rest])
    return PanelPlan(order[places], entries[places], len(pairs), int(unsafe.sum()))


def _halves(weight: np.ndarray, highest: int) -> tuple[np.ndarray, np.ndarray]:
    """Two parts that add up to the weights: of lanes that could overflow, half each; of others, all and nothing."""
    channels = weight.shape[-1]
    lanes = weight.reshape(-1, 2, TAPS // 2, channels)
    wide = lanes.astype(np.int32)
    reach = np.maximum(np.maximum(wide, 0).sum(axis=2), np.maximum(-wide, 0).sum(axis=2)) * highest
    half = np.where((reach > INT16.max)[:, :, None], wide // 2, wide)
    parts = half.astype(np.int8), (wide - half).astype(np.int8)
    return parts[0].reshape(weight.shape), parts[1].reshape(weight.shape)


def _pairs(entries: np.ndarray, highest: int) -> tuple[np.ndarray, np.ndarray]:
    """Entries that can be folded together, [pairs, 2], and those left alone: heavy ones are tried with light ones."""
    channels = entries.shape[-1]
    lanes = entries.astype(np.int16).reshape(len(entries), 2, TAPS // 2, channels)
    # [entries, positive lanes and negative lanes]: sums of a pair are sums of these
    reach = np.stack([np.maximum(lanes, 0).sum(axis=2), np.maximum(-lanes, 0).sum(axis=2)], axis=1)
    reach = reach.reshape(len(entries), 4 * channels)
    limit = INT16.max // highest
    rest = np.argsort(-reach.max(axis=1, initial=0), kind="stable")
    found: list[np.ndarray] = []
    for turn in range(ROUNDS):
        half = len(rest) // 2
        if half == 0:
            break
        heavy, light = rest[:half], np.roll(rest[len(rest) - half :][::-1], -turn)
        fits = (reach[heavy] + reach[light] <= limit).all(axis=1)
        found.append(np.stack([heavy[fits], light[fits]], axis=1))
        taken = found[-1].reshape(-1)
        rest = rest[~np.isin(rest, taken)]
    pairs = np.concatenate(found) if found else np.zeros((0, 2), np.int64)
    return pairs, rest


@dataclass(frozen=True, eq=False)
class LanePlan:
    """Folding of a whole layer: one plan for each group of the convolution and panel, in the order of the kernel.

    steps  groups of activations under a window, as many for each panel
    """

    panels: Sequence[PanelPlan]
    columns: Sequence[int]
    steps: int

    @property
    def cost(self) -> float:
        """Vector instructions beside those of int16 products; below 1 is a gain."""
        total = sum(panel.cost * columns for panel, columns in zip(self.panels, self.columns, strict=True))
        return total / (WORDS * self.steps * sum(self.columns))

    @property
    def note(self) -> str:
        """What became of the groups, for people."""
        entries = max(1, sum(len(panel.order) for panel in self.panels))
        paired = 200 * sum(panel.pairs for panel in self.panels) / entries
        text = f"int16 lanes proved: {paired:.0f} % fold2, {100 - paired:.0f} % fold1"
        return f"{text}, {self.split:.0%} of the groups read twice" if self.split else text

    @property
    def shortfall(self) -> str:
        """Why int16 products are better, for people."""
        return f"{self.split:.0%} of the groups would be read twice ({self.cost:.2f} times the instructions)"

    @property
    def split(self) -> float:
        """Share of the groups that are read twice."""
        return sum(panel.split for panel in self.panels) / max(1, self.steps * len(self.panels))
