"""Mean average precision of detections against labels, as a metric of the guard, of search and of the command line.

A box is right where its IoU with a box of the labels of its class is at least the bound, and no better one has taken
that one.
The average precision of a class is the mean of the best precision at 101 recalls, as COCO's tools have it.

Tests: tests/quantization/meaning/test_mean_precision.py
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvmq.errors import DataError
from tvmq.quantization.meaning.boxes import Detections, overlaps
from tvmq.quantization.meaning.decoders import DECODERS, Decode, decode_detections

RECALLS = np.linspace(0, 1, 101)
FROM_50_TO_95 = tuple(0.5 + 0.05 * i for i in range(10))
COLUMNS = 5  # of a label: class and corners
Outputs = np.ndarray | Sequence[np.ndarray]


@dataclass(frozen=True)
class MeanPrecision:
    """Metric of (outputs, labels): the mean over classes of the average precision, 0 to 1.

    decode    "yolo", "yolov5" or "yolov8" (see docs/detectors.md), or a function of the outputs that gives (corners
              [n, 4], scores [n], classes [n]) for each image
    overlaps  the mean over these bounds on the IoU is taken
    raises    ConfigError for another decoder

    Labels are an array for each image, rows class, x1, y1, x2, y2 in pixels of the input; or one array [images, most,
    5], filled up with rows of class -1.

    >>> places = np.array([[[10, 10, 4, 2, 0.9], [40, 40, 4, 4, 0.0]]]).transpose(0, 2, 1).repeat(3, axis=2)
    >>> round(MeanPrecision()([places], [np.array([[0, 8, 9, 12, 11], [0, 60, 60, 64, 64]])]), 4)
    0.505
    """

    decode: str | Decode = "yolo"
    overlaps: tuple[float, ...] = (0.5,)

    def __post_init__(self) -> None:
        if not callable(self.decode) and self.decode not in DECODERS:
            decode_detections((), self.decode)

    def __call__(self, outputs: Outputs, labels: Any) -> float:
        """Mean precision of a model's outputs.

        raises  DataError for labels of another form or number
        """
        arrays = [outputs] if isinstance(outputs, np.ndarray) else list(outputs)
        images, boxes = decode_detections(arrays, self.decode), label_boxes(labels)
        if len(images) != len(boxes):
            raise DataError(f"map50: {len(boxes)} labels for {len(images)} images; give rows of boxes for each image")
        classes = sorted({int(label) for rows in boxes for label in rows[:, 0]})
        figures = [average_precision(images, boxes, one, bound) for one in classes for bound in self.overlaps]
        return float(np.mean(figures)) if figures else 0.0


METRICS = {"map50": (0.5,), "map": FROM_50_TO_95}


def precision_named(name: str, decode: str | Decode | None = None) -> MeanPrecision | None:
    """The metric "map50", or "map", the mean of the bounds 0.5 to 0.95; None for another name.

    decode  None: the one behind a colon in the name, as in "map50:yolov8", else "yolo"
    raises  ConfigError for a decoder that does not exist
    """
    name, _, behind = name.partition(":")
    return MeanPrecision(decode or behind or "yolo", METRICS[name]) if name in METRICS else None


def label_boxes(labels: Any) -> list[np.ndarray]:
    """[m, 5] of each image: class and corners, without rows that fill up.

    raises  DataError for another form

    >>> [rows.tolist() for rows in label_boxes([[[1, 0, 0, 4, 4], [-1, 0, 0, 0, 0]]])]
    [[[1.0, 0.0, 0.0, 4.0, 4.0]]]
    """
    try:
        images = [np.asarray(rows, np.float64).reshape(-1, COLUMNS) for rows in labels]
    except (TypeError, ValueError):
        raise DataError(
            "map50: labels must be rows of class, x1, y1, x2, y2 for each image: a list of arrays, or one array "
            "[images, most, 5] filled up with class -1"
        ) from None
    return [rows[rows[:, 0] >= 0] for rows in images]


def average_precision(
    images: Sequence[Detections], labels: Sequence[np.ndarray], label: int, overlap: float = 0.5
) -> float:
    """Average precision of one class, 0 where nothing is detected.

    labels  see `label_boxes`
    """
    scores: list[float] = []
    hits: list[bool] = []
    count = 0
    for detections, rows in zip(images, labels, strict=True):
        ours, boxes = detections.select(np.flatnonzero(detections.labels == label)), rows[rows[:, 0] == label, 1:]
        count += len(boxes)
        scores += ours.scores.tolist()
        hits += _find_hits(ours.boxes, boxes, overlap)
    order = np.argsort(-np.array(scores), kind="stable")
    right = np.cumsum(np.array(hits, bool)[order])
    if not count or not len(right):
        return 0.0
    recall, precision = right / count, right / np.arange(1, len(right) + 1)
    best = np.append(np.maximum.accumulate(precision[::-1])[::-1], 0.0)
    return float(best[np.searchsorted(recall, RECALLS, side="left")].mean())


def _find_hits(ours: np.ndarray, boxes: np.ndarray, overlap: float) -> Iterable[bool]:
    """For each box, the highest score first, whether it is one of the labels'; each of those is taken once."""
    if not len(boxes) or not len(ours):
        return [False] * len(ours)
    shared, hits = overlaps(ours, boxes), []
    for row in shared:
        best = int(row.argmax())
        hits.append(bool(row[best] >= overlap))
        if hits[-1]:
            shared[:, best] = -1.0
    return hits
