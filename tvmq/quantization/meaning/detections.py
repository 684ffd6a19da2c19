"""Detections: boxes with scores, whether sorted rows behind TopK or a dense head, compared as sets.

Each detection of float is a signal as large as its score. Its error is 1 - IoU with the box of the other module that is
matched with it, all of it where there is none; a box that float does not have is an error of its own score. A head that
was to give each object one row gives some two that are nearly equal: a second row of float's is no signal, one that
float does not have is an error like any other box. Errors of scores count half: they move no box, and 0.1 of a score of
0.9 is not seen by who reads boxes.

Tests: tests/quantization/meaning/test_detections.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tvmq.numerics.elementary import sigmoid
from tvmq.numerics.softmax import softmax
from tvmq.quantization.meaning.boxes import NEARLY_EQUAL, Detections, match_boxes, split_doubles
from tvmq.quantization.meaning.columns import Columns, dense_columns, has_corners, sorted_columns
from tvmq.quantization.meaning.places import PlaceReading, are_decoded
from tvmq.quantization.meaning.reading import LEAST_SCORE, LOST, USED, Outputs, Reading, is_share, replace_infinities
from tvmq.quantization.meaning.scales import ScaledHead, find_activation

BOX = 4  # columns
MOST_IMAGES = 8  # tell the columns of dense heads, which have thousands of rows each
MOST_BOXES = 0.9  # of the rows that count have a box with an area
SCORES_COUNT = 0.5  # of the errors of scores


ACTIVATIONS = {"softmax": softmax, "sigmoid": sigmoid}


@dataclass(frozen=True)
class DetectionReading(Reading):
    """Detections: one output with rows of all, one of boxes and one of scores, or several for each scale.

    Boxes and scores come first of several outputs; sorted rows may have their classes in a third one, dense heads other
    values of boxes.

    doubles    True for a dense head, in which many rows have one object
    channels   axis of the rows' columns, where there is one output; -2 of a head [batch, columns, places]
    sizes      of the tensors concatenated to columns, as far as the structure shows them
    columns    of a row; None before `fit`
    threshold  score from which float's detections count
    activation "softmax" or "sigmoid" that makes shares of the scores of their own output; "" where they are shares
    scales     of a head with outputs of several scales
    """

    doubles: bool = True
    channels: int = -1
    sizes: tuple[int, ...] = ()
    columns: Columns | None = None
    threshold: float = 0.0
    activation: str = ""
    scales: ScaledHead | None = None
    kind: ClassVar[str] = "detections"

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the parts, each judged by itself."""
        extras = self.columns is not None and bool(self.columns.extras)
        return ("boxes", "scores", *(("values of boxes",) if extras else ()))

    def fit(self, wanted: Sequence[Outputs]) -> Reading | None:
        """The reading with its columns and its threshold, a quarter of float's highest score.

        Of a dense head whose boxes are not decoded the reading of its places.
        """
        if self.scales is not None and self.scales.columns is None:
            scales = self.scales.fit(wanted)
            return None if scales is None else replace(self, scales=scales).fit(wanted)
        images = [rows for outputs in wanted for rows in self.rows(outputs)]
        if not images or not sum(map(len, images)):
            return None
        if len(self.outputs) > 1 and self.doubles and self.scales is None and not self.activation:
            scores = np.concatenate(images[:MOST_IMAGES])[:, self._score_columns(wanted[0])]
            if not is_share(scores):
                return replace(self, activation=find_activation(scores)).fit(wanted)
        columns = self._find_columns(images, wanted[0])
        if columns is None:
            return None
        highest = max(float(columns.score_table(replace_infinities(rows)).max(initial=0.0)) for rows in images)
        known = replace(self, columns=columns, threshold=highest * USED)
        if highest < LEAST_SCORE:
            return None
        if self.scales is not None:  # nobody decodes boxes and leaves the scales apart
            return PlaceReading(self.outputs, self.by_user, known, columns, known.threshold)
        if self.doubles and not (known.has_boxes(images) and are_decoded(images, columns, known.threshold)):
            return PlaceReading(self.outputs, self.by_user, known, columns, known.threshold)
        return known if known.has_boxes(images) else None

    def has_boxes(self, images: Sequence[np.ndarray]) -> bool:
        """True if nearly all boxes that count have an area: they are decoded, no distances from anchors."""
        assert self.columns is not None
        valid = count = 0
        for rows in map(replace_infinities, images):
            used = rows[self.columns.score_table(rows).max(axis=1, initial=0.0) >= self.threshold]
            boxes = self.columns.corners_of(used)
            valid += int((boxes[:, 2:] > boxes[:, :2]).all(axis=1).sum())
            count += len(boxes)
        return valid >= MOST_BOXES * count

    def _score_columns(self, outputs: Outputs) -> slice:
        """Columns of the scores, where boxes and scores are outputs of their own."""
        first = np.asarray(outputs[self.outputs[0]]).shape[-1]
        scores = np.asarray(outputs[self.outputs[1]])
        return slice(first, first + (scores.shape[-1] if scores.ndim == 3 else 1))

    def _find_columns(self, images: list[np.ndarray], outputs: Outputs) -> Columns | None:
        if self.scales is not None:
            return self.scales.columns
        if len(self.outputs) == 1:
            some = images[:MOST_IMAGES]
            return dense_columns(np.concatenate(some), self.sizes) if self.doubles else sorted_columns(images)
        rows = replace_infinities(np.concatenate(images[:MOST_IMAGES]))
        if len(self.outputs) == 3 and not self.doubles:
            return Columns((0, 1, 2, 3), has_corners(rows[:, :4]), (4,), 5)
        place = self._score_columns(outputs)
        scores, columns = rows[:, place], tuple(range(rows.shape[1])[place])
        if not is_share(scores):
            return None
        extras = tuple(c for c in range(BOX, rows.shape[1]) if c not in columns)
        if len(columns) > 1 and np.allclose(scores.sum(1), 1.0, atol=1e-2):  # softmax: background is the usual class
            background = columns[int(scores.mean(0).argmax())]
            columns = tuple(c for c in columns if c != background)
        return Columns((0, 1, 2, 3), has_corners(rows[:, :4]), columns, None, None, extras)

    def is_comparable(self, wanted: Outputs, got: Outputs) -> bool:
        """True for as many images and columns; there may be other numbers of rows."""
        sides = [self.rows(side) for side in (wanted, got)]
        return [rows.shape[1] for rows in sides[0]] == [rows.shape[1] for rows in sides[1]]

    def rows(self, outputs: Outputs) -> list[np.ndarray]:
        """[n, columns] of each image."""
        if self.scales is not None:
            return self.scales.rows(outputs)
        arrays = [np.asarray(outputs[index]) for index in self.outputs]
        if len(arrays) > 1:
            if self.activation:
                arrays[1] = ACTIVATIONS[self.activation](np.asarray(arrays[1], np.float32))
            count = arrays[0].shape[-2]
            arrays = [one.reshape(-1, count, one.shape[-1] if one.ndim == arrays[0].ndim else 1) for one in arrays]
            return list(np.concatenate(arrays, axis=2))
        array = np.moveaxis(arrays[0], self.channels, -1)
        return list(array.reshape(-1, *array.shape[-2:]))

    def detections(self, outputs: Outputs, least: float | None = None) -> list[Detections]:
        """Detections of each image whose score is at least `least`, by default the threshold."""
        assert self.columns is not None
        columns, least = self.columns, self.threshold if least is None else least
        return [columns.detections(rows, least, doubles=self.doubles) for rows in self.rows(outputs)]

    def powers(self, wanted: Outputs, got: Outputs) -> np.ndarray:
        """Signal and error of boxes, scores and other values of boxes."""
        lost = self.threshold * LOST / USED
        sums = np.zeros((len(self.parts), 2))
        pairs = zip(self.detections(wanted, lost), self.detections(got, lost), strict=True)
        for a, b in pairs:
            sums += _detection_powers(a, b, self.threshold)[: len(sums)]
        return sums

    def describe(self) -> str:
        """Description of the kind, with all that was learned."""
        head = "a dense head" if self.doubles else "sorted rows"
        columns = f": {self.columns.describe()}" if self.columns is not None else ""
        return f"detections of {head}{columns}; scores from {self.threshold:.2g} count"


