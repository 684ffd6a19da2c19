"""Rows of a dense head whose boxes are not decoded: offsets from places or anchors, logarithms of sizes.

A row counts from a quarter of float's highest score. Scores are compared there; the error of the four numbers beside
them counts beside the number or beside 1, whichever is more: a step of a logarithm, the distance of two places.

Tests: tests/quantization/meaning/test_places.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tvmq.quantization.meaning.boxes import overlaps
from tvmq.quantization.meaning.columns import Columns
from tvmq.quantization.meaning.reading import LOST, USED, Outputs, Reading, replace_infinities

MOST_IMAGES = 8  # tell whether boxes lie where their rows do
APART = 4.0  # times the variance of a row over pictures, that between rows: what decoded boxes exceed by far
TOGETHER = 0.8  # of the pairs of boxes that count, over all pictures, overlap where all are offsets from their places
MOST_BOXES = 200


@dataclass(frozen=True)
class PlaceReading(Reading):
    """Rows of undecoded boxes.

    head       reading of the same outputs that gives their rows, `DetectionReading`
    columns    of a row
    threshold  score from which float's rows count
    """

    head: Any = None
    columns: Columns | None = None
    threshold: float = 0.0
    kind: ClassVar[str] = "detections"

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the parts, each judged by itself."""
        extras = self.columns is not None and bool(self.columns.extras)
        return ("scores", "offsets of boxes", *(("values of boxes",) if extras else ()))

    def powers(self, wanted: Outputs, got: Outputs) -> np.ndarray:
        """Signal and error of scores, and of offsets and other values where float has scores."""
        sums = np.zeros((len(self.parts), 2))
        for a, b in zip(self.head.rows(wanted), self.head.rows(got), strict=True):
            sums += self._powers(replace_infinities(a), replace_infinities(b))
        return sums

    def _powers(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        assert self.columns is not None
        ours, theirs = self.columns.score_table(a), self.columns.score_table(b)
        counts, lost = ours >= self.threshold, self.threshold * LOST / USED
        wrong = theirs[(theirs >= self.threshold) & (ours < lost)]
        error = np.square(ours[counts] - theirs[counts]).sum() + np.square(wrong).sum()
        rows = counts.any(axis=1)
        weights = np.square(ours[rows].max(axis=1, initial=0.0))
        powers = [[np.square(ours[counts]).sum(), error]]
        for columns in filter(None, (self.columns.boxes, self.columns.extras)):
            x, y = (one[rows][:, list(columns)] for one in (a, b))
            power = (weights * np.square(np.maximum(np.abs(x), 1.0)).mean(axis=1)).sum()
            powers.append([power, (weights * np.square(x - y).mean(axis=1)).sum()])
        return np.array(powers)

    def describe(self) -> str:
        """Description of the kind, with all that was learned."""
        columns = f": {self.columns.describe()}" if self.columns is not None else ""
        head = f"a head of {self.head.scales.describe()}" if getattr(self.head, "scales", None) else "a dense head"
        return f"{head} whose boxes are not decoded{columns}; scores from {self.threshold:.2g} count"


def are_decoded(images: Sequence[np.ndarray], columns: Columns, threshold: float) -> bool:
    """True if boxes lie where their rows do, or apart from each other; offsets are all in one place.

    A row's box hardly moves from picture to picture, but for queries, whose boxes may lie anywhere.

    images     [n, k] rows of each image; of less than two pictures nothing is known, and boxes are taken for decoded
    threshold  score from which boxes count
    """
    images = [replace_infinities(rows) for rows in images[:MOST_IMAGES]]
    if len({rows.shape for rows in images}) > 1 or len(images) < 2 or len(images[0]) < 2:
        return True
    return _lie_at_their_rows(images, columns) or not _lie_together(images, columns, threshold)


def _lie_together(images: Sequence[np.ndarray], columns: Columns, threshold: float) -> bool:
    used = [rows[columns.score_table(rows).max(axis=1, initial=0.0) >= threshold] for rows in images]
    boxes = columns.corners_of(np.concatenate(used)[:MOST_BOXES])
    return bool((overlaps(boxes, boxes) > 0).mean() > TOGETHER)


def _lie_at_their_rows(images: Sequence[np.ndarray], columns: Columns) -> bool:
    corners = np.stack([columns.corners_of(rows) for rows in images])
    centres = (corners[..., :2] + corners[..., 2:]) / 2
    between, within = centres.mean(axis=0).var(axis=0).sum(), centres.var(axis=0).mean(axis=0).sum()
    return bool(between > APART * within)
