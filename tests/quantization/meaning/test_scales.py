"""tvmq.quantization.meaning.scales: heads of several outputs, by what their scales have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from tvmq.quantization.meaning.detections import DetectionReading
from tvmq.quantization.meaning.places import PlaceReading
from tvmq.quantization.meaning.reading import decibels_of, sum_powers
from tvmq.quantization.meaning.scales import ScaledHead, find_levels

SIDES = (16, 8, 4)
Scale = dict[str, np.ndarray]  # [batch, side, side, columns] scores, boxes, landmarks and objectness


def draw_scale(rng: np.random.Generator, side: int, classes: int, batch: int = 3) -> Scale:
    """Two objects a picture: their places have high scores of one class, and distances to their sides."""
    scores = rng.uniform(0, 0.03, (batch, side, side, classes))
    objectness = rng.uniform(0.001, 0.03, (batch, side, side, 1))
    for image, factor in zip(scores, objectness, strict=True):
        for y, x in rng.integers(0, side, (2, 2)):
            image[y, x, rng.integers(classes)] = rng.uniform(0.7, 0.95)
            factor[y, x] = rng.uniform(0.8, 0.95)
    shape = batch, side, side
    return {
        "scores": scores,
        "objectness": objectness,
        "boxes": rng.uniform(0.5, 6, (*shape, 4)),
        "landmarks": rng.normal(0, 3, (*shape, 10)),
    }


def draw_scales(classes: int = 3, seed: int = 0) -> list[Scale]:
    rng = np.random.default_rng(seed)
    return [draw_scale(rng, side, classes) for side in SIDES]


def logits(shares: np.ndarray) -> np.ndarray:
    return np.log(shares.clip(1e-4) / (1 - shares.clip(1e-4)))


def rows(values: np.ndarray) -> np.ndarray:
    """[batch, places, columns]"""
    return values.reshape(len(values), -1, values.shape[-1])


def maps(values: np.ndarray) -> np.ndarray:
    """[batch, columns, height, width]"""
    return values.transpose(0, 3, 1, 2)


def bins_of(boxes: np.ndarray, count: int = 8) -> np.ndarray:
    """Logits of bins whose mean a distance is: of the two next to it."""
    near = 1 - np.abs(boxes[..., None] - np.arange(count))
    return np.log(near.clip(1e-6)).reshape(*boxes.shape[:-1], -1)


def picodet(scales: Sequence[Scale]) -> list[np.ndarray]:
    return [*(rows(one["scores"]) for one in scales), *(rows(bins_of(one["boxes"])) for one in scales)]


def nanodet(scales: Sequence[Scale]) -> list[np.ndarray]:
    """Maps of logits and of bins."""
    return [part for one in scales for part in (maps(logits(one["scores"])), maps(bins_of(one["boxes"])))]


def scrfd(scales: Sequence[Scale]) -> list[np.ndarray]:
    """Rows of one picture."""
    return [rows(one[part])[0] for part in ("scores", "boxes", "landmarks") for one in scales]


def scrfd_maps(scales: Sequence[Scale]) -> list[np.ndarray]:
    """Two anchors a place, the second one without an object."""
    empty = [{**one, "scores": one["scores"] * 0.01} for one in scales]
    return [
        np.concatenate([maps(one[part]), maps(other[part])], axis=1)
        for part in ("scores", "boxes", "landmarks")
        for one, other in zip(scales, empty, strict=True)
    ]


def fcos(scales: Sequence[Scale]) -> list[np.ndarray]:
    parts = ("scores", "boxes", "objectness")
    return [maps(one[part] if part == "boxes" else logits(one[part])) for one in scales for part in parts]


def ssd(scales: Sequence[Scale]) -> list[np.ndarray]:
    """Maps of two, three and three anchors, of which the first one has objects; class 0 is the background."""
    outputs = []
    for one, count in zip(scales, (2, 3, 3), strict=True):
        shares = np.concatenate([1 - one["scores"].sum(-1, keepdims=True).clip(0, 0.99), one["scores"]], axis=-1)
        nothing = np.concatenate([np.full_like(shares[..., :1], 0.97), np.full_like(one["scores"], 0.01)], axis=-1)
        scores = [np.log(x) for x in [shares, *[nothing] * (count - 1)]]
        outputs += [maps(np.concatenate(scores, axis=-1)), maps(np.concatenate([one["boxes"] - 3] * count, axis=-1))]
    return outputs


def yolov5(scales: Sequence[Scale]) -> list[np.ndarray]:
    """[batch, 3, height, width, 5 + classes]; two anchors are empty."""
    outputs = []
    for one in scales:
        columns = [one["boxes"] - 3, logits(one["objectness"]), logits(one["scores"])]
        full = np.concatenate(columns, axis=-1)
        empty = full.copy()
        empty[..., 4] = -7
        outputs.append(np.stack([empty, full, empty], axis=1))
    return outputs


def yolov3(scales: Sequence[Scale]) -> list[np.ndarray]:
    """[batch, 3 * (5 + classes), height, width]"""
    return [one.transpose(0, 1, 4, 2, 3).reshape(len(one), -1, *one.shape[2:4]) for one in yolov5(scales)]


def yolox(scales: Sequence[Scale]) -> list[np.ndarray]:
    """[batch, 5 + classes, height, width], shares already."""
    parts = ("boxes", "objectness", "scores")
    return [maps(np.concatenate([one[part] for part in parts], axis=-1)) for one in scales]


def yolov8(scales: Sequence[Scale]) -> list[np.ndarray]:
    """[batch, 64 + classes, height, width]"""
    return [maps(np.concatenate([bins_of(one["boxes"], 16), logits(one["scores"])], axis=-1)) for one in scales]


def nanodet_plus(scales: Sequence[Scale]) -> list[np.ndarray]:
    """[batch, places, classes + 32] of all scales."""
    columns = [np.concatenate([rows(one["scores"]), rows(bins_of(one["boxes"]))], axis=2) for one in scales]
    return [np.concatenate(columns, axis=1)]


# name -> (outputs, number of classes, columns of other values)
HEADS: dict[str, tuple[Callable[[Sequence[Scale]], list[np.ndarray]], int, int]] = {
    "picodet": (picodet, 3, 0),
    "nanodet": (nanodet, 3, 0),
    "nanodet plus": (nanodet_plus, 3, 0),
    "scrfd": (scrfd, 1, 10),
    "scrfd maps": (scrfd_maps, 1, 10),
    "fcos": (fcos, 3, 0),
    "ssd": (ssd, 3, 0),
    "yolov5": (yolov5, 3, 0),
    "yolov3": (yolov3, 3, 0),
    "yolox": (yolox, 3, 0),
    "yolov8": (yolov8, 3, 0),
}


def fitted(outputs: list[np.ndarray]) -> Any:
    heads = find_levels({index: one.shape for index, one in enumerate(outputs)})
    (levels,) = heads if len(outputs) > 1 else [((0,),)]
    positions = tuple(index for level in levels for index in level)
    return DetectionReading(positions, scales=ScaledHead(levels)).fit([outputs])


@pytest.mark.parametrize("name", HEADS)
def test_scores_boxes_and_values_of_each_kind_of_head(name: str) -> None:
    make, classes, extras = HEADS[name]
    scales = draw_scales(classes)
    outputs = make(scales)
    reading = fitted(outputs)
    assert isinstance(reading, PlaceReading) and reading.columns is not None
    assert (len(reading.columns.scores), len(reading.columns.extras)) == (classes, extras)
    best = np.sort(np.concatenate([reading.columns.score_table(image).max(axis=1) for image in reading.head.rows(outputs)]))
    pictures = 1 if name == "scrfd" else 3
    scores = [one["scores"] * (one["objectness"] if "yolov5 yolov3 yolox fcos".count(name) else 1) for one in scales]
    wanted = np.sort(np.concatenate([one[:pictures].max(axis=-1).ravel() for one in scores]))
    np.testing.assert_allclose(best[-6:], wanted[-6:], rtol=0.06)


@pytest.mark.parametrize("name", HEADS)
def test_errors_of_boxes_count_where_objects_are(name: str) -> None:
    make, classes, _ = HEADS[name]
    scales = draw_scales(classes)
    outputs = make(scales)
    reading = fitted(outputs)

    def figures(change: Callable[[Scale, np.ndarray], np.ndarray]) -> list[float]:
        other = make([{**one, "boxes": change(one, one["scores"].max(-1, keepdims=True) > 0.5)} for one in scales])
        return decibels_of(sum_powers(reading, [(outputs, other)]))

    assert min(figures(lambda one, has: one["boxes"])) == np.inf
    assert min(figures(lambda one, has: one["boxes"] + 0.9 * ~has)) == np.inf
    scores, boxes = figures(lambda one, has: one["boxes"] + 0.9 * has)[:2]
    assert scores == np.inf and 0 < boxes < 20


def test_lost_scores_and_moved_landmarks_are_parts_of_their_own() -> None:
    outputs = scrfd(draw_scales(1))
    reading = fitted(outputs)
    assert reading.parts == ("scores", "offsets of boxes", "values of boxes")
    lost = [one * 0.7 if one.shape[1] == 1 else one for one in outputs]
    assert [round(figure) for figure in decibels_of(sum_powers(reading, [(outputs, lost)]))[:1]] == [10]
    moved = [one + 1 if one.shape[1] == 10 else one for one in outputs]
    scores, boxes, landmarks = decibels_of(sum_powers(reading, [(outputs, moved)]))
    assert scores == boxes == np.inf and landmarks < 20
    assert "a head of 3 scales, 3 outputs each" in reading.describe()


def test_features_and_masks_of_several_scales_are_no_detections() -> None:
    rng = np.random.default_rng(1)
    features = [rng.normal(0, 1, (2, 24, side, side)) for side in SIDES]
    assert fitted(features) is None
    assert fitted([np.maximum(one, 0) for one in features]) is None
    pairs = [one for side in SIDES for one in (rng.normal(0, 1, (2, 4, side, side)), rng.normal(0, 1, (2, 3, side, side)))]
    assert fitted(pairs) is None
    masks = [rng.uniform(0, 1, (2, 1, side, side)) for side in SIDES]
    assert fitted([one for mask in masks for one in (mask, np.repeat(mask, 4, 1))]) is None
    nothing = [one * 0.01 if one.shape[-1] == 3 else one for one in picodet(draw_scales())]
    assert fitted(nothing) is None


def test_sizes_of_one_scale_or_of_other_ratios_are_no_head() -> None:
    assert find_levels({0: (1, 64, 4), 1: (1, 64, 3)}) == []
    assert find_levels({0: (1, 64, 4), 1: (1, 60, 4)}) == []
    assert find_levels({0: (1, 64, 4), 1: (1, 64, 3), 2: (1, 16, 4)}) == []
    assert find_levels({0: (1, 1024, 4), 1: (1, 4, 4)}) == []
    assert find_levels({0: (1, "n", 4), 1: (1, 16, 4)}) == []


def test_outputs_without_elements_are_no_scale() -> None:
    assert find_levels({0: (1, 24, 8, 8), 1: (1, 24, 0, 4)}) == [] == find_levels({0: (4,), 1: (0, 6), 2: (3, 6)})