def _detection_powers(a: Detections, b: Detections, threshold: float) -> np.ndarray:
    """[3, 2] signal and error of an image: boxes, scores, values; both have detections of lesser scores, too."""
    (a, second), (b, others) = (split_doubles(one, NEARLY_EQUAL) for one in (a, b))
    known = [j for _, j, _ in match_boxes(second, others)]
    repeated = np.delete(others.scores, known)
    matches = match_boxes(a, b)
    lost, extra = np.square(a.scores), np.square(b.scores)
    lost[[i for i, _, _ in matches]] = extra[[j for _, j, _ in matches]] = 0.0
    counts = [(i, j, overlap) for i, j, overlap in matches if a.scores[i] >= threshold]
    ours = a.select(np.array([i for i, _, _ in counts], int))
    theirs = b.select(np.array([j for _, j, _ in counts], int))
    weights, overlap = np.square(ours.scores), np.array([one for _, _, one in counts])
    error = (weights * np.square(1 - overlap)).sum() + lost[a.scores >= threshold].sum()
    error += extra[b.scores >= threshold].sum() + np.square(repeated[repeated >= threshold]).sum()
    signal = np.square(a.scores[a.scores >= threshold]).sum()
    values = [(weights[:, None] * np.square(x)).sum() for x in (ours.extras, ours.extras - theirs.extras)]
    scores = SCORES_COUNT * np.square(ours.scores - theirs.scores).sum()
    return np.array([[signal, error], [signal, scores], values])
