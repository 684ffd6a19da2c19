"""Decoders: from the outputs of a YOLO to boxes, scores and classes.

    one output [batch, n, 6], sorted by score        rows x1, y1, x2, y2, score, class: end to end
    one output [batch, 4 + classes, places]          "yolov8": centre, size, scores of the classes
    one output [batch, places, 5 + classes]          "yolov5": centre, size, objectness, scores of the classes
    maps [batch, 64 + classes, height, width]        "yolov8", raw: 16 bins a side, logits of the classes
    maps [batch, 3, height, width, 5 + classes]      "yolov5", raw: by the anchors that it was published with

"yolo" takes the form that the shapes say. The columns of one output are the shorter one of its axes.

Tests: tests/quantization/meaning/test_decoders.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tvmq.errors import ConfigError
from tvmq.quantization.meaning.boxes import Detections, sort_by_score, suppress_doubles, to_corners
from tvmq.quantization.meaning.reading import Outputs, replace_infinities

LEAST = 0.01  # score from which boxes are decoded: those below hardly change a mean precision
DOUBLES = 0.45  # IoU from which the lower one of two boxes of a class goes
BINS, SIDES = 16, 4
FIRST_STRIDE = 8  # pixels a place of the largest map
# Width and height of three boxes in pixels, for maps of stride 8, 16 and 32
ANCHORS = (
    ((10, 13), (16, 30), (33, 23)),
    ((30, 61), (62, 45), (59, 119)),
    ((116, 90), (156, 198), (373, 326)),
)
Decode = Callable[[Outputs], Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]]]


def decode_detections(outputs: Outputs, decode: str | Decode = "yolo") -> list[Detections]:
    """Detections of each image, the highest score first.

    outputs  of a model for some images
    decode   "yolo", "yolov5", "yolov8", or a function of the outputs that gives (corners [n, 4], scores [n],
             classes [n]) for each image
    raises   ConfigError for another name, and for outputs of a form that the name does not have

    >>> places = np.array([[[10, 10, 4, 2, 0.9, 0.1], [40, 40, 4, 4, 0.0, 0.0]]]).transpose(0, 2, 1)
    >>> detections = decode_detections([places.repeat(4, axis=2)])[0]
    >>> detections.boxes.tolist(), detections.labels.tolist()
    ([[8.0, 9.0, 12.0, 11.0], [8.0, 9.0, 12.0, 11.0]], [0, 1])
    """
    if callable(decode):
        return [_of_user(*one) for one in decode(outputs)]
    if decode not in DECODERS:
        raise ConfigError(f"decode: must be one of {', '.join(DECODERS)}, or a function of the outputs. Got {decode!r}")
    arrays = [replace_infinities(one) for one in outputs]
    return DECODERS[decode](arrays)


def _of_user(boxes: np.ndarray, scores: np.ndarray, labels: np.ndarray) -> Detections:
    boxes, scores = np.reshape(boxes, (-1, SIDES)).astype(np.float64), np.ravel(scores).astype(np.float64)
    return sort_by_score(Detections(boxes, scores, np.ravel(labels).astype(np.int64), np.zeros((len(scores), 0))))


def _decode_yolo(arrays: Sequence[np.ndarray]) -> list[Detections]:
    """By the form that the shapes say."""
    ranks = {one.ndim for one in arrays}
    if ranks == {5}:
        return _decode_yolov5(arrays)
    if ranks == {4}:
        return _decode_yolov8(arrays)
    rows = _only_rows(arrays)
    if rows.shape != arrays[0].shape:
        return _decode_yolov8(arrays)
    if rows.shape[2] == 6 and _is_sorted(rows[..., 4]):
        return [sort_by_score(_of_sorted(image)) for image in rows]
    return _decode_yolov5(arrays)


def _decode_yolov5(arrays: Sequence[np.ndarray]) -> list[Detections]:
    """Objectness in column 4, which multiplies the scores of the classes."""
    rows = _only_rows(arrays) if arrays[0].ndim == 3 else _rows_of_anchors(arrays)
    if rows.shape[2] < 6:
        raise ConfigError(f"decode: yolov5 has 5 columns and one a class. Got {rows.shape[2]} columns instead")
    return [_suppress(image[:, :SIDES], image[:, 4:5] * image[:, 5:]) for image in rows]


def _decode_yolov8(arrays: Sequence[np.ndarray]) -> list[Detections]:
    """Scores of the classes from column 4 on."""
    rows = _only_rows(arrays) if arrays[0].ndim == 3 else _rows_of_bins(arrays)
    if rows.shape[2] < 5:
        raise ConfigError(f"decode: yolov8 has 4 columns and one a class. Got {rows.shape[2]} columns instead")
    return [_suppress(image[:, :SIDES], image[:, SIDES:]) for image in rows]


DECODERS: dict[str, Callable[[Sequence[np.ndarray]], list[Detections]]] = {
    "yolo": _decode_yolo,
    "yolov5": _decode_yolov5,
    "yolov8": _decode_yolov8,
}


def _only_rows(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """[batch, places, columns] of the only output."""
    if len(arrays) != 1 or arrays[0].ndim != 3:
        shapes = ", ".join(str(list(one.shape)) for one in arrays)
        raise ConfigError(
            f"decode: boxes and scores are one output of three axes, or a map for each stride. Got {shapes} instead; "
            "give a function of the outputs"
        )
    array = arrays[0]
    return array if array.shape[2] <= array.shape[1] else array.swapaxes(1, 2)


def _is_sorted(scores: np.ndarray) -> bool:
    return bool((np.diff(scores, axis=1) <= 1e-6).all())


def _of_sorted(rows: np.ndarray) -> Detections:
    rows = rows[rows[:, 4] >= LEAST]
    return Detections(rows[:, :4], rows[:, 4], np.rint(rows[:, 5]).astype(np.int64), np.zeros((len(rows), 0)))


def _suppress(boxes: np.ndarray, scores: np.ndarray) -> Detections:
    """Detections of an image from centres and sizes [n, 4] and scores [n, classes], without doubles."""
    place, label = np.nonzero(scores >= LEAST)
    return suppress_doubles(
        Detections(to_corners(boxes)[place], scores[place, label], label, np.zeros((len(place), 0))), DOUBLES
    )


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.clip(x, -60, 60)))


def _largest_first(maps: Sequence[np.ndarray], axis: int) -> list[np.ndarray]:
    return sorted(maps, key=lambda one: -one.shape[axis])


def _centres(height: int, width: int) -> np.ndarray:
    """[places, 2] x and y of the middles of places, in places."""
    y, x = np.mgrid[:height, :width] + 0.5
    return np.stack([x.ravel(), y.ravel()], axis=1)


def _rows_of_bins(maps: Sequence[np.ndarray]) -> np.ndarray:
    """[batch, places, 4 + classes] of raw maps: distances to the sides are means of 16 bins."""
    if any(one.ndim != 4 or one.shape[1] <= SIDES * BINS for one in maps):
        raise ConfigError(f"decode: raw maps of yolov8 have {SIDES * BINS} channels and one a class")
    maps, rows = _largest_first(maps, 2), []
    for one in maps:
        stride = FIRST_STRIDE * maps[0].shape[2] / one.shape[2]
        cells = one.reshape(*one.shape[:2], -1).swapaxes(1, 2)
        bins = cells[..., : SIDES * BINS].reshape(*cells.shape[:2], SIDES, BINS)
        shares = np.exp(bins - bins.max(axis=3, keepdims=True))
        sides = (shares / shares.sum(axis=3, keepdims=True)) @ np.arange(BINS)
        low, high = _centres(*one.shape[2:]) - sides[..., :2], _centres(*one.shape[2:]) + sides[..., 2:]
        boxes = np.concatenate([(low + high) / 2, high - low], axis=2) * stride
        rows.append(np.concatenate([boxes, _sigmoid(cells[..., SIDES * BINS :])], axis=2))
    return np.concatenate(rows, axis=1)


def _rows_of_anchors(maps: Sequence[np.ndarray]) -> np.ndarray:
    """[batch, places, 5 + classes] of raw maps [batch, 3, h, w, k] or [batch, 3 * k, h, w], by the usual anchors."""
    count = len(ANCHORS[0])
    maps = [
        one if one.ndim == 5 else one.reshape(len(one), count, -1, *one.shape[2:]).transpose(0, 1, 3, 4, 2)
        for one in maps
        if one.ndim == 5 or one.ndim == 4 and one.shape[1] % count == 0
    ]
    if not 0 < len(maps) <= len(ANCHORS):
        raise ConfigError("decode: raw maps of yolov5 have three anchors, and there are at most three maps")
    maps, rows = _largest_first(maps, 2), []
    for one, anchors in zip(maps, ANCHORS, strict=False):
        stride = FIRST_STRIDE * maps[0].shape[2] / one.shape[2]
        shares = _sigmoid(one).reshape(len(one), count, -1, one.shape[4])
        middle = _centres(*one.shape[2:4]) - 1 + 2 * shares[..., :2]
        sizes = np.square(2 * shares[..., 2:4]) * np.array(anchors, float)[:, None]
        whole = np.concatenate([middle * stride, sizes, shares[..., 4:]], axis=3)
        rows.append(whole.reshape(len(one), -1, one.shape[4]))
    return np.concatenate(rows, axis=1)
