"""Boxes: overlap, suppression, matching, F1."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tvmq.quantization.meaning.boxes import (
    MOST,
    Detections,
    box_f1,
    match_boxes,
    overlaps,
    suppress_doubles,
    to_corners,
)


def drawn_detections(seed: int, count: int) -> Detections:
    """Detections of an image that barely overlap."""
    rng = np.random.default_rng(seed)
    places = rng.permutation(100)[:count]
    centres = np.stack([places % 10, places // 10], axis=1) * 64.0 + 32
    boxes = to_corners(np.concatenate([centres, rng.uniform(16, 60, (count, 2))], axis=1))
    order = np.sort(rng.uniform(0.3, 1, count))[::-1]
    return Detections(boxes, order, rng.integers(0, 3, count), np.zeros((count, 0)))


def test_overlap_of_boxes_by_hand():
    a = np.array([[0.0, 0, 4, 4], [0, 0, 0, 0]])
    b = np.array([[0.0, 0, 4, 4], [2, 0, 6, 4], [8, 8, 9, 9]])
    assert overlaps(a, b).tolist() == [[1.0, 8 / 24, 0.0], [0.0, 0.0, 0.0]]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31), st.integers(0, 40))
def test_the_order_of_rows_does_not_matter(seed, count):
    boxes = drawn_detections(seed, count)
    shuffled = boxes.select(np.random.default_rng(seed + 1).permutation(count))
    assert len(match_boxes(boxes, shuffled)) == count
    assert box_f1([boxes], [shuffled], 0.99) == 1.0


def test_a_box_is_matched_once_and_by_its_class():
    two = Detections(np.array([[0.0, 0, 4, 4]] * 2), np.array([0.9, 0.8]), np.array([0, 0]), np.zeros((2, 0)))
    one = two.select(np.array([0]))
    other = Detections(one.boxes, one.scores, np.array([1]), one.extras)
    assert len(match_boxes(two, one)) == 1 and match_boxes(one, other) == []
    assert box_f1([two], [one]) == 2 / 3 and box_f1([one.select(np.array([], int))], [one.select(np.array([], int))]) == 1


def test_doubles_go_where_one_of_the_class_and_of_a_higher_score_overlaps():
    boxes = np.array([[0.0, 0, 10, 10], [0, 0, 10, 9], [0, 0, 10, 10], [20, 0, 30, 10]])
    detections = Detections(boxes, np.array([0.5, 0.9, 0.4, 0.3]), np.array([0, 0, 1, 0]), np.zeros((4, 0)))
    assert suppress_doubles(detections).scores.tolist() == [0.9, 0.4, 0.3]


def test_at_most_so_many_detections_of_the_highest_scores():
    count = MOST + 5
    boxes = np.arange(count)[:, None] * 10.0 + np.array([[0, 0, 5, 5]])
    detections = Detections(boxes, np.arange(count) / count, np.zeros(count, int), np.zeros((count, 0)))
    assert len(suppress_doubles(detections)) == MOST and suppress_doubles(detections).scores.min() == 5 / count
