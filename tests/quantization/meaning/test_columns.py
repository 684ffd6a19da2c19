"""Columns of detections, told from the values."""

from __future__ import annotations

import numpy as np
import pytest

from tvmq.quantization.meaning.columns import Columns, dense_columns, sorted_columns

RNG = np.random.default_rng(0)
CORNERS = np.sort(RNG.uniform(0, 640, (300, 2, 2)), axis=1).reshape(300, 4)
CENTRES = np.concatenate([RNG.uniform(100, 540, (300, 2)), RNG.uniform(20, 90, (300, 2))], axis=1)
FALLING = np.sort(RNG.uniform(0, 1, (300, 1)), axis=0)[::-1]
LABELS = RNG.integers(0, 80, (300, 1)).astype(float)
SHARES = RNG.uniform(0, 1, (300, 8))


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        ([CORNERS, FALLING, LABELS], Columns((0, 1, 2, 3), True, (4,), 5)),
        ([CENTRES, FALLING, LABELS], Columns((0, 1, 2, 3), False, (4,), 5)),
        ([CORNERS / 640, FALLING, LABELS], Columns((0, 1, 2, 3), True, (4,), 5)),
        ([CORNERS, LABELS, FALLING], Columns((0, 1, 2, 3), True, (5,), 4)),
        ([CORNERS, FALLING, 0 * LABELS], Columns((0, 1, 2, 3), True, (4,), 5)),
        ([0 * LABELS, LABELS, FALLING, CORNERS / 640], Columns((3, 4, 5, 6), True, (2,), 1)),
        ([CORNERS, FALLING, LABELS, SHARES * 300], Columns((0, 1, 2, 3), True, (4,), 5, None, tuple(range(6, 14)))),
    ],
    ids=["yolo", "centres", "parts of the image", "class first", "one class", "ssd", "keypoints"],
)  # fmt: skip
def test_columns_of_sorted_rows(rows, columns):
    assert sorted_columns([np.concatenate(rows, axis=1)]) == columns


def test_rows_without_a_score_are_no_detections():
    assert sorted_columns([CORNERS[:, :4]]) is None
    assert sorted_columns([np.concatenate([CORNERS, -CENTRES], axis=1)]) is None
    assert sorted_columns([np.zeros((0, 6))]) is None


@pytest.mark.parametrize(
    ("rows", "parts", "columns"),
    [
        ([CENTRES, SHARES], (4, 8), Columns((0, 1, 2, 3), False, tuple(range(4, 12)))),
        ([CENTRES, SHARES], (), Columns((0, 1, 2, 3), False, tuple(range(4, 12)))),
        ([CENTRES, SHARES], (2, 2, 8), Columns((0, 1, 2, 3), False, tuple(range(5, 12)), None, 4)),
        ([CENTRES, SHARES], (4, 1, 7), Columns((0, 1, 2, 3), False, tuple(range(5, 12)), None, 4)),
        ([CENTRES, SHARES[:, :1] ** 40, SHARES], (), Columns((0, 1, 2, 3), False, tuple(range(5, 13)), None, 4)),
        ([CENTRES, SHARES[:, :1], CENTRES], (4, 1, 4), Columns((0, 1, 2, 3), False, (4,), None, None, (5, 6, 7, 8))),
        ([CENTRES, SHARES[:, :2], CENTRES], (4, 2, 4), Columns((0, 1, 2, 3), False, (4, 5), None, None, (6, 7, 8, 9))),
        ([CORNERS / 640, SHARES], (4, 8), Columns((0, 1, 2, 3), True, tuple(range(4, 12)))),
        ([CENTRES, CENTRES], (4, 4), None),
        ([SHARES, SHARES], (), None),
        ([CENTRES], (), None),
    ],
)
def test_columns_of_dense_heads(rows, parts, columns):
    assert dense_columns(np.concatenate(rows, axis=1), parts) == columns


def test_columns_say_what_they_are():
    text = Columns((0, 1, 2, 3), False, (5, 6), None, 4, (7,)).describe()
    assert text == "boxes 0-3 (centre and size), objectness 4, scores 5-6, others 7"
    assert Columns((0, 1, 2, 3), True, (4,), 5).describe() == "boxes 0-3 (x1 y1 x2 y2), scores 4, class 5"


def test_a_place_has_a_detection_of_each_class_whose_score_suffices():
    rows = np.array([[10.0, 10, 4, 4, 0.5, 0.5, 0.9], [50, 50, 4, 4, 1.0, 0.1, 0.2]])
    detections = Columns((0, 1, 2, 3), False, (5, 6), None, 4).detections(rows, 0.2, doubles=True)
    assert detections.scores.tolist() == [0.45, 0.25, 0.2] and detections.labels.tolist() == [1, 0, 1]
    assert detections.boxes[0].tolist() == [8.0, 8.0, 12.0, 12.0]


def test_a_class_behind_centre_and_size_is_no_objectness():
    """Parts of 2, 2 and the rest: of a YOLOv5 with objectness, or of another head with its classes alone."""
    random = np.random.default_rng(0)
    rows = np.concatenate([random.uniform(0, 64, (50, 2)), random.uniform(8, 20, (50, 2)), np.zeros((50, 3))], axis=1)
    rows[:5, 4], rows[5:9, 5] = 0.9, 0.8
    columns = dense_columns(rows, (2, 2, 3))
    assert columns is not None and columns.objectness is None and columns.scores == (4, 5, 6)
    rows[:9, 4] = 0.9
    columns = dense_columns(rows, (2, 2, 3))
    assert columns is not None and columns.objectness == 4 and columns.scores == (5, 6)
