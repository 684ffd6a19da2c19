"""Samples in surroundings that must not matter: batches, orders, values and positions behind a mask.

Tests: tests/tools/analysis/test_invariance.py
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tvmq.errors import ConfigError
from tvmq.graph.analysis.padding import find_masks
from tvmq.runtime.inputs import TensorInfo

Feed = dict[str, np.ndarray]
Sizes = Sequence[int | str]
MOST_PADDING = 17
MOST_ROWS = 9


@dataclass(frozen=True)
class Arrangement:
    """Inputs of one run.

    rows    number of the sample in each row of the batch; further rows of the feed are copies
    mask    [rows, length], true where a position is the sample's own; None without a mask
    length  name of the dynamic dimension of positions, or their number; None without a mask
    batch   name of the dynamic batch, or its size; None if the first axis is no batch: the whole feed is one sample
    """

    feed: Feed
    rows: tuple[int, ...]
    mask: np.ndarray | None
    length: int | str | None
    batch: int | str | None

    def part(self, array: np.ndarray, sizes: Sizes, row: int) -> np.ndarray:
        """Return the part of an array that belongs to a row of the batch, at the positions of its sample.

        sizes  of the array, with names for dynamic dimensions
        """
        if self.batch is None:
            return array
        known = sizes if isinstance(self.batch, str) else sizes[:1]  # other axes may be as long as a fixed batch
        places = [axis for axis, size in enumerate(known) if size == self.batch]
        part = np.take(array, [row], axis=places[0]) if places else array
        if self.mask is None or self.length is None:
            return part
        own = np.flatnonzero(self.mask[row])
        for axis, size in enumerate(sizes):
            if size == self.length and axis not in places[:1]:
                part = np.take(part, own, axis=axis)
        return part


class Arranger:
    """Draws arrangements of samples, each of which has a batch of one.

    not_first  why the first axis of the inputs is no batch, so that samples are neither joined nor masked; "" if it is
    raises  ConfigError for a mask that is no input [batch, length] of the model
    """

    def __init__(
        self,
        inputs: Sequence[TensorInfo],
        samples: Sequence[Feed],
        mask: str | None,
        random: np.random.Generator,
        not_first: str = "",
    ) -> None:
        self.samples, self._random = list(samples), random
        self._sizes: dict[str, Sizes] = {info.name: tuple(info.shape) for info in inputs}
        self._not_first = not_first
        first = next((sizes[0] for sizes in self._sizes.values() if sizes), 1)
        self._batch = None if not_first else first
        self._has_batch = all(sizes and sizes[0] == self._batch for sizes in self._sizes.values())
        named = _find_mask(self._sizes, mask)
        self._mask = None if not_first else named
        self._length = self._sizes[self._mask][1] if self._mask else None

    @property
    def mask(self) -> str | None:
        """Name of the mask; None if nothing is masked."""
        return None if self.why_no_mask else self._mask

    @property
    def own_come_first(self) -> bool:
        """True if no sample has a masked position in front of one of its own."""
        masks = [sample[self._mask] != 0 for sample in self.samples] if self._mask else []
        return not any(np.any(mask[:, 1:] & ~mask[:, :-1]) for mask in masks)

    @property
    def why_no_batches(self) -> str:
        """Why samples cannot be batched; "" if they can."""
        if self._not_first:
            return self._not_first
        if not self._has_batch:
            return "the inputs do not begin with one batch"
        return "the batch is fixed at 1" if self._batch == 1 else ""

    @property
    def why_no_mask(self) -> str:
        """Why nothing is masked; "" if something can be."""
        if self._not_first:
            return self._not_first
        if not self._mask:
            return "no input is a mask [batch, length]"
        if isinstance(self._length, int) and all(np.all(sample[self._mask]) for sample in self.samples):
            return f"the samples mask none of their {self._length} positions"
        return ""

    def why_no_lengths(self, outputs: Sequence[TensorInfo]) -> str:
        """Why there cannot be more positions; "" if there can."""
        if isinstance(self._length, int):
            return f"the length is fixed at {self._length}"
        for info in outputs:  # which of such positions belong to the sample is not known
            for size in info.shape:
                if isinstance(size, str) and size != self._length and re.search(rf"\b{self._length}\b", size):
                    return f"output '{info.name}' has an axis of {size}"
        return ""

    def alone(self, number: int) -> Arrangement:
        """Return a sample as it came; in a fixed batch with copies of itself."""
        return self._join([number], [self.samples[number]])

    def batch(self) -> Arrangement:
        """Draw several samples in any order, some of them more than once."""
        count = self._batch if isinstance(self._batch, int) else int(self._random.integers(2, MOST_ROWS))
        return self._arrange(count)

    def any_batch(self, *, other_values: bool = False, right: bool = False, left: bool = False) -> Arrangement:
        """Draw one sample or more, with other values where the mask is 0, or with more such positions."""
        most = 1 if self.why_no_batches else MOST_ROWS
        count = self._batch if isinstance(self._batch, int) else int(self._random.integers(1, most + 1))
        return self._arrange(count, other_values=other_values, right=right, left=left)

    def _arrange(
        self, count: int, *, other_values: bool = False, right: bool = False, left: bool = False
    ) -> Arrangement:
        rows = [int(number) for number in self._random.integers(0, len(self.samples), count)]
        widest = [self._width(number) for number in rows]
        if self._length is None or isinstance(self._length, int):  # samples of one batch have the sizes of its first
            rows = [number for number in rows if self._shapes(number) == self._shapes(rows[0])]
            rows += rows[:1] * (count - len(rows))
            feeds = [self._pad(number, 0, 0, other_values=other_values) for number in rows]
            return self._join(rows, feeds)
        padding = int(self._random.integers(1, MOST_PADDING)) if right or left else 0
        feeds = []
        for number in rows:  # to one length: batches of several lengths are padded in any case
            whole = max(widest) + padding - self._width(number)
            front = int(self._random.integers(0, whole + 1)) if left else 0
            feeds.append(self._pad(number, front, whole - front, other_values=other_values))
        return self._join(rows, feeds)

    def _shapes(self, number: int) -> list[tuple[int, ...]]:
        return [array.shape for array in self.samples[number].values()]

    def _width(self, number: int) -> int:
        return int(self.samples[number][self._mask].shape[1]) if self._mask else 0

    def _pad(self, number: int, front: int, behind: int, *, other_values: bool) -> Feed:
        """A sample with masked positions in front and behind; what they hold is drawn from the sample's values."""
        sample = self.samples[number]
        if self._mask is None:
            return sample
        masked = np.pad(sample[self._mask][0] == 0, (front, behind), constant_values=True)
        feed = {}
        for name, array in sample.items():
            if self._sizes[name][1:2] != (self._length,):
                feed[name] = array
                continue
            widths = [(0, 0), (front, behind), *[(0, 0)] * (array.ndim - 2)]
            feed[name] = padded = np.pad(array, widths)
            if name == self._mask:
                continue
            outside = np.ones(len(masked), bool) if other_values else np.arange(len(masked)) < front
            if not other_values:
                outside |= np.arange(len(masked)) >= len(masked) - behind
            places = np.flatnonzero(masked & outside)
            padded[0, places] = self._random.choice(array[0], len(places), axis=0)
        return feed

    def _join(self, rows: Sequence[int], feeds: Sequence[Feed]) -> Arrangement:
        filled = list(feeds)
        if isinstance(self._batch, int):
            filled += filled[-1:] * (self._batch - len(filled))
        feed = filled[0] if len(filled) == 1 else {
            name: np.concatenate([one[name] for one in filled]) if filled[0][name].ndim else filled[0][name]
            for name in filled[0]
        }  # fmt: skip
        mask = feed[self._mask] != 0 if self._mask else None
        return Arrangement(feed, tuple(rows), mask, self._length, self._batch)


def _find_mask(sizes: dict[str, Sizes], name: str | None) -> str | None:
    """The mask among the inputs; None if there is none."""
    if name is not None:
        if len(sizes.get(name, ())) != 2:
            raise ConfigError(
                f"check_invariance: mask='{name}' is no input [batch, length] of the model; it has {', '.join(sizes)}"
            )
        return name
    masks = find_masks(sizes)
    if len(masks) > 1:
        raise ConfigError(f"check_invariance: {', '.join(masks)} may be the mask; name one, mask='{masks[0]}'")
    return masks[0] if masks else None
