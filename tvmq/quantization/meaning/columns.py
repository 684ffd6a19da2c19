"""Columns of rows of detections: which are the box, the score, the class, told from the float model's own outputs.

Tests: tests/quantization/meaning/test_columns.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tvmq.quantization.meaning.boxes import Detections, sort_by_score, suppress_doubles, to_corners
from tvmq.quantization.meaning.reading import is_share, replace_infinities

LARGEST_LABEL = 1e5
SURE = 0.4  # of the highest score, objectness times that of a class has somewhere
RARE = 0.2  # objectness is that much rarer than the scores of classes beside it


@dataclass(frozen=True)
class Columns:
    """Columns of rows of detections.

    boxes       of the four coordinates
    corners     True for x1, y1, x2, y2; False for centre and size
    scores      one of each class, or the only one
    label       of the number of the class; None: the column of the score is the class
    objectness  of a factor of all scores; None without one
    extras      of whatever else there is
    """

    boxes: tuple[int, ...]
    corners: bool
    scores: tuple[int, ...]
    label: int | None = None
    objectness: int | None = None
    extras: tuple[int, ...] = ()

    def score_table(self, rows: np.ndarray) -> np.ndarray:
        """[n, classes] scores of rows."""
        scores = rows[:, list(self.scores)]
        return scores if self.objectness is None else scores * rows[:, [self.objectness]]

    def corners_of(self, rows: np.ndarray) -> np.ndarray:
        """[n, 4] corners of the boxes of rows."""
        boxes = rows[:, list(self.boxes)]
        return boxes if self.corners else to_corners(boxes)

    def detections(self, rows: np.ndarray, least: float, *, doubles: bool) -> Detections:
        """Detections of the rows of an image whose score is at least `least`.

        doubles  True: rows are of a dense head, in which many have one object
        """
        rows = replace_infinities(rows)
        table = self.score_table(rows)
        row, column = np.nonzero(table >= least)
        labels = column if self.label is None else np.rint(rows[row, self.label]).astype(np.int64)
        extras = rows[row][:, list(self.extras)]
        chosen = Detections(self.corners_of(rows[row]), table[row, column], labels, extras)
        chosen = chosen.select(np.flatnonzero((chosen.boxes[:, 2:] > chosen.boxes[:, :2]).all(axis=1)))
        return suppress_doubles(chosen) if doubles else sort_by_score(chosen)

    def describe(self) -> str:
        """Columns in words."""
        form = "x1 y1 x2 y2" if self.corners else "centre and size"
        texts = [f"boxes {_span(self.boxes)} ({form})"]
        texts += [f"objectness {self.objectness}"] if self.objectness is not None else []
        texts += [f"scores {_span(self.scores)}"]
        texts += [f"class {self.label}"] if self.label is not None else []
        texts += [f"others {_span(self.extras)}"] if self.extras else []
        return ", ".join(texts)


def _span(columns: Sequence[int]) -> str:
    """
    >>> _span((4, 5, 6)), _span((4,))
    ('4-6', '4')
    """
    return f"{columns[0]}-{columns[-1]}" if len(columns) > 1 else f"{columns[0]}"


def sorted_columns(images: Sequence[np.ndarray]) -> Columns | None:
    """Columns of rows that a TopK or a suppression sorted; None where no box and score can be told.

    images  [n, k] rows of each image
    """
    rows = replace_infinities(np.concatenate(images))
    if not len(rows) or rows.shape[1] < 5:
        return None
    whole = [c for c in range(rows.shape[1]) if _is_whole(rows[:, c])]
    sorted_ones = [c for c in range(rows.shape[1]) if is_share(rows[:, c]) and _falls(images, c)]
    scores = [c for c in sorted_ones if c not in whole] or [c for c in sorted_ones if c >= 4]
    if not scores:
        return None
    score = scores[-1] if len(scores) == 1 or scores[-1] >= 4 else scores[0]
    labels = [c for c in whole if c != score and (c >= 4 or score < c or c < 2)]
    start = next((s for s in (0, score + 1, score + 2, 1, 2) if _is_box(rows, s, score, labels)), None)
    if start is None:
        return None
    boxes = tuple(range(start, start + 4))
    beside = [c for c in labels if c not in boxes and abs(c - score) == 1]
    label = beside[-1] if beside else None
    extras = tuple(c for c in range(max(*boxes, score, label or 0) + 1, rows.shape[1]))
    best = rows[rows[:, score] >= 0.25 * rows[:, score].max()]
    return Columns(boxes, has_corners(best[:, list(boxes)]), (score,), label, None, extras)


def _is_whole(column: np.ndarray) -> bool:
    return bool((column == np.rint(column)).all() and column.min() >= -1 and column.max() < LARGEST_LABEL)


def _falls(images: Sequence[np.ndarray], column: int) -> bool:
    return all(bool((np.diff(replace_infinities(rows)[:, column]) <= 1e-6).all()) for rows in images)


def _is_box(rows: np.ndarray, start: int, score: int, labels: Sequence[int]) -> bool:
    """True if four columns from `start` may be a box: none of them is the score, nor the only label beside it."""
    columns = range(start, start + 4)
    if columns[-1] >= rows.shape[1] or score in columns:
        return False
    return not any(c in columns and abs(c - score) == 1 and c not in (start + 3, start) for c in labels)


def dense_columns(rows: np.ndarray, parts: Sequence[int] = ()) -> Columns | None:
    """Columns of a dense head: a row of box and class scores for each place; None where it has another form.

    rows   [n, k] of some images
    parts  sizes of the tensors that were concatenated to columns; empty where that is not known
    """
    rows, k = replace_infinities(rows), rows.shape[1]
    if k < 5:
        return None
    corners = has_corners(rows[:, :4])
    if (tuple(parts[:3]) == (2, 2, k - 4) or tuple(parts[:2]) == (4, 1)) and is_share(rows[:, 4:]):
        has_objectness = k > 5 and _is_factor(rows)
        scores, objectness = (tuple(range(5, k)), 4) if has_objectness else (tuple(range(4, k)), None)
        return Columns((0, 1, 2, 3), corners, scores, None, objectness)
    shares = _shares_from_4(rows, parts)
    if not shares or (not parts and is_share(rows[:, :4])):
        return None
    extras = tuple(range(shares[-1] + 1, k))
    if not parts and len(shares) > 1 and rows[:, 4].mean() < RARE * rows[:, list(shares[1:])].max(1).mean():
        return Columns((0, 1, 2, 3), corners, shares[1:], None, 4, extras)
    return Columns((0, 1, 2, 3), corners, shares, None, None, extras)


def _is_factor(rows: np.ndarray) -> bool:
    """True if column 4 is high where one of those behind it is, as objectness; a class of its own is not."""
    return bool((rows[:, 4] * rows[:, 5:].max(axis=1)).max() >= SURE * rows[:, 4:].max())


def _shares_from_4(rows: np.ndarray, parts: Sequence[int]) -> tuple[int, ...]:
    """Columns from 4 on with numbers from 0 to 1, as many parts as have them."""
    ends = np.cumsum(parts)
    if len(parts) > 1 and 4 in ends:
        at = int(np.flatnonzero(ends == 4)[0])
        columns = range(4, int(ends[at + 1]))
        return tuple(columns) if is_share(rows[:, list(columns)]) else ()
    first_other = next((c for c in range(4, rows.shape[1]) if not is_share(rows[:, c])), rows.shape[1])
    return tuple(range(4, first_other))


def has_corners(boxes: np.ndarray) -> bool:
    """True if all boxes [n, 4] have their second corner behind their first: they are not centres and sizes."""
    return bool((boxes[:, 2] >= boxes[:, 0]).all() and (boxes[:, 3] >= boxes[:, 1]).all())
