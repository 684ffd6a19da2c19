"""tvmq.quantization.meaning.mean_precision: figures by hand, labels of any form, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tvmq.errors import ConfigError, DataError
from tvmq.quantization.guard.bound import Guard
from tvmq.quantization.meaning.mean_precision import MeanPrecision, label_boxes, precision_named
from tvmq.quantization.search.scores import score_samples
from tvmq.tools.cli.metrics import metric_named

BOXES = np.array([[0.0, 0, 10, 10], [20, 20, 30, 30], [50, 50, 60, 60]])
LABELS = [np.column_stack([[0, 0, 1], BOXES]), np.zeros((0, 5))]


def rows(*detections: tuple[np.ndarray, float, int]) -> np.ndarray:
    """[1, 9, 6] sorted rows."""
    array = np.zeros((1, 9, 6))
    for row, (box, score, label) in zip(array[0], detections, strict=False):
        row[:] = [*box, score, label]
    return array


def test_all_right_is_one_and_none_is_zero() -> None:
    everything = rows((BOXES[0], 0.9, 0), (BOXES[1], 0.8, 0), (BOXES[2], 0.7, 1))
    outputs = np.concatenate([everything, rows()])
    assert MeanPrecision()(outputs, LABELS) == 1.0
    assert MeanPrecision()(np.zeros((2, 9, 6)), LABELS) == 0.0


def test_a_wrong_box_above_a_right_one_halves_the_precision() -> None:
    """Class 0: a false box, then both right ones: precisions 1/2 and 2/3, of which 2/3 is the best at all recalls."""
    images = [rows((BOXES[2], 0.9, 0), (BOXES[0], 0.8, 0), (BOXES[1], 0.7, 0), (BOXES[2], 0.6, 1)), rows()]
    assert MeanPrecision()(np.concatenate(images), LABELS) == pytest.approx((2 / 3 + 1) / 2)


def test_each_label_is_taken_once_and_other_images_do_not_count() -> None:
    """Class 0: one right, a double of it, none of the other: recall 1/2, 51 of 101 points."""
    double = BOXES[0] + [1, 0, 1, 0]
    images = [rows((BOXES[0], 0.9, 0), (double, 0.8, 0), (BOXES[2], 0.6, 1)), rows((BOXES[1], 0.9, 0))]
    assert MeanPrecision()(np.concatenate(images), LABELS) == pytest.approx((51 / 101 + 1) / 2)


def test_stricter_bounds_lose_boxes_that_overlap_less() -> None:
    moved = rows((BOXES[0] + [0, 0, -2, 0], 0.9, 0))  # IoU 0.8
    labels = [LABELS[0][:1]]
    assert precision_named("map50")([moved], labels) == 1.0
    assert precision_named("map")([moved], labels) == pytest.approx(0.7)  # 0.5, 0.55 ... 0.8
    assert precision_named("top1") is None


def test_labels_in_one_array_are_filled_up_with_class_minus_one() -> None:
    filled = np.full((2, 3, 5), -1.0)
    filled[0] = LABELS[0]
    assert [len(one) for one in label_boxes(filled)] == [3, 0]


@pytest.mark.parametrize("labels", [[1, 2], None, [[[1, 2, 3]]]])
def test_other_labels_are_refused(labels: Any) -> None:
    with pytest.raises(DataError, match="map50: labels must be rows of class, x1, y1, x2, y2 for each image"):
        MeanPrecision()(np.zeros((2, 9, 6)), labels)


def test_as_many_labels_as_images() -> None:
    with pytest.raises(DataError, match="map50: 2 labels for 1 images"):
        MeanPrecision()(np.zeros((1, 9, 6)), LABELS)


def test_names_of_guard_search_and_command_line() -> None:
    places = np.zeros((2, 9, 6))
    places[0, 0] = [5, 5, 10, 10, 0.9, 0.0]
    labels = [LABELS[0][:1], LABELS[1]]
    guard = Guard(metric="map50", decode="yolov8", max_drop=0.01, data=[{"x": places}], labels=labels)
    assert callable(guard.metric) and guard.metric([places], labels) == 1.0
    assert metric_named("map50:yolov8")(places, labels) == 1.0
    assert score_samples("map50:yolov8", [places], labels).tolist() == [1.0]
    with pytest.raises(ConfigError, match="guard: metric= is a function or one of map50, map. Got 'map75'"):
        Guard(metric="map75", max_drop=0.01, data=[])
    with pytest.raises(ConfigError, match="guard: decode= belongs to metric='map50' or 'map'. Got metric=None"):
        Guard(decode="yolo")
    with pytest.raises(ConfigError, match="decode: must be one of yolo, yolov5, yolov8"):
        metric_named("map50:yolov9")
