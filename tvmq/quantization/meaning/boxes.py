"""Boxes: overlap, suppression of doubles, and the matching of two sets of detections.

Tests: tests/quantization/meaning/test_boxes.py
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SAME_BOX = 0.5  # IoU from which two boxes are of one object
NEARLY_EQUAL = 0.7  # IoU from which two boxes of one class are of one object even where others came in between
MOST = 300  # detections of an image, those of the highest scores


@dataclass(frozen=True)
class Detections:
    """Detections of one image, the highest score first.

    boxes   [n, 4] corners x1, y1, x2, y2
    scores  [n]
    labels  [n] number of the class
    extras  [n, m] whatever else a row has, such as keypoints
    """

    boxes: np.ndarray
    scores: np.ndarray
    labels: np.ndarray
    extras: np.ndarray

    def __len__(self) -> int:
        return len(self.scores)

    def select(self, index: np.ndarray) -> Detections:
        """Detections at these positions."""
        return Detections(self.boxes[index], self.scores[index], self.labels[index], self.extras[index])


def to_corners(boxes: np.ndarray) -> np.ndarray:
    """Corners of boxes of the form centre x, centre y, width, height.

    >>> to_corners(np.array([[5.0, 5.0, 4.0, 2.0]])).tolist()
    [[3.0, 4.0, 7.0, 6.0]]
    """
    centre, half = boxes[..., :2], boxes[..., 2:] / 2
    return np.concatenate([centre - half, centre + half], axis=-1)


def overlaps(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Intersection over union of each box of [n, 4] with each of [m, 4]; 0 for boxes without an area.

    >>> overlaps(np.array([[0.0, 0, 2, 2]]), np.array([[0.0, 0, 2, 2], [1, 0, 3, 2]])).round(3).tolist()
    [[1.0, 0.333]]
    """
    low = np.maximum(a[:, None, :2], b[None, :, :2])
    high = np.minimum(a[:, None, 2:], b[None, :, 2:])
    shared = np.prod(np.clip(high - low, 0, None), axis=2)
    areas = [np.prod(np.clip(boxes[:, 2:] - boxes[:, :2], 0, None), axis=1) for boxes in (a, b)]
    union = areas[0][:, None] + areas[1][None] - shared
    return np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)


def sort_by_score(detections: Detections) -> Detections:
    """The MOST detections of the highest scores, the highest first; equal ones stay in their order."""
    return detections.select(np.argsort(-detections.scores, kind="stable")[:MOST])


def suppress_doubles(detections: Detections, overlap: float = SAME_BOX) -> Detections:
    """Detections without those that overlap one of the same class and a higher score (non-maximum suppression).

    >>> boxes = np.array([[0.0, 0, 10, 10], [1, 0, 11, 10], [0, 0, 10, 10]])
    >>> all_three = Detections(boxes, np.array([0.9, 0.8, 0.7]), np.array([0, 0, 1]), np.zeros((3, 0)))
    >>> suppress_doubles(all_three).scores.tolist()
    [0.9, 0.7]
    """
    return split_doubles(detections, overlap)[0]


def split_doubles(detections: Detections, overlap: float = SAME_BOX) -> tuple[Detections, Detections]:
    """Detections without doubles, as `suppress_doubles` gives them, and the doubles."""
    detections = sort_by_score(detections)
    same = overlaps(detections.boxes, detections.boxes) > overlap
    same &= detections.labels[:, None] == detections.labels[None]
    alive = np.ones(len(detections), bool)
    for i in range(len(detections)):
        if alive[i]:
            alive[i + 1 :] &= ~same[i, i + 1 :]
    return detections.select(np.flatnonzero(alive)), detections.select(np.flatnonzero(~alive))


def match_boxes(a: Detections, b: Detections, overlap: float = SAME_BOX) -> list[tuple[int, int, float]]:
    """(position in a, position in b, IoU) of boxes of one object and class, each used once.

    Those of a choose in their order, the box that overlaps most.
    """
    if not len(a) or not len(b):
        return []
    shared = overlaps(a.boxes, b.boxes)
    shared[a.labels[:, None] != b.labels[None]] = 0.0
    matches = []
    for i in range(len(a)):
        j = int(shared[i].argmax())
        if shared[i, j] >= overlap:
            matches.append((i, j, float(shared[i, j])))
            shared[:, j] = 0.0
    return matches


def box_f1(a: list[Detections], b: list[Detections], overlap: float = SAME_BOX) -> float:
    """F1 of the boxes of some images against those of the same images in `a`; 1 where both have none."""
    hits = sum(len(match_boxes(one, other, overlap)) for one, other in zip(a, b, strict=True))
    count = sum(map(len, a)) + sum(map(len, b))
    return 2 * hits / count if count else 1.0
