"""Heads of several outputs: scores and offsets of each scale apart, or a map of both for each scale.

    PicoDet, NanoDet      scores [batch, n, classes] and logits of bins [batch, n, 4 * bins] for each scale
    SCRFD                 scores [n, 1], distances [n, 4], landmarks [n, 10] for each scale, or maps of them
    SSD, RetinaNet        maps [batch, anchors * classes, h, w] and [batch, anchors * 4, h, w]
    FCOS, YOLOX, YOLOv6   scores, distances, and a factor of the scores [batch, 1, h, w]
    NanoDet-Plus          [batch, n, classes + 4 * bins] of all scales
    YOLOv3 to YOLOv7      maps [batch, 3 * (5 + classes), h, w], or [batch, 3, h, w, 5 + classes]

Structure shows which outputs are of one scale; which of them has the scores, and what the columns are, the float
model's own outputs show: scores are high at few places.

Tests: tests/quantization/meaning/test_scales.py
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tvmq.numerics.elementary import sigmoid
from tvmq.numerics.softmax import softmax
from tvmq.quantization.meaning.columns import Columns
from tvmq.quantization.meaning.reading import LEAST_SCORE, Outputs, is_share, replace_infinities

BOX = 4
LEAST_BINS = 7  # of a side; fewer of them are anchors
MOST_ANCHORS = 9
MOST_LANDMARKS = 17
RATIOS = (1.5, 3.2)  # of the sides of two scales that follow each other
MOST_HIGH = 0.2  # of the places have scores of half of the highest: masks and features have more
MOST_IMAGES = 8  # tell the columns
LARGEST_LOGIT = 80.0  # whose exponential float32 holds
Level = tuple[int, ...]  # positions of the outputs of a scale, in the same order in each


def find_levels(sizes: Mapping[int, tuple[int | str, ...]]) -> list[tuple[Level, ...]]:
    """Outputs by scale, the largest first: as many outputs in each, whose sides fall by about 2 from scale to scale.

    sizes  {position of an output: its sizes}

    >>> find_levels({0: (1, 64, 8), 1: (1, 16, 8), 2: (1, 64, 4), 3: (1, 16, 4)})
    [((0, 2), (1, 3))]
    >>> find_levels({0: (1, 24, 8, 8), 1: (1, 24, 4, 4)})
    [((0,), (1,))]
    """
    heads = []
    for rank in (2, 3, 4, 5):
        levels: dict[tuple[int, ...], list[int]] = {}
        for index, size in sizes.items():
            if len(size) == rank and all(isinstance(one, int) and one > 0 for one in size):
                levels.setdefault(_grid(size), []).append(index)  # type: ignore[arg-type]
        ordered = sorted(levels.items(), key=lambda one: -int(np.prod(one[0])))
        sides = [float(np.prod(grid)) ** 0.5 for grid, _ in ordered]
        if len(ordered) < 2 or len({len(outputs) for _, outputs in ordered}) > 1:
            continue
        if all(RATIOS[0] <= a / b <= RATIOS[1] for a, b in itertools.pairwise(sides)):
            heads.append(tuple(tuple(outputs) for _, outputs in ordered))
    return heads


def _grid(size: Sequence[int]) -> tuple[int, ...]:
    """Sizes that all outputs of a scale have."""
    return {2: tuple(size[:1]), 3: tuple(size[1:2]), 4: tuple(size[2:])}.get(len(size), tuple(size[1:-1]))


@dataclass(frozen=True)
class Layout:
    """Columns of the outputs of a scale beside each other, for each anchor.

    boxes       first column and number of columns: 4 of a box, or 4 times as many bins
    scores      first column and number of columns
    objectness  column of a factor of the scores
    extras      other columns, such as landmarks
    """

    boxes: tuple[int, int]
    scores: tuple[int, int]
    objectness: int | None = None
    extras: tuple[int, ...] = ()


@dataclass(frozen=True)
class ScaledHead:
    """Rows of all scales of a head.

    levels      outputs of each scale
    anchors     of each scale: rows of a place
    layout      of the columns
    activation  "sigmoid" or "softmax" that makes shares of scores; "" where they are shares
    background  class of nothing, of scores that add up to 1
    columns     of the rows
    """

    levels: tuple[Level, ...]
    anchors: tuple[int, ...] = ()
    layout: Layout | None = None
    activation: str = ""
    background: int | None = None
    columns: Columns | None = None

    def fit(self, wanted: Sequence[Outputs]) -> ScaledHead | None:
        """The head with its columns; None where float's outputs have no scores.

        Of the choices whose scores get about as high as any: shares before scores that need an activation, then those
        with a factor, then the likeliest sizes.
        """
        wanted = wanted[:MOST_IMAGES]
        rated = [(known._highest_score(wanted), known) for known in self._choices(wanted)]
        highest = max((score for score, _ in rated), default=0.0)
        if highest < LEAST_SCORE:
            return None
        good = [known for score, known in rated if score >= highest / 2]
        return min(good, key=ScaledHead._rank)._name_columns()

    def describe(self) -> str:
        """Number of scales and outputs, in words."""
        if len(self.levels) == 1:
            return "bins"
        outputs = "an output" if len(self.levels[0]) == 1 else f"{len(self.levels[0])} outputs"
        return f"{len(self.levels)} scales, {outputs} each,"

    def _rank(self) -> tuple[bool, bool]:
        assert self.layout is not None
        return bool(self.activation), len(self.levels[0]) > 1 and self.layout.objectness is None

    def _highest_score(self, wanted: Sequence[Outputs]) -> float:
        """The highest score of these outputs; 0 where they are none at all."""
        assert self.layout is not None
        tables = [rows for outputs in wanted for rows in self._tables(outputs)]
        plain = replace(self, layout=replace(self.layout, objectness=None))
        heads = [self, plain] if self.activation and len(self.levels[0]) > 1 else [self]
        for head in heads:
            shares = [head._scores(rows) for rows in tables]
            best = np.concatenate([one.max(axis=1) for one in shares])
            if not all(map(is_share, shares)) or (best >= best.max() / 2).mean() > MOST_HIGH:
                return 0.0
        return float(np.concatenate([self._scores(rows).max(axis=1) for rows in tables]).max())

    def _choices(self, wanted: Sequence[Outputs]) -> Iterator[ScaledHead]:
        """Heads that the sizes of the outputs allow."""
        channels = [[_channels(np.asarray(wanted[0][index])) for index in level] for level in self.levels]
        is_map = np.asarray(wanted[0][self.levels[0][0]]).ndim == 4
        layouts = layouts_of_maps if len(channels[0]) == 1 else layouts_of_pairs
        for anchors, layout in layouts(channels, has_anchors=is_map):
            known = replace(self, anchors=anchors, layout=layout)
            values = np.concatenate([known._raw_scores(rows) for one in wanted for rows in known._tables(one)])
            if not is_share(values):
                activation = find_activation(values) if layout.objectness is None else "sigmoid"
                known = replace(known, activation=activation)
            yield replace(known, background=known._find_background(values))

    def _find_background(self, values: np.ndarray) -> int | None:
        shares = softmax(values.astype(np.float32)) if self.activation == "softmax" else values
        adds_up = shares.shape[1] > 1 and np.allclose(shares.sum(axis=1), 1.0, atol=1e-2)
        return int(shares.mean(axis=0).argmax()) if adds_up and self.activation != "sigmoid" else None

    def _name_columns(self) -> ScaledHead:
        assert self.layout is not None
        first = BOX + len(self.layout.extras)
        count = self.layout.scores[1] - (self.background is not None)
        scores = tuple(range(first, first + count))
        return replace(self, columns=Columns((0, 1, 2, 3), False, scores, None, None, tuple(range(BOX, first))))

    def rows(self, outputs: Outputs) -> list[np.ndarray]:
        """[n, 4 + extras + classes] of each image, of all scales: means of bins, scores as shares."""
        assert self.layout is not None
        images = []
        for table in self._tables(outputs):
            first, count = self.layout.boxes
            boxes = table[:, first : first + count]
            boxes = boxes if count == BOX else mean_bins(boxes)
            images.append(np.concatenate([boxes, table[:, list(self.layout.extras)], self._scores(table)], axis=1))
        return images

    def _tables(self, outputs: Outputs) -> Iterator[np.ndarray]:
        """[places, columns] of each image, of all scales, as the outputs have them."""
        levels = []
        for level, anchors in zip(self.levels, self.anchors, strict=True):
            parts = [_place_rows(replace_infinities(outputs[index]), anchors) for index in level]
            levels.append(np.concatenate(parts, axis=2))
        yield from np.concatenate(levels, axis=1)

    def _raw_scores(self, table: np.ndarray) -> np.ndarray:
        assert self.layout is not None
        first, count = self.layout.scores
        return table[:, first : first + count]

    def _scores(self, table: np.ndarray) -> np.ndarray:
        """[n, classes] shares, times their factor."""
        assert self.layout is not None
        scores = self._raw_scores(table)
        if self.activation:
            scores = {"sigmoid": sigmoid, "softmax": softmax}[self.activation](scores.astype(np.float32))
        if self.background is not None:
            scores = np.delete(scores, self.background, axis=1)
        if self.layout.objectness is None:
            return scores
        factor = table[:, [self.layout.objectness]]
        return scores * (sigmoid(factor.astype(np.float32)) if self.activation else factor)


def is_width_of_bins(width: int) -> bool:
    """True for the columns of the bins of four sides.

    >>> is_width_of_bins(32), is_width_of_bins(16)
    (True, False)
    """
    return width % BOX == 0 and width // BOX >= LEAST_BINS


def find_activation(scores: np.ndarray) -> str:
    """Activation of scores [n, classes]: softmax where one class, the background, has most of all rows."""
    return "softmax" if scores.shape[1] > 1 and softmax(scores).mean(axis=0).max() > 0.5 else "sigmoid"


def mean_bins(logits: np.ndarray) -> np.ndarray:
    """[n, 4] means of the bins of four sides, whose logits [n, 4 * bins] are.

    >>> mean_bins(np.log([[0.5, 0.5, 1, 1e-9, 1e-9, 1, 0.25, 0.75]])).round(2).tolist()
    [[0.5, 0.0, 1.0, 0.75]]
    """
    bins = np.exp(np.clip(logits, -LARGEST_LOGIT, LARGEST_LOGIT)).reshape(BOX * len(logits), -1)
    count = bins.shape[1]
    sums = bins @ np.stack([np.arange(count), np.ones(count)], axis=1)
    return (sums[:, 0] / sums[:, 1]).reshape(-1, BOX)


def _channels(array: np.ndarray) -> int:
    return int(array.shape[1] if array.ndim == 4 else array.shape[-1])


def _place_rows(array: np.ndarray, anchors: int) -> np.ndarray:
    """[batch, places * anchors, columns] of an output."""
    if array.ndim == 2:
        return array[None]
    if array.ndim == 4:
        batch, channels, height, width = array.shape
        apart = array.reshape(batch, anchors, channels // anchors, height * width)
        return apart.transpose(0, 3, 1, 2).reshape(batch, height * width * anchors, channels // anchors)
    return array.reshape(len(array), -1, array.shape[-1])


def layouts_of_maps(
    channels: Sequence[Sequence[int]], *, has_anchors: bool
) -> Iterator[tuple[tuple[int, ...], Layout]]:
    """Anchors and columns that one output a scale may have, the likeliest first.

    channels     of the output of each scale
    has_anchors  True for maps, whose channels may be those of several anchors

    >>> [layout.scores for _, layout in layouts_of_maps([[18], [18]], has_anchors=True)]
    [(5, 1), (5, 13), (4, 14)]
    """
    counts = {one for (one,) in channels}
    if len(counts) > 1:
        return
    (count,) = counts
    for anchors in (3, 1) if has_anchors else (1,):
        if count % anchors == 0 and count // anchors > BOX + 1:
            yield (anchors,) * len(channels), Layout((0, BOX), (BOX + 1, count // anchors - BOX - 1), BOX)
    if count > BOX:
        yield (1,) * len(channels), Layout((0, BOX), (BOX, count - BOX))
    for bins in (16, 8):
        width, rest = BOX * bins, count - BOX * bins
        if rest > 0:
            yield (1,) * len(channels), Layout((0, width), (width, rest))
            yield (1,) * len(channels), Layout((rest, width), (0, rest))


def layouts_of_pairs(
    channels: Sequence[Sequence[int]], *, has_anchors: bool
) -> Iterator[tuple[tuple[int, ...], Layout]]:
    """Anchors and columns that several outputs a scale may have, the likeliest first.

    channels     of each output of each scale
    has_anchors  True for maps, whose channels may be those of several anchors

    >>> [(layout.boxes, layout.scores) for _, layout in layouts_of_pairs([[9, 32]] * 2, has_anchors=False)]
    [((9, 32), (0, 9))]
    """
    roles = range(len(channels[0]))
    for boxes, scores in itertools.permutations(roles, 2):
        for anchors in _anchor_counts([level[boxes] for level in channels], has_anchors=has_anchors):
            if any(count % k for level, k in zip(channels, anchors, strict=True) for count in level):
                continue
            widths = {tuple(count // k for count in level) for level, k in zip(channels, anchors, strict=True)}
            if len(widths) == 1:
                yield from _layouts_of_widths(anchors, boxes, scores, *widths)


def _layouts_of_widths(
    anchors: tuple[int, ...], boxes: int, scores: int, widths: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], Layout]]:
    """Layouts of outputs of so many columns, with and without a factor of the scores."""
    starts = [0, *itertools.accumulate(widths)]
    width = widths[boxes]
    is_bins = is_width_of_bins(width)
    has_landmarks = width % 2 == 0 and BOX < width <= BOX + 2 * MOST_LANDMARKS and len(widths) == 2
    if width != BOX and not is_bins and not has_landmarks:
        return
    span = (starts[boxes], width if is_bins else BOX)
    others = [role for role in range(len(widths)) if role not in (boxes, scores)]
    factors = [role for role in others if widths[role] == 1]
    columns = [c for role in others for c in range(starts[role], starts[role + 1])]
    columns += range(span[0] + span[1], starts[boxes + 1])
    if factors:
        factor = starts[factors[0]]
        rest = tuple(c for c in columns if c != factor)
        yield anchors, Layout(span, (starts[scores], widths[scores]), factor, rest)
    elif widths[scores] > 1 or all(widths[role] > 1 for role in others):
        yield anchors, Layout(span, (starts[scores], widths[scores]), None, tuple(columns))


def _anchor_counts(channels: Sequence[int], *, has_anchors: bool) -> Iterator[tuple[int, ...]]:
    """Anchors of each scale, where the boxes have so many channels."""
    if has_anchors and all(count % BOX == 0 and count <= BOX * MOST_ANCHORS for count in channels):
        yield tuple(count // BOX for count in channels)
    yield (1,) * len(channels)
