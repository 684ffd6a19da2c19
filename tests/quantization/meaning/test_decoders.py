"""tvmq.quantization.meaning.decoders: every form of a YOLO's outputs gives the boxes it was made of."""

from __future__ import annotations

import numpy as np
import pytest

from tvmq.errors import ConfigError
from tvmq.quantization.meaning.decoders import ANCHORS, decode_detections

SIDES = [8.0 - 16 * 2, 24.0, 8.0 + 16, 24.0 + 48]  # corners around 8, 24
BOX = [10.0, 20.0, 18.0, 36.0]  # corners; centre 14, 28, size 8, 16


def logit(share: float) -> float:
    return float(np.log(share / (1 - share)))


def places_of(columns: int, *rows: list[float]) -> np.ndarray:
    """[1, 9, columns]: some rows, the rest of score 0."""
    array = np.zeros((1, 9, columns), np.float32)
    array[0, : len(rows)] = rows
    return array


def check(outputs: list[np.ndarray], label: int, score: float, decode: str = "yolo") -> None:
    (image,) = decode_detections(outputs, decode)
    assert len(image) == 1 and image.labels.tolist() == [label]
    np.testing.assert_allclose(image.boxes[0], BOX, atol=1e-4)
    assert image.scores[0] == pytest.approx(score, abs=1e-6)


def test_sorted_rows() -> None:
    check([places_of(6, [*BOX, 0.9, 3.0])], 3, 0.9)


def test_columns_before_places_have_no_objectness_and_doubles_go() -> None:
    rows = places_of(6, [14, 28, 8, 16, 0.1 / 100, 0.9], [14, 28.5, 8, 16, 0, 0.8])
    check([rows.swapaxes(1, 2)], 1, 0.9)
    check([rows], 1, 0.9, "yolov8")


def test_places_before_columns_have_objectness() -> None:
    rows = places_of(7, [14, 28, 8, 16, 0.5, 0.0, 0.8])
    check([rows], 1, 0.4)
    check([rows.swapaxes(1, 2)], 1, 0.4, "yolov5")


def test_raw_maps_of_bins() -> None:
    """A place of the second map, 16 pixels wide, whose sides are single bins."""
    maps = [np.full((1, 66, 8 // n, 8 // n), -30.0) for n in (1, 2)]
    for one in maps:
        one[:, :64] = 0.0
    centre = np.array([0.5, 1.5]) * 16
    distances = np.abs(np.concatenate([centre - SIDES[:2], centre - SIDES[2:]])) / 16
    maps[1][0, :64, 1, 0] = np.where(np.arange(16) == distances[:, None], 0.0, -60.0).ravel()
    maps[1][0, 65, 1, 0] = logit(0.7)
    (image,) = decode_detections(list(reversed(maps)))
    np.testing.assert_allclose(image.boxes, [SIDES])
    assert image.labels.tolist() == [1] and image.scores[0] == pytest.approx(0.7)


@pytest.mark.parametrize("rank", [4, 5])
def test_raw_maps_of_anchors(rank: int) -> None:
    """The second anchor of the first map."""
    one = np.full((1, 3, 7, 8, 8), -40.0)
    one[0, 1, :2, 3, 1] = [logit(0.625), logit(0.5)]  # centre 1 + 0.75, 3 + 0.5 places of 8 pixels
    anchor = ANCHORS[0][1]
    one[0, 1, 2:4, 3, 1] = [logit(np.sqrt(size / side) / 2) for size, side in zip((8, 16), anchor, strict=True)]
    one[0, 1, 4:, 3, 1] = [40, -40, logit(0.6)]
    maps = one.reshape(1, 21, 8, 8) if rank == 4 else one.transpose(0, 1, 3, 4, 2)
    check([maps], 1, 0.6, "yolov5")
    if rank == 5:
        check([maps], 1, 0.6)


def test_own_function() -> None:
    outputs = [np.zeros((1, 2))]
    (image,) = decode_detections(outputs, lambda arrays: [(np.array([BOX, BOX]), np.array([0.1, 0.2]), [1, 2])])
    assert image.scores.tolist() == [0.2, 0.1] and image.labels.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("shapes", "decode", "text"),
    [
        ([(1, 9, 6)], "ssd", "decode: must be one of yolo, yolov5, yolov8, or a function of the outputs. Got 'ssd'"),
        ([(1, 9, 4), (1, 9)], "yolo", r"Got \[1, 9, 4\], \[1, 9\] instead"),
        ([(1, 9, 5)], "yolov5", "yolov5 has 5 columns and one a class. Got 5 columns"),
        ([(1, 4, 9)], "yolov8", "yolov8 has 4 columns and one a class. Got 4 columns"),
        ([(1, 64, 4, 4)], "yolov8", "raw maps of yolov8 have 64 channels and one a class"),
        ([(1, 22, 4, 4)], "yolov5", "raw maps of yolov5 have three anchors"),
    ],
)
def test_refusals(shapes: list[tuple[int, ...]], decode: str, text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        decode_detections([np.zeros(shape) for shape in shapes], decode)
