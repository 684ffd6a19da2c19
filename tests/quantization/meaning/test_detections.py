"""Detections: two runtimes are equal, noise that nobody sees is far above the bound, real damage is below it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.quantization.meaning.test_boxes import drawn_detections
from tvmq.quantization.meaning.detections import DetectionReading
from tvmq.quantization.meaning.places import PlaceReading
from tvmq.quantization.meaning.reading import decibels_of, sum_powers

BOUND = 20.0


def sorted_rows(seed: int, count: int = 300) -> np.ndarray:
    """[1, count, 6] rows of an end-to-end head: a dozen boxes, and noise of scores below any use."""
    rng, boxes = np.random.default_rng(seed), drawn_detections(seed, 12)
    noise = np.concatenate([rng.uniform(0, 640, (count - 12, 4)), np.sort(rng.uniform(0, 0.01, (count - 12, 1)), 0)[::-1]], 1)
    rows = np.concatenate([np.concatenate([boxes.boxes, boxes.scores[:, None]], axis=1), noise])
    labels = np.concatenate([boxes.labels, rng.integers(0, 3, count - 12)])
    return np.concatenate([rows, labels[:, None]], axis=1)[None].astype(np.float32)


def dense_head(seed: int, places: int = 200) -> np.ndarray:
    """[1, 4 + 3, places]: each of a dozen boxes at three places, and places of scores below any use."""
    rng, boxes = np.random.default_rng(seed), drawn_detections(seed, 12)
    corners = np.concatenate([np.repeat(boxes.boxes, 3, 0) + rng.normal(0, 0.3, (36, 4)), np.tile([0, 0, 8, 8], (places - 36, 1))])
    form = np.concatenate([(corners[:, :2] + corners[:, 2:]) / 2, corners[:, 2:] - corners[:, :2]], axis=1)
    scores = rng.uniform(0, 0.01, (places, 3))
    scores[np.arange(36), np.repeat(boxes.labels, 3)] = np.repeat(boxes.scores, 3) * np.tile([1, 0.8, 0.7], 12)
    return np.concatenate([form, scores], axis=1).T[None].astype(np.float32)


def worst(reading: DetectionReading, wanted: list[np.ndarray], got: list[np.ndarray]) -> float:
    """dB of the worst part."""
    return min(decibels_of(sum_powers(reading, [([a], [b]) for a, b in zip(wanted, got, strict=True)])))


ROWS = [sorted_rows(seed) for seed in range(4)]
HEADS = [dense_head(seed) for seed in range(4)]


def fitted(reading: DetectionReading, outputs: list[np.ndarray]) -> DetectionReading:
    """The reading of these outputs of float."""
    known = reading.fit([[one] for one in outputs])
    assert known is not None
    return known


SORTED = fitted(DetectionReading((0,), doubles=False), ROWS)
DENSE = fitted(DetectionReading((0,), channels=-2, sizes=(4, 3)), HEADS)


def test_rows_in_another_order_and_other_rows_of_no_use_are_equal():
    rng = np.random.default_rng(0)
    other = []
    for rows in ROWS:
        changed = rows.copy()
        changed[:, 20:, :4] = rng.uniform(0, 640, changed[:, 20:, :4].shape)
        other.append(changed[:, rng.permutation(changed.shape[1])])
    assert worst(SORTED, ROWS, other) == np.inf
    signal, noise = (np.square(x).sum() for x in (np.array(ROWS), np.array(ROWS) - np.array(other)))
    assert 10 * np.log10(signal / noise) < 6  # the raw values say nothing


@pytest.mark.parametrize(("reading", "outputs"), [(SORTED, ROWS), (DENSE, HEADS)], ids=["sorted", "dense"])
def test_two_runtimes_are_equal_and_noise_is_above_the_bound(reading, outputs):
    rng = np.random.default_rng(1)
    last_bits = [one * (1 + rng.normal(0, 1e-6, one.shape)) for one in outputs]
    assert worst(reading, outputs, last_bits) > 80
    small = [one + rng.normal(0, 0.5, one.shape) * (np.abs(one) > 3) for one in outputs]  # half a pixel
    assert worst(reading, outputs, small) > BOUND


@pytest.mark.parametrize("damage", ["boxes", "scores", "lost", "extra", "class"])
@pytest.mark.parametrize("form", ["sorted", "dense"])
def test_real_damage_is_below_the_bound(form, damage):
    reading, outputs = (SORTED, ROWS) if form == "sorted" else (DENSE, HEADS)
    got = []
    for one in outputs:
        rows = one.copy() if form == "sorted" else np.moveaxis(one, 1, 2).copy()
        used = rows[..., 4:].max(-1) > 0.1 if form == "dense" else rows[..., 4] > 0.1
        if damage == "boxes":
            rows[..., 2:4] = np.where(used[..., None], rows[..., 2:4] * (1.3 if form == "dense" else 1.1), rows[..., 2:4])
        elif damage == "scores":
            rows[..., 4:5] *= 0.7
            rows[..., 5:] *= 0.7 if form == "dense" else 1
        elif damage == "lost":
            rows[:, :3] = 0
        elif damage == "extra":
            rows[:, -2:, :5] = [[300, 300, 310, 310, 0.9], [300, 10, 310, 20, 0.9]]
        elif form == "dense":
            rows[..., 4:] = np.roll(rows[..., 4:], 1, -1)
        else:
            rows[..., 5] += 1
        got.append(rows if form == "sorted" else np.moveaxis(rows, 2, 1))
    assert worst(reading, outputs, got) < BOUND


def test_a_second_row_of_an_object_is_lost_without_loss_and_found_at_a_cost():
    """Two rows of one object, as heads give them that need no suppression: which of both survives is noise."""
    twice = [np.array([[[10, 10, 50, 50, 0.9, 1], [80, 80, 99, 99, 0.6, 0], [80, 80, 99, 98.5, 0.5, 0], *[[0] * 6] * 3]])]
    once = [one * (one[..., 4:5] != 0.5) for one in twice]
    reading = fitted(DetectionReading((0,), doubles=False), twice)
    assert worst(reading, twice, once) == np.inf
    assert worst(reading, once, twice) < BOUND
    crossed = [one.copy() for one in twice]
    crossed[0][0, 1:3, 4] = 0.58, 0.2  # which row overlaps float's first one more does not count
    crossed[0][0, 1:3, 3] = 98.5, 99
    assert worst(reading, twice, crossed) > BOUND
    far = [one.copy() for one in twice]
    far[0][0, 2, 1] = 90  # half of the other: an object of its own
    assert worst(fitted(reading, far), far, [one * (one[..., 4:5] != 0.5) for one in far]) < BOUND


def test_the_threshold_is_a_quarter_of_the_highest_score():
    assert abs(SORTED.threshold - np.array(ROWS)[..., 4].max() / 4) < 1e-6
    assert "scores from 0.2" in SORTED.describe() and "centre and size" in DENSE.describe()


def test_samples_without_a_detection_fit_no_reading():
    empty = [rows * np.array([1, 1, 1, 1, 0.01, 1]) for rows in ROWS]
    assert DetectionReading((0,), doubles=False).fit([[one] for one in empty]) is None
    assert DetectionReading((0,), doubles=False).fit([]) is None


def test_boxes_and_scores_in_two_outputs():
    boxes, scores = (np.moveaxis(HEADS[0], 1, 2)[..., part] for part in (slice(4), slice(4, None)))
    reading = DetectionReading((0, 1)).fit([[boxes, scores]])
    assert reading is not None and reading.columns is not None and len(reading.columns.scores) == 3
    background = 1 - scores.sum(-1, keepdims=True).clip(0, 1)
    shares = np.concatenate([background, scores], axis=2)
    shares /= shares.sum(-1, keepdims=True)
    softmax = DetectionReading((0, 1)).fit([[boxes, shares]])
    assert softmax is not None and softmax.columns is not None and softmax.columns.scores == (5, 6, 7)


def test_boxes_scores_and_classes_in_three_outputs_of_any_number_of_rows():
    rows = ROWS[0]
    outputs = [rows[0, :, :4], rows[0, :, 4], rows[0, :, 5]]
    reading = DetectionReading((0, 1, 2), doubles=False).fit([outputs])
    assert reading is not None
    fewer = [one[:50] for one in outputs]
    assert sum_powers(reading, [(outputs, fewer)])[0, 1] == 0
    assert reading.is_comparable(outputs, fewer)


def test_values_beside_boxes_are_a_part_of_their_own():
    rng = np.random.default_rng(2)
    rows = np.concatenate([ROWS[0], rng.uniform(20, 600, (1, 300, 4)).astype(np.float32)], axis=2)
    reading = DetectionReading((0,), doubles=False).fit([[rows]])
    assert reading is not None and reading.parts == ("boxes", "scores", "values of boxes")
    other = rows.copy()
    other[..., 6:] *= 1.2
    figures = decibels_of(sum_powers(reading, [([rows], [other])]))
    assert figures[:2] == [np.inf, np.inf] and round(figures[2]) == 14


@pytest.mark.parametrize("activation", ["softmax", "sigmoid"])
def test_queries_with_scores_before_their_activation(activation):
    """DETR and its like: boxes as parts of the image beside logits, with a class for nothing or without."""
    boxes = np.moveaxis(HEADS[0], 1, 2)[..., :4] / 640
    scores = np.moveaxis(HEADS[0], 1, 2)[..., 4:].clip(1e-4, 0.98)
    logits = np.log(scores / (1 - scores))
    if activation == "softmax":
        logits = np.concatenate([logits, np.log(1 - scores.max(-1, keepdims=True)) + 6], axis=2)
        logits[..., :3] += 6 * (scores > 0.1) + 3
    reading = DetectionReading((0, 1)).fit([[boxes, logits]])
    assert reading is not None and reading.activation == activation
    assert reading.columns is not None and reading.columns.scores == (4, 5, 6)
    assert sum_powers(reading, [([boxes, logits], [boxes, logits])])[:, 1].tolist() == [0, 0]


def test_distances_from_anchors_are_no_boxes():
    scores = np.moveaxis(HEADS[0], 1, 2)[..., 4:]
    distances = np.random.default_rng(3).normal(0, 1, (1, 200, 4))
    assert isinstance(DetectionReading((0, 1)).fit([[distances, scores]]), PlaceReading)


def test_landmarks_beside_boxes_and_scores_or_within_the_boxes():
    """RetinaFace and BlazeFace: values of boxes are a part of their own."""
    boxes, scores = (np.moveaxis(HEADS[0], 1, 2)[..., part] for part in (slice(4), slice(4, 5)))
    marks = np.random.default_rng(4).normal(0, 5, (*boxes.shape[:2], 10))
    shares = np.concatenate([1 - scores, scores], axis=2)
    beside = DetectionReading((0, 1, 2)).fit([[boxes, shares, marks]])
    within = DetectionReading((0, 1)).fit([[np.concatenate([boxes, marks], axis=2), np.log(scores / (1 - scores))]])
    for reading, outputs in (
        (beside, [boxes, shares, marks]),
        (within, [np.concatenate([boxes, marks], axis=2), np.log(scores / (1 - scores))]),
    ):
        assert isinstance(reading, DetectionReading) and reading.columns is not None
        assert len(reading.columns.scores) == 1 and len(reading.columns.extras) == 10
        moved = 1 + 0.2 * (np.arange(14) >= 4)
        other = [one * moved[-one.shape[-1] :] if one.shape[-1] >= 10 else one for one in outputs]
        assert decibels_of(sum_powers(reading, [(outputs, outputs)])) == [np.inf] * 3
        figures = decibels_of(sum_powers(reading, [(outputs, other)]))
        assert figures[:2] == [np.inf] * 2 and 13.9 < figures[2] < 14.1
